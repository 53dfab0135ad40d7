/* SPDX-License-Identifier: MIT
 *
 * For programs with a libc: the start-up record, and the ends of a program. A rank is a thread, so
 * its exit must not end the whole Linux process or Atoll process: _Exit and abort are taken over at
 * link time (this library comes before the libc, whose own versions are then never linked). exit()
 * runs its handlers and flushes as always, then comes here; if standard output could not be
 * written, the rank says so and has not succeeded. A child that borrows this program's memory until
 * it has a program of its own (posix_spawn, vfork) comes here, too: its end is the end of its Linux
 * process and nothing else.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atoll/guest.h>
#include <atoll/startup.h>
#include <user/libc/output.h>
#include <user/rank.h>
#include <user/start/start.h>

#define ABORT_STATUS 134	/* 128 + SIGABRT */

static pid_t process;			/* that the rank runs in */

__attribute__((constructor(101))) static void
find_startup(void)
{
	startup_set((const struct startup *)getauxval(AT_ATOLL));
	process = getpid();
}

static bool
is_rank(void)
{
	return atoll_startup() != NULL && getpid() == process;
}

_Noreturn void
_Exit(int status)
{
	const struct startup *s = atoll_startup();

	if (!is_rank())
		for (;;)
			syscall(SYS_exit_group, status);
	guest_enter();
	if (s->control != 0 && rank_breaks_job((struct job_control *)(uintptr_t)s->control,
		s->local_rank)) {
		dprintf(STDERR_FILENO, "rank %u ended with status %d before MPI_Finalize\n",
			s->rank, status & 255);
		job_abort(status);
	}
	output_exit(output_status(s->rank, status) & 255);
}

_Noreturn void
abort(void)
{
	if (!is_rank())
		_Exit(ABORT_STATUS);
	guest_enter();
	dprintf(STDERR_FILENO, "rank %u aborted\n", atoll_startup()->rank);
	job_abort(ABORT_STATUS);
}
