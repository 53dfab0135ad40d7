/* SPDX-License-Identifier: MIT
 *
 * A process of its own passes the input on, for it may wait: whoever reads slowest decides how fast all get it, and who has ended is left out.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <mpi/exec/input.h>
#include <mpi/exec/message.h>
#include <mpi/exec/options.h>

#define PIECE 65536

/* 0, or -1: the reader has gone. */
static int
give(int pipe, const char *data, size_t len)
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

static _Noreturn void
copy(const int *pipes, int count)
{
	static char piece[PIECE];
	static char gone[RANKS_MAX];
	int readers = count;
	ssize_t len;

	while (readers > 0 && ((len = read(STDIN_FILENO, piece, sizeof(piece))) > 0 || (len < 0 && errno == EINTR)))
		for (int i = 0; i < count && len > 0; i++)
			if (!gone[i] && give(pipes[i], piece, (size_t)len) != 0) {
				gone[i] = 1;
				readers--;
			}
	_exit(0);
}

void
input_copy(const int *pipes, int count)
{
	pid_t launcher = getpid(), pid = fork();
	sigset_t none;

	if (pid < 0)
		system_error("cannot start a process");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != launcher)
			_exit(1);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		copy(pipes, count);
	}
	for (int i = 0; i < count; i++)
		close(pipes[i]);
}
