/* SPDX-License-Identifier: MIT
 *
 * Channels between two clusters from user mode: messages both ways, sleeping and waking, full
 * rings, wrong calls and attacks, exhaustion, processes that end or are killed, and what is left
 * when one side is gone. Cluster 1 does what cluster 0 tells it by mail.
 *
 * machine: 2 4 KC
 * machine: 2 2 TC
 * machine: 2 1 TC
 */
#include <base/str.h>
#include <atoll/channel.h>
#include <tests/kernel/ktest.h>

#define PORT 1				/* mailbox of either cluster */
#define BIT 3
#define LONGEST 100			/* bytes of a message */
#define ROUNDS 300
#define BAD ((void *)8)

enum command {
	ECHO = 1,		/* send back what comes, until an empty message comes */
	ECHO_LATE,		/* the same, but begin late */
	TAKE,			/* open it, and answer with what that said */
	SPOIL,			/* fill all of it with a byte, and give it up */
	STAY,			/* map it, and wait until the maker is gone */
	DROP,			/* give it up at once */
	ATTACK,			/* try to get more than it was given */
	END,
};

enum role { KILLED = 1, KILLED_NEAR };

struct order {
	uint32_t command, number, pages, value;
	unsigned char rest[MAILBOX_MSG_SIZE - 16];
};

static int in, out;			/* mailboxes */

static void
tell(enum command command, uint32_t number, int pages, int value)
{
	struct order o = {.command = command, .number = number, .pages = (uint32_t)pages,
		.value = (uint32_t)value};

	expect_eq(mailbox_send(out, &o), 0);
}

static int
answer(void)
{
	struct order o;

	expect_eq(mailbox_receive(in, 1, &o), 0);
	return (int)o.value;
}

/* --- cluster 1 --- */

static int
echo(struct channel *ch)
{
	unsigned char text[LONGEST];
	int bytes;

	do {
		bytes = channel_receive(ch, text, sizeof(text), FOREVER);
		if (bytes >= 0)
			bytes = channel_send(ch, text, (uint32_t)bytes, FOREVER) == 0 ? bytes : -1;
	} while (bytes > 0);
	return bytes;
}

/* When the maker is gone its memory holds zeros, soon, but for what is written here. */
static int
stay(struct channel *ch)
{
	unsigned char text[8];
	int wrong = channel_receive(ch, text, sizeof(text), FOREVER);

	if (wrong != 4 || memcmp(text, "stay", 4) != 0)
		return -1;
	tell(STAY, 0, 0, 0);
	wrong = channel_receive(ch, text, sizeof(text), FOREVER);
	for (size_t i = 0; i < (size_t)ch->pages * kt_page_bytes() / 4; i++)
		while (((volatile uint32_t *)ch->memory)[i] > 1)
			kthread_yield();
	((volatile uint32_t *)ch->memory)[0] = 7;
	if (kchannel_wake(ch->handle) != wrong ||
		kevent_bind(EVENT_CHANNEL, ch->handle, 1) != wrong)
		return -3;
	return wrong;
}

/* Rights that the handle does not give, and memory beyond what was offered. */
static int
attack(struct channel *ch)
{
	size_t page = kt_page_bytes();
	uintptr_t at = (uintptr_t)ch->memory;
	int reader = (int)khandle_duplicate(ch->handle, SELF, RIGHT_READ);
	uint64_t addr;

	if (kmem_alloc(SELF, 2 * page, 0, &addr) != 0 || reader <= 0)
		return 1;
	if (kpage_protect(SELF, at, 1, PAGE_READ | PAGE_EXEC) != -E_ACCES)
		return 2;
	if (kpage_map(SELF, addr, ch->handle, 0, 1, PAGE_READ | PAGE_EXEC) != -E_ACCES)
		return 3;
	if (kpage_map(SELF, addr, ch->handle, 0, ch->pages + 1, PAGE_READ) != -E_INVAL ||
		kpage_map(SELF, addr, ch->handle, ch->pages, 1, PAGE_READ) != -E_INVAL ||
		kpage_map(SELF, addr, ch->handle, -1, 1, PAGE_READ) != -E_INVAL)
		return 4;
	if (kpage_map(SELF, addr, ch->handle, 0, 1, PAGE_READ | PAGE_PRIVATE) != -E_INVAL)
		return 5;
	if (kpage_map(SELF, addr, reader, 0, 1, PAGE_READ | PAGE_WRITE) != -E_ACCES ||
		kpage_map(SELF, addr, reader, 0, 1, PAGE_READ) != 0 ||
		kpage_protect(SELF, addr, 1, PAGE_READ | PAGE_WRITE) != -E_ACCES)
		return 6;
	if (kchannel_wake(reader) != -E_ACCES || kevent_bind(EVENT_CHANNEL, reader, 1) != -E_ACCES)
		return 7;
	kpage_unmap(SELF, addr, 2);
	khandle_close(reader);
	return 0;
}

