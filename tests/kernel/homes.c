/* SPDX-License-Identifier: MIT
 *
 * Core 0 of a cluster becomes a time-sharing core and a kernel core again while another cluster
 * sends it messages. A thread computes there without a call and without a tick: each message
 * interrupts it, or nobody would take it.
 *
 * machine: 2 3 KC
 * machine: 2 3 TC
 */
#include <tests/kernel/ktest.h>

#define PORT_ASK 1
#define PORT_ANSWER 2
#define MESSAGES 200
#define US 1000ull

static uint32_t laps;

static unsigned long
computes(unsigned long arg)
{
	for (;;) {
		kt_compute((uint32_t)arg, 10);
		__atomic_fetch_add(&laps, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

/* The thread gets on, on core 0 or not. */
static bool
gets_on(long tid, bool on_core_0)
{
	uint32_t before = __atomic_load_n(&laps, __ATOMIC_RELAXED);
	struct thread_counts c;
	long e;

	do {
		kthread_sleep(WAKE_ANY, kt_now() + 100 * US);
		e = kthread_stats((int)tid, 0, &c);
	} while (e == -E_AGAIN || (e == 0 && (c.core == 0) != on_core_0) ||
		__atomic_load_n(&laps, __ATOMIC_RELAXED) == before);
	return e == 0;
}

/* Cluster 1: changes the role of its core 0 with each message, and says whether it went well. */
static int
answers(void)
{
	int in = (int)kmailbox_create(PORT_ASK), out = (int)kmailbox_open(0, PORT_ANSWER),
		authority = atoll_startup()->authority;
	unsigned char m[MAILBOX_MSG_SIZE] = {0};
	bool shared = kcore_role(authority, 1, ROLE_TC) == 0 &&
		kcore_role(authority, 0, ROLE_TC) == 0;
	long tid = kt_thread(computes, 1, 0);

	for (;;) {
		bool well = gets_on(tid, shared);

		if (mailbox_receive(in, 0, m) != 0)
			return 1;
		if (m[0] % 4 == 3) {
			shared = !shared;
			well = well && kcore_role(authority, 0, shared ? ROLE_TC : ROLE_KC) == 0;
		}
		m[1] = well;
		if (mailbox_send(out, m) != 0)
			return 1;
	}
}

TEST(core_0_hears_other_clusters_whatever_it_is)
{
	int out, in = (int)kmailbox_create(PORT_ANSWER);
	unsigned char m[MAILBOX_MSG_SIZE] = {0};

	do
		out = (int)kmailbox_open(1, PORT_ASK);
	while (out == -E_AGAIN);
	for (unsigned i = 0; i < MESSAGES; i++) {
		m[0] = (unsigned char)i;
		expect_eq(mailbox_send(out, m), 0);
		expect_eq(mailbox_receive(in, 1, m), 0);
		expect_eq(m[0], (unsigned char)i);
		expect_eq(m[1], 1);
	}
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (info.cluster != 0)
		return answers();
	RUN(core_0_hears_other_clusters_whatever_it_is);
	kt_end();
}
