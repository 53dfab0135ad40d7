/* SPDX-License-Identifier: MIT
 *
 * Mailboxes and portals between clusters, from user mode: an echo server in cluster 1, a cluster 2
 * that dies. Bad addresses and ids; nothing is lost. A message that nobody reads lies in each
 * direction all the time, and a thread wants to write to a portal that nobody reads: where clusters
 * have one connector for mailboxes and one for portals, everything else goes past them.
 *
 * machine: 3 4 KC
 * machine: 3 2 TC
 * machine: 3 1 TC
 * machine: 3 2 TC 64 1
 * machine: 3 1 TC 64 1
 */
#include <tests/kernel/ktest.h>

#define PORT_COMMAND 1
#define PORT_REPLY 2
#define PORT_DATA 3
#define PORT_DEAD 5
#define PORT_COUNTED 6
#define PORT_FORWARDED 8
#define PORT_UNREAD 9
#define PORT_NOBODY 10			/* of a portal */
#define LENGTH (300 * 1024 + 5)
#define BAD ((void *)8)

enum operation { ECHO = 1, SEND, TAKE, DIE };
enum role { READER = 1, SPEAKER, CHILD };

struct message {
	uint32_t operation;
	uint32_t sender;
	uint64_t number;
	unsigned char rest[MAILBOX_MSG_SIZE - 16];
};

static unsigned char data[LENGTH + 64];

static unsigned char
pattern(uint64_t i)
{
	return (unsigned char)(i * 7 + (i >> 8) * 3 + 1);
}

static uint64_t
wrong_bytes(uint64_t len)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < len; i++)
		wrong += data[i] != pattern(i);
	return wrong;
}

/* Whoever sends this has no connector at the other cluster any more, if it had one. */
static int
write_what_nobody_reads(int cluster)
{
	struct message m = {.operation = ECHO};

	return mailbox_send((int)kmailbox_open(cluster, PORT_UNREAD), &m);
}

/* --- cluster 1: answers what cluster 0 asks --- */

static void
serve(struct message *m, int portal_in, int portal_out)
{
	switch (m->operation) {
	case SEND:
		for (uint64_t i = 0; i < m->number; i++)
			data[i] = pattern(i);
		m->number = (uint64_t)kportal_write(portal_out, (unsigned long)data,
			(unsigned long)m->number, FOREVER);
		break;
	case TAKE:
		kportal_allow(portal_in, 0, PORT_DATA);
		m->number = (uint64_t)kportal_read(portal_in, (unsigned long)data,
			(unsigned long)m->number, FOREVER);
		m->sender = (uint32_t)wrong_bytes((int64_t)m->number < 0 ? 0 : m->number);
		break;
	default:
		break;
	}
}

/* Cluster 0 allows it, and never reads. */
static unsigned long
writes_for_nobody(unsigned long unused)
{
	(void)unused;
	return (unsigned long)kportal_write((int)kportal_open(0, PORT_NOBODY, PORT_NOBODY),
		(unsigned long)data, LENGTH, FOREVER);
}

static int
echo_server(void)
{
	int in = (int)kmailbox_create(PORT_COMMAND), out = (int)kmailbox_open(0, PORT_REPLY);
	int portal_in = (int)kportal_create(PORT_DATA),
		portal_out = (int)kportal_open(0, PORT_DATA, PORT_DATA);
	struct message m;

	if (write_what_nobody_reads(0) != 0)
		return 1;
	kt_thread(writes_for_nobody, 0, ANY_CORE);
	for (;;) {
		if (mailbox_receive(in, ANY_SOURCE_CLUSTER, &m) != 0)
			return 1;
		serve(&m, portal_in, portal_out);
		if (mailbox_send(out, &m) != 0)
			return 1;
	}
}

/* --- cluster 2: waits for the word to die --- */

static int
mortal(void)
{
	struct message m;
	int in = (int)kmailbox_create(PORT_COMMAND);

	return mailbox_receive(in, 0, &m);
}

/* --- cluster 0 --- */

static int command, reply, portal;
static struct mail_sender from;

