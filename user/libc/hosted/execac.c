/* SPDX-License-Identifier: MIT
 *
 * execac and rfork are not there on this port: a process of a program is none of Linux here.
 */
#include <abi/errors.h>
#include <atoll/execac.h>

int
execac(int core, const char *path, char *const args[])
{
	(void)core;
	(void)path;
	(void)args;
	return -E_NOSYS;
}

int
rfork(unsigned flags)
{
	(void)flags;
	return -E_NOSYS;
}
