/* SPDX-License-Identifier: MIT
 *
 * mpiexec on the machine itself: `mpiexec -n 12 ./prog` at a shell's prompt. It asks the process
 * server of each cluster what room it has, has each load its part of the job, starts them when all
 * are loaded, and waits for their ends. The ranks are its children: they end with it.
 *
 * They have what it has open; the first one has the standard input.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <servers/proc/client.h>

#define USAGE "usage: mpiexec [-n N] [--map compact|scatter] PROGRAM [ARG...]\n"
#define BIT 9				/* of this thread: an answer has come */
#define STATUS_USAGE 2
#define STATUS_NO_PROGRAM 126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL 128
#define SIGKILL_NUMBER 9

extern char **environ;

/* What is known of a cluster. */
static struct {
	struct channel ch;
	bool is_open;			/* the channel */
	bool is_there;			/* its process server answers */
	int pid;			/* of the part that it has; 0: none, or it has ended */
	struct process_room room;
} cluster[CLUSTERS_MAX];

static uint32_t clusters;
static struct process_job job;
static struct job_part parts[CLUSTERS_MAX];
static uint64_t inherited[PROCESS_INHERIT_MAX / sizeof(uint64_t)];

static _Noreturn void
fail(int status, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	fputs("mpiexec: ", stderr);
	vfprintf(stderr, text, args);
	va_end(args);
	exit(status);
}

/* --- what is asked for --- */

/* A number of ranks, or the end. */
static uint32_t
ranks_of(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end != 0 || n < 1)
		fail(STATUS_USAGE, "-n needs a number of ranks, not '%s'\n", text);
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The options; the index of the program. */
static int
parse(int argc, char **argv)
{
	int i = 1;

	job.ranks = 1;
	job.policy = MAP_COMPACT;
	for (; i < argc && argv[i][0] == '-'; i += 2) {
		const char *value = argv[i + 1];

		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			fputs(USAGE, stdout);
			exit(0);
		}
		if (value == NULL)
			fail(STATUS_USAGE, "%s needs a value, or is no option\n" USAGE, argv[i]);
		if (strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "-np") == 0)
			job.ranks = ranks_of(value);
		else if (strcmp(argv[i], "--map") == 0 && (strcmp(value, "compact") == 0 ||
			strcmp(value, "scatter") == 0))
			job.policy = value[0] == 's' ? MAP_SCATTER : MAP_COMPACT;
		else
			fail(STATUS_USAGE, "unknown: %s %s\n" USAGE, argv[i], value);
	}
	if (i >= argc)
		fail(STATUS_USAGE, "no program was given\n" USAGE);
	return i;
}

