/* SPDX-License-Identifier: MIT
 *
 * A process of its own passes the input on, for it may wait: whoever reads slowest decides how fast
 * all get it, and who has ended is left out.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <mpi/exec/input.h>
#include <mpi/exec/message.h>
#include <mpi/exec/options.h>

#define PIECE 65536
#define LOOK_AGAIN_MS 250		/* whether we have come to the foreground */

/* 0, or -1: the reader has gone. */
static int
input_give(int pipe, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t done = write(pipe, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		data += done;
		len -= (size_t)done;
	}
	return 0;
}

/* Is our input a terminal at which somebody works with another program? */
static bool
is_background(void)
{
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	return foreground > 0 && foreground != getpgrp();
}

/* Something to read, but never what is typed for another program: reading that would stop us. */
static ssize_t
read_piece(char *piece)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	poll(&input, 1, -1);
	while (is_background())
		poll(NULL, 0, LOOK_AGAIN_MS);
	if (poll(&input, 1, 0) > 0 && !is_background())
		return read(STDIN_FILENO, piece, PIECE);
	errno = EINTR;
	return -1;
}

/* Pipes are closed (0) as their readers go. */
static _Noreturn void
copy(int *pipes, int count, int readers)
{
	static char piece[PIECE];
	ssize_t len;

	while (readers > 0 && ((len = read_piece(piece)) > 0 || (len < 0 && errno == EINTR)))
		for (int i = 0; i < count && len > 0; i++)
			if (pipes[i] > 0 && input_give(pipes[i], piece, (size_t)len) != 0) {
				pipes[i] = 0;
				readers--;
			}
	_exit(0);
}

void
input_copy(int *pipes, int count)
{
	pid_t launcher = getpid(), pid;
	int readers = 0;
	sigset_t none;

	for (int i = 0; i < count; i++)
		readers += pipes[i] > 0;
	pid = readers > 0 ? fork() : launcher;
	if (pid < 0)
		system_error("cannot start a process");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != launcher)
			_exit(1);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		copy(pipes, count, readers);
	}
	for (int i = 0; i < count; i++)
		if (pipes[i] > 0)
			close(pipes[i]);
}
