/* SPDX-License-Identifier: MIT
 *
 * vfork, exec, wait and kill as POSIX has them, on riscv64: nothing here knows of Atoll. Each rank
 * starts this program again with other arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define PATH "/bin/exec"
#define THREADS 3
#define ROUNDS 4

static pid_t
start(char *const *args)
{
	static char *const env[] = {"COLOUR=blue", NULL};
	pid_t pid = vfork();

	if (pid != 0)
		return pid;
	execve(PATH, args, env);
	_exit(127);
}

static int
status_of(char *const *args)
{
	int status = -1;
	pid_t pid = start(args);

	expect(pid > 0, 1, args[1]);
	expect(waitpid(pid, &status, 0), pid, "waitpid");
	return status;
}

static void
ends(void)
{
	int status = status_of((char *const[]){"x", "exit", "7", NULL});

	expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, 1, "an exit status");
	status = status_of((char *const[]){"x", "crash", NULL});
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, 1, "a bad address");
	status = status_of((char *const[]){"x", "abort", NULL});
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, 1, "an abort");
	status = status_of((char *const[]){"x", "exec", NULL});
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 33, 1, "exec of a child");
	status = status_of((char *const[]){"x", "parent", NULL});
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 34, 1, "a child's child");
}

static void
no_program(void)
{
	int status = -1, error = 0;
	volatile int seen = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		execve("/bin/none", (char *const[]){"none", NULL}, NULL);
		seen = errno;
		_exit(126);
	}
	error = seen;
	expect(error, ENOENT, "a program that is not there");
	expect(waitpid(pid, &status, WNOHANG), pid, "the end of a child without a program");
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 126, 1, "its status");
	expect(waitpid(pid, &status, 0) == -1 && errno == ECHILD, 1, "its end again");
	expect(execve("/bin/none", (char *const[]){"none", NULL}, NULL) == -1 && errno == ENOENT, 1,
		"exec of what is not there");
}

static void
kills(void)
{
	int status = -1;
	pid_t pid = start((char *const[]){"x", "spin", NULL});

	expect(waitpid(pid, &status, WNOHANG), 0, "a child that runs");
	expect(kill(pid, 0), 0, "a process that is there");
	expect(kill(pid, SIGTERM), 0, "a signal");
	expect(wait(&status), pid, "what was ended");
	expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1, "by what");
	expect(kill(pid, SIGTERM) == -1 && errno == ESRCH, 1, "a signal to nobody");
	expect(wait(&status) == -1 && errno == ECHILD, 1, "nobody to wait for");
}

/* The child writes to what it has inherited, behind what the parent wrote, and the parent goes on
 * behind that; what the child did to its descriptors the parent does not see.
 */
static void
files(void)
{
	char text[32] = "";
	int fd = open("/made", O_RDWR | O_CREAT | O_TRUNC, 0600), status = -1;
	pid_t pid;

	expect(fd >= 3 && write(fd, "one ", 4) == 4, 1, "a file");
	pid = vfork();
	if (pid == 0) {
		dup2(fd, 1);
		dup2(fd, 9);
		close(fd);
		execve(PATH, (char *const[]){"x", "write", NULL}, NULL);
		_exit(127);
	}
	expect(waitpid(pid, &status, 0), pid, "who writes");
	expect(status, 35 << 8, "its status");
	expect(write(9, "", 1) == -1 && errno == EBADF, 1, "a descriptor of the child's");
	expect(write(fd, "four", 4), 4, "to write behind the child");
	expect(pread(fd, text, sizeof(text) - 1, 0), 18, "what all have written");
	expect(strcmp(text, "one two three four"), 0, text);
	expect(close(fd), 0, "close");
	expect(unlink("/made"), 0, "unlink");
}

/*
 * A child between two pipes, which gets no ends but those; and one whose output nobody reads.
 */