static int
obey(const struct order *o)
{
	struct channel_offer offer = {.cluster = 0, .number = o->number, .pages = (int)o->pages,
		.message = LONGEST};
	struct channel ch;
	int result;

	if (o->command == ECHO_LATE)
		kt_pause(3000);
	result = channel_take(&ch, in, &offer, BIT);
	if (o->command == TAKE || result != 0)
		return result;
	if (o->command == SPOIL)
		memset(ch.memory, (int)o->value, (size_t)ch.pages * kt_page_bytes());
	else if (o->command == STAY)
		result = stay(&ch);
	else if (o->command == ATTACK)
		result = attack(&ch);
	else if (o->command != DROP)
		result = echo(&ch);
	if (channel_end(&ch) != 0)
		result = -100;
	return result;
}

static int
partner(void)
{
	struct order o;

	memset(&o, 0, sizeof(o));
	/* what is offered to a port that nobody has is refused: say first that we are there */
	while (mailbox_send(out, &o) == 0) {
		if (mailbox_receive(in, 0, &o) != 0)
			return 1;
		if (o.command == END)
			return 0;
		o.value = (uint32_t)obey(&o);
	}
	return 1;
}

/* --- cluster 0 --- */

/* The pages of what is closed come back when the other cluster has answered. */
static void
expect_all_back(uint64_t pages)
{
	while (kt_stats(STATS_CHANNEL_PAGES) != pages)
		kthread_yield();
}

static void
fill(unsigned char *text, int round, int bytes)
{
	for (int i = 0; i < bytes; i++)
		text[i] = (unsigned char)(round * 31 + i);
}

static bool
is_filled(const unsigned char *text, int round, int bytes)
{
	for (int i = 0; i < bytes; i++)
		if (text[i] != (unsigned char)(round * 31 + i))
			return false;
	return true;
}

/* Send and get back, `ahead` messages at a time; the last one is empty. */
static void
exchange(struct channel *ch, int rounds, int ahead, uint64_t pause)
{
	unsigned char text[LONGEST];
	int got = 0;

	for (int sent = 0; got < rounds;) {
		int bytes = 1 + got % LONGEST;

		for (; sent < rounds && sent < got + ahead; sent++) {
			fill(text, sent, 1 + sent % LONGEST);
			expect_eq(channel_send(ch, text, (uint32_t)(1 + sent % LONGEST), FOREVER),
				0);
		}
		if (pause != 0)
			kt_pause(pause);
		expect_eq(channel_receive(ch, text, sizeof(text), FOREVER), bytes);
		expect(is_filled(text, got, bytes));
		got++;
	}
	expect_eq(channel_send(ch, text, 0, FOREVER), 0);
	expect_eq(channel_receive(ch, text, sizeof(text), FOREVER), 0);
}

/* test: channel_create, channel_open, channel_wake */
TEST(messages_arrive_in_order_both_ways)
{
	struct channel ch;
	uint32_t number;

	for (int pages = 1; pages <= 4; pages++) {
		expect_eq(channel_make(&ch, out, pages, LONGEST, BIT, &number), 0);
		tell(ECHO, number, pages, 0);
		exchange(&ch, ROUNDS, (int)(pages == 1 ? 1 : ch.slots), 0);
		expect_eq(answer(), 0);
		expect_eq(channel_end(&ch), 0);
		expect_all_back(0);
	}
}

