/* SPDX-License-Identifier: MIT
 *
 * Every rank registers itself with the name server and finds all others. Rank 0 also sends requests
 * that make no sense. When all have found all, the others end without a word to the name server,
 * and rank 0 sees that their names are released: what is registered then are the names of its own
 * process, which goes on.
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include "expect.h"

/*
 * The server answers each of these with an error, and the next sound request as if nothing had
 * been.
 */
static void
try_nonsense(struct name_client *c)
{
	unsigned char garbage[MAILBOX_MSG_SIZE];
	struct name_reply reply;
	uint32_t cluster, port;

	memset(garbage, 0xff, sizeof(garbage));
	((struct name_request *)(void *)garbage)->reply_port = c->port;
	expect(mailbox_send(c->out, garbage), 0, "send garbage");
	expect(mailbox_receive_answer(c->in, NAME_CLUSTER, &reply), 0, "an answer to garbage");
	expect(reply.error, -E_INVAL, "the answer to garbage");
	((struct name_request *)(void *)garbage)->reply_port = 4000000;
	expect(mailbox_send(c->out, garbage), 0, "send garbage without a way back");
	expect(name_lookup(c, "nobody", &cluster, &port), -E_NOENT, "an unknown name");
	expect(name_lookup(c, "", &cluster, &port), -E_INVAL, "an empty name");
	expect(name_unregister(c, "nobody"), -E_NOENT, "forget an unknown name");
	expect(name_register(c, "far", 4000), -E_INVAL, "a port that does not exist");
}

/* Others may not have registered yet: ask again. The job's time limit ends a wait in vain. */
static void
find(struct name_client *c, const char *prefix, uint32_t rank)
{
	const struct startup *s = atoll_startup();
	const struct placement *p = (const struct placement *)(uintptr_t)s->placement + rank;
	uint32_t cluster = 0, port = 0;
	char name[32];
	int result;

	snprintf(name, sizeof(name), "%s%u", prefix, rank);
	while ((result = name_lookup(c, name, &cluster, &port)) == -E_NOENT)
		kthread_yield();
	expect(result, 0, "look up");
	expect(cluster, p->cluster, "cluster");
	expect(port, s->base_port + p->local_rank, "port");
}

static void
add(struct name_client *c, const char *prefix)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%u", prefix, atoll_startup()->rank);
	expect(name_register(c, name, c->port), 0, "register");
	expect(name_register(c, name, c->port + 1), -E_EXIST, "register twice");
}

/*
 * Rank 0: send the others home; then only the two names of each rank of this process are left, and
 * the word.
 */
static void
send_home(struct name_client *c)
{
	const struct startup *s = atoll_startup();
	const struct placement *place = (const struct placement *)(uintptr_t)s->placement;
	uint32_t names = 0, here = 0;
	int result;

	for (uint32_t r = 0; r < s->ranks; r++) {
		find(c, "found", r);
		here += place[r].cluster == s->cluster;
	}
	expect(name_count(c, &names), 0, "count");
	expect(names, 2 * s->ranks, "names of all ranks");
	add(c, "home");
	while ((result = name_count(c, &names)) == 0 && names != 2 * here + 1)
		kthread_yield();
	expect(result, 0, "count");
}

int
main(void)
{
	const struct startup *s = atoll_startup();
	uint32_t port = s->base_port + s->local_rank;
	struct name_client c;
	long in = kmailbox_create((int)port);

	expect(in >= 0, 1, "create a mailbox");
	expect(name_open(&c, (int)in, port), 0, "open the client");
	if (s->rank == 0)
		try_nonsense(&c);
	add(&c, "rank");
	for (uint32_t r = 0; r < s->ranks; r++)
		find(&c, "rank", r);
	add(&c, "found");
	if (s->rank == 0)
		send_home(&c);
	else
		find(&c, "home", 0);
	name_close(&c);
	return verdict();
}
