/* SPDX-License-Identifier: MIT
 *
 * Meetings.
 *
 * Cost: with as many cores as ranks n atomic additions to one word; otherwise n to words that each
 * stay on a core, and one for each core. One change of another word, that all look at. With more
 * ranks than cores each rank runs once.
 *
 * No wake-up is lost: who wants to sleep sets `drowsy`, and looks at it and at what it waits for
 * once more when `sleeping` is set; who changes that does so before it clears `drowsy` and looks
 * who sleeps (all in total order).
 */
#include <mpi/coll/place.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

static bool
counts_lanes(const struct meeting *m)
{
	return mpi_meet_counts_lanes(m->ranks, m->lanes);
}

bool
mpi_meet_come(struct meeting *m)
{
	m->epoch = load_acquire(&m->sync->epoch);
	if (!counts_lanes(m))
		return add_total(&m->sync->arrived, 1) + 1 == m->ranks;
	if (add_total(&m->sync->lane[m->lane].arrived, 1) + 1 < m->lane_ranks)
		return false;
	return add_total(&m->sync->arrived, 1) + 1 == m->lanes;
}

void
mpi_meet_wake(struct meeting *m)
{
	if (load_total(&m->sync->drowsy) == 0)
		return;
	exchange_total(&m->sync->drowsy, 0);
	transport_wake_all(m->self);
}

void
mpi_meet_open(struct meeting *m)
{
	store_relaxed(&m->sync->arrived, 0);
	for (uint32_t i = 0; counts_lanes(m) && i < LANES_MAX; i++)
		if (load_relaxed(&m->sync->lane[i].arrived) != 0)
			store_relaxed(&m->sync->lane[i].arrived, 0);
	exchange_total(&m->sync->epoch, m->epoch + 1);
	mpi_meet_wake(m);
}

static bool
is_open(const struct meeting *m)
{
	return load_total(&m->sync->epoch) != m->epoch;
}

static bool
all_have_come(const struct meeting *m)
{
	return load_total(&m->sync->arrived) == (counts_lanes(m) ? m->lanes : m->ranks);
}

static bool
must_look(const void *arg)
{
	const struct meeting *m = arg;

	return m->there(m) || load_total(&m->sync->drowsy) == 0;
}

/* Who sleeps beside another thread, which polls, does so at once. */
static bool
is_about_to_sleep(const struct mpi_rank *self, unsigned idle)
{
	return self->lock.poller != NULL || transport_sleeps_at(self, idle);
}

void
mpi_meet_wait_until(struct meeting *m, bool (*there)(const struct meeting *m))
{
	unsigned idle = 0;

	m->there = there;
	while (!there(m)) {
		if (mpi_progress(m->self)) {
			idle = 0;
			continue;
		}
		if (is_about_to_sleep(m->self, idle) && load_relaxed(&m->sync->drowsy) == 0)
			exchange_total(&m->sync->drowsy, 1);
		mpi_idle(m->self, idle++, must_look, m);
	}
}

void
mpi_meet_wait(struct meeting *m)
{
	mpi_meet_wait_until(m, is_open);
}

void
mpi_meet_wait_for_all(struct meeting *m)
{
	mpi_meet_wait_until(m, all_have_come);
}

struct sync *
mpi_meet_sync(struct mpi_rank *self, const struct comm *c)
{
	struct sync *all = c == &self->world ? transport_sync(self) : NULL;

	if (all != NULL)
		return all;
	return c->venue != NULL && c->venue->clusters == 1 && c->venue->place != NULL ? &c->venue->place->sync : NULL;
}

bool
mpi_meet_all(struct mpi_rank *self, const struct comm *c)
{
	struct meeting m = {.self = self, .sync = transport_sync(self), .ranks = (uint32_t)self->world_size};

	if (c != &self->world || m.sync == NULL)
		return false;
	m.lanes = transport_lanes(self);
	m.lane = transport_lane(self, (uint32_t)c->rank);
	m.lane_ranks = (m.ranks - m.lane + m.lanes - 1) / m.lanes;
	if (mpi_meet_come(&m))
		mpi_meet_open(&m);
	else
		mpi_meet_wait(&m);
	return true;
}
