/* SPDX-License-Identifier: MIT
 *
 * execac and rfork: see execac.h. The child of rfork is fork's, of the program's own libc, so that
 * this knows it; the personality has been told what kind it is.
 */
#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <atoll/execac.h>
#include <atoll/personality.h>

extern char **environ;

int
execac(int core, const char *path, char *const args[])
{
	syscall(PERSONALITY_EXECAC, (long)core, path, args, environ);
	return -errno;
}

int
rfork(unsigned flags)
{
	int pid;

	if (syscall(PERSONALITY_RFORK, (long)flags) < 0)
		return -errno;
	if ((flags & RFPROC) == 0)
		return 0;
	pid = fork();
	return pid < 0 ? -errno : pid;
}