/* Ends if that cannot be found out. */
static bool
is_file(const char *path)
{
	if (access(path, F_OK) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		fail(1, "cannot look for '%s': %s\n", path, strerror(errno));
	return false;
}

/* Where a program lies that is named without a slash. False: nowhere. */
static bool
look_in_path(const char *name, char *to, size_t room)
{
	const char *path = getenv("PATH");

	while (path != NULL && *path != 0) {
		size_t len = strcspn(path, ":");

		snprintf(to, room, "%.*s/%s", (int)len, path, name);
		if (is_file(to))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* The program's path from the root. */
static const char *
find_program(const char *name)
{
	static char found[PATH_MAX], whole[PATH_MAX];
	const char *path = name;

	if (strchr(name, '/') == NULL) {
		if (!look_in_path(name, found, sizeof(found)))
			fail(STATUS_NOT_FOUND, "no program '%s' in PATH\n", name);
		path = found;
	}
	if (realpath(path, whole) == NULL || !is_file(whole))
		fail(STATUS_NOT_FOUND, "no program '%s'\n", name);
	return whole + 1;
}

/* --- the clusters --- */

/* A cluster that does not answer takes no ranks. */
static void
look_at_clusters(void)
{
	struct cluster_info here;

	kcluster_info(&here);
	clusters = here.clusters;
	for (uint32_t c = 0; c < clusters; c++) {
		int result = process_open(&cluster[c].ch, (int)c, BIT);

		if (result == -E_NOSPC)
			fail(1, "too many jobs at a time: cluster %u has no place for one more\n",
				c);
		cluster[c].is_open = result == 0;
		cluster[c].is_there = result == 0 &&
			process_room(&cluster[c].ch, &cluster[c].room) == 0;
	}
}

static bool
takes_ranks(uint32_t c, bool with_ports)
{
	return cluster[c].is_there && cluster[c].room.cores > 0 &&
		(!with_ports || cluster[c].room.ports > 0);
}

/*
 * Which clusters take ranks: those that have ports for them, by which ranks of different clusters
 * reach each other; if none has any, one.
 */
static void
choose_clusters(void)
{
	uint32_t takers = 0, ports = UINT32_MAX;

	for (int with_ports = 1; with_ports >= 0 && takers == 0; with_ports--)
		for (uint32_t c = 0; c < clusters && (with_ports || takers == 0); c++) {
			if (!takes_ranks(c, with_ports))
				continue;
			takers++;
			job.cluster[c].cores = cluster[c].room.cores;
			job.cluster[c].kb = (uint32_t)(cluster[c].room.free_bytes / 1024);
			if (cluster[c].room.ports < ports)
				ports = cluster[c].room.ports;
		}
	if (takers == 0)
		fail(1, "no cluster takes ranks\n");
	if (takers > 1 && job.ranks > (uint64_t)takers * ports)
		fail(1, "%u ranks are too many: %u clusters have ports for %u each\n", job.ranks,
			takers, ports);
	job.ports = ports;
}

/* --- the job --- */

static _Noreturn void
fail_to_load(const char *name, uint32_t c, int error)
{
	switch (error) {
	case -E_NOENT: fail(STATUS_NOT_FOUND, "no program '%s'\n", name);
	case -PROCESS_ENOEXEC:
		fail(STATUS_NO_PROGRAM, "'%s' is no program for this machine\n", name);
	case -E_2BIG: fail(1, "arguments and environment are too long\n");
	case -E_NOMEM:
		fail(1, "cluster %u has too little memory for its part of %u ranks\n", c,
			job.ranks);
	case -E_BUSY: fail(1, "other jobs have the ports of cluster %u\n", c);
	case -E_AGAIN: fail(1, "cluster %u has too many processes\n", c);
	case -E_NOSPC:
	case -E_INVAL: fail(1, "%u ranks are too many\n", job.ranks);
	case -E_PIPE:
	case -E_HOSTDOWN: fail(1, "cluster %u has died\n", c);
	default: fail(1, "cluster %u cannot load '%s': error %d\n", c, name, -error);
	}
}

/* All clusters load at the same time. */
static void
load_all(const char *path, char **argv)
{
	long bytes = syscall(PERSONALITY_INHERIT, inherited, sizeof(inherited));
	const struct process_spawn what = {.path = path, .args = argv,
		.envs = environ, .inherit = inherited,
		.inherit_bytes = bytes > 0 ? (uint32_t)bytes : 0};
	int error = 0;
	uint32_t where = 0;

	if (bytes < 0)
		fail(1, "what is open cannot be handed over: %s\n", strerror(errno));
	for (uint32_t c = 0; c < clusters && error == 0; c++)
		if (job.cluster[c].cores > 0) {
			error = process_part_ask(&cluster[c].ch, &what, &job, clusters);
			where = c;
		}
	for (uint32_t c = 0; c < clusters && error == 0; c++)
		if (job.cluster[c].cores > 0) {
			cluster[c].pid = process_part_take(&cluster[c].ch, &parts[c]);
			where = c;
			error = cluster[c].pid < 0 ? cluster[c].pid : 0;
		}
	if (error != 0)
		fail_to_load(argv[0], where, error);
	/* other jobs want the window's pages */
	for (uint32_t c = 0; c < clusters; c++)
		if (cluster[c].is_open && cluster[c].pid == 0)
			channel_end(&cluster[c].ch);
}

static void
start_all(const char *name)
{
	const struct process_parts all = {parts, clusters};

	for (uint32_t c = 0; c < clusters; c++) {
		int error = cluster[c].pid > 0 ? process_part_start(&cluster[c].ch,
			cluster[c].pid, PROCESS_AWAIT, &all) : 0;

		if (error < 0 && error != -E_SRCH)
			fail_to_load(name, c, error);
	}
	for (uint32_t c = 0; c < clusters; c++)
		if (cluster[c].pid > 0)
			process_wait_ask(&cluster[c].ch, cluster[c].pid);
}

/* --- ends --- */

/* The exit status of ranks that the kernel, or somebody else, has ended. */
static int
status_of(const struct proc_status *s)
{
	switch (s->cause) {
	case CRASH_NONE: return (s->status & 255) != 0 ? s->status & 255 : 1;
	case CRASH_ACCESS: return STATUS_SIGNAL + 11;
	case CRASH_ILLEGAL: return STATUS_SIGNAL + 4;
	case CRASH_ALIGN: return STATUS_SIGNAL + 7;
	case CRASH_BREAK: return STATUS_SIGNAL + 5;
	case CRASH_ARITH: return STATUS_SIGNAL + 8;
	case CRASH_ABORT: return STATUS_SIGNAL + 6;
	default:
		return STATUS_SIGNAL + (s->status > 0 && s->status < STATUS_SIGNAL ? s->status :
			SIGKILL_NUMBER);
	}
}

/*
 * The first failure ends all others. A call is under way in each channel: it takes new ones. False:
 * there is no room for one, so some parts still run.
 */
static bool
end_all(void)
{
	bool is_all = true;

	for (uint32_t c = 0; c < clusters; c++) {
		struct channel ch;
		int result = cluster[c].pid > 0 ? process_open(&ch, (int)c, BIT) : -E_HOSTDOWN;

		is_all &= result != -E_NOSPC && result != -E_NOMEM && result != -E_MFILE;
		if (result != 0)
			continue;
		process_kill(&ch, cluster[c].pid, SIGKILL_NUMBER, 0);
		channel_end(&ch);
	}
	return is_all;
}

/* A cluster whose part has ended, or that is gone; `clusters`: there is none any more. */
static uint32_t
next_end(void)
{
	uint32_t bytes, left;

	for (;;) {
		left = 0;
		for (uint32_t c = 0; c < clusters; c++) {
			if (cluster[c].pid <= 0)
				continue;
			left++;
			channel_listen(&cluster[c].ch, true);
			if (channel_look(&cluster[c].ch, &bytes) != NULL ||
				channel_check(&cluster[c].ch) != 0)
				return c;
		}
		if (left == 0)
			return clusters;
		kthread_sleep(1u << BIT, FOREVER);
	}
}

/*
 * The exit status: that of the first failure, else the first that is not 0. Parts that cannot be
 * ended from here end with this process, so it waits for no more.
 */
static int
wait_for_all(void)
{
	bool has_failed = false;
	int status = 0;
	uint32_t c;

	while ((c = next_end()) < clusters) {
		struct proc_status s = {0};
		uint32_t missing = 0;
		int result = process_wait_take(&cluster[c].ch, &s, &missing);
		bool fails = result < 0 || s.cause != CRASH_NONE || missing > 0;

		cluster[c].pid = 0;
		if (fails && !has_failed) {
			status = result < 0 ? 1 : status_of(&s);
			if (result < 0)
				fprintf(stderr, "mpiexec: cluster %u has died\n", c);
			else if (s.cause == CRASH_KILLED)
				fprintf(stderr, "mpiexec: the ranks of cluster %u were ended by "
					"signal %d\n", c, status - STATUS_SIGNAL);
			has_failed = true;
			if (!end_all())
				return status;
		} else if (!has_failed && status == 0) {
			status = s.status & 255;
		}
	}
	return status;
}

int
main(int argc, char **argv)
{
	int program = parse(argc, argv);
	const char *path;

	path = find_program(argv[program]);
	job.job = (uint32_t)getpid();
	look_at_clusters();
	choose_clusters();
	load_all(path, argv + program);
	start_all(argv[program]);
	return wait_for_all();
}
