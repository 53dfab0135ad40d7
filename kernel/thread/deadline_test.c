/* SPDX-License-Identifier: MIT
 *
 * The heap of deadlines against a table: random ones come, are taken back and pass.
 *
 * needs: kernel/thread/deadline.c
 */
/* cpu: coroutine */
#include <stdlib.h>
#include <base/test.h>
#include <hal/timer.h>
#include <kernel/thread/thread.h>

#define THREADS 40
#define STEPS 20000

static struct cluster cluster;
static struct thread thread[THREADS];
static struct thread *heap[THREADS];
static uint64_t now;
static uint64_t last;		/* deadline of the wait that ended last */
static unsigned ended, undone;

uint64_t
hal_clock_ns(void)
{
	return now;
}

void
thread_ready(struct thread *t, long result)
{
	expect_eq(result, -E_TIMEDOUT);
	expect(t->wait.until >= last && t->wait.until <= now);
	last = t->wait.until;
	deadline_clear(&cluster, t);
	t->wait.undo = NULL;
	ended++;
}

static void
undo(struct thread *t)
{
	expect(t->wait.place != 0);
	undone++;
}

static void
begin(void)
{
	memset(&cluster, 0, sizeof(cluster));
	memset(thread, 0, sizeof(thread));
	cluster.deadlines.heap = heap;
	now = last = 0;
	ended = undone = 0;
}

static unsigned
waiting(void)
{
	unsigned n = 0;

	for (int i = 0; i < THREADS; i++)
		n += thread[i].wait.place != 0;
	return n;
}

static uint64_t
earliest(void)
{
	uint64_t first = HAL_FOREVER;

	for (int i = 0; i < THREADS; i++)
		if (thread[i].wait.place != 0 && thread[i].wait.until < first)
			first = thread[i].wait.until;
	return first;
}

TEST(nothing_passes_where_nobody_waits)
{
	begin();
	now = HAL_FOREVER;
	expect(!deadlines_poll(&cluster));
	expect(deadlines_first(&cluster) == HAL_FOREVER);
}

TEST(deadlines_pass_in_order_and_once)
{
	begin();
	srand(7);
	for (int i = 0; i < STEPS; i++) {
		struct thread *t = &thread[rand() % THREADS];

		if (t->wait.place == 0)
			deadline_set(&cluster, t, now + (uint64_t)(rand() % 100));
		else if (rand() % 3 == 0)
			deadline_clear(&cluster, t);
		expect_eq(cluster.deadlines.count, waiting());
		expect_eq(cluster.chores, waiting());
		expect(deadlines_first(&cluster) == earliest());
		if (rand() % 20 == 0) {
			now += (uint64_t)(rand() % 60);
			last = 0;
			while (deadlines_poll(&cluster))
				;
			expect(earliest() > now);
		}
	}
	expect(ended > 100);
}

TEST(a_round_is_bounded_and_what_knows_the_thread_is_told)
{
	begin();
	for (int i = 0; i < THREADS; i++) {
		thread[i].wait.undo = i % 2 ? undo : NULL;
		deadline_set(&cluster, &thread[i], 5);
	}
	now = 5;
	expect(deadlines_poll(&cluster));
	expect(ended > 0 && ended < THREADS);
	while (deadlines_poll(&cluster))
		;
	expect_eq(ended, THREADS);
	expect_eq(undone, THREADS / 2);
}

int
main(void)
{
	RUN(nothing_passes_where_nobody_waits);
	RUN(deadlines_pass_in_order_and_once);
	RUN(a_round_is_bounded_and_what_knows_the_thread_is_told);
	return TEST_FAILED;
}
