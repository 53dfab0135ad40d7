/* SPDX-License-Identifier: MIT
 *
 * Memory that appears twice: pages linked by their address, in the own process and in others, and
 * words of shared frames that threads of several processes sleep on. What is linked outlives its
 * first mapping, nobody gets rights that were not given, and nothing is lost when somebody dies.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define PAGES 20		/* more than one step links */
#define ROUNDS 100
#define CHILDREN 3
#define MS 1000000ull

/* what a child does with the page at its argument */
enum role { NONE, ANSWERS, RAISES, LOCKS, SLEEPS, WAKES_ALONE };

/* In the page that parent and children share. */
struct shared {
	uint32_t ball;		/* whose turn it is: even the parent's */
	uint32_t lock;		/* 0 free, 1 taken, 2 taken and somebody waits */
	uint32_t count;
	uint32_t asleep;
};

static uint64_t
pages_of(int proc, unsigned pages, int prot)
{
	uint64_t at = 0;

	return kmem_alloc(proc, pages * PAGE, prot, &at) == 0 ? at : 0;
}

/* Addresses at which nothing is claimed. */
static uint64_t
free_in(int proc, unsigned pages)
{
	uint64_t at = pages_of(proc, pages, 0);

	return at != 0 && kpage_unmap(proc, (unsigned long)at, (int)pages) == 0 ? at : 0;
}

/* Pages of this process appear in another, or in its own again. */
static uint64_t
link_to(int proc, uint64_t at, unsigned pages)
{
	uint64_t to = free_in(proc, pages);

	return to != 0 && kpage_link(proc, (unsigned long)at, (int)pages, (unsigned long)to) == 0 ?
		to : 0;
}

static volatile uint32_t *
word_at(uint64_t at, unsigned page)
{
	return (volatile uint32_t *)(uintptr_t)(at + page * PAGE);
}

static long
wait_shared(uint32_t *word, uint32_t value, uint64_t until)
{
	return kfutex_wait((unsigned long)word | FUTEX_SHARED, value, until);
}

static long
wake_shared(uint32_t *word, int count)
{
	return kfutex_wake((unsigned long)word | FUTEX_SHARED, count);
}

static uint32_t
load(uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void
store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* --- children --- */

/* Play the ball back whenever it is odd. */
static int
answers(struct shared *s)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		while (load(&s->ball) != 2 * i + 1)
			wait_shared(&s->ball, 2 * i, FOREVER);
		store(&s->ball, 2 * i + 2);
		wake_shared(&s->ball, 1);
	}
	return 0;
}

static int
raises(unsigned long at)
{
	if (*(volatile uint32_t *)at != 77)
		return 1;
	return kpage_protect(SELF, at, 1, RW) == -E_ACCES ? 0 : 2;
}

static void
take(uint32_t *lock)
{
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(lock, &was, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
		wait_shared(lock, 2, FOREVER);
}

static void
give(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		wake_shared(lock, 1);
}

/* Count what only one at a time may count. */
static int
locks(struct shared *s)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t seen;

		take(&s->lock);
		seen = s->count;
		if (i % 8 == 0)
			kthread_yield();
		s->count = seen + 1;
		give(&s->lock);
	}
	return 0;
}

static int
sleeps(struct shared *s)
{
	__atomic_fetch_add(&s->asleep, 1, __ATOMIC_ACQ_REL);
	wake_shared(&s->asleep, 1);
	while (wait_shared(&s->ball, 0, FOREVER) == 0)
		continue;
	return 0;
}

static int
child(uint32_t role, unsigned long at)
{
	struct shared *s = (struct shared *)at;

	switch (role) {
	case ANSWERS:
		return answers(s);
	case RAISES:
		return raises(at);
	case LOCKS:
		return locks(s);
	case SLEEPS:
		return sleeps(s);
	case WAKES_ALONE:	/* the parent sleeps on its own address, not on the frame */
		return kfutex_wake(at, 1) == 0 ? 0 : 1;
	default:
		return 99;
	}
}

