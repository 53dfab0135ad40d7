/* SPDX-License-Identifier: MIT
 *
 * Small blocking collectives in shared memory: every rank puts what it gives into its slot and
 * arrives at a central barrier; the releasing rank works out what is to be worked out once; every
 * rank takes what it needs. Operands are combined in the order of the ranks.
 *
 * Cost: that of a central barrier, and n reads of a cache line by the releasing rank; alltoall: n
 * reads by each rank.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/central_fast.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/flags.h>
#include <mpi/coll/locality.h>
#include <mpi/coll/pattern.h>

#define MEET_BYTES_MAX 4096

/* One such collective. */
struct round {
	struct mpi_rank *self;
	struct comm *c;
	struct locality *v;
	const struct collective *k;
	struct operation op;
	size_t bytes;			/* of a block, or of the operand */
	int root;			/* position in the locality, -1: it is in another cluster */
	bool far;			/* there are other clusters */
	bool central_fast;		/* coll/central_fast.h */
	const char *result;		/* of a brief one */
	int err;
};

static struct span
slot(const struct round *r, int rank)
{
	return span_bytes(locality_slot(r->v, rank), r->bytes);
}

static MPI_Count
operand_count(const struct round *r)
{
	return r->k->kind == COLL_REDUCE_SCATTER ? r->k->recv.count * r->v->ranks :
		r->k->recv.count;
}

/* The table gets all operands of this cluster combined. */
static void
fold(struct round *r)
{
	int n = r->v->ranks;
	MPI_Count count = operand_count(r);
	char *sum = locality_result(r->v);

	memcpy(sum, locality_slot(r->v, n - 1), r->bytes);
	for (int i = n - 2; i >= 0; i--)
		mpi_op_apply(&r->op, locality_slot(r->v, i), sum, count);
}

/* Entry i of the table gets the operands up to i combined. */
static void
fold_prefixes(struct round *r)
{
	char *table = locality_result(r->v);

	memcpy(table, locality_slot(r->v, 0), r->bytes);
	for (int i = 1; i < r->v->ranks; i++) {
		char *entry = table + (size_t)i * r->bytes;

		memcpy(entry, locality_slot(r->v, i), r->bytes);
		mpi_op_apply(&r->op, entry - r->bytes, entry, r->k->recv.count);
	}
}

static void
central_coll_collect(struct round *r)
{
	char *table = locality_result(r->v);

	for (int i = 0; i < r->v->ranks; i++)
		memcpy(table + (size_t)i * r->bytes, locality_slot(r->v, i), r->bytes);
}

/* What the releasing rank does. */
static void
work_out(struct round *r)
{
	enum coll_kind kind = r->k->kind;

	if (r->central_fast)
		mpi_central_fast_fold(r->v, &r->op, operand_count(r), r->bytes);
	else if (patterns[kind].prefix)
		fold_prefixes(r);
	else if (patterns[kind].combines)
		fold(r);
	else if (kind == COLL_ALLGATHER)
		central_coll_collect(r);
	else if (kind == COLL_BCAST && r->far && r->root >= 0)
		memcpy(locality_result(r->v), locality_slot(r->v, r->root), r->bytes);
}

/* What a rank puts into its slot; the root of a scatter, into that of each. */
static void
central_coll_give(struct round *r)
{
	const struct collective *k = r->k;
	const struct side *given = k->kind == COLL_BCAST || k->send.in_place ? &k->recv : &k->send;
	int me = r->v->rank, n = r->v->ranks;
	bool own_place = k->kind == COLL_ALLGATHER && k->send.in_place;

	if (patterns[k->kind].combines)
		memcpy(r->central_fast ? locality_fast_slot(r->v, r->v->fast_slot, r->bytes)
			: locality_slot(r->v, me), given->buffer, r->bytes);
	else if (!is_of(patterns[k->kind].gives, me == r->root))
		return;
	else if (k->kind == COLL_ALLTOALL)
		span_copy(span_bytes(locality_slot(r->v, me), r->bytes * (size_t)n),
			side_whole(given, n));
	else if (k->kind != COLL_SCATTER)
		span_copy(slot(r, me), side_block(given, own_place ? me : 0));
	else
		for (int i = 0; i < n; i++)
			span_copy(slot(r, i), side_block(given, i));
}