static struct message
ask(uint32_t operation, uint64_t number)
{
	struct message m = {.operation = operation, .number = number};

	for (unsigned i = 0; i < sizeof(m.rest); i++)
		m.rest[i] = pattern(number + i);
	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(mailbox_receive(reply, 1, &m), 0);
	return m;
}

TEST(messages_come_back_as_they_were)
{
	command = (int)kmailbox_open(1, PORT_COMMAND);
	reply = (int)kmailbox_create(PORT_REPLY);
	expect(command >= 0 && reply >= 0);
	expect_eq(write_what_nobody_reads(1), 0);
	for (uint64_t n = 0; n < 300; n++) {
		struct message m = ask(ECHO, n);
		int wrong = m.number != n;

		for (unsigned i = 0; i < sizeof(m.rest); i++)
			wrong += m.rest[i] != pattern(n + i);
		expect_eq(wrong, 0);
	}
}

TEST(a_message_is_not_lost_to_a_bad_address)
{
	struct message m = {.operation = ECHO};
	void *bad;

	for (m.number = 0; m.number < 3; m.number++)
		expect_eq(mailbox_send(command, &m), 0);
	expect(kmailbox_wait(reply, 1, FOREVER) >= 0);
	while ((bad = kt_bad_place(sizeof(m))) != NULL)
		expect_eq(kmailbox_read(reply, 1, bad, &from), -E_FAULT);
	while ((bad = kt_bad_place(sizeof(from))) != NULL)
		expect_eq(kmailbox_read(reply, 1, &m, bad), -E_FAULT);
	for (uint64_t n = 0; n < 3; n++) {
		expect_eq(n == 0 ? kmailbox_read(reply, 1, &m, &from) :
			mailbox_receive(reply, 1, &m), n == 0);
		expect_eq(m.number, n);
	}
}

static unsigned long
sender(unsigned long count)
{
	struct message m = {.operation = ECHO};
	unsigned long failed = 0;

	for (m.number = 0; m.number < count; m.number++)
		failed += mailbox_send(command, &m) != 0;
	return failed;
}

TEST(several_threads_share_a_slot)
{
	long tid[3];
	struct message m;

	for (int i = 0; i < 3; i++)
		tid[i] = kt_thread(sender, 50, ANY_CORE);
	for (int i = 0; i < 150; i++)
		expect_eq(mailbox_receive(reply, ANY_SOURCE_CLUSTER, &m), 0);
	for (int i = 0; i < 3; i++)
		expect_eq(kt_join(tid[i]), 0);
	expect_eq(kmailbox_read(reply, ANY_SOURCE_CLUSTER, &m, &from), -E_AGAIN);
}

/* test: mailbox_create, mailbox_open, mailbox_write, mailbox_read, mailbox_wait */
TEST(mailbox_calls_refuse_bad_arguments)
{
	struct message m;
	uint64_t before = kt_stats(STATS_MAILBOXES);
	long id;

	expect_eq(kmailbox_create(-1), -E_INVAL);
	expect_eq(kmailbox_create(100000), -E_INVAL);
	expect_eq(kmailbox_create(PORT_REPLY), -E_BUSY);
	expect_eq(kmailbox_open(3, 0), -E_INVAL);
	expect_eq(kmailbox_open(0, 100000), -E_INVAL);
	expect_eq(kmailbox_write(command, BAD), -E_FAULT);
	expect_eq(kmailbox_read(reply, ANY_SOURCE_CLUSTER, &m, &from), -E_AGAIN);
	expect_eq(kmailbox_read(reply, 77, &m, &from), -E_INVAL);
	expect_eq(kmailbox_read(command, 1, &m, &from), -E_BADF);
	expect_eq(kmailbox_write(reply, &m), -E_BADF);
	expect_eq(kmailbox_wait(12345, ANY_SOURCE_CLUSTER, FOREVER), -E_BADF);
	id = kmailbox_open(0, PORT_REPLY);
	expect_eq(kmailbox_write((int)id, &m), 0);
	expect_eq(kmailbox_read(reply, 0, BAD, &from), -E_FAULT);
	expect_eq(kmailbox_read(reply, 0, &m, &from), 0);
	expect_eq(from.cluster, 0);
	expect_eq(from.badge, BADGE_INIT);
	expect_eq(khandle_close((int)id), 0);
	expect_eq(kt_stats(STATS_MAILBOXES), before);
}