/* Both sleep in turn: each message finds a sleeper. */
TEST(who_sleeps_is_woken)
{
	struct channel ch;
	uint32_t number;

	expect_eq(channel_make(&ch, out, 1, LONGEST, BIT, &number), 0);
	tell(ECHO_LATE, number, 1, 0);
	exchange(&ch, 30, 1, 300);
	expect_eq(answer(), 0);
	expect_eq(channel_end(&ch), 0);
	expect_all_back(0);
}

TEST(a_full_ring_waits_for_the_receiver)
{
	struct channel ch;
	uint32_t number;
	unsigned char text[LONGEST];
	int sent = 0;

	expect_eq(channel_make(&ch, out, 1, LONGEST, BIT, &number), 0);
	expect_eq(channel_try_send(&ch, text, LONGEST + 1), -E_INVAL);
	expect_eq(channel_try_receive(&ch, text, LONGEST), -E_AGAIN);
	fill(text, 0, 1);
	for (; channel_try_send(&ch, text, 1) == 0; sent++)
		continue;
	expect_eq(sent, ch.slots);
	expect_eq(channel_send(&ch, text, 1, 0), -E_TIMEDOUT);
	expect_eq(channel_receive(&ch, text, 1, 0), -E_TIMEDOUT);
	tell(ECHO_LATE, number, 1, 0);
	for (int n = 0; n < 10; n++)
		expect_eq(channel_send(&ch, text, 1, FOREVER), 0);
	for (int n = 0; n < sent + 10; n++) {
		expect_eq(channel_receive(&ch, text, LONGEST, FOREVER), 1);
		expect_eq(text[0], 0);
	}
	expect_eq(channel_send(&ch, text, 0, FOREVER), 0);
	expect_eq(answer(), 0);
	expect_eq(channel_end(&ch), 0);
	expect_all_back(0);
}

TEST(channel_calls_refuse_bad_arguments)
{
	uint32_t number;
	int plain = (int)kmemory_create(1), ch;
	uint64_t threads = kt_stats(STATS_THREADS);

	expect_eq(kchannel_create(-1, 1, &number), -E_BADF);
	expect_eq(kchannel_create(in, 1, &number), -E_BADF);
	expect_eq(kchannel_create(plain, 1, &number), -E_BADF);
	expect_eq(kchannel_create(out, 0, &number), -E_INVAL);
	expect_eq(kchannel_create(out, -1, &number), -E_INVAL);
	expect_eq(kchannel_create(out, CHANNEL_PAGES_MAX + 1, &number), -E_INVAL);
	expect_eq(kchannel_create(out, 1, BAD), -E_FAULT);
	expect_eq(kchannel_open(-1, 1, 0), -E_BADF);
	expect_eq(kchannel_open(out, 1, 0), -E_BADF);
	expect_eq(kchannel_open(in, 2, 0), -E_INVAL);
	expect_eq(kchannel_open(in, -1, 0), -E_INVAL);
	for (uint32_t n = 0; n < 300; n++)
		expect_eq(kchannel_open(in, (int)(n % 2), n), -E_NOENT);
	expect_eq(kchannel_open(in, 1, 0xffffffffu), -E_NOENT);
	expect_eq(kchannel_wake(-1), -E_BADF);
	expect_eq(kchannel_wake(in), -E_BADF);
	expect_eq(kchannel_wake(plain), -E_INVAL);
	expect_eq(kevent_bind(EVENT_CHANNEL, plain, 1), -E_ACCES);
	expect_eq(kevent_bind(EVENT_CHANNEL, in, 1), -E_BADF);
	ch = (int)kchannel_create(out, 1, &number);
	expect(ch > 0);
	expect_eq(kevent_bind(EVENT_CHANNEL, ch, 31), -E_INVAL);
	expect_eq(khandle_close(ch), 0);
	expect_eq(kchannel_wake(ch), -E_BADF);
	expect_eq(khandle_close(plain), 0);
	expect_eq(kt_stats(STATS_THREADS), threads);
	expect_all_back(0);
}

