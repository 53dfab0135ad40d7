/* SPDX-License-Identifier: MIT
 *
 * Programs that a rank starts, and copies of itself that it cannot have. All ranks do it at the
 * same time.
 *
 *	children	system, popen, posix_spawn, vfork with exec; what fails in the child does
 *			not end the rank
 *	fork		fork, _Fork and daemon are errors, and say what to do instead
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atoll/startup.h>

#define ROUNDS 5

extern char **environ;
pid_t _Fork(void);

static unsigned rank;
static int failures;
static int counter;			/* private to the rank, like all globals */

#define expect(condition) check_that((condition) != 0, #condition, __LINE__)

static void
check_that(int good, const char *what, int line)
{
	if (good)
		return;
	printf("FAIL rank %u line %d: %s (errno %d)\n", rank, line, what, errno);
	failures++;
}

/* How a child ended: its exit status, or -1. */
static int
status_of(pid_t child)
{
	int status;
	pid_t found;

	while ((found = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	return found == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
try_shell(void)
{
	char line[40] = "";
	FILE *from;

	expect(system("true") == 0);
	expect(WEXITSTATUS(system("exit 3")) == 3);
	expect(WEXITSTATUS(system("/nonexistent/program 2>/dev/null")) == 127);
	from = popen("echo hello", "r");
	expect(from != NULL && fgets(line, sizeof(line), from) != NULL &&
		strcmp(line, "hello\n") == 0);
	expect(from != NULL && pclose(from) == 0);
}

static void
try_spawn(void)
{
	char *const words[] = {"sh", "-c", "exit 7", NULL}, *const none[] = {"none", NULL};
	pid_t child = -1;

	expect(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0 &&
		status_of(child) == 7);
	expect(posix_spawn(&child, "/nonexistent/program", NULL, NULL, none, environ) == ENOENT);
}

/* The child runs in this rank's memory until it has another program, or ends. */
static void
try_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
		_exit(1);
	}
	expect(child > 0 && status_of(child) == 8);
	child = vfork();
	if (child == 0) {
		execl("/nonexistent/program", "none", (char *)NULL);
		_exit(9);
	}
	expect(child > 0 && status_of(child) == 9);
	child = vfork();
	if (child == 0)
		abort();
	expect(child > 0 && status_of(child) != 0);
}

static int
children(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		counter++;
		try_shell();
		try_spawn();
		try_vfork();
		expect(counter == i + 1);
	}
	return failures;
}

static int
copies(void)
{
	errno = 0;
	expect(fork() == -1 && errno == ENOSYS);
	errno = 0;
	expect(_Fork() == -1 && errno == ENOSYS);
	errno = 0;
	expect(daemon(1, 1) == -1 && errno == ENOSYS);
	return failures;
}

int
main(int argc, char **argv)
{
	rank = atoll_startup()->rank;
	if (argc > 1 && strcmp(argv[1], "fork") == 0)
		return copies();
	return children();
}