static uint32_t listens;

/* Has itself told of arrivals in another's place and sleeps until a message has come. */
static unsigned long
listener(unsigned long id)
{
	struct message m;
	long result = kevent_bind(EVENT_MAILBOX, (int)id, 4);

	__atomic_store_n(&listens, 1, __ATOMIC_RELEASE);
	while (result == 0 && kmailbox_read((int)id, ANY_SOURCE_CLUSTER, &m, &from) < 0)
		expect_eq(kthread_sleep(WAKE_ANY, FOREVER), 16);
	return result == 0 ? (unsigned long)m.number : 0;
}

/* test: event_bind */
TEST(an_arrival_is_told_to_who_bound_it_last)
{
	struct message m = {.operation = ECHO, .number = 77};
	long tid;

	expect_eq(kevent_bind(EVENT_MAILBOX, reply, 1), 0);
	tid = kt_thread(listener, (unsigned long)reply, ANY_CORE);
	while (__atomic_load_n(&listens, __ATOMIC_ACQUIRE) == 0)
		kthread_yield();
	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(kt_join(tid), 77);
	expect_eq(kevent_bind(EVENT_MAILBOX, reply, -1), 0);
	expect_eq(kevent_bind(EVENT_MAILBOX, reply, -2), -E_INVAL);
	expect_eq(kevent_bind(EVENT_MAILBOX, reply, 31), -E_INVAL);
	expect_eq(kevent_bind(EVENT_MAILBOX, command, 0), -E_BADF);
	expect_eq(kevent_bind(EVENT_MAILBOX, 12345, 0), -E_BADF);
	expect_eq(kevent_bind(EVENT_CLUSTER, 0, 0), -E_INVAL);
	expect_eq(kevent_bind(99, 0, 0), -E_INVAL);
}

static unsigned long
ends(unsigned long arg)
{
	return arg;
}

/*
 * A server's wait: a message, the ends of a child and of a thread, and time, all at once. test:
 * event_bind, thread_sleep
 */
TEST(a_thread_sleeps_for_all_its_sources_at_once)
{
	struct message m = {.operation = ECHO, .number = 78};
	long proc = kt_spawn(READER, 0, ANY_CORE), tid = kt_thread(ends, 3, ANY_CORE), seen = 0;
	struct proc_status status;
	uint64_t now, value;

	expect_eq(kevent_bind(EVENT_MAILBOX, reply, 0), 0);
	expect_eq(kevent_bind(EVENT_PROC, (int)proc, 1), 0);
	expect_eq(kevent_bind(EVENT_THREAD, (int)tid, 2), 0);
	expect_eq(kevent_bind(EVENT_PROC, 77, 1), -E_BADF);
	expect_eq(kevent_bind(EVENT_THREAD, 77, 1), -E_BADF);
	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(kproc_kill((int)proc, 9), 0);
	while (seen != 7) {
		long bits = kthread_sleep(WAKE_ANY, FOREVER);

		expect(bits > 0 && (bits & ~7) == 0);
		seen |= bits;
	}
	kclock(&now);
	expect_eq(kthread_sleep(8, now + 100000), -E_TIMEDOUT);
	expect_eq(kthread_wakeup((int)kthread_self(), 24), 0);
	expect_eq(kthread_sleep(8, FOREVER), 8);
	expect_eq(kthread_sleep(WAKE_ANY, FOREVER), 16);
	expect_eq(kthread_wakeup((int)kthread_self(), 0), -E_INVAL);
	expect_eq(kthread_wakeup((int)kthread_self(), 1u << 31), -E_INVAL);
	expect_eq(kmailbox_read(reply, ANY_SOURCE_CLUSTER, &m, &from), 1);
	expect_eq(kthread_join((int)tid, &value, FOREVER), 0);
	expect_eq(kproc_wait((int)proc, &status, FOREVER), 0);
	/* what has come already is told at once */
	tid = kt_thread(ends, 3, ANY_CORE);
	while (kevent_bind(EVENT_THREAD, (int)tid, 6) == 0 && kthread_sleep(64, 0) != 64)
		kthread_yield();
	expect_eq(kt_join(tid), 3);
	expect_eq(kevent_bind(EVENT_MAILBOX, reply, -1), 0);
}