/* The number of a channel is worth nothing twice, and nothing at another port. */
TEST(a_number_names_what_was_offered_to_its_port_once)
{
	uint32_t number;
	int nobody = (int)kmailbox_open(1, PORT + 1), ch, other;

	other = (int)kchannel_create(nobody, 1, &number);
	expect(other > 0);
	tell(TAKE, number, 1, 0);
	expect_eq(answer(), -E_NOENT);
	expect_eq(kevent_bind(EVENT_CHANNEL, other, 2), -E_PIPE);
	ch = (int)kchannel_create(out, 1, &number);
	tell(DROP, number, 1, 0);
	expect_eq(answer(), 0);
	tell(TAKE, number, 1, 0);
	expect_eq(answer(), -E_NOENT);
	expect_eq(khandle_close(ch), 0);
	expect_eq(khandle_close(other), 0);
	expect_eq(khandle_close(nobody), 0);
	expect_all_back(0);
}

TEST(the_window_has_so_many_pages)
{
	uint64_t pages, all = 0;
	uint32_t number;
	int ch[64], n = 0, left;
	long handle;

	for (int round = 0; round < 3; round++) {
		for (n = 0; n < 64 && (handle = kchannel_create(out, 1, &number)) > 0; n++)
			ch[n] = (int)handle;
		expect_eq(handle, -E_NOSPC);
		expect(n > 4);
		pages = kt_stats(STATS_CHANNEL_PAGES);
		expect_eq(pages, n);
		expect(round == 0 || pages == all);
		all = pages;
		expect_eq(khandle_close(ch[1]), 0);
		expect_eq(khandle_close(ch[3]), 0);
		expect_all_back(all - 2);
		expect_eq(kchannel_create(out, 2, &number), -E_NOSPC);
		expect_eq(khandle_close(ch[2]), 0);
		expect_all_back(all - 3);
		left = (int)kchannel_create(out, 3, &number);
		expect(left > 0);
		expect_eq(number, 1);
		expect_eq(khandle_close(left), 0);
		for (int i = 0; i < n; i++)
			khandle_close(ch[i]);
		expect_all_back(0);
	}
}

/* What comes back holds zeros, and what was spoilt tells the maker nothing wrong. */
TEST(a_spoilt_channel_is_harmless_and_comes_back_clean)
{
	static const unsigned char values[] = {0xff, 1, 0x80};
	struct channel ch;
	uint32_t number;
	unsigned char text[LONGEST];

	for (unsigned i = 0; i < sizeof(values); i++) {
		int wrong = 0;

		expect_eq(channel_make(&ch, out, 1, LONGEST, BIT, &number), 0);
		for (size_t n = 0; n < kt_page_bytes() / 4; n++)
			wrong |= ((volatile uint32_t *)ch.memory)[n] != 0;
		expect_eq(wrong, 0);
		tell(SPOIL, number, 1, values[i]);
		expect_eq(answer(), 0);
		for (int n = 0; n < 100; n++) {
			int got = channel_try_receive(&ch, text, sizeof(text));

			expect(got == -E_AGAIN || (got >= 0 && got <= LONGEST));
			got = channel_try_send(&ch, text, 4);
			expect(got == 0 || got == -E_AGAIN);
		}
		expect_eq(channel_receive(&ch, text, 8, FOREVER), -E_PIPE);
		expect_eq(channel_end(&ch), 0);
		expect_all_back(0);
	}
}

TEST(rights_and_pages_are_those_of_the_offer)
{
	struct channel ch;
	uint32_t number;

	expect_eq(channel_make(&ch, out, 1, LONGEST, BIT, &number), 0);
	tell(ATTACK, number, 1, 0);
	expect_eq(answer(), 0);
	expect_eq(channel_end(&ch), 0);
	expect_all_back(0);
}

