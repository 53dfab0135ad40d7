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
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include <servers/proc/protocol.h>
#include "expect.h"

#define OPS 6			/* more than there are */

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

static void
forge_forget(struct name_client *c, uint32_t cluster)
{
	struct name_request q = {.magic = NAME_MAGIC, .op = NAME_FORGET, .reply_port = c->port,
		.cluster = cluster};
	struct name_reply reply;

	expect(mailbox_send(c->out, &q), 0, "ask that names be forgotten");
	expect(mailbox_receive_answer(c->in, NAME_CLUSTER, &reply), 0, "an answer");
	expect(reply.error, -E_ACCES, "the answer");
}

/*
 * What a process of the name server's cluster says is no answer: the slot of that cluster has a
 * wrong one before the right one comes. Others need not be tried: a process has no badge but the
 * one that it was given.
 */
static void
forge_answer(struct name_client *c, const char *name)
{
	const struct startup *s = atoll_startup();
	struct name_reply wrong = {.magic = NAME_MAGIC, .op = NAME_LOOKUP, .id = c->next_id,
		.cluster = CLUSTERS_MAX - 1, .port = PORTS_MAX - 1};
	uint32_t cluster = 0, port = 0;
	long out = kmailbox_open(NAME_CLUSTER, (int)c->port);

	if (s->cluster == NAME_CLUSTER)
		expect(mailbox_send((int)out, &wrong), 0, "send a forged answer");
	expect(name_lookup(c, name, &cluster, &port), 0, "look up");
	expect(cluster, s->cluster, "the cluster that the name server knows");
	expect(port, c->port, "the port that the name server knows");
	khandle_close((int)out);
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
	uint32_t port = s->base_port + s->local_rank, found, at;
	struct cluster_info here;
	struct name_client c;
	char name[32];
	long in = kmailbox_create((int)port);

	expect(in >= 0, 1, "create a mailbox");
	expect(name_open(&c, (int)in, port), 0, "open the client");
	own_name(name, sizeof(name));
	expect(name_register(&c, name, port), 0, "register");
	kcluster_info(&here);
	forge_answer(&c, name);
	for (uint32_t cluster = 0; cluster < here.clusters; cluster++) {
		forge(cluster);
		forge_forget(&c, cluster);
	}
	expect(name_lookup(&c, name, &found, &at), 0, "the own name is still there");
	name_close(&c);
	return verdict();
}
