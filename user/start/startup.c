/* SPDX-License-Identifier: MIT
 *
 * The program's start-up record. Servers set it in start_server, programs with a libc in a
 * constructor (user/libc).
 */
#include <stddef.h>
#include <atoll/startup.h>
#include <user/start/start.h>

static const struct startup *startup_record;

void
startup_set(const struct startup *s)
{
	startup_record = s;
	if (s != NULL)
		startup_cpu(s);
}

const struct startup *
atoll_startup(void)
{
	return startup_record;
}
