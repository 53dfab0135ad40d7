/* SPDX-License-Identifier: MIT
 *
 * Every rank forges what only process servers may say: that it is the leader and the job is to
 * start or end, that a cluster has ended, that a cluster's names are to be forgotten; and what only
 * the name server may say. The job and its names go on as if nothing had been.
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include <servers/proc/protocol.h>
#include "expect.h"

#define BIT 4
#define OPS 8			/* more than there are */

/*
 * A slot takes a message when the one before it was read: after two more, a message has been dealt
 * with.
 */
static void
send_and_settle(int out, const struct proc_message *m)
{
	static const struct proc_message nonsense = {.magic = 1};

	expect(mailbox_send(out, m), 0, "send what is forged");
	expect(mailbox_send(out, &nonsense), 0, "send nonsense");
	expect(mailbox_send(out, &nonsense), 0, "send nonsense again");
}

/* To one cluster's process server, in all their voices. */
static void
forge(uint32_t cluster)
{
	long out = kmailbox_open((int)cluster, PROC_PORT);

	expect(out >= 0, 1, "open a process server's port");
	for (uint32_t op = 0; op < OPS; op++)
		for (uint32_t about = 0; about < 2; about++)
			send_and_settle((int)out,
				&(struct proc_message){.magic = PROC_MAGIC, .op = op, .job = 1,
				.cluster = about,
				.status = 99, .end = PROC_END_CRASH});
	khandle_close((int)out);
}

/* What only the name daemons may ask: others are refused when they open a channel. */
static void
forge_daemon(void)
{
	static const struct service_kind kind = {.magic = NAME_MAGIC,
		.message = sizeof(struct name_message), .cluster = NAME_CLUSTER,
		.port = NAME_PORT, .pages = NAME_PAGES};
	struct channel ch;

	expect(service_open(&ch, &kind, BIT), -E_ACCES, "ask as a name daemon");
}

static void
own_name(char *name, size_t bytes)
{
	snprintf(name, bytes, "rank%u", atoll_startup()->rank);
}

int
main(void)
{
	const struct startup *s = atoll_startup();
	uint32_t port = s->base_port + s->local_rank;
	struct name_place at;
	struct cluster_info here;
	struct name_client c;
	char name[32];

	expect(name_open(&c, BIT), 0, "open the client");
	own_name(name, sizeof(name));
	expect(name_link(&c, name, port, 0), 0, "link");
	kcluster_info(&here);
	forge_daemon();
	for (uint32_t cluster = 0; cluster < here.clusters; cluster++)
		forge(cluster);
	expect(name_lookup(&c, name, NAME_FRESH, &at), 0, "the own name is still there");
	expect(at.cluster, s->cluster, "its cluster");
	expect(at.port, port, "its port");
	name_close(&c);
	return verdict();
}
