/* SPDX-License-Identifier: MIT
 *
 * Servers are killed at random times, while processes of all clusters write and read files, pipes
 * and sockets, share memory, fork, start programs, and wait in polls. Each call is answered, with
 * an error that its server's end explains, or rightly; nobody waits for ever, and at the end the
 * machine has what it had before. Rank 0 kills; the others need a cluster each.
 * usage: servers_killed [SEED [KILLS [FOLDER [CLUSTER]]]]: files of workers are there, and not in
 * /tmp, and the server that has them is that of a cluster
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <atoll/zio.h>
#include "draw.h"
#include "expect.h"
#include "rest.h"
#include "workers.h"

#define KILLS 20
#define WARM 4		/* the first, without which servers have less memory than later */
#define LONGEST_NS 6000000
#define QUIET 40		/* lives of each server, while nobody else does anything */
#define QUICK "quick"
#define BLOCK 5000
#define PAGE 4096

static char own[64], other[64];
static const char *folder = "/tmp";
static uint32_t rank;			/* a worker is none itself */

/* --- what workers do: 0, or what was wrong --- */

/* What has failed may do so when a server has ended: what was open is lost, and what was there. */
static const char *
failed(const char *what)
{
	return errno == EIO || errno == ENOENT || errno == EPIPE ? NULL : what;
}

static const char *
use_files(void)
{
	static char block[BLOCK], back[BLOCK];
	int fd = open(own, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const char *wrong = NULL;
	long n;

	if (fd < 0)
		return failed("open");
	memset(block, (int)draw(256), sizeof(block));
	if (write(fd, block, sizeof(block)) < 0 || lseek(fd, 0, SEEK_SET) != 0)
		wrong = failed("write");
	else if ((n = read(fd, back, sizeof(back))) < 0)
		wrong = failed("read");
	/* of several pieces some may have been moved */
	else if (n == 0 || memcmp(block, back, (size_t)n) != 0)
		wrong = "what was read";
	close(fd);
	if (wrong == NULL && rename(own, other) != 0)
		wrong = failed("rename");
	unlink(other);
	return wrong;
}

static const char *
list_files(void)
{
	DIR *d = opendir("/");

	if (d == NULL)
		return failed("opendir");
	errno = 0;
	while (readdir(d) != NULL)
		continue;
	closedir(d);
	return errno == 0 ? NULL : failed("readdir");
}

/* A child writes or reads what this one reads or writes, in blocks. */
static const char *
use_pipe(int is_socket)
{
	static char block[BLOCK];
	int ends[2], status;
	long n;
	pid_t pid;

	if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) != 0)
		return failed("pipe");
	memset(block, 'p', sizeof(block));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		for (int i = 0; i < 4 && write(ends[1], block, sizeof(block)) > 0; i++)
			continue;
		_exit(0);
	}
	close(ends[1]);
	while (pid > 0 && (n = read(ends[0], block, sizeof(block))) > 0)
		for (long i = 0; i < n; i++)
			if (block[i] != 'p')
				return "what came through a pipe";
	close(ends[0]);
	if (pid < 0)
		return errno == EAGAIN ? NULL : failed("fork");
	return waitpid(pid, &status, 0) != pid ? "the end of who writes" :
		status != 0 ? "how who writes has ended" : NULL;
}

/* The same in buffers, of which some lie in the pipe when a server ends. */
static const char *
use_buffers(void)
{
	int ends[2], status;
	struct zio io;
	long n;
	pid_t pid;

	if (pipe(ends) != 0)
		return failed("pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		signal(SIGPIPE, SIG_IGN);
		for (int i = 0; i < 4 && zioalloc(&io, BLOCK) == 0; i++) {
			memset(io.data, 'z', BLOCK);
			if (ziowrite(ends[1], &io, 1) < 0)
				break;
		}
		_exit(0);
	}
	close(ends[1]);
	while (pid > 0 && (n = zioread(ends[0], &io, 1, BLOCK)) > 0) {
		for (long i = 0; i < n; i++)
			if (((const char *)io.data)[i] != 'z')
				return "what came in a buffer";
		ziofree(&io, 1);
	}
	close(ends[0]);
	if (pid < 0)
		return errno == EAGAIN ? NULL : failed("fork");
	return waitpid(pid, &status, 0) != pid ? "the end of who writes buffers" :
		status != 0 ? "how who writes buffers has ended" : NULL;
}

/* Nothing comes but the end of who could write, or of the server. */
static const char *
use_poll(void)
{
	struct pollfd p = {.events = POLLIN};
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		return failed("pipe");
	pid = fork();
	if (pid == 0) {
		nanosleep(&(struct timespec){.tv_nsec = draw(LONGEST_NS)}, NULL);
		_exit(0);
	}
	close(ends[1]);
	p.fd = ends[0];
	while (pid > 0 && poll(&p, 1, -1) != 1)
		if (errno != EINTR)
			return "a poll";
	close(ends[0]);
	return pid > 0 && waitpid(pid, NULL, 0) != pid ? "the end of who sleeps" : NULL;
}

