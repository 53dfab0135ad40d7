/* SPDX-License-Identifier: MIT
 *
 * Barrier of a job that lives in one cluster: everybody counts itself, the last one opens. No messages.
 *
 * Cost: n atomic additions to one word, and one change of another that all look at; with more ranks than cores each rank runs once.
 *
 * No wake-up is lost: who wants to sleep sets `drowsy`, and looks at it and at `epoch` once more when `sleeping` is set; the last one changes
 * `epoch`, then clears `drowsy`, then looks who sleeps (all in total order).
 */
#include <mpi/coll/coll.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/sync.h>
#include <mpi/transport/transport.h>

struct meeting {
	struct sync *sync;
	uint32_t epoch;			/* while it goes on */
};

static bool
must_look_again(const void *arg)
{
	const struct meeting *m = arg;

	return load_total(&m->sync->epoch) != m->epoch || load_total(&m->sync->drowsy) == 0;
}

static void
open_doors(struct mpi_rank *self, const struct meeting *m)
{
	store_relaxed(&m->sync->arrived, 0);
	exchange_total(&m->sync->epoch, m->epoch + 1);
	if (load_total(&m->sync->drowsy) == 0)
		return;
	exchange_total(&m->sync->drowsy, 0);
	transport_wake_all(self);
}

static void
wait_for_last(struct mpi_rank *self, const struct meeting *m)
{
	unsigned idle = 0;

	while (load_acquire(&m->sync->epoch) == m->epoch) {
		if (mpi_progress(self)) {
			idle = 0;
			continue;
		}
		if (transport_sleeps_at(self, idle) && load_relaxed(&m->sync->drowsy) == 0)
			exchange_total(&m->sync->drowsy, 1);
		transport_idle(self, idle++, must_look_again, m);
	}
}

int
mpi_barrier_counter(struct mpi_rank *self, struct comm *c)
{
	struct meeting m = {.sync = transport_sync(self)};

	m.epoch = load_acquire(&m.sync->epoch);
	if (add_total(&m.sync->arrived, 1) + 1 == (uint32_t)c->size)
		open_doors(self, &m);
	else
		wait_for_last(self, &m);
	return MPI_SUCCESS;
}