static void
pipes(void)
{
	char text[16] = "";
	int to[2], from[2], status = -1;
	pid_t pid;

	expect(pipe2(to, O_CLOEXEC), 0, "pipe2");
	expect(pipe2(from, O_CLOEXEC), 0, "pipe2");
	pid = vfork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execve(PATH, (char *const[]){"x", "copy", NULL}, NULL);
		_exit(127);
	}
	expect(close(to[0]) + close(from[1]), 0, "the child's ends");
	expect(write(to[1], "through", 7), 7, "to the child");
	expect(read(from[0], text, sizeof(text)), 7, "from the child");
	expect(strcmp(text, "through"), 0, text);
	expect(close(to[1]), 0, "its input ends");
	expect(read(from[0], text, sizeof(text)), 0, "and with it its output");
	expect(waitpid(pid, &status, 0) == pid && status == 0, 1, "and it");
	expect(close(from[0]), 0, "close");

	expect(pipe2(from, O_CLOEXEC), 0, "pipe2");
	pid = vfork();
	if (pid == 0) {
		dup2(from[1], 1);
		execve(PATH, (char *const[]){"x", "flood", NULL}, NULL);
		_exit(127);
	}
	expect(close(from[1]) + (int)read(from[0], text, 4), 4, "from a child that floods");
	expect(close(from[0]), 0, "nobody reads");
	expect(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
		WTERMSIG(status) == SIGPIPE, 1, "its end");
}

static void
expect_cwd(const char *want)
{
	char path[128];

	expect(getcwd(path, sizeof(path)) != NULL && strcmp(path, want) == 0, 1, want);
}

/* Where a child that goes somewhere before its exec begins; the parent stays. */
static int
child_in(const char *directory, char *want)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		if (chdir(directory) != 0)
			_exit(126);
		execve(PATH, (char *const[]){"x", "where", want, NULL}, NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static void
directories(void)
{
	static char long_path[200];
	struct stat s;
	int fd;

	memset(long_path, 'x', sizeof(long_path) - 1);
	expect_cwd("/");
	expect(mkdir("/d", 0700) + mkdir("d/e", 0700), 0, "mkdir");
	expect(chdir("/d/./e//.."), 0, "chdir");
	expect_cwd("/d");
	fd = open("file", O_CREAT | O_WRONLY, 0600);
	expect(fd >= 0 && close(fd) == 0 && stat("/d/file", &s) == 0, 1, "a file there");
	expect(child_in("e", "/d/e"), 37, "a child further down");
	expect(child_in("..", "/"), 37, "a child in the root");
	expect_cwd("/d");
	expect(chdir("e/../../.."), 0, "above the root");
	expect_cwd("/");
	expect(chdir("/d/file") == -1 && errno == ENOTDIR, 1, "no directory");
	expect(chdir("/d/none") == -1 && errno == ENOENT, 1, "nothing");
	expect(chdir("") == -1 && errno == ENOENT, 1, "no path");
	expect(chdir(long_path) == -1 && errno == ENAMETOOLONG, 1, "a long path");
	expect(getcwd(long_path, 1) == NULL && errno == ERANGE, 1, "no room");
	expect(chdir("/d/e") + unlink("../file") + chdir("/"), 0, "unlink from there");
	expect(rmdir("/d/e") + rmdir("d"), 0, "rmdir");
}

/* A child of posix_spawn says something into a pipe, whose ends here are closed by exec. */
static void
spawned(void)
{
	static char *const env[] = {NULL};
	char text[16] = "";
	int ends[2], status = -1;
	posix_spawn_file_actions_t a;
	pid_t pid = -1;

	expect(pipe2(ends, O_CLOEXEC), 0, "a pipe");
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, ends[1], 1);
	expect(posix_spawn(&pid, PATH, &a, NULL, (char *const[]){"x", "say", NULL}, env), 0,
		"posix_spawn");
	close(ends[1]);
	expect(read(ends[0], text, sizeof(text)), 5, "what a child says");
	expect(strcmp(text, "said\n"), 0, text);
	expect(read(ends[0], text, sizeof(text)), 0, "the end of what it says");
	expect(waitpid(pid, &status, 0), pid, "the end of who says it");
	expect(status, 36 << 8, "its status");
	expect(posix_spawn(&pid, "/bin/none", NULL, NULL, (char *const[]){"x", NULL}, env), ENOENT,
		"posix_spawn of nothing");
	close(ends[0]);
	posix_spawn_file_actions_destroy(&a);
}

