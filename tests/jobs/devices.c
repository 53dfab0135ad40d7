/* SPDX-License-Identifier: MIT
 *
 * Every rank uses the device servers: files of the host, random bytes, the console's input. What
 * the host wrote is read in messages and through a portal; what the rank writes the host reads.
 *
 * usage: devices [nonsense] [files BYTES] [random] [console] [leave]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/device/client.h>
#include "expect.h"

#define BYTES_MAX 200000
#define BLOCK 5000

static unsigned char text[BYTES_MAX], more[BYTES_MAX];
static int in, portal;
static uint32_t port;

static unsigned char
byte_at(size_t i)
{
	return (unsigned char)(i * 31 + i / 251);
}

static int
is_good(const unsigned char *at, size_t offset, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] != byte_at(offset + i))
			return 0;
	return 1;
}

static void
connect(struct device_client *c, uint32_t class)
{
	expect(device_connect(c, class, in, portal, port), 0, "connect");
}

static void
read_file(struct device_client *c, size_t bytes)
{
	uint64_t size = 0;
	long f = device_open(c, "given/data", 0, &size), n;

	expect(f >= 0, 1, "open the host's file");
	expect((long)size, (long)bytes, "its size");
	expect(device_read(c, f, 0, text, sizeof(text)), (long)bytes, "read all");
	expect(is_good(text, 0, bytes), 1, "what was read");
	for (size_t at = 3; at < bytes; at += BLOCK) {
		n = device_read(c, f, at, text, 60);
		expect(n, (long)(bytes - at < 60 ? bytes - at : 60), "read a little");
		expect(is_good(text, at, (size_t)n), 1, "a little");
	}
	expect(device_read(c, f, bytes, text, 10), 0, "read at the end");
	expect(device_write(c, f, 0, "x", 1) < 0, 1, "write without a right");
	expect(device_close(c, f), 0, "close");
	expect(device_read(c, f, 0, text, 10), -E_BADF, "read after the close");
	expect(device_close(c, f), -E_BADF, "close twice");
}

static void
write_file(struct device_client *c)
{
	char name[32];
	uint64_t size = 1;
	long f;

	snprintf(name, sizeof(name), "/made/by-%u.%u", atoll_startup()->rank,
		atoll_startup()->job);
	expect(device_open(c, name, DEVICE_WRITABLE, NULL), -E_NOENT, "open what is not there");
	f = device_open(c, name, DEVICE_WRITABLE | DEVICE_CREATE, &size);
	expect(f >= 0, 1, "make a file");
	for (size_t i = 0; i < BLOCK; i++)
		text[i] = byte_at(i);
	expect(device_write(c, f, 0, text, BLOCK), BLOCK, "write");
	expect(device_read(c, f, 0, more, sizeof(more)), BLOCK, "read it back");
	expect(is_good(more, 0, BLOCK), 1, "what came back");
	expect(device_close(c, f), 0, "close what was written");
	f = device_open(c, name, 0, &size);
	expect((long)size, BLOCK, "size of what was written");
	expect(device_close(c, f), 0, "close again");
}

static void
files(size_t bytes)
{
	struct device_client c;

	connect(&c, DEVICE_FILES);
	read_file(&c, bytes);
	write_file(&c);
	expect(device_open(&c, "../data", 0, NULL), -E_INVAL, "a name that leads out");
	expect(device_open(&c, "nothing", 0, NULL), -E_NOENT, "no such file");
	expect(device_read(&c, 77777, 0, text, 5), -E_BADF, "no such handle");
	device_disconnect(&c);
}

static void
random_bytes(void)
{
	struct device_client c;
	unsigned seen[256] = {0}, different = 0;
	long d;

	connect(&c, DEVICE_RANDOM);
	d = device_open(&c, "", 0, NULL);
	expect(device_read(&c, d, 0, text, BLOCK), BLOCK, "random bytes");
	expect(device_read(&c, d, 0, more, 40), 40, "a few random bytes");
	expect(memcmp(text, more, 40) != 0, 1, "they differ");
	for (unsigned i = 0; i < BLOCK; i++)
		different += seen[text[i]]++ == 0;
	expect(different > 200, 1, "different bytes");
	expect(device_write(&c, d, 0, text, 4), -E_ACCES, "write random bytes");
	expect(device_close(&c, d), 0, "close");
	device_disconnect(&c);
}

/* What a job leaves open is closed for it: one after the other has room. */
static void
leave(void)
{
	struct device_client c;

	connect(&c, DEVICE_FILES);
	for (int i = 0; i < 3; i++)
		expect(device_open(&c, "given/data", 0, NULL) >= 0, 1, "open and leave open");
}

/* Requests that make no sense are answered, and harm nobody. */
static void
nonsense(void)
{
	struct device_request q = {.magic = DEVICE_MAGIC, .reply_port = port, .handle = 0xffffffff,
		.count = 0xffffffff, .bulk_port = DEVICE_NO_BULK};
	struct device_client c;
	struct device_reply r;

	connect(&c, DEVICE_FILES);
	memset(q.data, 'x', sizeof(q.data));
	for (q.op = 0; q.op < 9; q.op++) {
		if (q.op == DEVICE_FORGET)
			continue;
		q.id = c.next_id++;
		expect(mailbox_send(c.out, &q), 0, "send nonsense");
		expect(mailbox_receive_answer(c.in, DEVICE_CLUSTER, &r), 0, "an answer to it");
		expect(r.error < 0 && r.id == q.id, 1, "what the answer says");
	}
	q.op = DEVICE_READ;		/* that nobody takes */
	q.handle = (uint32_t)device_open(&c, "given/data", 0, NULL);
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
	d = device_open(&c, "", 0, NULL);
	while (have < 4 || memcmp(text + have - 4, "end\n", 4) != 0) {
		n = device_read(&c, d, 0, text + have, 50);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	expect(device_write(&c, d, 0, text, have), (long)have, "echo");
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
		if (strcmp(argv[i], "files") == 0 && i + 1 < argc)
			files(strtoul(argv[++i], NULL, 10));
		else if (strcmp(argv[i], "leave") == 0)
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