TEST(portals_move_data_both_ways)
{
	static const uint64_t sizes[] = {0, 1, 4095, 4096, 4097, 65536, LENGTH};
	int out = (int)kportal_open(1, PORT_DATA, PORT_DATA);

	portal = (int)kportal_create(PORT_DATA);
	expect(portal >= 0 && out >= 0);
	expect_eq(kportal_allow((int)kportal_create(PORT_NOBODY), 1, PORT_NOBODY), 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct message m = {.operation = SEND, .number = sizes[i]};

		for (uint64_t k = 0; k < sizes[i]; k++)
			data[k] = 0;
		expect_eq(kportal_allow(portal, 1, PORT_DATA), 0);
		expect_eq(mailbox_send(command, &m), 0);
		expect_eq(kportal_read(portal, (unsigned long)data, LENGTH, FOREVER), sizes[i]);
		expect_eq(wrong_bytes(sizes[i]), 0);
		expect_eq(mailbox_receive(reply, 1, &m), 0);
		expect_eq(m.number, sizes[i]);
		m = (struct message){.operation = TAKE, .number = LENGTH};
		expect_eq(mailbox_send(command, &m), 0);
		expect_eq(kportal_write(out, (unsigned long)data, (unsigned long)sizes[i], FOREVER),
			sizes[i]);
		expect_eq(mailbox_receive(reply, 1, &m), 0);
		expect_eq(m.number, sizes[i]);
		expect_eq(m.sender, 0);
	}
	expect_eq(khandle_close(out), 0);
}

static unsigned long
wait_elsewhere(unsigned long out)
{
	return (unsigned long)kportal_wait((int)out, 0);
}

/* test: portal_start, portal_wait */
TEST(a_write_is_started_and_completed_later)
{
	static const uint64_t sizes[] = {0, 4095, 65536, LENGTH};
	int out = (int)kportal_open(1, PORT_DATA, PORT_DATA);
	unsigned long at = (unsigned long)data;

	expect_eq(kevent_bind(EVENT_PORTAL, out, 9), 0);
	expect_eq(kportal_wait(out, FOREVER), -E_INVAL);
	expect_eq(kportal_start(out, at, 5), -E_AGAIN);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct message m = {.operation = TAKE, .number = LENGTH};
		long e;

		for (uint64_t k = 0; k < LENGTH; k++)
			data[k] = pattern(k);
		expect_eq(mailbox_send(command, &m), 0);
		while ((e = kportal_start(out, at, (unsigned long)sizes[i])) == -E_AGAIN)
			expect_eq(kthread_sleep(1u << 9, FOREVER), 1u << 9);
		expect_eq(e, 0);
		expect_eq(kportal_start(out, at, 1), -E_BUSY);
		expect_eq(kportal_write(out, at, 1, FOREVER), -E_BUSY);
		expect_eq(kt_join(kt_thread(wait_elsewhere, (unsigned long)out, ANY_CORE)),
			-E_INVAL);
		while ((e = kportal_wait(out, 0)) == -E_TIMEDOUT)
			kthread_yield();
		expect_eq(e, sizes[i]);
		expect_eq(mailbox_receive(reply, 1, &m), 0);
		expect_eq(m.number, sizes[i]);
		expect_eq(m.sender, 0);
	}
	expect_eq(khandle_close(out), 0);
}

static unsigned long
starts_and_ends(unsigned long out)
{
	long e;

	while ((e = kportal_start((int)out, (unsigned long)data, LENGTH)) == -E_AGAIN)
		kthread_yield();
	return (unsigned long)e;
}

TEST(a_thread_that_ends_gives_up_what_it_has_started)
{
	struct message m = {.operation = TAKE, .number = LENGTH};
	int out = (int)kportal_open(1, PORT_DATA, PORT_DATA);

	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(kt_join(kt_thread(starts_and_ends, (unsigned long)out, ANY_CORE)), 0);
	expect_eq(mailbox_receive(reply, 1, &m), 0);
	expect_eq((int64_t)m.number, -E_PIPE);
	expect_eq(khandle_close(out), 0);
}

