/* SPDX-License-Identifier: MIT
 *
 * A fence in all threads of the process, made by the system. Systems without it say so.
 */
#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <mpi/core/rank.h>
#include <mpi/transport/transport.h>

#define ONE_THREAD 3	/* links to the folder of the threads: two of its own, one of each */

static long
membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/*
 * The system wants to know beforehand, which takes no time with one thread, and some milliseconds
 * once with several: not for nothing.
 */
bool
transport_can_fence(const struct mpi_rank *self)
{
	struct stat threads;
	long can = membarrier(MEMBARRIER_CMD_QUERY);

	(void)self;
	if (can < 0 || !(can & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		return false;
	if (stat("/proc/self/task", &threads) == 0 && threads.st_nlink == ONE_THREAD)
		return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
	return true;
}

void
transport_fence(struct mpi_rank *self)
{
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return;
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 ||
			membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
		mpi_die(self, 2, "the system refuses the memory barrier that it has offered");
}
