/* SPDX-License-Identifier: MIT
 *
 * Starting the ranks. What can go wrong in the new process is told through a pipe that a successful
 * start closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <mpi/exec/input.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>
#include <mpi/transport/process/join.h>

/* What starting needs. */
struct start {
	struct job *job;
	pid_t launcher;
	int failures;			/* where to say that a program cannot be started */
	/* the pipe of each rank that gets a copy of our input; 0: none */
	int *copies;
};

static struct rlimit descriptors;	/* as we found it */

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUN 126

/* what a process says that cannot start */
struct failure {
	int error;
	int rank;
	bool folder;			/* not the program, but its working folder */
};

static void
set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

/* The names under which programs, scripts and other libraries expect to find rank and size. */
static void
set_environment(const struct job *j, int rank)
{
	static const char *const ranks[] = {JOIN_RANK, "PMI_RANK", "OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_NODE_RANK", "MPI_LOCALRANKID"};
	static const char *const sizes[] = {JOIN_RANKS, "PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
		"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		set_number(ranks[i], rank);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		set_number(sizes[i], j->count);
	set_number(JOIN_APP, (int)(j->ranks[rank].app - j->options->apps));
	set_number("PMI_APPNUM", (int)(j->ranks[rank].app - j->options->apps));
	setenv(JOIN_SOCKET, j->socket_name, 1);
	for (int i = 0; i < j->ranks[rank].app->settings_count; i++)
		putenv(j->ranks[rank].app->settings[i]);
}

static void
bind_to(const struct processors *p, int rank)
{
	cpu_set_t set;

	if (!p->bound)
		return;
	CPU_ZERO(&set);
	CPU_SET(p->cpu[rank % p->bound_count], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* What a rank has as descriptors 0 to 2; -1: ours. */
struct streams {
	int fd[3];
};

static void
set_streams(const struct streams *s)
{
	for (int i = 0; i < 3; i++)
		if (s->fd[i] >= 0)
			dup2(s->fd[i], i);
}

/* Of our environment only what is in a list; returns what it was. */
static char **
keep_listed(const char *list)
{
	char **before = environ, *names = strdup(list), *rest = names, *name;

	if (names == NULL)
		_exit(1);
	environ = NULL;
	while ((name = strsep(&rest, ",")) != NULL)
		for (char **e = before; e != NULL && *e != NULL; e++)
			if (strncmp(*e, name, strlen(name)) == 0 && (*e)[strlen(name)] == '=')
				putenv(*e);
	return before;
}

/* The program, found by the PATH that we have. */
static void
execute(const struct app *app, char **before)
{
	char **environment = environ;

	environ = before;
	execvpe(app->argv[0], app->argv, environment);
	/* not in PATH: here, as with other launchers */
	if (errno == ENOENT && strchr(app->argv[0], '/') == NULL)
		execve(app->argv[0], app->argv, environment);
}

static void
set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static _Noreturn void
give_up(int pipe, int rank, bool folder)
{
	struct failure f = {.error = errno, .rank = rank, .folder = folder};
	ssize_t done = write(pipe, &f, sizeof(f));

	(void)done;
	_exit(f.error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* In the new process. */
static _Noreturn void
become(const struct job *j, int rank, const struct streams *s, int failures)
{
	const struct app *app = j->ranks[rank].app;
	char **before;

	bind_to(&j->processors, rank);
	set_streams(s);
	set_signals();
	setrlimit(RLIMIT_NOFILE, &descriptors);
	if (app->wdir != NULL && chdir(app->wdir) != 0)
		give_up(failures, rank, true);
	before = app->list != NULL ? keep_listed(app->list) : NULL;
	set_environment(j, rank);
	execute(app, app->list != NULL ? before : environ);
	give_up(failures, rank, false);
}

/* A pipe for a rank's output: returns the end to write to, or -1 if the rank has ours. */
static int
open_lines(struct lines *l, int rank)
{
	int ends[2];

	if (l->sink == NULL)
		return -1;
	if (pipe2(ends, O_CLOEXEC) != 0)
		system_error("cannot make a pipe");
	l->fd = ends[0];
	lines_watch(l, rank);
	return ends[1];
}

/*
 * Where a rank reads: -1 for our own standard input. `copies`: the pipes of all ranks that get a
 * copy. A terminal is read only by who
   belongs to its session. */
static int
open_input(const struct job *j, int rank, int *copies)
{
	bool ours = rank == j->options->input;
	int ends[2], fd;

	if (ours && (!j->apart || !isatty(STDIN_FILENO)))
		return -1;
	if (!ours && j->options->input != INPUT_ALL) {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			system_error("/dev/null");
		return fd;
	}
	if (pipe2(ends, O_CLOEXEC) != 0)
		system_error("cannot make a pipe");
	copies[rank] = ends[1];
	return ends[0];
}

/* A new process that is a child of mpiexec, whoever of us makes it; as fork. */
static pid_t
fork_for(pid_t launcher)
{
	return getpid() == launcher ? fork() : (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD,
		NULL, NULL, NULL, NULL);
}

static void
start_rank(struct job *j, int rank, struct start *s)
{
	struct rank *r = &j->ranks[rank];
	struct streams streams = {{open_input(j, rank, s->copies), open_lines(&r->out, rank),
		open_lines(&r->err, rank)}};

	r->pid = fork_for(s->launcher);
	if (r->pid < 0)
		system_error("cannot start a process");
	if (r->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != s->launcher)
			_exit(1);
		become(j, rank, &streams, s->failures);
	}
	j->running++;
	for (int i = 0; i < 3; i++)
		if (streams.fd[i] >= 0)
			close(streams.fd[i]);
}

/* Each rank needs four descriptors here; programs get back the limit that they expect. */
static void
allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
		return;
	limit = descriptors;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void
start_ranks(struct start *s)
{
	struct job *j = s->job;
	bool direct = j->count == 1 && !j->options->tag;
	int rank = 0;

	for (int a = 0; a < j->options->apps_count; a++) {
		for (int i = 0; i < j->options->apps[a].ranks; i++, rank++) {
			struct lines l = {.fd = -1, .sink = direct ? NULL
				: &j->out, .tag = j->options->tag ? rank : -1};

			j->ranks[rank] = (struct rank){.app = &j->options->apps[a], .out = l,
				.err = l};
			if (!direct)
				j->ranks[rank].err.sink = &j->err;
			start_rank(j, rank, s);
		}
	}
}

/*
 * A new session is a scheduling group of its own (with sched_autogroup_enabled), which begins
 * without the weight that nice(1) gave us.
 */
static void
keep_nice(void)
{
	int nice = getpriority(PRIO_PROCESS, 0), fd;

	if (nice == 0)
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && dprintf(fd, "%d", nice) < 0)
		nice = 0;	/* too soon after another change: no matter */
	if (fd >= 0)
		close(fd);
}

/* In the process that leads the ranks' session: it starts them and ends. */
static int
lead(void *start)
{
	struct start *s = start;

	if (setsid() < 0)
		system_error("cannot make a session for the ranks");
	s->job->group = getpid();
	keep_nice();
	start_ranks(s);
	return 0;
}

/*
 * The ranks as our children, but in another session. Only a process that is in it can start them
 * there: one that has our memory and descriptors, and which we wait for.
 */
static void
start_apart(struct start *s)
{
	size_t bytes = 1 << 20;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int status = 1;
	pid_t pid;

	if (stack == MAP_FAILED)
		system_error("cannot start a process");
	pid = clone(lead, stack + bytes, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, s);
	if (pid < 0)
		system_error("cannot start a process");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	munmap(stack, bytes);
	if (status != 0)
		exit(1);
}

void
job_start(struct job *j)
{
	static int copies[RANKS_MAX];
	struct start s = {.job = j, .launcher = getpid(), .copies = copies};
	int ends[2];

	/* who sits before a terminal with one rank may want it as it is, for a debugger */
	j->apart = j->count > 1 || j->options->tag || j->options->input != 0 ||
		!isatty(STDIN_FILENO);
	allow_descriptors();
	if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
		system_error("cannot make a pipe");
	j->failures = ends[0];
	s.failures = ends[1];
	job_watch(j, j->failures, EVENT_FAILURE, 0);
	if (j->apart)
		start_apart(&s);
	else
		start_ranks(&s);
	close(ends[1]);
	input_copy(copies, j->count);
}

/* Take what one process has said. False: nothing is there now, or nobody will say anything more. */
static bool
failure_take(struct job *j)
{
	struct failure f;
	ssize_t got = j->failures >= 0 ? read(j->failures, &f, sizeof(f)) : -1;

	if (got == 0) {
		close(j->failures);
		j->failures = -1;
	}
	if (got != sizeof(f))
		return false;
	if (!j->ending)
		message("%s: %s", f.folder ? j->ranks[f.rank].app->wdir
			: j->ranks[f.rank].app->argv[0], strerror(f.error));
	job_fail(j, f.error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
	return true;
}

void
job_start_failed(struct job *j)
{
	while (failure_take(j))
		;
}