/* A child that has the page, by a link or by the memory it is of. */
static long
child_with(enum role role, uint64_t page, long memory)
{
	long proc = kproc_create();
	uint64_t at = 0;

	if (memory == 0) {
		at = link_to((int)proc, page, 1);
	} else {
		at = free_in((int)proc, 1);
		expect_eq(kpage_map((int)proc, (unsigned long)at, (int)memory, 0, 1, RW), 0);
	}
	expect(at != 0);
	expect(kt_spawn_in(proc, role, (unsigned long)at, ANY_CORE) > 0);
	return proc;
}

/* --- links --- */

static struct page_info
info_of(uint64_t at)
{
	struct page_info info = {.frame = -2};

	expect_eq(kpage_query(SELF, (unsigned long)at, &info), 0);
	return info;
}

/* test: page_link, page_query */
TEST(what_is_written_at_one_address_is_read_at_the_other)
{
	uint64_t at = pages_of(SELF, PAGES, RW), to = link_to(SELF, at, PAGES);
	struct page_info one, other;

	expect(at != 0 && to != 0);
	for (unsigned i = 0; i < PAGES; i++)
		*word_at(at, i) = i + 1;
	for (unsigned i = 0; i < PAGES; i++)
		expect_eq(*word_at(to, i), i + 1);
	*word_at(to, 7) = 1000;
	expect_eq(*word_at(at, 7), 1000);
	one = info_of(at + 7 * PAGE);
	other = info_of(to + 7 * PAGE);
	expect_eq(one.frame, other.frame);
	expect_eq(one.references, 2);
	expect_eq(one.prot, other.prot);
	expect_eq(kpage_unmap(SELF, (unsigned long)to, PAGES), 0);
	expect_eq(info_of(at + 7 * PAGE).references, 1);
	expect_eq(*word_at(at, 7), 1000);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
}

TEST(a_link_outlives_the_first_mapping)
{
	uint64_t frames = 0, at, to;

	/* twice, for the page tables that the first round needs and leaves behind are no loss */
	for (unsigned i = 0; i < 2; i++) {
		uint64_t before = kt_stats(STATS_FRAMES_FREE);

		at = pages_of(SELF, 3, RW);
		to = link_to(SELF, at, 3);
		expect(at != 0 && to != 0);
		*word_at(at, 1) = 5;
		expect_eq(kpage_unmap(SELF, (unsigned long)at, 3), 0);
		expect_eq(*word_at(to, 1), 5);
		*word_at(to, 1) = 6;
		expect_eq(info_of(to + PAGE).references, 1);
		expect_eq(kpage_unmap(SELF, (unsigned long)to, 3), 0);
		frames = before;
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

/* test: page_link */
TEST(wrong_links_are_refused)
{
	uint64_t at = pages_of(SELF, 4, RW), lazy = pages_of(SELF, 2, RW | PAGE_LAZY),
		held = pages_of(SELF, 1, 0), to = free_in(SELF, 8), frames;
	long memory = kmemory_create(2), view, proc = kproc_create();

	frames = kt_stats(STATS_FRAMES_FREE);
	expect_eq(kpage_link(SELF, (unsigned long)lazy, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)held, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)to, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, PAGES, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, 1, (unsigned long)at), -E_EXIST);
	expect_eq(kpage_link(SELF, (unsigned long)at, 1, (unsigned long)held), -E_EXIST);
	expect_eq(kpage_link(SELF, (unsigned long)at, 0, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, -1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at + 1, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, 1, (unsigned long)to + 8), -E_INVAL);
	expect_eq(kpage_link(SELF, 0, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, 1, 0), -E_INVAL);
	expect_eq(kpage_link(SELF, (unsigned long)at, 0x7fffffff, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_link(12345, (unsigned long)at, 1, (unsigned long)to), -E_BADF);
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	/* only whoever lends memory through a view says who has it */
	view = khandle_duplicate((int)memory, SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect(view > 0);
	expect_eq(kpage_map(SELF, (unsigned long)held, (int)view, 0, 1, RW), 0);
	expect_eq(kpage_link(SELF, (unsigned long)held, 1, (unsigned long)to), -E_ACCES);
	expect_eq(kpage_unmap(SELF, (unsigned long)held, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 4), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)lazy, 2), 0);
	expect_eq(khandle_close((int)view), 0);
	expect_eq(khandle_close((int)memory), 0);
	expect_eq(kproc_kill((int)proc, 1), 0);
	kt_wait(proc, NULL);
}

