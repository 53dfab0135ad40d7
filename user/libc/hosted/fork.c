/* SPDX-License-Identifier: MIT
 *
 * A rank that is a thread has no process of its own to copy: a child would share the memory of all
 * ranks of its cluster with them, and overwrite it. So fork is an error that says what to do. What
 * starts another program at once (posix_spawn, system, popen, vfork with exec) works: the child is
 * in nobody's way until then, and its _exit ends only itself (exit.c).
 */
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#include <atoll/startup.h>

pid_t _Fork(void);

pid_t
_Fork(void)
{
	static int said;

	if (!said)
		dprintf(STDERR_FILENO, "atoll: rank %u: fork() fails: a child would overwrite the "
			"memory of all ranks, which are threads. "
			"Run the program with --ranks process, or start others "
			"with posix_spawn()\n",
			atoll_startup() == NULL ? 0 : atoll_startup()->rank);
	said = 1;
	errno = ENOSYS;
	return -1;
}

pid_t
fork(void)
{
	return _Fork();
}
