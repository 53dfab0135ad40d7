/* SPDX-License-Identifier: MIT
 *
 * All ranks but one compute without a pause, some on the cores of servers. Rank 1, which is not in
 * the name server's cluster, asks for names, and is answered.
 */
#include <atoll/kcalls.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>
#include "tell.h"

#define QUESTIONS 100
#define BIT 4
#define ASKS 1				/* the rank */

static void
ask(int in)
{
	const struct startup *s = atoll_startup();
	struct name_client c;

	for (uint32_t r = 1; r < s->ranks; r++)
		hear(in);
	expect(name_open(&c, BIT), 0, "open the client");
	for (int i = 0; i < QUESTIONS; i++)
		expect(name_count(&c) >= 0, 1, "an answer");
	name_close(&c);
	for (uint32_t r = 0; r < s->ranks; r++)
		if (r != ASKS)
			tell(r);
}

static void
compute(int in)
{
	char message[MAILBOX_MSG_SIZE];
	struct mail_sender from;
	volatile unsigned turns = 0;

	tell(ASKS);
	while (kmailbox_read(in, ANY_SOURCE_CLUSTER, message, &from) < 0)
		for (unsigned end = turns + 100000; turns != end;)
			turns = turns + 1;
}

int
main(void)
{
	const struct startup *s = atoll_startup();
	uint32_t port = s->base_port + s->local_rank;
	int in = (int)kmailbox_create((int)port);

	expect(in >= 0, 1, "create a mailbox");
	if (s->rank == ASKS)
		ask(in);
	else
		compute(in);
	return verdict();
}
