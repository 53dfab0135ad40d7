/* SPDX-License-Identifier: MIT
 *
 * Every rank registers itself with the name server and finds all others. Rank 0 also sends requests that make no sense.
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>

static int failures;

static void
expect(long have, long want, const char *what)
{
	if (have == want)
		return;
	printf("FAIL rank %u: %s: %ld instead of %ld\n", atoll_startup()->rank, what, have, want);
	failures++;
}

/* The server answers each of these with an error, and the next sound request as if nothing had been. */
static void
try_nonsense(struct name_client *c)
{
	unsigned char garbage[MAILBOX_MSG_SIZE];
	struct name_reply reply;
	uint32_t cluster, port;

	memset(garbage, 0xff, sizeof(garbage));
	((struct name_request *)(void *)garbage)->reply_port = c->port;
	expect(mailbox_send(c->out, garbage), 0, "send garbage");
	expect(mailbox_receive(c->in, NAME_CLUSTER, &reply), 0, "an answer to garbage");
	expect(reply.error, -E_INVAL, "the answer to garbage");
	((struct name_request *)(void *)garbage)->reply_port = 4000000;
	expect(mailbox_send(c->out, garbage), 0, "send garbage without a way back");
	expect(name_lookup(c, "nobody", &cluster, &port), -E_NOENT, "an unknown name");
	expect(name_lookup(c, "", &cluster, &port), -E_INVAL, "an empty name");
	expect(name_unregister(c, "nobody"), -E_NOENT, "forget an unknown name");
	expect(name_register(c, "far", 4000), -E_INVAL, "a port that does not exist");
}

/* Others may not have registered yet: ask again. */
static void
find(struct name_client *c, uint32_t rank)
{
	const struct startup *s = atoll_startup();
	const struct placement *p = (const struct placement *)(uintptr_t)s->placement + rank;
	uint32_t cluster = 0, port = 0;
	char name[32];
	int result;

	snprintf(name, sizeof(name), "rank%u", rank);
	while ((result = name_lookup(c, name, &cluster, &port)) == -E_NOENT)
		kthread_yield();
	expect(result, 0, "look up");
	expect(cluster, p->cluster, "cluster");
	expect(port, s->base_port + p->local_rank, "port");
}

int
main(void)
{
	const struct startup *s = atoll_startup();
	uint32_t port = s->base_port + s->local_rank;
	struct name_client c;
	char name[32];
	long in = kmailbox_create((int)port);

	expect(in >= 0, 1, "create a mailbox");
	expect(name_open(&c, (int)in, port), 0, "open the client");
	if (s->rank == 0)
		try_nonsense(&c);
	snprintf(name, sizeof(name), "rank%u", s->rank);
	expect(name_register(&c, name, port), 0, "register");
	expect(name_register(&c, name, port + 1), -E_EXIST, "register twice");
	for (uint32_t r = 0; r < s->ranks; r++)
		find(&c, r);
	name_close(&c);
	printf("%s rank %u\n", failures ? "FAIL" : "ok", s->rank);
	return failures != 0;
}