/* What it takes when it is released. */
static void
central_coll_take(struct round *r)
{
	const struct collective *k = r->k;
	int me = r->v->rank, n = r->v->ranks;
	char *table = r->k->kind == COLL_BARRIER ? NULL : locality_result(r->v);

	switch (k->kind) {
	case COLL_BCAST:
		if (me != r->root)
			span_copy(side_block(&k->recv, 0), r->far
				? span_bytes(table, r->bytes) : slot(r, r->root));
		break;
	case COLL_GATHER:
		for (int i = 0; me == r->root && i < n; i++)
			if (i != me)
				span_copy(side_block(&k->recv, i), slot(r, i));
			else if (!k->send.in_place)
				span_copy(side_block(&k->recv, i), side_block(&k->send, 0));
		break;
	case COLL_SCATTER:
		if (!k->recv.in_place)
			span_copy(side_block(&k->recv, 0), slot(r, me));
		break;
	case COLL_ALLGATHER: span_copy(side_whole(&k->recv, n),
		span_bytes(table, (size_t)n * r->bytes)); break;
	case COLL_ALLTOALL:
		for (int i = 0; i < n; i++)
			span_copy(side_block(&k->recv, i), span_bytes(locality_slot(r->v, i) +
				(size_t)me * r->bytes, r->bytes));
		break;
	case COLL_REDUCE:
		if (me == r->root)
			memcpy(k->recv.buffer, table, r->bytes);
		break;
	case COLL_ALLREDUCE: memcpy(k->recv.buffer, r->central_fast ? r->result : table, r->bytes);
		break;
	case COLL_REDUCE_SCATTER:
		memcpy(k->recv.buffer, table + (size_t)me * (r->bytes / (size_t)n),
			r->bytes / (size_t)n);
		break;
	case COLL_SCAN: memcpy(k->recv.buffer, table + (size_t)me * r->bytes, r->bytes); break;
	case COLL_EXSCAN:
		if (me > 0)
			memcpy(k->recv.buffer, table + (size_t)(me - 1) * r->bytes, r->bytes);
		break;
	default: break;
	}
}

/* The first ranks of the clusters do among themselves what is left to do, on their tables. */
static int
between_clusters(struct round *r)
{
	struct sched *s = mpi_sched_new(r->self, r->c);
	struct work w = {.root = mpi_locality_cluster(r->self, r->c, r->k->root)};

	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_sched_among(s, r->v->leaders, r->v->clusters, r->v->cluster);
	w.out = w.in = patterns[r->k->kind].combines
		? (struct span){locality_result(r->v), r->k->recv.count, r->k->recv.type}
		: span_bytes(locality_result(r->v), r->bytes);
	if (patterns[r->k->kind].combines)
		s->op = mpi_op_bind(r->self, r->k->op, r->k->recv.datatype);
	switch (r->k->kind) {
	case COLL_BCAST: mpi_algorithm_bcast_binomial.write(s, &w); break;
	case COLL_REDUCE: mpi_algorithm_reduce_binomial.write(s, &w); break;
	case COLL_ALLREDUCE: mpi_algorithm_allreduce_doubling.write(s, &w); break;
	default: mpi_algorithm_barrier_dissemination.write(s, &w); break;
	}
	return mpi_sched_run(s);
}

/* The first rank of the cluster releases. What it failed at, all have failed at. */
static void
central_far(struct round *r, struct central *m)
{
	bool last = mpi_central_arrive(m);

	if (r->v->rank != 0) {
		r->c->collectives++;		/* as on the first one */
		if (last)
			mpi_central_wake(m);
		mpi_central_wait(m);
		r->err = m->sync->all.error;
		return;
	}
	if (!last)
		mpi_central_wait_for_all(m);
	if (r->bytes > 0)
		work_out(r);
	r->err = between_clusters(r);
	m->sync->all.error = r->err;
	mpi_central_release(m);
}

