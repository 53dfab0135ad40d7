/* SPDX-License-Identifier: MIT
 *
 * Two clusters and what lies between them, in little: messages and blocks go to cluster 1 and come
 * back as they were. Short enough for RTL; there the windows say what a round trip costs: 16 a
 * message each way, 17 a block of the portal's unit each way.
 *
 * machine: 2 2 KC
 */
#include <hal/perf.h>
#include <tests/kernel/ktest.h>

#define PORT_TO 1
#define PORT_BACK 2
#define PORT_BLOCK 3
#define ROUNDS 10
#define BLOCKS 4
#define BLOCK 4096

static unsigned char message[MAILBOX_MSG_SIZE], block[BLOCK];
static int to, back, portal, portal_out;	/* ids */

static void
ports_open(unsigned self, unsigned peer)
{
	back = (int)kmailbox_create(self == 0 ? PORT_BACK : PORT_TO);
	to = (int)kmailbox_open(peer, self == 0 ? PORT_TO : PORT_BACK);
	portal = (int)kportal_create(PORT_BLOCK);
	portal_out = (int)kportal_open(peer, PORT_BLOCK, PORT_BLOCK);
}

static void
fill(unsigned char *bytes, size_t len, unsigned round)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (unsigned char)(i * 7 + round);
}

static unsigned
wrong(const unsigned char *bytes, size_t len, unsigned round)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += bytes[i] != (unsigned char)(i * 7 + round);
	return n;
}

/* Cluster 1: everything comes back; then it waits for what never comes. */
static int
mirror(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		if (mailbox_receive(back, 0, message) != 0 || mailbox_send(to, message) != 0)
			return 1;
	for (unsigned i = 0; i < BLOCKS; i++)
		if (kportal_allow(portal, 0, PORT_BLOCK) != 0 ||
			kportal_read(portal, (unsigned long)block, BLOCK, FOREVER) != BLOCK ||
			kportal_write(portal_out, (unsigned long)block, BLOCK, FOREVER) != BLOCK)
			return 1;
	return mailbox_receive(back, 0, message);
}

TEST(messages_cross_the_network_and_come_back)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		fill(message, sizeof(message), i);
		hal_mark(16);
		hal_mark(MARK_BEGIN);
		expect_eq(mailbox_send(to, message), 0);
		expect_eq(mailbox_receive(back, 1, message), 0);
		hal_mark(MARK_END);
		expect_eq(wrong(message, sizeof(message), i), 0);
	}
}

TEST(blocks_cross_the_network_and_come_back)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill(block, BLOCK, i);
		expect_eq(kportal_allow(portal, 1, PORT_BLOCK), 0);
		hal_mark(17);
		hal_mark(MARK_BEGIN);
		expect_eq(kportal_write(portal_out, (unsigned long)block, BLOCK, FOREVER), BLOCK);
		fill(block, 1, i + 1);
		expect_eq(kportal_read(portal, (unsigned long)block, BLOCK, FOREVER), BLOCK);
		hal_mark(MARK_END);
		expect_eq(wrong(block, BLOCK, i), 0);
	}
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	ports_open((unsigned)info.cluster, 1 - (unsigned)info.cluster);
	if (info.cluster != 0)
		return mirror();
	RUN(messages_cross_the_network_and_come_back);
	RUN(blocks_cross_the_network_and_come_back);
	kt_end();
}
