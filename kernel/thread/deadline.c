/* SPDX-License-Identifier: MIT
 *
 * Deadlines of the threads that wait, and alarms: a heap, the earliest at the top, each of which
 * knows its place. Putting one in and taking one out take as many steps as the heap has levels.
 * Home core.
 */
#include <base/tune.h>
#include <hal/timer.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

#define ENDS_PER_ROUND 8		/* others are served in between */

static void
put(struct deadlines *d, uint32_t place, struct deadline *at)
{
	d->heap[place - 1] = at;
	at->place = place;
}

static uint64_t
until_at(const struct deadlines *d, uint32_t place)
{
	return d->heap[place - 1]->until;
}

/* Put one where a hole is, or further up if it is earlier than those above. */
static void
rise(struct deadlines *d, uint32_t hole, struct deadline *at)
{
	while (hole > 1 && until_at(d, hole / 2) > at->until) {
		put(d, hole, d->heap[hole / 2 - 1]);
		hole /= 2;
	}
	put(d, hole, at);
}

/* Fill a hole with one, or with what is earlier below. */
static void
sink(struct deadlines *d, uint32_t hole, struct deadline *at)
{
	uint32_t below;

	while ((below = 2 * hole) <= d->count) {
		if (below < d->count && until_at(d, below + 1) < until_at(d, below))
			below++;
		if (until_at(d, below) >= at->until)
			break;
		put(d, hole, d->heap[below - 1]);
		hole = below;
	}
	put(d, hole, at);
}

void
deadline_set(struct cluster *c, struct deadline *at, uint64_t until)
{
	struct deadlines *d = &c->deadlines;

	at->until = until;
	rise(d, ++d->count, at);
	c->chores++;
}

void
deadline_clear(struct cluster *c, struct deadline *at)
{
	struct deadlines *d = &c->deadlines;
	uint32_t hole = at->place;
	struct deadline *last = d->heap[--d->count];

	at->place = 0;
	c->chores--;
	if (last == at)
		return;
	if (hole > 1 && until_at(d, hole / 2) > last->until)
		rise(d, hole, last);
	else
		sink(d, hole, last);
}

uint64_t
deadlines_first(const struct cluster *c)
{
	return c->deadlines.count > 0 ? c->deadlines.heap[0]->until : HAL_FOREVER;
}

bool
deadlines_poll(struct cluster *c)
{
	uint64_t now = hal_clock_ns();
	int n = 0;

	for (; n < ENDS_PER_ROUND && c->deadlines.count > 0 && deadlines_first(c) <= now; n++) {
		struct deadline *d = c->deadlines.heap[0];

		if (d->is_alarm)
			alarm_rings(list_entry(d, struct alarm, deadline), now);
		else
			wait_rings(list_entry(d, struct thread, wait.deadline));
	}
	return n > 0;
}
