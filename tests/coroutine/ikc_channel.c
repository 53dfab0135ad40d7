/* SPDX-License-Identifier: MIT
 *
 * Channels of the real kernel under the coroutine scheduler, with the real library (user/channel.c)
 * on the windows' memory, which is stale until it was acquired. A program of each of two clusters
 * sends the other numbered messages through rings of a few slots, in every order of sending and
 * receiving, waiting and asking, and sleeps at random. All arrive, once and whole, and nobody
 * sleeps for good. Then one side gives the channel up: the other is told. With `death` its cluster
 * stops at a random moment instead. In the end its pages hold zeros for whoever had opened it, and
 * are free.
 *
 * usage: ikc_channel [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <abi/startup.h>
#include <hal/atomic.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <atoll/kcalls.h>
#include <tests/coroutine/program.h>

/* Instead of user/channel_words.h. */
#define USER_CHANNEL_WORDS_H
#define CHANNEL_LOOKS 2
#define word_look(word) hal_load32(word)
#define word_put(word, value) hal_store32((word), (value))
#define words_fence() hal_fence()
#define bytes_publish(bytes, count) hal_publish((bytes), (count))
#define bytes_acquire(bytes, count) hal_acquire((bytes), (count))
#include <user/channel.c>

#define CLUSTERS 2
#define PORT 1				/* of either cluster's mailbox */
#define BIT 9
#define MESSAGES 6			/* in each direction */
#define LENGTH 40
#define MADE_AT 0x100000ul		/* where either side maps it */

struct letter {
	uint32_t number;
	uint32_t rest[MAILBOX_MSG_SIZE / 4 - 1];
};

static struct {
	struct letter letter[CLUSTERS];
	struct mail_sender from[CLUSTERS];
	uint32_t number;
	uint64_t clock[CLUSTERS];
	struct page_info page;
} shared;

static struct {
	bool death;
	bool dead;
	unsigned closer;		/* cluster whose program gives it up */
	unsigned slots;
	unsigned sent[CLUSTERS], received[CLUSTERS];
	bool done[CLUSTERS];
	bool ended;			/* the program of cluster 1 */
} run;

/* --- what the library calls --- */

#define CALL(name, parameters, ...) long name parameters { return KC(__VA_ARGS__); }

CALL(kevent_bind, (int event, int object, int bit), KC_EVENT_BIND, event, object, bit)
CALL(kthread_sleep, (uint32_t mask, uint64_t until), KC_THREAD_SLEEP, mask, until)
CALL(kthread_wakeup, (int t, uint32_t bits), KC_THREAD_WAKEUP, t, bits)
CALL(kchannel_wake, (int ch), KC_CHANNEL_WAKE, ch)
CALL(kchannel_create, (int m, int n, void *number), KC_CHANNEL_CREATE, m, n, number)
CALL(kchannel_open, (int m, int c, uint32_t n), KC_CHANNEL_OPEN, m, c, n)
CALL(kcluster_info, (void *info), KC_CLUSTER_INFO, info)
CALL(kmem_alloc, (int p, unsigned long len, int prot, void *addr), KC_MEM_ALLOC, p, len, prot, addr)
CALL(kpage_unmap, (int p, unsigned long a, int n), KC_PAGE_UNMAP, p, a, n)
CALL(khandle_close, (int handle), KC_HANDLE_CLOSE, handle)
CALL(kpage_map, (int p, unsigned long a, int m, int first, int n, int prot), KC_PAGE_MAP, p, a, m,
	first, n, prot)

/* --- the programs --- */

static bool
is_gone(long result)
{
	return result == -E_PIPE || (result == -E_HOSTDOWN && run.dead);
}

/* Until a message is there: its number. */
static uint32_t
mail_receive(unsigned me, int in)
{
	long e;

	while ((e = KC(KC_MAILBOX_READ, in, ANY_SOURCE_CLUSTER, &shared.letter[me],
		&shared.from[me])) == -E_AGAIN)
		coro_check(KC(KC_MAILBOX_WAIT, in, ANY_SOURCE_CLUSTER, FOREVER) == 0);
	coro_check(e == 1 - (long)me);
	return shared.letter[me].number;
}