TEST(the_shorter_side_counts)
{
	struct message m = {.operation = SEND, .number = LENGTH};

	expect_eq(kportal_allow(portal, 1, PORT_DATA), 0);
	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(kportal_read(portal, (unsigned long)data, 5000, FOREVER), 5000);
	expect_eq(mailbox_receive(reply, 1, &m), 0);
	expect_eq(m.number, 5000);
}

/* test: portal_create, portal_open, portal_allow, portal_write, portal_read */
TEST(portal_calls_refuse_bad_arguments)
{
	struct message m = {.operation = SEND, .number = 10000};
	uint64_t before = kt_stats(STATS_PORTALS);

	expect_eq(kportal_create(100000), -E_INVAL);
	expect_eq(kportal_create(PORT_DATA), -E_BUSY);
	expect_eq(kportal_open(9, 0, 0), -E_INVAL);
	expect_eq(kportal_open(0, 0, 100000), -E_INVAL);
	expect_eq(kportal_allow(portal, 9, 0), -E_INVAL);
	expect_eq(kportal_allow(command, 1, 0), -E_BADF);
	expect_eq(kportal_read(portal, (unsigned long)data, 5, FOREVER), -E_ACCES);
	expect_eq(kportal_read(portal, (unsigned long)data, ~0ul, FOREVER), -E_INVAL);
	expect_eq(kportal_write(portal, (unsigned long)data, 5, FOREVER), -E_BADF);
	expect_eq(kportal_allow(portal, 1, PORT_DATA), 0);
	expect_eq(mailbox_send(command, &m), 0);
	expect_eq(kportal_read(portal, 8, 5000, FOREVER), -E_FAULT);
	expect_eq(mailbox_receive(reply, 1, &m), 0);
	expect_eq((int64_t)m.number, -E_PIPE);
	expect_eq(kt_stats(STATS_PORTALS), before);
}

TEST(a_killed_reader_leaves_its_port_free)
{
	uint64_t portals = kt_stats(STATS_PORTALS), mailboxes = kt_stats(STATS_MAILBOXES);
	long id;

	for (unsigned i = 0; i < 20; i++) {
		long proc = kt_spawn(READER, i, ANY_CORE);

		expect(proc > 0);
		kt_pause(i * 100);
		expect_eq(kproc_kill((int)proc, 3), 0);
		kt_wait(proc, NULL);
		while ((id = kportal_create(PORT_DATA + 1)) == -E_BUSY)
			kthread_yield();
		expect(id >= 0);
		expect_eq(khandle_close((int)id), 0);
	}
	expect_eq(kt_stats(STATS_PORTALS), portals);
	expect_eq(kt_stats(STATS_MAILBOXES), mailboxes);
}

/*
 * Says something with the badge that it was given, and cannot have another. Its child has the same.
 */
static int
speaker(bool has_child)
{
	static struct message m;
	int failed = kproc_badge(SELF, 6) != -E_BADF;

	if (has_child) {
		long child = kproc_create();

		failed += kproc_badge((int)child, 6) != -E_ACCES;
		failed += kt_spawn_in(child, CHILD, 0, ANY_CORE) != child ||
			kt_wait(child, NULL) != 0;
	}
	return failed + (mailbox_send((int)kmailbox_open(0, PORT_REPLY), &m) != 0);
}

/* test: proc_badge */
TEST(a_process_speaks_with_the_badge_that_it_was_given)
{
	struct message m;
	long proc = kproc_create();

	expect_eq(kproc_badge((int)proc, BADGE_KERNEL), -E_INVAL);
	expect_eq(kproc_badge((int)proc, BADGE_INIT), -E_INVAL);
	expect_eq(kproc_badge(-5, 5), -E_BADF);
	expect_eq(kproc_badge((int)proc, 5), 0);
	expect_eq(kt_spawn_in(proc, SPEAKER, 0, ANY_CORE), proc);
	for (int i = 0; i < 2; i++) {
		expect_eq(kmailbox_wait(reply, 0, FOREVER), 0);
		expect_eq(kmailbox_read(reply, 0, &m, &from), 0);
		expect_eq(from.badge, 5);
	}
	expect_eq(kt_wait(proc, NULL), 0);
	proc = kt_spawn(CHILD, 0, ANY_CORE);
	expect_eq(kmailbox_wait(reply, 0, FOREVER), 0);
	expect_eq(kmailbox_read(reply, 0, &m, &from), 0);
	expect(from.badge > BADGE_INIT);
	expect_eq(kt_wait(proc, NULL), 0);
}