TEST(a_link_gives_no_right_that_the_page_lacks)
{
	uint64_t at = pages_of(SELF, 1, RW), to;
	long memory = kmemory_create(1), reads, proc;

	*word_at(at, 0) = 77;
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, PAGE_READ), 0);
	proc = child_with(RAISES, at, 0);
	expect_eq(kt_wait(proc, NULL), 0);
	/* in the own process the link may have what the page may */
	to = link_to(SELF, at, 1);
	expect_eq(info_of(to).prot, PAGE_READ);
	expect_eq(kpage_protect(SELF, (unsigned long)to, 1, RW), 0);
	*word_at(to, 0) = 78;
	expect_eq(*word_at(at, 0), 78);
	expect_eq(kpage_unmap(SELF, (unsigned long)to, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
	/* of memory that may only be read neither */
	reads = khandle_duplicate((int)memory, SELF, PAGE_READ);
	at = free_in(SELF, 1);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)reads, 0, 1, PAGE_READ), 0);
	to = link_to(SELF, at, 1);
	expect(to != 0);
	expect_eq(kpage_protect(SELF, (unsigned long)to, 1, RW), -E_ACCES);
	expect_eq(kpage_unmap(SELF, (unsigned long)to, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
	expect_eq(khandle_close((int)reads), 0);
	expect_eq(khandle_close((int)memory), 0);
}

/* --- words of shared frames --- */

static void
play(uint64_t page, long memory)
{
	struct shared *s = (struct shared *)(uintptr_t)page;
	long proc;

	memset(s, 0, sizeof(*s));
	proc = child_with(ANSWERS, page, memory);
	for (unsigned i = 0; i < ROUNDS; i++) {
		store(&s->ball, 2 * i + 1);
		wake_shared(&s->ball, 1);
		while (load(&s->ball) != 2 * i + 2)
			wait_shared(&s->ball, 2 * i + 1, FOREVER);
	}
	expect_eq(kt_wait(proc, NULL), 0);
}

/* test: futex_wait, futex_wake */
TEST(processes_wake_each_other_by_shared_words)
{
	long memory = kmemory_create(1);
	uint64_t alone = pages_of(SELF, 1, RW), mapped = free_in(SELF, 1);

	expect_eq(kpage_map(SELF, (unsigned long)mapped, (int)memory, 0, 1, RW), 0);
	play(mapped, memory);
	play(mapped, 0);
	play(alone, 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)mapped, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)alone, 1), 0);
	expect_eq(khandle_close((int)memory), 0);
}

static unsigned long
waits_at(unsigned long at)
{
	return (unsigned long)kfutex_wait(at, 0, FOREVER);
}

