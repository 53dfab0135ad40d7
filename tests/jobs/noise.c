/* SPDX-License-Identifier: MIT
 *
 * Every rank sends messages that make no sense to the process servers of all clusters and to the
 * name server. The job must go on and end as if nothing had been sent.
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <servers/name/protocol.h>
#include <servers/proc/protocol.h>

static int failures;

static void
send(int cluster, int port, const void *msg)
{
	long id = kmailbox_open(cluster, port);
	int result = id < 0 ? (int)id : mailbox_send((int)id, msg);

	if (result == 0)
		result = (int)khandle_close((int)id);
	if (result == 0)
		return;
	printf("FAIL rank %u: send to %d.%d: %s\n", atoll_startup()->rank, cluster, port,
		error_text(result));
	failures++;
}

/* Sound headers with every operation and absurd contents: only process servers are believed. */
static void
pester_servers(int cluster)
{
	struct proc_message m = {.magic = PROC_MAGIC, .job = 0xffffffff, .cluster = 0xffffffff,
		.status = 77, .end = 99};
	unsigned char garbage[MAILBOX_MSG_SIZE];

	memset(garbage, 0xa5, sizeof(garbage));
	send(cluster, PROC_PORT, garbage);
	for (m.op = 0; m.op < 12; m.op++)
		send(cluster, PROC_PORT, &m);
}

/* The name server is asked by channels alone; these are none, or not there. */
static void
pester_names(void)
{
	uint32_t words[MAILBOX_MSG_SIZE / sizeof(uint32_t)] = {NAME_MAGIC};

	for (words[1] = 0; words[1] < 6; words[1]++)
		send(NAME_CLUSTER, NAME_PORT, words);
}

int
main(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	for (uint32_t c = 0; c < info.clusters; c++)
		pester_servers((int)c);
	pester_names();
	printf("%s rank %u\n", failures ? "FAIL" : "ok", atoll_startup()->rank);
	return failures != 0;
}
