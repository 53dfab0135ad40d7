/* SPDX-License-Identifier: MIT
 *
 * Entries of page tables that change beside others that are in use, a line of them: whoever
 * translates sees each as it is now. In little, for RTL with data caches that nobody keeps
 * coherent, where an entry that was read before may lie in the cache: it does for certain where the
 * core that has read it enters no kernel until the entry has changed.
 *
 * machine: 1 3 KC
 */
#include <tests/kernel/ktest.h>

#define PAGES 8
#define ROUNDS 3
#define RW (PAGE_READ | PAGE_WRITE)
#define LINE 16			/* pages whose entries lie in one line of a cache at most */
#define LINES 12

static unsigned long
page(unsigned long first, unsigned i)
{
	return first + i * kt_page_bytes();
}

static volatile uint32_t *
word(unsigned long first, unsigned i)
{
	return (volatile uint32_t *)page(first, i);
}

TEST(an_entry_is_seen_when_its_neighbour_is_in_use)
{
	long memory = kmemory_create(PAGES);
	uint64_t at;

	expect_eq(kmem_alloc(SELF, PAGES * kt_page_bytes(), 0, &at), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		expect_eq(kpage_map(SELF, page((unsigned long)at, i), (int)memory, (int)i, 1, RW),
			0);
		*word((unsigned long)at, i) = i;
	}
	/* each page gets the next one's memory, while the others are in use */
	for (unsigned round = 1; round <= ROUNDS; round++)
		for (unsigned i = 0; i < PAGES; i++) {
			unsigned now = (i + round) % PAGES;

			expect_eq(kpage_unmap(SELF, page((unsigned long)at, i), 1), 0);
			expect_eq(kpage_map(SELF, page((unsigned long)at, i), (int)memory, (int)now,
				1, RW), 0);
			expect_eq(*word((unsigned long)at, i), now);
		}
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
	expect_eq(khandle_close((int)memory), 0);
}

/* Pages come in turn beside those that a thread has touched. */
static struct {
	unsigned long first;	/* its entry is the first of a line */
	uint32_t turn;		/* odd: the thread's, which has touched a line's first page */
	uint32_t wrong;
} neighbours;

static void
wait_for_turn(uint32_t turn)
{
	while (__atomic_load_n(&neighbours.turn, __ATOMIC_ACQUIRE) != turn)
		continue;
}

static void
give_turn(uint32_t turn)
{
	__atomic_store_n(&neighbours.turn, turn, __ATOMIC_RELEASE);
}

/* Makes no call, and its core has no other thread. */
static unsigned long
touches(unsigned long arg)
{
	for (unsigned i = 0; i < LINES; i++) {
		wait_for_turn(4 * i + 1);
		neighbours.wrong += *word(neighbours.first, i * LINE) != i;
		give_turn(4 * i + 2);
		wait_for_turn(4 * i + 3);
		neighbours.wrong += *word(neighbours.first, i * LINE + 1) != LINES + i;
		give_turn(4 * i + 4);
	}
	return arg;
}

static void
page_comes(int memory, unsigned i, uint32_t value)
{
	expect_eq(kpage_map(SELF, page(neighbours.first, i), memory, (int)value, 1, RW), 0);
	*word(neighbours.first, i) = value;
}

static uint32_t
faults_of(long thread)
{
	struct thread_counts c;

	while (kthread_stats((int)thread, 0, &c) == -E_AGAIN)
		continue;
	return c.faults;
}

/* Without a fault, also where the kernel would mend that. */
TEST(an_entry_is_seen_when_its_neighbour_was_there_before)
{
	long memory = kmemory_create(2 * LINES), thread;
	size_t bytes = (LINES + 1) * LINE * kt_page_bytes();
	uint32_t before;
	uint64_t at;

	expect_eq(kmem_alloc(SELF, bytes, 0, &at), 0);
	neighbours.first = ((unsigned long)at + LINE * kt_page_bytes() - 1) /
		(LINE * kt_page_bytes()) * (LINE * kt_page_bytes());
	thread = kt_thread(touches, 0, kt_other_core());
	before = faults_of(thread);
	for (unsigned i = 0; i < LINES; i++) {
		page_comes((int)memory, i * LINE, i);
		give_turn(4 * i + 1);
		wait_for_turn(4 * i + 2);
		page_comes((int)memory, i * LINE + 1, LINES + i);
		give_turn(4 * i + 3);
		wait_for_turn(4 * i + 4);
	}
	expect_eq(faults_of(thread), before);
	expect_eq(neighbours.wrong, 0);
	expect_eq(kt_join(thread), 0);
	for (unsigned i = 0; i < LINES; i++)
		expect_eq(kpage_unmap(SELF, page(neighbours.first, i * LINE), 2), 0);
	expect_eq(khandle_close((int)memory), 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(an_entry_is_seen_when_its_neighbour_is_in_use);
	RUN(an_entry_is_seen_when_its_neighbour_was_there_before);
	kt_end();
}