static void
mail_send(unsigned me, int out, uint32_t number)
{
	long e;

	shared.letter[me].number = number;
	while ((e = KC(KC_MAILBOX_WRITE, out, &shared.letter[me])) == -E_AGAIN)
		coro_check(KC(KC_MAILBOX_WAIT, out, ANY_SOURCE_CLUSTER, FOREVER) == 0);
	coro_check(e == 0);
}

/* Cluster 0 makes the channel when the other has its mailbox. Its handle. */
static int
open_own(unsigned me, int in, int out)
{
	long e;
	int ch;

	if (me == 0) {
		mail_receive(me, in);
		ch = (int)KC(KC_CHANNEL_CREATE, out, 1, &shared.number);
		coro_check(ch > 0);
		mail_send(me, out, shared.number);
		e = kchannel_wake(ch);
		coro_check(e == 0 || is_gone(e));
		return ch;
	}
	mail_send(me, out, 0);
	ch = (int)KC(KC_CHANNEL_OPEN, in, 0, mail_receive(me, in));
	coro_check(ch > 0);
	return ch;
}

static void
text_of(unsigned from, unsigned number, unsigned char *text)
{
	for (unsigned i = 0; i < LENGTH; i++)
		text[i] = (unsigned char)(from * 101 + number * 29 + i * 3 + 1);
}

/* Both may not wait for good for what the other would do next. */
static uint64_t
some_time(unsigned me, bool for_good)
{
	coro_check(KC(KC_CLOCK, &shared.clock[me]) == 0);
	return for_good && coro_random(3) ? FOREVER : shared.clock[me] + coro_random(20000);
}

/* Ask, or wait for good or for a while. False: the other side is gone. */
static bool
send_one(unsigned me, struct channel *ch)
{
	unsigned char text[LENGTH];
	unsigned bytes = 1 + run.sent[me] * 13 % LENGTH;
	int e;

	text_of(me, run.sent[me], text);
	e = coro_random(2) ? channel_try_send(ch, text, bytes) :
		channel_send(ch, text, bytes, some_time(me, run.sent[me] <= run.received[me] ||
			run.received[me] == MESSAGES));
	coro_check(e == 0 || e == -E_AGAIN || e == -E_TIMEDOUT || is_gone(e));
	run.sent[me] += e == 0;
	return !is_gone(e);
}

/* No more than a few are ahead of the other side. */
static bool
may_send(unsigned me)
{
	return run.sent[me] < MESSAGES && run.sent[me] < run.received[me] + run.slots;
}

static bool
receive_one(unsigned me, struct channel *ch)
{
	unsigned char text[LENGTH], right[LENGTH];
	unsigned bytes = 1 + run.received[me] * 13 % LENGTH;
	int e = coro_random(2) ? channel_try_receive(ch, text, sizeof(text)) :
		channel_receive(ch, text, sizeof(text), some_time(me, !may_send(me)));

	coro_check(e >= 0 || e == -E_AGAIN || e == -E_TIMEDOUT || is_gone(e));
	if (e < 0)
		return !is_gone(e);
	text_of(1 - me, run.received[me], right);
	coro_check((unsigned)e == bytes && memcmp(text, right, bytes) == 0);
	run.received[me]++;
	return true;
}

static void
die_sometimes(unsigned me)
{
	if (!run.death || me != 1 || coro_random(8) != 0)
		return;
	run.dead = true;
	hal_noc_mark_dead(1);
	coro_kill_cluster(1);
}

static void
exchange(unsigned me, struct channel *ch)
{
	bool goes_on = true;

	while (goes_on && (run.sent[me] < MESSAGES || run.received[me] < MESSAGES)) {
		if (may_send(me) && (coro_random(2) || run.received[me] == MESSAGES))
			goes_on = send_one(me, ch);
		else if (run.received[me] < MESSAGES)
			goes_on = receive_one(me, ch);
		die_sometimes(me);
	}
	coro_check(goes_on || run.dead || run.done[1 - me]);
}

