/* SPDX-License-Identifier: MIT
 *
 * Mailbox: two threads of one cluster send each other messages of MAILBOX_MSG_SIZE bytes, there and
 * back. The order of the kernel's functions for or1k (hal/cpu/or1k/order/hot) comes from profiles
 * of other programs: this one tells what that order brings where it was not made for. Window 0: all
 * round trips. usage: mailbox [--rounds N].
 */
#include "kit.h"

#define BYTES MAILBOX_MSG_SIZE

struct side {
	int in, out;		/* mailboxes */
	unsigned char message[BYTES];
};

static struct side near_side, far_side;
static uint32_t cluster;
static long rounds;

static int
checked(long id)
{
	if (id < 0)
		give_up("no mailbox", id);
	return (int)id;
}

/* The two highest ports of this cluster: servers have the lowest. */
static void
mailboxes_open(void)
{
	struct cluster_info info = {0};
	int port;

	kcluster_info(&info);
	cluster = info.cluster;
	port = (int)info.mailbox_ports - 2;
	near_side.in = checked(kmailbox_create(port));
	far_side.in = checked(kmailbox_create(port + 1));
	near_side.out = checked(kmailbox_open((int)cluster, port + 1));
	far_side.out = checked(kmailbox_open((int)cluster, port));
}

static void
mailboxes_close(void)
{
	const int ids[] = {near_side.out, far_side.out, near_side.in, far_side.in};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		khandle_close(ids[i]);
}

static void
send(struct side *s)
{
	int error = mailbox_send(s->out, s->message);

	if (error != 0)
		give_up("a message was not sent", error);
}

static void
receive(struct side *s)
{
	int error = mailbox_receive(s->in, (int)cluster, s->message);

	if (error != 0)
		give_up("a message was not received", error);
}

/* Everything comes back, one higher. */
static void
answer(void *arg)
{
	(void)arg;
	for (long i = 0; i < rounds; i++) {
		receive(&far_side);
		far_side.message[i % BYTES]++;
		send(&far_side);
	}
}

int
main(int argc, char **argv)
{
	uint64_t begin, ns;
	uint32_t sum = 0;
	int tid;

	rounds = number(argc, argv, "--rounds", 20);
	mailboxes_open();
	tid = start(answer, NULL);
	begin = now_ns();
	window_open(0);
	for (long i = 0; i < rounds; i++) {
		send(&near_side);
		receive(&near_side);
	}
	window_close(0);
	ns = now_ns() - begin;
	join(tid);
	mailboxes_close();
	for (size_t i = 0; i < BYTES; i++)
		sum += near_side.message[i];
	if (sum != (uint32_t)rounds)
		give_up("messages were lost", (long)sum);
	row("mailbox", ns, (uint64_t)rounds, "");
	return 0;
}
