/* SPDX-License-Identifier: MIT
 *
 * The heap of deadlines and alarms against a table: random ones come, are taken back and pass.
 *
 * needs: kernel/thread/deadline.c
 */
/* cpu: coroutine */
#include <stdlib.h>
#include <base/test.h>
#include <hal/timer.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

#define EACH 20				/* waits, and alarms */
#define PLACES (2 * EACH)
#define STEPS 20000

static struct cluster cluster;
static struct thread thread[EACH];
static struct alarm alarm_of[EACH];
static struct deadline *heap[PLACES];
static uint64_t now;
static uint64_t last;		/* that passed last */
static unsigned ended, rung;

uint64_t
hal_clock_ns(void)
{
	return now;
}

/* The first half are waits. */
static struct deadline *
at(int i)
{
	return i < EACH ? &thread[i].wait.deadline : &alarm_of[i - EACH].deadline;
}

static void
pass(struct deadline *d)
{
	expect(d->place != 0 && d->until >= last && d->until <= now);
	last = d->until;
	deadline_clear(&cluster, d);
}

void
wait_rings(struct thread *t)
{
	pass(&t->wait.deadline);
	ended++;
}

void
alarm_rings(struct alarm *a, uint64_t time)
{
	expect(time == now);
	pass(&a->deadline);
	rung++;
}

static void
begin(void)
{
	memset(&cluster, 0, sizeof(cluster));
	memset(thread, 0, sizeof(thread));
	memset(alarm_of, 0, sizeof(alarm_of));
	for (int i = 0; i < EACH; i++)
		alarm_of[i].deadline.is_alarm = true;
	cluster.deadlines.heap = heap;
	now = last = 0;
	ended = rung = 0;
}

static unsigned
waiting(void)
{
	unsigned n = 0;

	for (int i = 0; i < PLACES; i++)
		n += at(i)->place != 0;
	return n;
}

static uint64_t
earliest(void)
{
	uint64_t first = HAL_FOREVER;

	for (int i = 0; i < PLACES; i++)
		if (at(i)->place != 0 && at(i)->until < first)
			first = at(i)->until;
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
		struct deadline *d = at(rand() % PLACES);

		if (d->place == 0)
			deadline_set(&cluster, d, now + (uint64_t)(rand() % 100));
		else if (rand() % 3 == 0)
			deadline_clear(&cluster, d);
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
	expect(ended > 100 && rung > 100);
}

TEST(a_round_is_bounded)
{
	begin();
	for (int i = 0; i < PLACES; i++)
		deadline_set(&cluster, at(i), 5);
	now = 5;
	expect(deadlines_poll(&cluster));
	expect(ended + rung > 0 && ended + rung < PLACES);
	while (deadlines_poll(&cluster))
		;
	expect_eq(ended, EACH);
	expect_eq(rung, EACH);
}

int
main(void)
{
	RUN(nothing_passes_where_nobody_waits);
	RUN(deadlines_pass_in_order_and_once);
	RUN(a_round_is_bounded);
	return TEST_FAILED;
}