/* test: proc_events */
TEST(what_comes_is_counted_in_a_page_of_the_process)
{
	static struct message m;
	uint64_t at, span[2];
	const volatile struct event_page *events;
	int in, out = (int)kmailbox_open(0, PORT_COUNTED);

	expect_eq(kmem_alloc(SELF, sizeof(*events), PAGE_READ, &at), 0);
	expect_eq(karchive_map(SELF, span), 0);
	events = (const volatile struct event_page *)(uintptr_t)at;
	expect_eq(kproc_events(SELF, (unsigned long)at + 8), -E_INVAL);
	expect_eq(kproc_events(SELF, 0), -E_INVAL);
	expect_eq(kproc_events(-5, (unsigned long)at), -E_BADF);
	expect_eq(kproc_events(SELF, (unsigned long)span[0] & ~(kt_page_bytes() - 1)), -E_ACCES);
	expect_eq(mailbox_send(out, &m), 0);
	expect_eq(kproc_events(SELF, (unsigned long)at), 0);
	expect_eq(kproc_events(SELF, (unsigned long)at), -E_BUSY);
	expect_eq(events->mailbox_arrivals[PORT_COUNTED], 0);
	in = (int)kmailbox_create(PORT_COUNTED);
	while (events->mailbox_arrivals[PORT_COUNTED] != 1)
		kthread_yield();
	expect_eq(kmailbox_read(in, 0, &m, &from), 0);
	expect_eq(mailbox_send(out, &m), 0);
	while (events->mailbox_arrivals[PORT_COUNTED] != 2)
		kthread_yield();
	expect_eq(kmailbox_read(in, 0, &m, &from), 0);
	expect_eq(khandle_close(in), 0);
	expect_eq(khandle_close(out), 0);
}

/* Process that waits for a transfer that nobody will begin. */
static int
reader(void)
{
	int id = (int)kportal_create(PORT_DATA + 1);

	kmailbox_create(PORT_DATA + 1);
	kportal_allow(id, 1, PORT_DATA + 1);
	return (int)kportal_read(id, (unsigned long)data, LENGTH, FOREVER);
}

static unsigned long
watcher(unsigned long cluster)
{
	return (unsigned long)kcluster_watch((int)cluster, FOREVER);
}

static unsigned long
patient(unsigned long id)
{
	return (unsigned long)kmailbox_wait((int)id, ANY_SOURCE_CLUSTER, FOREVER);
}

static unsigned long
portal_reader(unsigned long id)
{
	return (unsigned long)kportal_read((int)id, (unsigned long)data, LENGTH, FOREVER);
}

/* test: mailbox_forward, mailbox_origin */
TEST(a_message_can_be_forwarded_for_whoever_sent_it)
{
	int own = (int)kmailbox_create(PORT_FORWARDED), to = (int)kmailbox_open(0, PORT_FORWARDED);
	struct message m = {.number = 5};
	struct mail_sender origin;
	void *bad;

	ask(ECHO, 3);			/* cluster 1 has answered that */
	expect_eq(kmailbox_origin(&origin), 0);
	expect_eq(origin.cluster, 1);
	expect_eq(kmailbox_forward(to, &m), 0);
	expect_eq(mailbox_receive(own, 0, &m), 0);
	expect_eq(m.number, 5);
	expect_eq(kmailbox_origin(&origin), 0);
	expect_eq(origin.cluster, 1);
	expect_eq(mailbox_send(to, &m), 0);
	expect_eq(mailbox_receive(own, 0, &m), 0);
	expect_eq(kmailbox_origin(&origin), 0);
	expect_eq(origin.cluster, 0);
	expect_eq(kmailbox_forward(own, &m), -E_BADF);
	expect_eq(kmailbox_forward(to, BAD), -E_FAULT);
	while ((bad = kt_bad_place(sizeof(origin))) != NULL)
		expect_eq(kmailbox_origin(bad), -E_FAULT);
	expect_eq(khandle_close(own), 0);
	expect_eq(khandle_close(to), 0);
}