TEST(who_opened_a_channel_finds_zeros_when_its_maker_is_gone)
{
	struct channel ch;
	uint32_t number;

	for (int pages = 1; pages <= 5; pages += 2) {
		expect_eq(channel_make(&ch, out, pages, LONGEST, BIT, &number), 0);
		tell(STAY, number, pages, 0);
		expect_eq(channel_send(&ch, "stay", 4, FOREVER), 0);
		expect_eq(answer(), 0);
		memset((char *)ch.memory + 256, 0xee, 512);
		expect_eq(channel_end(&ch), 0);
		expect_all_back(0);
		expect_eq(answer(), -E_PIPE);
	}
}

/* A process that is killed has made it. */
static int
killed(void)
{
	struct channel ch;
	uint32_t number;
	unsigned char text[8];

	out = (int)kmailbox_open(1, PORT);
	if (channel_make(&ch, out, 2, LONGEST, BIT, &number) != 0)
		return 1;
	tell(STAY, number, 2, 0);
	channel_send(&ch, "stay", 4, FOREVER);
	return channel_receive(&ch, text, sizeof(text), FOREVER);
}

TEST(a_killed_maker_is_gone)
{
	for (int round = 0; round < 10; round++) {
		long proc = kt_spawn(KILLED, 0, ANY_CORE);

		expect(proc > 0);
		expect_eq(answer(), 0);
		kt_pause((uint64_t)round * 50);
		expect_eq(kproc_kill((int)proc, 3), 0);
		kt_wait(proc, NULL);
		expect_eq(answer(), -E_PIPE);
		expect_all_back(0);
	}
}

/* --- in one cluster: two processes by a channel, too --- */

/* Both ends are this thread's. */
TEST(a_channel_leads_to_the_own_cluster_too)
{
	int own = (int)kmailbox_open(0, PORT);
	struct channel_offer offer = {.cluster = 0, .pages = 1, .message = LONGEST};
	unsigned char text[LONGEST];
	struct channel a, b;

	for (int round = 0; round < 4; round++) {
		expect_eq(channel_make(&a, own, 1, LONGEST, BIT, &offer.number), 0);
		expect_eq(channel_take(&b, in, &offer, BIT + 1), 0);
		expect_eq(kchannel_open(in, 0, offer.number), -E_NOENT);
		for (int n = 0; n < 40; n++) {
			fill(text, n, LONGEST);
			channel_listen(&b, true);
			expect_eq(channel_try_send(&a, text, LONGEST), 0);
			expect_eq(kthread_sleep(1u << (BIT + 1), FOREVER), 1 << (BIT + 1));
			expect_eq(channel_receive(&b, text, LONGEST, 0), LONGEST);
			channel_listen(&a, true);
			expect_eq(channel_try_send(&b, text, LONGEST), 0);
			expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
			expect_eq(channel_receive(&a, text, LONGEST, 0), LONGEST);
			expect(is_filled(text, n, LONGEST));
		}
		expect_eq(kt_stats(STATS_CHANNEL_PAGES), 1);
		expect_eq(channel_check(&a), 0);
		expect_eq(channel_end(round % 2 ? &a : &b), 0);
		expect_eq(channel_receive(round % 2 ? &b : &a, text, LONGEST, FOREVER), -E_PIPE);
		expect_eq(channel_check(round % 2 ? &b : &a), -E_PIPE);
		expect_eq(channel_end(round % 2 ? &b : &a), 0);
		expect_all_back(0);
	}
	expect_eq(khandle_close(own), 0);
}

/* A process of this cluster has made it, and is killed. */
static int
killed_near(void)
{
	struct order o = {.pages = 1};
	struct channel ch;
	unsigned char text[8];

	out = (int)kmailbox_open(0, PORT);
	if (channel_make(&ch, out, 1, LONGEST, BIT, &o.number) != 0 || mailbox_send(out, &o) != 0)
		return 1;
	return channel_receive(&ch, text, sizeof(text), FOREVER);
}