TEST(one_word_has_one_queue_at_all_its_addresses)
{
	uint64_t at = pages_of(SELF, 1, RW), to = link_to(SELF, at, 1),
		lazy = pages_of(SELF, 1, RW | PAGE_LAZY);
	long tid = kt_thread(waits_at, (unsigned long)at | FUTEX_SHARED, ANY_CORE);

	while (wake_shared((uint32_t *)(uintptr_t)to, 1) == 0)
		kthread_yield();
	expect_eq(kt_join(tid), 0);
	/* lazy memory is its process's own: there the address counts */
	tid = kt_thread(waits_at, (unsigned long)lazy | FUTEX_SHARED, ANY_CORE);
	while (wake_shared((uint32_t *)(uintptr_t)lazy, 1) == 0)
		kthread_yield();
	expect_eq(kt_join(tid), 0);
	expect_eq(wake_shared((uint32_t *)8, 1), -E_FAULT);
	expect_eq(wait_shared((uint32_t *)8, 0, FOREVER), -E_FAULT);
	expect_eq(kfutex_wait((unsigned long)at | 2, 0, FOREVER), -E_INVAL);
	expect_eq(kfutex_wake((unsigned long)at | 3, 1), -E_INVAL);
	expect_eq(wait_shared((uint32_t *)(uintptr_t)at, 1, FOREVER), -E_AGAIN);
	expect_eq(wait_shared((uint32_t *)(uintptr_t)at, 0, kt_now() + MS), -E_TIMEDOUT);
	expect_eq(kpage_unmap(SELF, (unsigned long)to, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)lazy, 1), 0);
}

TEST(an_address_of_another_process_wakes_nobody)
{
	uint64_t at = pages_of(SELF, 1, RW);
	long tid = kt_thread(waits_at, (unsigned long)at, ANY_CORE), proc;

	kt_pause(1000);
	proc = child_with(WAKES_ALONE, at, 0);
	expect_eq(kt_wait(proc, NULL), 0);
	while (kfutex_wake((unsigned long)at, 1) == 0)
		kthread_yield();
	expect_eq(kt_join(tid), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
}

TEST(processes_exclude_each_other_by_a_shared_word)
{
	uint64_t at = pages_of(SELF, 1, RW);
	struct shared *s = (struct shared *)(uintptr_t)at;
	long proc[CHILDREN];

	for (unsigned i = 0; i < CHILDREN; i++)
		proc[i] = child_with(LOCKS, at, 0);
	expect_eq(locks(s), 0);
	for (unsigned i = 0; i < CHILDREN; i++)
		expect_eq(kt_wait(proc[i], NULL), 0);
	expect_eq(s->count, (CHILDREN + 1) * ROUNDS);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
}

/* Who dies in its sleep is woken no more, and others are. */
TEST(nothing_is_lost_with_a_process_that_sleeps_on_a_shared_word)
{
	uint64_t at = pages_of(SELF, 1, RW), frames = 0;
	struct shared *s = (struct shared *)(uintptr_t)at;
	long proc[CHILDREN];
	uint32_t seen;

	for (unsigned round = 0; round < 3; round++) {
		s->ball = s->asleep = 0;
		for (unsigned i = 0; i < CHILDREN; i++)
			proc[i] = child_with(SLEEPS, at, 0);
		while ((seen = load(&s->asleep)) < CHILDREN)
			wait_shared(&s->asleep, seen, FOREVER);
		kthread_sleep(WAKE_ANY, kt_now() + MS);
		expect_eq(kproc_kill((int)proc[0], 9), 0);
		expect_eq(kt_wait(proc[0], NULL), 9);
		store(&s->ball, 1);
		expect(wake_shared(&s->ball, CHILDREN) <= CHILDREN - 1);
		for (unsigned i = 1; i < CHILDREN; i++)
			expect_eq(kt_wait(proc[i], NULL), 0);
		if (round == 0)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != NONE)
		return child(atoll_startup()->job, (unsigned long)atoll_startup()->shared);
	RUN(what_is_written_at_one_address_is_read_at_the_other);
	RUN(a_link_outlives_the_first_mapping);
	RUN(wrong_links_are_refused);
	RUN(a_link_gives_no_right_that_the_page_lacks);
	RUN(processes_wake_each_other_by_shared_words);
	RUN(one_word_has_one_queue_at_all_its_addresses);
	RUN(an_address_of_another_process_wakes_nobody);
	RUN(processes_exclude_each_other_by_a_shared_word);
	RUN(nothing_is_lost_with_a_process_that_sleeps_on_a_shared_word);
	kt_end();
}
