/* SPDX-License-Identifier: MIT
 *
 * Every rank tries to be asked in the place of a server: it opens the ports of the servers of its
 * cluster, which are named as arguments, and never gets one. Others may be taken.
 */
#include <stdlib.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <servers/name/protocol.h>
#include <servers/proc/protocol.h>
#include "expect.h"

#define TURNS 1000			/* a server may be between its start and its death */

static void
steal(int port)
{
	long got = -E_BUSY;

	for (int i = 0; i < TURNS && got == -E_BUSY; i++)
		got = kmailbox_create(port);
	expect(got, -E_BUSY, "open a server's port");
}

int
main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();

	steal(PROC_PORT);
	for (int i = 1; i < argc && s->cluster == NAME_CLUSTER; i++)
		steal(atoi(argv[i]));
	expect(kmailbox_create((int)(s->base_port + s->local_rank)) > 0, 1, "open the own port");
	return verdict();
}
