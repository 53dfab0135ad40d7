/* SPDX-License-Identifier: MIT
 *
 * Central barriers.
 *
 * Cost: of ranks that share c cores, n atomic additions to words that each stay on a core, and one
 * for each core; one change of another word, that all look at, and each rank runs once. Of ranks
 * with a core each, with l lanes: n / l additions to one word, at the same time for all lanes, and
 * l to another; l changes of words, at each of which n / l look.
 *
 * No wake-up is lost: who wants to sleep sets `has_sleepers`, and looks at it and at what it waits
 * for once more when `sleeping` is set; who changes that does so before it clears `has_sleepers`
 * and looks who sleeps (all in total order).
 */
#include <string.h>
#include <mpi/coll/locality.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

#define SPREAD_MIN 8			/* fewer ranks with a core each are counted on one word */

struct lanes
mpi_central_lanes(uint32_t ranks, uint32_t cores)
{
	struct lanes l = {.count = 1, .ranks = ranks, .spread = cores > LANES_MAX ||
		ranks < 2 * cores};

	if (!l.spread)
		l.count = cores;
	else if (ranks >= SPREAD_MIN)
		while (l.count < LANES_MAX && l.count * l.count < ranks)
			l.count++;
	return l;
}

static bool
counts_lanes(const struct central *m)
{
	return mpi_central_counts_lanes(m->ranks, m->lanes.count);
}

bool
mpi_central_arrive(struct central *m)
{
	m->epoch = load_acquire(&mpi_central_release_line(m)->epoch);
	if (!counts_lanes(m))
		return add_total(&m->sync->arrived, 1) + 1 == m->ranks;
	if (!mpi_central_completes_lane(m->sync, m->lanes.own, m->lanes.ranks))
		return false;
	return add_total(&m->sync->arrived, 1) + 1 == m->lanes.count;
}

void
mpi_central_wake(struct central *m)
{
	if (load_total(&m->sync->all.has_sleepers) == 0)
		return;
	exchange_total(&m->sync->all.has_sleepers, 0);
	transport_wake_all(m->self);
}

/* The result of a fast central barrier lies beside the word that releases the ranks. */
static void
release_lanes(const struct central *m)
{
	for (uint32_t i = 0; i < m->lanes.count; i++) {
		struct release *r = &m->sync->lane[i].release;

		memcpy(r->result, m->sync->all.result, sizeof(r->result));
		exchange_total(&r->epoch, m->epoch + 1);
	}
}

void
mpi_central_release(struct central *m)
{
	store_relaxed(&m->sync->arrived, 0);
	if (counts_lanes(m) && m->lanes.spread)
		release_lanes(m);
	else
		exchange_total(&m->sync->all.epoch, m->epoch + 1);
	mpi_central_wake(m);
}

static bool
is_released(const struct central *m)
{
	return load_total(&mpi_central_release_line(m)->epoch) != m->epoch;
}

static bool
all_have_arrived(const struct central *m)
{
	return load_total(&m->sync->arrived) == (counts_lanes(m) ? m->lanes.count : m->ranks);
}

static bool
must_look(const void *arg)
{
	const struct central *m = arg;

	return m->there(m) || load_total(&m->sync->all.has_sleepers) == 0;
}

/* Who sleeps beside another thread, which polls, does so at once. */
static bool
is_about_to_sleep(const struct mpi_rank *self, unsigned idle)
{
	return self->lock.poller != NULL || transport_sleeps_at(self, idle);
}

void
mpi_central_wait_until(struct central *m, bool (*there)(const struct central *m))
{
	unsigned idle = 0;

	m->there = there;
	while (!there(m)) {
		if (mpi_progress(m->self)) {
			idle = 0;
			continue;
		}
		if (is_about_to_sleep(m->self, idle) &&
			load_relaxed(&m->sync->all.has_sleepers) == 0)
			exchange_total(&m->sync->all.has_sleepers, 1);
		mpi_idle(m->self, idle++, must_look, m);
	}
}

void
mpi_central_wait(struct central *m)
{
	mpi_central_wait_until(m, is_released);
}

void
mpi_central_wait_for_all(struct central *m)
{
	mpi_central_wait_until(m, all_have_arrived);
}

struct sync *
mpi_central_words(struct mpi_rank *self, const struct comm *c)
{
	struct sync *all = c == &self->world ? transport_sync(self) : NULL;

	if (all != NULL)
		return all;
	if (c->locality == NULL || c->locality->clusters > 1 || c->locality->segment == NULL)
		return NULL;
	return &c->locality->segment->sync;
}

bool
mpi_central_world(struct mpi_rank *self, const struct comm *c)
{
	struct central m = {.self = self, .sync = transport_sync(self),
		.ranks = (uint32_t)self->world_size};

	if (c != &self->world || m.sync == NULL)
		return false;
	m.lanes = mpi_central_lanes(m.ranks, transport_cores(self));
	m.lanes.own = mpi_central_lane(&m.lanes, (uint32_t)c->rank,
		transport_core(self, (uint32_t)c->rank));
	m.lanes.ranks = (m.ranks - m.lanes.own + m.lanes.count - 1) / m.lanes.count;
	if (mpi_central_arrive(&m))
		mpi_central_release(&m);
	else
		mpi_central_wait(&m);
	return true;
}
