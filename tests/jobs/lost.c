/* SPDX-License-Identifier: MIT
 *
 * The file server is killed, and another one follows it: what was open answers EIO, and EPIPE who
 * writes to a pipe; whoever waits hears so. All else goes on: paths, new files and pipes, shared
 * memory, children with descriptors that are lost. The last rank does this, so that it can be in
 * another cluster.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <servers/proc/client.h>
#include "expect.h"

#define BIT 9
#define PAGE 4096
#define GIVEN "/given"			/* from the boot archive */

static struct channel leader;
static int lives;

static void
kill_server(void)
{
	lives = process_server(&leader, PROCESS_FILE_SERVER, SIGKILL);
	expect(lives > 0, 1, "kill the file server");
	while (process_server(&leader, PROCESS_FILE_SERVER, 0) <= lives)
		kthread_yield();
}

static void
fails(long result, int error, const char *what)
{
	expect(result, -1, what);
	expect(result == -1 ? errno : 0, error, what);
}

/* --- those that wait --- */

enum { READS, WRITES, POLLS, RECEIVES, WAITERS };

/* A child that waits, says so before, and ends with the number of the error. */
static pid_t
begin_waiter(int how, const int *ends, int ready)
{
	char block[PAGE] = "";
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	pid_t pid = fork();
	long result = 1;

	if (pid != 0)
		return pid;
	signal(SIGPIPE, SIG_IGN);
	write(ready, "y", 1);
	while (result > 0)
		if (how == WRITES)
			result = write(ends[1], block, sizeof(block));
		else if (how == POLLS)
			result = poll(&p, 1, -1) > 0 && p.revents == POLLERR ? -1 : 0, errno = EIO;
		else
			result = read(ends[0], block, sizeof(block));
	_exit(result < 0 ? errno : 100);
}

static void
wake_waiters(void)
{
	const struct timespec span = {.tv_nsec = 20000000};
	int ends[WAITERS][2], ready[2], status;
	pid_t pid[WAITERS];
	char c;

	expect(pipe(ready), 0, "a pipe");
	for (int i = 0; i < WAITERS; i++) {
		expect(i == RECEIVES ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) : pipe(ends[i]),
			0, "what is waited for");
		pid[i] = begin_waiter(i, ends[i], ready[1]);
		expect(pid[i] > 0, 1, "a child that waits");
	}
	for (int i = 0; i < WAITERS; i++)
		expect(read(ready[0], &c, 1), 1, "it has begun");
	nanosleep(&span, NULL);
	kill_server();
	for (int i = 0; i < WAITERS; i++) {
		expect(waitpid(pid[i], &status, 0), pid[i], "the end of a child that waits");
		expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, i == WRITES ? EPIPE : EIO,
			"it has heard of the end");
		close(ends[i][0]);
		close(ends[i][1]);
	}
	fails(read(ready[0], &c, 1), EIO, "a pipe whose server has ended");
	close(ready[0]);
	close(ready[1]);
}

/* --- files --- */

static void
use_paths(const char *what)
{
	char text[6] = "";
	struct stat s;
	int fd = open("/tmp/new", O_RDWR | O_CREAT | O_TRUNC, 0600);

	expect(fd >= 0, 1, what);
	expect(write(fd, "hello", 5), 5, what);
	expect(pread(fd, text, 5, 0), 5, what);
	expect(strcmp(text, "hello"), 0, what);
	expect(close(fd), 0, what);
	expect(stat(GIVEN, &s), 0, what);
	expect(unlink("/tmp/new"), 0, what);
}

/* What is asked first may change nothing, or something; and is asked with a handle. */
static void
lose_files(void)
{
	struct stat s;
	char c;
	int fd = open("/tmp/old", O_RDWR | O_CREAT, 0600);

	expect(write(fd, "x", 1), 1, "write");
	kill_server();
	expect(stat(GIVEN, &s), 0, "what changes nothing is asked again");
	fails(write(fd, "x", 1), EIO, "what was open is lost");
	fails(lseek(fd, 0, SEEK_SET), EIO, "what was open is lost");
	fails(fstat(fd, &s), EIO, "what was open is lost");
	fails(fcntl(fd, F_SETFL, O_APPEND), EIO, "what was open is lost");
	expect(close(fd), 0, "close what is lost");
	fails(close(fd), EBADF, "close it again");
	fd = open("/tmp/old", O_RDONLY);
	expect(fd >= 0 && read(fd, &c, 1) == 1 && c == 'x' && read(fd, &c, 1) == 0, 1,
		"what was in memory is there");
	close(fd);
	use_paths("paths");
	kill_server();
	fails(mkdir("/tmp/d", 0700), EIO, "what changes something");
	expect(mkdir("/tmp/d", 0700), 0, "the next request");
	expect(rmdir("/tmp/d"), 0, "the next request");
	fd = open("/tmp/old", O_RDWR | O_CREAT, 0600);
	kill_server();
	fails(read(fd, &c, 1), EIO, "a request with a handle");
	fails(read(fd, &c, 1), EIO, "a request with a handle");
	expect(close(fd), 0, "close it");
	use_paths("paths");
}

/* The memory is the processes' and the file's, which is there again. */
static void
share(void)
{
	volatile char *m[2];
	char c = 0;

	for (int i = 0; i < 2; i++) {
		int fd = open("/tmp/shared", O_RDWR | O_CREAT, 0600);

		expect(ftruncate(fd, PAGE), 0, "a size");
		m[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		expect(m[i] != MAP_FAILED, 1, "map it");
		m[i][0] += (char)(i + 1);
		if (i == 0)
			kill_server();
		else
			expect(pread(fd, &c, 1, 0) == 1 && c == 3, 1, "a read of what is mapped");
		close(fd);
	}
	expect(m[0][0], 3, "memory that is mapped is the file's");
	m[0][1] = 5;
	expect(m[1][1], 5, "memory that is mapped is the same");
	munmap((void *)m[0], PAGE);
	munmap((void *)m[1], PAGE);
	unlink("/tmp/shared");
}

/* --- children --- */

static int
be_child(void)
{
	char c;
	int first = fcntl(3, F_GETFD), fd;

	if (first < 0 || read(3, &c, 1) != -1 || errno != EIO)
		return 1;
	fd = open(GIVEN, O_RDONLY);
	return fd > 3 && read(fd, &c, 1) == 1 ? 7 : 2;
}

static void
start_children(void)
{
	char *const args[] = {"lost", "child", NULL};
	int fd = open("/tmp/old", O_RDWR | O_CREAT, 0600), status;
	pid_t pid;

	if (fd != 3) {
		dup2(fd, 3);
		close(fd);
	}
	kill_server();
	for (int i = 0; i < 2; i++) {
		expect(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, args + 2), 0, "spawn");
		expect(waitpid(pid, &status, 0), pid, "its end");
		expect(WEXITSTATUS(status), 7, "a descriptor that is lost");
	}
	pid = fork();
	if (pid == 0)
		_exit(be_child());
	expect(waitpid(pid, &status, 0), pid, "the end of a forked child");
	expect(WEXITSTATUS(status), 7, "a descriptor that is lost");
	close(3);
	unlink("/tmp/old");
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return be_child();
	if (atoll_startup()->rank != atoll_startup()->ranks - 1)
		return 0;
	expect(process_open(&leader, 0, BIT), 0, "open a channel");
	lose_files();
	wake_waiters();
	share();
	start_children();
	use_paths("at the end");
	return verdict();
}
