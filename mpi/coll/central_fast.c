/* SPDX-License-Identifier: MIT
 *
 * The fast path of central barriers.
 *
 * Cost: with n ranks on c cores n / c changes of the rank on each core, some 100 instructions of
 * each rank, n reads of 8 to 32 bytes by the releasing rank.
 */
#include <string.h>
#include <mpi/coll/central_fast.h>
#include <mpi/coll/choose.h>
#include <mpi/core/op.h>
#include <mpi/core/type.h>
#include <mpi/transport/transport.h>

#define AHEAD 64		/* operands that are fetched before their turn */
#define YIELDS 4		/* before it looks for messages as well */

void
mpi_central_fast_forget(struct comm *c)
{
	c->fast = (struct central_fast){0};
}

bool
mpi_central_fast_cache_op(struct central_fast *b, MPI_Datatype datatype, MPI_Op op)
{
	const struct type *t = mpi_type_basic(datatype);
	bool known = t != NULL && mpi_type_is_plain(t) && mpi_op_loop(op, t) != NULL;

	b->datatype = known ? datatype : MPI_DATATYPE_NULL;
	b->op = known ? op : MPI_OP_NULL;
	b->size = known ? (uint16_t)t->size : 0;
	return b->size > 0;
}

/* In any structure of this kind. */
static uint16_t
release_of(const struct locality *v, struct sync *sync)
{
	struct central m = {.sync = sync, .ranks = (uint32_t)v->ranks, .lanes = v->lanes};

	return (uint16_t)((char *)mpi_central_release_line(&m) - (char *)sync);
}

static inline __attribute__((always_inline)) const struct release *
release_in(const struct central_fast *b, const struct sync *sync)
{
	return (const struct release *)(const void *)((const char *)sync + b->release);
}

static void
cache_topology(struct mpi_rank *self, struct comm *c, const struct locality *v)
{
	struct central_fast *b = &c->fast;

	b->yields = transport_shares_core(self) ? YIELDS : 0;
	b->ranks = (uint16_t)v->ranks;
	b->lane = (uint16_t)v->lanes.own;
	b->lane_ranks = (uint16_t)v->lanes.ranks;
	b->lanes = (uint16_t)v->lanes.count;
	b->spread = v->lanes.spread;
	if (mpi_choose_central_fast(c, COLL_BARRIER, 0) > 0)
		b->barrier = mpi_central_words(self, c);
	if (b->barrier != NULL)
		b->release = release_of(v, b->barrier);
	if (v->segment == NULL)
		return;
	b->segment = &v->segment->sync;
	b->release = release_of(v, b->segment);
	b->slots = locality_fast_slot(v, v->fast_slot & ~FAST_PLACE, 0);
	b->index = v->fast_slot & FAST_PLACE;
	b->below = (uint32_t)mpi_choose_central_fast(c, COLL_ALLREDUCE, FAST_BYTES);
}

void
mpi_central_fast_cache_topology(struct mpi_rank *self, struct comm *c)
{
	const struct locality *v = c->locality;

	if (v == NULL || v->clusters > 1 || (c->fast.ranks > 0 &&
		(c->fast.segment != NULL || v->segment == NULL)))
		return;
	cache_topology(self, c, v);
}

static struct central
central_of(struct mpi_rank *self, const struct central_fast *b, struct sync *sync)
{
	return (struct central){.self = self, .sync = sync, .ranks = b->ranks,
		.lanes = {b->lanes, b->lane, b->lane_ranks, b->spread}};
}

/* The others have the core for a while; most often all have come then. */
static inline __attribute__((always_inline)) bool
released_soon(struct mpi_rank *self, const struct central_fast *b, const struct release *r,
	uint32_t epoch)
{
	for (uint32_t i = 0; i < b->yields; i++) {
		transport_yield(self);
		if (load_total(&r->epoch) != epoch)
			return true;
	}
	return false;
}

static __attribute__((noinline)) void
wait_longer(struct mpi_rank *self, const struct central_fast *b, struct sync *sync, uint32_t epoch)
{
	struct central m = central_of(self, b, sync);

	m.epoch = epoch;
	mpi_central_wait(&m);
}

static __attribute__((noinline)) void
release(struct mpi_rank *self, const struct central_fast *b, struct sync *sync, uint32_t epoch)
{
	struct central m = central_of(self, b, sync);

	m.epoch = epoch;
	mpi_central_release(&m);
}

/* The same steps as mpi_central_arrive. */
static inline __attribute__((always_inline)) bool
is_last(const struct central_fast *b, struct sync *sync)
{
	if (!mpi_central_counts_lanes(b->ranks, b->lanes))
		return add_total(&sync->arrived, 1) + 1 == b->ranks;
	return mpi_central_completes_lane(sync, b->lane, b->lane_ranks) &&
		add_total(&sync->arrived, 1) + 1 == b->lanes;
}

ON_ONE_PAGE void
mpi_central_fast_barrier(const struct comm *c)
{
	const struct central_fast *b = &c->fast;
	struct mpi_rank *self = mpi_self();
	struct sync *sync = b->barrier;
	const struct release *r = release_in(b, sync);
	uint32_t epoch = load_acquire(&r->epoch);

	if (is_last(b, sync))
		release(self, b, sync, epoch);
	else if (!released_soon(self, b, r, epoch))
		wait_longer(self, b, sync, epoch);
}

void
mpi_central_fast_fold(const struct locality *v, const struct operation *op, MPI_Count count,
	size_t bytes)
{
	_Alignas(16) char sum[FAST_BYTES];
	const uint32_t *order = v->fast_order;

	memcpy(sum, locality_fast_slot(v, order[v->ranks - 1], bytes), bytes);
	for (int i = v->ranks - 2; i >= 0; i--) {
		const char *slot = locality_fast_slot(v, order[i], bytes);

		/* half of them come from other cores */
		if (i >= AHEAD)
			__builtin_prefetch(locality_fast_slot(v, order[i - AHEAD], bytes));
		if (op->loop != NULL)
			op->loop(slot, sum, (size_t)count);
		else
			mpi_op_apply(op, slot, sum, count);
	}
	memcpy(v->segment->sync.all.result, sum, bytes);
}

static __attribute__((noinline)) void
fold_and_release(struct mpi_rank *self, const struct comm *c, size_t count, uint32_t epoch)
{
	const struct central_fast *b = &c->fast;
	struct operation op = {.loop = mpi_op_loop(b->op, mpi_type_basic(b->datatype)),
		.datatype = b->datatype};

	mpi_central_fast_fold(c->locality, &op, (MPI_Count)count, count * b->size);
	release(self, b, b->segment, epoch);
}

ON_ONE_PAGE void
mpi_central_fast_allreduce(const struct comm *c, const void *in, void *out, size_t count)
{
	const struct central_fast *b = &c->fast;
	struct mpi_rank *self = mpi_self();
	struct sync *sync = b->segment;
	size_t bytes = count * b->size;
	const struct release *r = release_in(b, sync);
	uint32_t epoch = load_acquire(&r->epoch);

	bytes_copy_few(b->slots + b->index * fast_stride(bytes), in, bytes);
	if (is_last(b, sync))
		fold_and_release(self, c, count, epoch);
	else if (!released_soon(self, b, r, epoch))
		wait_longer(self, b, sync, epoch);
	bytes_copy_few(out, r->result, bytes);
}