static const char *
share_memory(void)
{
	char name[64];
	volatile uint32_t *m = MAP_FAILED;
	const char *wrong = NULL;
	pid_t pid;
	int fd;

	/* not of a folder of the host */
	snprintf(name, sizeof(name), "/tmp%s.shared", strrchr(own, '/'));
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, PAGE) != 0)
		wrong = failed("ftruncate");
	else if ((m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		wrong = errno == ENOMEM ? NULL : failed("mmap");
	close(fd);
	if (m == MAP_FAILED)
		return wrong;
	pid = fork();
	if (pid == 0) {
		m[1] = 77;
		_exit(0);
	}
	if (pid > 0 && (waitpid(pid, NULL, 0) != pid || m[1] != 77))
		wrong = "memory that is shared";
	munmap((void *)m, PAGE);
	unlink(name);
	return wrong;
}

static const char *
start_program(void)
{
	char *const args[] = {"servers_killed", QUICK, NULL};
	int status = 0, error;
	pid_t pid;

	error = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, args + 2);
	if (error != 0)
		return error == EIO || error == EAGAIN || error == ENOENT ? NULL : "posix_spawn";
	/* 127: it was not there any more, and who says why has lost the pipe for that */
	if (waitpid(pid, &status, 0) != pid || (status != 0 && WEXITSTATUS(status) != 127))
		return "how a program has ended";
	return NULL;
}

#define THINGS 9

static const char *
do_something(uint32_t what)
{
	switch (what) {
	case 0:
	case 1: return use_files();
	case 2: return list_files();
	case 3: return use_pipe(0);
	case 4: return use_pipe(1);
	case 5: return use_poll();
	case 6: return share_memory();
	case 7: return use_buffers();
	default: return start_program();
	}
}

static _Noreturn void
work(int number)
{
	const char *wrong = NULL;

	state += (uint64_t)number << 32;
	snprintf(own, sizeof(own), "%s/%u.%d", folder, rank, number);
	snprintf(other, sizeof(other), "%s.other", own);
	while (!is_over && wrong == NULL)
		wrong = do_something(draw(THINGS));
	if (wrong != NULL) {
		printf("FAIL worker %d of rank %u: %s: error %d\n", number, rank, wrong, errno);
		fflush(stdout);
	}
	_exit(wrong != NULL ? WRONG : 0);
}

/* --- their parent --- */

static struct channel part;
static bool has_part;			/* another cluster's file server is killed, too */

/* Those that are there, one after the other; nobody waits for their next lives. */
static void
kill_some(int kills)
{
	for (int i = 0; i < kills; i++) {
		int n = draw(3) == 0 ? PROCESS_NAME_SERVER : PROCESS_FILE_SERVER;
		bool is_part = has_part && n == PROCESS_FILE_SERVER && draw(2) == 0;

		expect(process_server(is_part ? &part : &there, n, SIGKILL) > 0, 1,
			"kill a server");
		nanosleep(&(struct timespec){.tv_nsec = draw(LONGEST_NS)}, NULL);
	}
}

static void
remove_file(const char *path)
{
	while (unlink(path) != 0 && errno == EIO)
		continue;
}

/* What a worker has not removed, for the server has ended just then: it outlives that. */
static void
remove_files_of(int number)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%u.%d", folder, rank, number);
	remove_file(name);
	snprintf(name, sizeof(name), "%s/%u.%d.other", folder, rank, number);
	remove_file(name);
	snprintf(name, sizeof(name), "/tmp/%u.%d.shared", rank, number);
	remove_file(name);
}

/* One round of workers, in all clusters for as long. */
static void
let_work(int kills)
{
	pid_t pid[WORKERS];

	workers_begin(pid, work);
	if (rank == 0)
		kill_some(kills);
	else
		nanosleep(&(struct timespec){.tv_nsec = LONGEST_NS / 2 * (long)kills}, NULL);
	workers_end(pid);
	for (int i = 0; i < WORKERS; i++)
		remove_files_of(i);
}

/*
 * All servers begin anew, and have done the same since when this returns: so what there is now can
 * be compared.
 */
static void
begin_anew(void)
{
	for (int n = PROCESS_NAME_SERVER; n <= PROCESS_FILE_SERVER; n++)
		await_life(n, process_server(&there, n, SIGKILL));
	snprintf(own, sizeof(own), "%s/own", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	unlink(own);
	for (uint32_t what = 0; what < THINGS; what++) {
		const char *wrong = do_something(what);

		expect(wrong == NULL ? 0 : errno, 0, wrong);
	}
}

/* Without workers the pieces of each life come and go in the same order, so that none is lost. */
static void
end_quietly(uint64_t before[COUNTS])
{
	rest_count(before);
	for (int i = 0; i < QUIET; i++)
		begin_anew();
	rest_await(before, 0);
}

int
main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int kills = argc > 2 ? atoi(argv[2]) : KILLS;
	uint64_t before[COUNTS] = {0};
	bool is_alone = atoll_startup()->ranks == 1;

	if (argc > 1 && strcmp(argv[1], QUICK) == 0)
		return 0;
	if (argc > 3)
		folder = argv[3];
	rank = atoll_startup()->rank;
	state = seed * 1000 + rank;
	signal(SIGPIPE, SIG_IGN);
	workers_prepare(0);
	has_part = argc > 4;
	if (has_part)
		expect(process_open(&part, atoi(argv[4]), CHANNEL_BIT), 0, "open a channel");
	if (is_alone) {
		begin_anew();
		rest_count(before);
		before[FRAMES] = 0;
	}
	let_work(WARM);
	if (is_alone) {
		begin_anew();
		rest_await(before, SCATTER);
		rest_count(before);
	}
	let_work(kills);
	if (is_alone) {
		begin_anew();
		rest_await(before, SCATTER);
		end_quietly(before);
	}
	printf("%s rank %u: servers killed with seed %lu\n", failures ? "FAIL" : "ok",
		rank, seed);
	return failures != 0;
}
