/* SPDX-License-Identifier: MIT
 *
 * Every rank uses the device servers: random bytes, in messages and through a portal, and the
 * console's input.
 *
 * usage: devices [nonsense] [random] [console] [leave]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/device/client.h>
#include "expect.h"

#define BLOCK 5000

static unsigned char text[BLOCK], more[BLOCK];
static int in, portal;
static uint32_t port;

static void
connect(struct device_client *c, uint32_t class)
{
	expect(device_connect(c, class, in, portal, port), 0, "connect");
}

static void
random_bytes(void)
{
	struct device_client c;
	unsigned seen[256] = {0}, different = 0;
	long d;

	connect(&c, DEVICE_RANDOM);
	d = device_open(&c);
	expect(device_read(&c, d, text, BLOCK), BLOCK, "random bytes");
	expect(device_read(&c, d, more, 40), 40, "a few random bytes");
	expect(memcmp(text, more, 40) != 0, 1, "they differ");
	for (unsigned i = 0; i < BLOCK; i++)
		different += seen[text[i]]++ == 0;
	expect(different > 200, 1, "different bytes");
	expect(device_write(&c, d, text, 4), -E_ACCES, "write random bytes");
	expect(device_close(&c, d), 0, "close");
	device_disconnect(&c);
}

/* What a job leaves open is closed for it: one after the other has room. */
static void
leave(void)
{
	struct device_client c;

	connect(&c, DEVICE_RANDOM);
	for (int i = 0; i < 3; i++)
		expect(device_open(&c) >= 0, 1, "open and leave open");
}

/* Requests that make no sense are answered, and harm nobody. */
static void
nonsense(void)
{
	struct device_request q = {.magic = DEVICE_MAGIC, .reply_port = port, .handle = 0xffffffff,
		.count = 0xffffffff, .bulk_port = DEVICE_NO_BULK};
	struct device_client c;
	struct device_reply r;

	connect(&c, DEVICE_RANDOM);
	memset(q.data, 'x', sizeof(q.data));
	for (q.op = 0; q.op < 9; q.op++) {
		if (q.op == DEVICE_FORGET || q.op == DEVICE_OPEN)
			continue;
		q.id = c.next_id++;
		expect(mailbox_send(c.out, &q), 0, "send nonsense");
		expect(mailbox_receive_answer(c.in, DEVICE_CLUSTER, &r), 0, "an answer to it");
		expect(r.error < 0 && r.id == q.id, 1, "what the answer says");
	}
	q.op = DEVICE_READ;		/* that nobody takes */
	q.handle = (uint32_t)device_open(&c);
	q.count = 1000;
	q.bulk_port = 7;
	q.id = c.next_id++;
	expect(mailbox_send(c.out, &q), 0, "ask for bulk data");
	expect(mailbox_receive_answer(c.in, DEVICE_CLUSTER, &r), 0, "an answer");
	expect((long)r.value, 1000, "what it counts");
	q.op = DEVICE_FORGET;
	q.handle = BADGE_JOB + atoll_startup()->job;
	expect(mailbox_send(c.out, &q), 0, "have a job forgotten");
	q.op = DEVICE_READ;
	q.reply_port = 4000000;
	expect(mailbox_send(c.out, &q), 0, "send it without a way back");
	device_disconnect(&c);
}

/* Echo what is typed, up to a line that says "end". */
static void
console(void)
{
	struct device_client c;
	size_t have = 0;
	long d, n;

	connect(&c, DEVICE_CONSOLE);
	d = device_open(&c);
	while (have < 4 || memcmp(text + have - 4, "end\n", 4) != 0) {
		n = device_read(&c, d, text + have, 50);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	expect(device_write(&c, d, text, have), (long)have, "echo");
	device_disconnect(&c);
}

int
main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();

	port = s->base_port + s->local_rank;
	in = (int)kmailbox_create((int)port);
	portal = (int)kportal_create((int)port);
	expect(in > 0 && portal > 0, 1, "own ports");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "leave") == 0)
			leave();
		else if (strcmp(argv[i], "nonsense") == 0)
			nonsense();
		else if (strcmp(argv[i], "random") == 0)
			random_bytes();
		else if (strcmp(argv[i], "console") == 0)
			console();
	}
	return verdict();
}