static void
central_near(struct round *r, struct central *m)
{
	if (!mpi_central_arrive(m)) {
		mpi_central_wait(m);
		return;
	}
	if (r->bytes > 0)
		work_out(r);
	mpi_central_release(m);
}

static void
run(struct round *r)
{
	struct central m = {.self = r->self, .sync = &r->v->segment->sync,
		.ranks = (uint32_t)r->v->ranks,
		.lanes = r->v->lanes};

	r->result = mpi_central_release_line(&m)->result;
	if (r->bytes > 0)
		central_coll_give(r);
	if (r->far)
		central_far(r, &m);
	else
		central_near(r, &m);
	if (r->bytes > 0)
		central_coll_take(r);
	/* fast central barriers use no slots */
	if (r->bytes > 0 && !r->central_fast)
		r->v->turn ^= 1;
	mpi_central_fast_cache_topology(r->self, r->c);
}

/* Blocks of equal size, and operands that may be copied as bytes? */
static bool
is_plain(const struct collective *k)
{
	bool combines = patterns[k->kind].combines;

	if (combines && !span_is_plain((struct span){NULL, 1, k->recv.type}))
		return false;
	return k->even || k->kind <= COLL_BCAST || (combines && !patterns[k->kind].each);
}

/*
 * Those that are made of a part in each cluster and one between them; operands that do not commute
 * must lie in order.
 */
static bool
goes_far(struct mpi_rank *self, const struct locality *v, const struct collective *k)
{
	bool computes = k->kind == COLL_REDUCE || k->kind == COLL_ALLREDUCE;

	return k->kind == COLL_BARRIER || k->kind == COLL_BCAST ||
		(computes && (v->consecutive || mpi_op_commutes(self, k->op)));
}

/* False, on all ranks: it cannot be done so. */
static bool
central_coll_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct round r = {.self = self, .c = c, .k = k};
	size_t slot_needs;

	if (mpi_comm_is_inter(c) || c->size < 2 || !is_plain(k))
		return false;
	if (k->kind == COLL_BARRIER && mpi_central_world(self, c)) {
		mpi_central_fast_cache_topology(self, c);
		*err = MPI_SUCCESS;
		return true;
	}
	r.bytes = mpi_choose_bytes(c, k) * (k->kind == COLL_REDUCE_SCATTER ? (size_t)c->size : 1);
	if (r.bytes > MEET_BYTES_MAX)
		return false;
	r.v = mpi_locality_of(self, c);
	if (r.v == NULL || r.v->segment == NULL)
		return false;
	r.far = r.v->clusters > 1;
	r.central_fast = k->kind == COLL_ALLREDUCE && !r.far && r.bytes <= FAST_BYTES;
	slot_needs = r.central_fast ? 0 : k->kind == COLL_ALLTOALL ? r.bytes * (size_t)c->size :
		r.bytes;
	if (slot_needs > r.v->slot_bytes)
		return false;
	if (r.far && (r.v->largest < 2 || !goes_far(self, r.v, k)))
		return false;
	mpi_flags_make(self, c, slot_needs);
	r.root = r.far ? mpi_locality_position(r.v, k->root) : k->root;
	if (patterns[k->kind].combines)
		r.op = mpi_op_bind(self, k->op, k->recv.datatype);
	run(&r);
	mpi_op_release(&r.op);
	*err = r.err;
	return true;
}

#define CENTRAL(name, kind) \
	const struct algorithm mpi_algorithm_##name##_central = {.run = central_coll_run, \
		.starts = STARTS_LAID, \
		.central_fast = (kind) == COLL_BARRIER || (kind) == COLL_ALLREDUCE};

FOR_EACH_PATTERN(CENTRAL)
