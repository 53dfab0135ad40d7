/* SPDX-License-Identifier: MIT
 *
 * Deadlines of the threads that wait: a heap of threads, the earliest at the top, each of which
 * knows its place. Putting one in and taking one out take as many steps as the heap has levels.
 * Home core.
 */
#include <base/tune.h>
#include <hal/timer.h>
#include <kernel/thread/thread.h>

#define ENDS_PER_ROUND 8		/* others are served in between */

static void
put(struct deadlines *d, uint32_t place, struct thread *t)
{
	d->heap[place - 1] = t;
	t->wait.place = place;
}

static uint64_t
until_at(const struct deadlines *d, uint32_t place)
{
	return d->heap[place - 1]->wait.until;
}

/* Put a thread where a hole is, or further up if it is earlier than those above. */
static void
rise(struct deadlines *d, uint32_t hole, struct thread *t)
{
	while (hole > 1 && until_at(d, hole / 2) > t->wait.until) {
		put(d, hole, d->heap[hole / 2 - 1]);
		hole /= 2;
	}
	put(d, hole, t);
}

/* Fill a hole with a thread, or with what is earlier below. */
static void
sink(struct deadlines *d, uint32_t hole, struct thread *t)
{
	uint32_t below;

	while ((below = 2 * hole) <= d->count) {
		if (below < d->count && until_at(d, below + 1) < until_at(d, below))
			below++;
		if (until_at(d, below) >= t->wait.until)
			break;
		put(d, hole, d->heap[below - 1]);
		hole = below;
	}
	put(d, hole, t);
}

void
deadline_set(struct cluster *c, struct thread *t, uint64_t until)
{
	struct deadlines *d = &c->deadlines;

	t->wait.until = until;
	rise(d, ++d->count, t);
	c->chores++;
}

void
deadline_clear(struct cluster *c, struct thread *t)
{
	struct deadlines *d = &c->deadlines;
	uint32_t hole = t->wait.place;
	struct thread *last = d->heap[--d->count];

	t->wait.place = 0;
	c->chores--;
	if (last == t)
		return;
	if (hole > 1 && until_at(d, hole / 2) > last->wait.until)
		rise(d, hole, last);
	else
		sink(d, hole, last);
}

uint64_t
deadlines_first(const struct cluster *c)
{
	return c->deadlines.count > 0 ? c->deadlines.heap[0]->wait.until : HAL_FOREVER;
}

bool
deadlines_poll(struct cluster *c)
{
	uint64_t now = hal_clock_ns();
	int n = 0;

	for (; n < ENDS_PER_ROUND && c->deadlines.count > 0 && deadlines_first(c) <= now; n++) {
		struct thread *t = c->deadlines.heap[0];

		if (t->wait.undo != NULL)
			t->wait.undo(t);
		thread_ready(t, -E_TIMEDOUT);
	}
	return n > 0;
}
