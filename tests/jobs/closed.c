/* SPDX-License-Identifier: MIT
 *
 * Standard streams that are closed, said with their results: the same here and on Linux.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
say(const char *what, long result)
{
	printf("%s: %ld %s\n", what, result, result == -1 ? strerror(errno) : "");
	fflush(stdout);
}

/* What a program finds in the place of its standard input. */
static void
say_input(void)
{
	struct pollfd p = {.fd = 0, .events = POLLIN};
	char text[8];

	say("read", read(0, text, sizeof(text)));
	say("flags", fcntl(0, F_GETFD));
	say("poll", poll(&p, 1, 0));
	say("invalid", p.revents & POLLNVAL);
}

static int
run(char *const argv[], void (*before)(void))
{
	int status = 0;

	if (fork() == 0) {
		before();
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	wait(&status);
	return WEXITSTATUS(status);
}

static void
close_input(void)
{
	close(0);
}

static void
null_input(void)
{
	close(0);
	say("opened", open("/dev/null", O_RDONLY));
}

static void
both(void)
{
	int ends[2];

	close(0);
	say("pipe", pipe(ends));
	say("its end to read", ends[0]);
	say("close", close(ends[1]));
}

int
main(int argc, char **argv)
{
	char *again[] = {argv[0], "again", NULL};

	if (argc > 1) {
		say_input();
		return 7;
	}
	say("closed", run(again, close_input));
	say("null", run(again, null_input));
	say("pipe", run(again, both));
	say("close", close(0));
	say("close again", close(0));
	say_input();
	say("dup", dup(1));
	say("dup", dup(1));
	say("close", close(0));
	say("dup2", dup2(1, 0));
	say("write", write(0, "", 0));
	say("close", close(2));
	say("write", write(2, "x", 1));
	say("dup2", dup2(2, 5));
	say("dup to the lowest", fcntl(1, F_DUPFD, 1));
	printf("ok closed\n");
	return 0;
}
