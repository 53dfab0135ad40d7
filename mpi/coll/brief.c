/* SPDX-License-Identifier: MIT
 *
 * Brief meetings.
 *
 * Cost: with n ranks on c cores n / c changes of the rank on each core, some 100 instructions of
 * each rank, n reads of 8 to 32 bytes by the one that opens.
 */
#include <string.h>
#include <mpi/coll/brief.h>
#include <mpi/coll/choose.h>
#include <mpi/core/op.h>
#include <mpi/core/type.h>
#include <mpi/transport/transport.h>

#define AHEAD 64		/* operands that are fetched before their turn */
#define YIELDS 4		/* before it looks for messages as well */

void
mpi_brief_forget(struct comm *c)
{
	c->brief = (struct brief){0};
}

bool
mpi_brief_learn(struct brief *b, MPI_Datatype datatype, MPI_Op op)
{
	const struct type *t = mpi_type_basic(datatype);
	bool known = t != NULL && mpi_type_is_plain(t) && mpi_op_loop(op, t) != NULL;

	b->datatype = known ? datatype : MPI_DATATYPE_NULL;
	b->op = known ? op : MPI_OP_NULL;
	b->size = known ? (uint16_t)t->size : 0;
	return b->size > 0;
}

static void
know(struct mpi_rank *self, struct comm *c, const struct venue *v)
{
	struct brief *b = &c->brief;

	b->yields = transport_shares_core(self) ? YIELDS : 0;
	b->ranks = (uint32_t)v->ranks;
	b->lane = (uint16_t)v->lane;
	b->lane_ranks = v->lane_ranks;
	b->lanes = (uint16_t)v->lanes;
	if (mpi_choose_brief(c, COLL_BARRIER, 0) > 0)
		b->barrier = mpi_meet_sync(self, c);
	if (v->place == NULL)
		return;
	b->place = &v->place->sync;
	b->seats = venue_brief_seat(v, v->brief_seat & ~BRIEF_PLACE, 0);
	b->index = v->brief_seat & BRIEF_PLACE;
	b->below = (uint32_t)mpi_choose_brief(c, COLL_ALLREDUCE, BRIEF_BYTES);
}

void
mpi_brief_know(struct mpi_rank *self, struct comm *c)
{
	const struct venue *v = c->venue;

	if (v == NULL || v->clusters > 1 || (c->brief.ranks > 0 && (c->brief.place != NULL || v->place == NULL)))
		return;
	know(self, c, v);
}

static struct meeting
meeting(struct mpi_rank *self, const struct brief *b, struct sync *sync)
{
	return (struct meeting){.self = self, .sync = sync, .ranks = b->ranks,
		.lane_ranks = b->lane_ranks, .lane = b->lane, .lanes = b->lanes};
}

/* The others have the core for a while; most often all have come then. */
static inline __attribute__((always_inline)) bool
opens_soon(struct mpi_rank *self, const struct brief *b, const struct sync *sync, uint32_t epoch)
{
	for (uint32_t i = 0; i < b->yields; i++) {
		transport_yield(self);
		if (load_total(&sync->epoch) != epoch)
			return true;
	}
	return false;
}

static __attribute__((noinline)) void
wait_longer(struct mpi_rank *self, const struct brief *b, struct sync *sync, uint32_t epoch)
{
	struct meeting m = meeting(self, b, sync);

	m.epoch = epoch;
	mpi_meet_wait(&m);
}

static __attribute__((noinline)) void
open_doors(struct mpi_rank *self, const struct brief *b, struct sync *sync, uint32_t epoch)
{
	struct meeting m = meeting(self, b, sync);

	m.epoch = epoch;
	mpi_meet_open(&m);
}

/* The same steps as mpi_meet_come. */
static inline __attribute__((always_inline)) bool
is_last(const struct brief *b, struct sync *sync)
{
	if (!mpi_meet_counts_lanes(b->ranks, b->lanes))
		return add_total(&sync->arrived, 1) + 1 == b->ranks;
	return add_total(&sync->lane[b->lane].arrived, 1) + 1 == b->lane_ranks &&
		add_total(&sync->arrived, 1) + 1 == b->lanes;
}

ON_ONE_PAGE void
mpi_brief_barrier(const struct comm *c)
{
	const struct brief *b = &c->brief;
	struct mpi_rank *self = mpi_self();
	struct sync *sync = b->barrier;
	uint32_t epoch = load_acquire(&sync->epoch);

	if (is_last(b, sync))
		open_doors(self, b, sync, epoch);
	else if (!opens_soon(self, b, sync, epoch))
		wait_longer(self, b, sync, epoch);
}

void
mpi_brief_fold(const struct venue *v, const struct operation *op, MPI_Count count, size_t bytes)
{
	_Alignas(16) char sum[BRIEF_BYTES];
	const uint32_t *order = v->brief_order;

	memcpy(sum, venue_brief_seat(v, order[v->ranks - 1], bytes), bytes);
	for (int i = v->ranks - 2; i >= 0; i--) {
		const char *seat = venue_brief_seat(v, order[i], bytes);

		/* half of them come from other cores */
		if (i >= AHEAD)
			__builtin_prefetch(venue_brief_seat(v, order[i - AHEAD], bytes));
		if (op->loop != NULL)
			op->loop(seat, sum, (size_t)count);
		else
			mpi_op_apply(op, seat, sum, count);
	}
	memcpy(v->place->sync.result, sum, bytes);
}

static __attribute__((noinline)) void
fold_and_open(struct mpi_rank *self, const struct comm *c, size_t count, uint32_t epoch)
{
	const struct brief *b = &c->brief;
	struct operation op = {.loop = mpi_op_loop(b->op, mpi_type_basic(b->datatype)),
		.datatype = b->datatype};

	mpi_brief_fold(c->venue, &op, (MPI_Count)count, count * b->size);
	open_doors(self, b, b->place, epoch);
}

ON_ONE_PAGE void
mpi_brief_allreduce(const struct comm *c, const void *in, void *out, size_t count)
{
	const struct brief *b = &c->brief;
	struct mpi_rank *self = mpi_self();
	struct sync *sync = b->place;
	size_t bytes = count * b->size;
	uint32_t epoch = load_acquire(&sync->epoch);

	bytes_copy_few(b->seats + b->index * brief_stride(bytes), in, bytes);
	if (is_last(b, sync))
		fold_and_open(self, c, count, epoch);
	else if (!opens_soon(self, b, sync, epoch))
		wait_longer(self, b, sync, epoch);
	bytes_copy_few(out, sync->result, bytes);
}