/* test: port_stats */
TEST(what_ports_have_moved_is_counted)
{
	struct port_stats before, after, class;
	void *bad;

	expect_eq(kport_stats(command, 0, &before), 0);
	expect_eq(ask(ECHO, 1).number, 1);
	expect_eq(ask(ECHO, 2).number, 2);
	expect_eq(kport_stats(command, 0, &after), 0);
	expect_eq(after.writes - before.writes, 2);
	expect_eq(after.volume - before.volume, 2 * MAILBOX_MSG_SIZE);
	expect(after.latency_ns > 0);
	expect_eq(kport_stats(0, CLASS_MAILBOX, &class), 0);
	expect(class.writes >= after.writes && class.reads >= 2 && class.opens > 0);
	expect_eq(kport_stats(portal, 0, &after), 0);
	expect(after.reads > 0 && after.volume >= LENGTH);
	expect_eq(kport_stats(0, CLASSES, &after), -E_INVAL);
	expect_eq(kport_stats(SELF, 0, &after), -E_BADF);
	while ((bad = kt_bad_place(sizeof(after))) != NULL)
		expect_eq(kport_stats(command, 0, bad), -E_FAULT);
}

/* test: cluster_watch */
TEST(a_dead_cluster_ends_every_wait_for_it)
{
	struct message m = {.operation = DIE};
	int out = (int)kmailbox_open(2, PORT_COMMAND), dead = (int)kmailbox_open(2, PORT_DEAD);
	long tid[3];

	expect_eq(kcluster_watch(0, FOREVER), -E_INVAL);
	expect_eq(kcluster_watch(-1, FOREVER), -E_INVAL);
	expect_eq(kcluster_watch(3, FOREVER), -E_INVAL);
	expect_eq(kportal_allow(portal, 2, 1), 0);
	expect_eq(mailbox_send(dead, &m), 0);
	tid[0] = kt_thread(watcher, 2, ANY_CORE);
	tid[1] = kt_thread(patient, (unsigned long)dead, ANY_CORE);
	tid[2] = kt_thread(portal_reader, (unsigned long)portal, ANY_CORE);
	kt_pause(1000);
	expect_eq(mailbox_send(out, &m), 0);
	for (int i = 0; i < 3; i++)
		expect_eq(kt_join(tid[i]), -E_HOSTDOWN);
	expect_eq(kmailbox_write(out, &m), -E_HOSTDOWN);
	expect_eq(kmailbox_wait(out, ANY_SOURCE_CLUSTER, FOREVER), -E_HOSTDOWN);
	expect_eq(kportal_allow(portal, 2, 1), -E_HOSTDOWN);
	expect_eq(kcluster_watch(2, FOREVER), -E_HOSTDOWN);
	expect_eq(ask(ECHO, 1).number, 1);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (info.cluster == 1)
		return echo_server();
	if (info.cluster == 2)
		return mortal();
	if (atoll_startup()->job == READER)
		return reader();
	if (atoll_startup()->job != 0)
		return speaker(atoll_startup()->job == SPEAKER);
	RUN(messages_come_back_as_they_were);
	RUN(a_message_is_not_lost_to_a_bad_address);
	RUN(several_threads_share_a_slot);
	RUN(an_arrival_is_told_to_who_bound_it_last);
	RUN(a_thread_sleeps_for_all_its_sources_at_once);
	RUN(mailbox_calls_refuse_bad_arguments);
	RUN(a_process_speaks_with_the_badge_that_it_was_given);
	RUN(what_comes_is_counted_in_a_page_of_the_process);
	RUN(portals_move_data_both_ways);
	RUN(a_write_is_started_and_completed_later);
	RUN(a_thread_that_ends_gives_up_what_it_has_started);
	RUN(the_shorter_side_counts);
	RUN(portal_calls_refuse_bad_arguments);
	RUN(a_killed_reader_leaves_its_port_free);
	RUN(a_message_can_be_forwarded_for_whoever_sent_it);
	RUN(what_ports_have_moved_is_counted);
	RUN(a_dead_cluster_ends_every_wait_for_it);
	kt_end();
}