/* Each waits for what it has started itself, while the others do the same. */
static void *
from_a_thread(void *number)
{
	for (int i = 0; i < ROUNDS; i++) {
		int status = status_of((char *const[]){"x", "exit", number, NULL});

		expect(WEXITSTATUS(status), atoi(number), "of a thread's child");
	}
	return NULL;
}

static void
threads(void)
{
	static char number[THREADS][2] = {"1", "2", "3"};
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&t[i], NULL, from_a_thread, number[i]), 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* Of its input, or the same again and again. */
static int
copy(int is_endless)
{
	char text[64] = "";
	ssize_t n = sizeof(text);

	while (is_endless || (n = read(0, text, sizeof(text))) > 0)
		if (write(1, text, (size_t)n) != n)
			return 92;
	return (int)n;
}

static int
be_child(char **argv)
{
	if (strcmp(argv[1], "copy") == 0 || strcmp(argv[1], "flood") == 0)
		return copy(argv[1][0] == 'f');
	if (strcmp(argv[1], "exit") == 0)
		return getenv("COLOUR") != NULL && getpid() > 1 ? atoi(argv[2]) : 99;
	if (strcmp(argv[1], "crash") == 0)
		*(volatile char *)8 = 1;
	if (strcmp(argv[1], "abort") == 0)
		raise(SIGABRT);
	if (strcmp(argv[1], "spin") == 0)
		for (;;)
			pause();
	if (strcmp(argv[1], "exec") == 0) {
		char own[16];

		snprintf(own, sizeof(own), "%d", (int)getpid());
		execve(PATH, (char *const[]){"x", "same", own, NULL}, NULL);
	}
	if (strcmp(argv[1], "same") == 0)
		return getpid() == atoi(argv[2]) ? 33 : 98;
	if (strcmp(argv[1], "parent") == 0)
		return WEXITSTATUS(status_of((char *const[]){"x", "child", NULL})) == 1 ? 34 : 97;
	if (strcmp(argv[1], "where") == 0) {
		char path[128];

		return getcwd(path, sizeof(path)) != NULL && strcmp(path, argv[2]) == 0 ? 37 : 91;
	}
	if (strcmp(argv[1], "say") == 0)
		return printf("said\n") == 5 ? 36 : 92;
	if (strcmp(argv[1], "other") == 0)
		execv("/bin/other", (char *const[]){"other", "3", NULL});
	if (strcmp(argv[1], "write") == 0) {
		if (write(3, "", 1) != -1 || printf("two ") != 4 || fflush(stdout) != 0)
			return 94;
		execve(PATH, (char *const[]){"x", "again", NULL}, NULL);
	}
	if (strcmp(argv[1], "again") == 0)
		return write(9, "three ", 6) == 6 ? 35 : 93;
	if (strcmp(argv[1], "last") == 0)
		return printf("ok last\n") > 0 ? 5 : 95;
	return strcmp(argv[1], "child") == 0 && getppid() > 1 ? 1 : 96;
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return be_child(argv);
	ends();
	no_program();
	kills();
	threads();
	files();
	pipes();
	spawned();
	directories();
	printf("%s\n", failures ? "FAIL" : "ok exec");
	fflush(stdout);
	if (failures == 0)
		execv("/proc/self/exe", (char *const[]){"x", "last", NULL});
	return 1;
}
