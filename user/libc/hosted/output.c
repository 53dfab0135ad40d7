/* SPDX-License-Identifier: MIT
 *
 * Standard output of a rank of the hosted port, which writes by itself: see output.h.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include <atoll/startup.h>
#include <user/libc/output.h>

/* musl's, for its exit(): standard output if the program uses it, else NULL. */
extern FILE *volatile __stdout_used __attribute__((weak));

/*
 * Could output not be written that somebody waits for? Nobody does where the stream is closed, or
 * the reader of a pipe has gone.
 */
static bool
is_lost(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (&__stdout_used == NULL || __stdout_used == NULL || !ferror_unlocked(__stdout_used))
		return false;
	return poll(&out, 1, 0) < 0 || (out.revents & (POLLERR | POLLNVAL)) == 0;
}

int
output_status(uint32_t rank, int status)
{
	if (status != 0 || !is_lost())
		return status;
	dprintf(STDERR_FILENO, "rank %u: standard output was lost\n", rank);
	return 1;
}

void
output_exit(int status)
{
	rank_exit(status);
}