TEST(a_killed_maker_of_the_own_cluster_is_gone)
{
	struct channel_offer offer = {.cluster = 0, .pages = 1, .message = LONGEST};
	struct order o;
	struct channel ch;
	unsigned char text[8];

	for (int round = 0; round < 10; round++) {
		long proc = kt_spawn(KILLED_NEAR, 0, ANY_CORE);

		expect(proc > 0);
		expect_eq(mailbox_receive(in, 0, &o), 0);
		offer.number = o.number;
		expect_eq(channel_take(&ch, in, &offer, BIT), 0);
		kt_pause((uint64_t)round * 50);
		expect_eq(kproc_kill((int)proc, 3), 0);
		kt_wait(proc, NULL);
		expect_eq(channel_receive(&ch, text, sizeof(text), FOREVER), -E_PIPE);
		expect_eq(channel_end(&ch), 0);
		expect_all_back(0);
	}
}

/* Threads of one process: ordinary memory, and the other thread's bits. */

static struct channel_setup near;

static unsigned long
near_partner(unsigned long thread)
{
	struct channel_setup s = near;
	struct channel ch;

	s.side = CHANNEL_TOOK;
	s.handle = (int)thread;
	s.bits = 1u << BIT;
	return (unsigned long)(channel_begin(&ch, &s) != 0 ? -1 : echo(&ch));
}

TEST(threads_of_a_cluster_use_ordinary_memory)
{
	struct channel ch;
	uint64_t addr;
	long tid;

	expect_eq(kmem_alloc(SELF, kt_page_bytes(), PAGE_READ | PAGE_WRITE, &addr), 0);
	near = (struct channel_setup){.memory = (void *)(uintptr_t)addr, .bytes = kt_page_bytes(),
		.message = LONGEST, .side = CHANNEL_MADE, .bit = BIT};
	tid = kt_thread(near_partner, (unsigned long)kthread_self(), ANY_CORE);
	expect(tid > 0);
	near.handle = (int)tid;
	near.bits = 1u << BIT;
	expect_eq(channel_begin(&ch, &near), 0);
	exchange(&ch, ROUNDS, (int)ch.slots, 0);
	expect_eq(kt_join(tid), 0);
	near.message = (uint32_t)kt_page_bytes();
	expect_eq(channel_begin(&ch, &near), -E_INVAL);
	expect_eq(kpage_unmap(SELF, addr, 1), 0);
}

/* The other cluster ends with a channel open, and with one that it has made. */
TEST(a_dead_cluster_ends_a_channel)
{
	struct channel ch;
	uint32_t number;
	unsigned char text[8];

	expect_eq(channel_make(&ch, out, 1, LONGEST, BIT, &number), 0);
	tell(END, 0, 0, 0);
	expect_eq(channel_receive(&ch, text, sizeof(text), FOREVER), -E_HOSTDOWN);
	expect_eq(kchannel_wake(ch.handle), -E_HOSTDOWN);
	expect_eq(channel_end(&ch), 0);
	expect_eq(kchannel_create(out, 1, &number), -E_HOSTDOWN);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (atoll_startup()->job == KILLED)
		return killed();
	if (atoll_startup()->job == KILLED_NEAR)
		return killed_near();
	in = (int)kmailbox_create(PORT);
	out = (int)kmailbox_open(info.cluster == 0, PORT);
	if (info.cluster != 0)
		return partner();
	answer();
	RUN(messages_arrive_in_order_both_ways);
	RUN(who_sleeps_is_woken);
	RUN(a_full_ring_waits_for_the_receiver);
	RUN(channel_calls_refuse_bad_arguments);
	RUN(a_number_names_what_was_offered_to_its_port_once);
	RUN(the_window_has_so_many_pages);
	RUN(a_spoilt_channel_is_harmless_and_comes_back_clean);
	RUN(rights_and_pages_are_those_of_the_offer);
	RUN(who_opened_a_channel_finds_zeros_when_its_maker_is_gone);
	RUN(a_killed_maker_is_gone);
	RUN(a_channel_leads_to_the_own_cluster_too);
	RUN(a_killed_maker_of_the_own_cluster_is_gone);
	RUN(threads_of_a_cluster_use_ordinary_memory);
	RUN(a_dead_cluster_ends_a_channel);
	kt_end();
}