/* The other side gives it up, or dies: this one is told. */
static void
expect_the_end(unsigned me, struct channel *ch)
{
	unsigned char text[LENGTH];
	int e;

	do
		e = channel_receive(ch, text, sizeof(text), FOREVER);
	while (e >= 0);
	coro_check(is_gone(e));
	if (me == 0)
		return;
	/* what it had mapped becomes memory of its own, soon, which holds zeros */
	do
		coro_check(KC(KC_PAGE_QUERY, SELF, MADE_AT, &shared.page) == 0);
	while (!(shared.page.prot & PAGE_LAZY));
	coro_check(coro_user_load32(MADE_AT + 2048) == 0);
	coro_user_store32(MADE_AT + 2048, 1);
	coro_check(coro_user_load32(MADE_AT + 2048) == 1);
}

/*
 * A page that has come back holds zeros. (The library here writes to the window itself, also after
 * its mapping has become other memory: cluster 1 did not if it has closed.)
 */
static void
expect_clean(void)
{
	const uint32_t *page = hal_noc_channels(0);

	if (run.closer != 1)
		return;

	hal_acquire(page, HAL_PAGE_BYTES);
	for (size_t i = 0; i < HAL_PAGE_BYTES / 4; i++)
		coro_check(run.dead || page[i] == 0);
}

/* Its upper half is not the rings'. */
static void
fill_rest(void)
{
	uint32_t *rest = (uint32_t *)hal_noc_channels(0) + 512;

	rest[0] = 0x12345;
	hal_publish(rest, sizeof(*rest));
}

static void
talks(uintptr_t arg)
{
	unsigned me = (unsigned)arg;
	int in = (int)KC(KC_MAILBOX_CREATE, PORT), out = (int)KC(KC_MAILBOX_OPEN, 1 - me, PORT);
	int handle = open_own(me, in, out), e;
	struct channel ch;

	coro_check(kpage_map(SELF, MADE_AT, handle, 0, 1, PAGE_READ | PAGE_WRITE) == 0);
	if (me == 0)
		fill_rest();
	e = channel_begin(&ch, &(struct channel_setup){
		.memory = (char *)hal_noc_channels(0) + shared.number * HAL_PAGE_BYTES,
		.bytes = 2 * (HEAD + 64 * run.slots), .message = LENGTH,
		.side = me == 0 ? CHANNEL_MADE : CHANNEL_TOOK, .bit = BIT, .handle = handle});
	coro_check(e == 0 || is_gone(e));
	/* the maker has set the bit, perhaps before this side was there */
	if (me == 1 && e == 0)
		coro_check(KC(KC_THREAD_SLEEP, 1u << BIT, FOREVER) == 1 << BIT);
	if (e == 0)
		exchange(me, &ch);
	run.done[me] = true;
	if (e == 0 && me != run.closer)
		expect_the_end(me, &ch);
	while (!run.done[1 - me] && !run.dead)
		KC(KC_THREAD_YIELD);
	coro_check(kpage_unmap(SELF, MADE_AT, 1) == 0);
	coro_check(khandle_close(handle) == 0);
	if (me == 1)
		run.ended = true;
	if (me == 0) {
		while (!run.ended && !run.dead)
			KC(KC_THREAD_YIELD);
		while (!run.dead && KC(KC_STATS, STATS_CHANNEL_PAGES, &shared.clock[0]) == 0 &&
			shared.clock[0] != 0)
			KC(KC_THREAD_YIELD);
		expect_clean();
		coro_finish(0);
	}
	KC(KC_THREAD_SLEEP, 1u << 30, FOREVER);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	(void)core;
	programs[0].fn = talks;
	programs[0].arg = cluster;
	return 1;
}

static void
dump(void)
{
	printf("sent %u %u, received %u %u, done %d %d, dead %d, closer %u, %u slots\n",
		run.sent[0], run.sent[1], run.received[0], run.received[1], run.done[0],
		run.done[1], run.dead, run.closer, run.slots);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	(void)record;
	run.death = seed % 5 == 0;
	run.closer = run.death ? 1 : seed / 2 % 2;
	run.slots = 1 + (unsigned)(seed / 4 % 3);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "messages_arrive_whatever_is_late",
		.seeds = 10000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = CLUSTERS, .cores = 2, .begin = begin,
		.dump = dump};

	return program_main(&test, argc, argv);
}
