/* SPDX-License-Identifier: MIT
 *
 * Small blocking collectives in shared memory: every rank lays what it gives on its seat and comes
 * to a meeting; the one that opens works out what is to be worked out once; every rank takes what
 * it needs. Operands are combined in the order of the ranks.
 *
 * Cost: that of a meeting, and n reads of a cache line by the one that opens; alltoall: n reads by each rank.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/brief.h>
#include <mpi/coll/place.h>

#define MEET_BYTES_MAX 4096

/* One such collective. */
struct round {
	struct mpi_rank *self;
	struct comm *c;
	struct venue *v;
	const struct collective *k;
	struct operation op;
	size_t bytes;			/* of a block, or of the operand */
	int root;			/* position in the venue, -1: it is in another cluster */
	bool far;			/* there are other clusters */
	bool brief;			/* coll/brief.h */
	int err;
};

static struct span
seat(const struct round *r, int rank)
{
	return span_bytes(venue_seat(r->v, rank), r->bytes);
}

/* Elements of the reduction's type at some place. */
static struct span
elements(const struct round *r, char *at, MPI_Count count)
{
	return (struct span){at, count, r->k->recv.type};
}

static MPI_Count
operand_count(const struct round *r)
{
	return r->k->kind == COLL_REDUCE_SCATTER ? r->k->recv.count * r->v->ranks : r->k->recv.count;
}

/* The table gets all operands of this cluster combined. */
static void
fold(struct round *r)
{
	int n = r->v->ranks;
	MPI_Count count = operand_count(r);
	char *sum = venue_table(r->v);

	memcpy(sum, venue_seat(r->v, n - 1), r->bytes);
	for (int i = n - 2; i >= 0; i--)
		mpi_op_apply(&r->op, venue_seat(r->v, i), sum, count);
}

/* Entry i of the table gets the operands up to i combined. */
static void
fold_prefixes(struct round *r)
{
	char *table = venue_table(r->v);

	memcpy(table, venue_seat(r->v, 0), r->bytes);
	for (int i = 1; i < r->v->ranks; i++) {
		char *entry = table + (size_t)i * r->bytes;

		memcpy(entry, venue_seat(r->v, i), r->bytes);
		mpi_op_apply(&r->op, entry - r->bytes, entry, r->k->recv.count);
	}
}

static void
meet_coll_collect(struct round *r)
{
	char *table = venue_table(r->v);

	for (int i = 0; i < r->v->ranks; i++)
		memcpy(table + (size_t)i * r->bytes, venue_seat(r->v, i), r->bytes);
}

/* What the one that opens does. */
static void
work_out(struct round *r)
{
	switch (r->k->kind) {
	case COLL_ALLREDUCE:
		if (r->brief) {
			mpi_brief_fold(r->v, &r->op, operand_count(r), r->bytes);
			break;
		}
		/* fall through */
	case COLL_REDUCE:
	case COLL_REDUCE_SCATTER: fold(r); break;
	case COLL_SCAN:
	case COLL_EXSCAN: fold_prefixes(r); break;
	case COLL_ALLGATHER: meet_coll_collect(r); break;
	case COLL_BCAST:
		if (r->far && r->root >= 0)
			memcpy(venue_table(r->v), venue_seat(r->v, r->root), r->bytes);
		break;
	default: break;
	}
}

/* What a rank lays on its seat. */
static void
meet_coll_give(struct round *r)
{
	const struct collective *k = r->k;
	int me = r->v->rank;

	switch (k->kind) {
	case COLL_BARRIER: break;
	case COLL_BCAST:
		if (me == r->root)
			span_copy(seat(r, me), side_block(&k->recv, 0));
		break;
	case COLL_SCATTER:
		/* the root lays something on each seat */
		for (int i = 0; me == r->root && i < r->v->ranks; i++)
			span_copy(seat(r, i), side_block(&k->send, i));
		break;
	case COLL_ALLTOALL:
		span_copy(span_bytes(venue_seat(r->v, me), r->bytes * (size_t)r->v->ranks),
			side_whole(k->send.in_place ? &k->recv : &k->send, r->v->ranks));
		break;
	case COLL_ALLGATHER:
	case COLL_GATHER:
		span_copy(seat(r, me), k->send.in_place ? side_block(&k->recv, me)
			: side_block(&k->send, 0));
		break;
	default:
		memcpy(r->brief ? venue_brief_seat(r->v, r->v->brief_seat, r->bytes) : venue_seat(r->v, me),
			k->send.in_place ? k->recv.buffer : k->send.buffer, r->bytes);
		break;
	}
}

/* What it takes when the doors are open. */
static void
meet_coll_take(struct round *r)
{
	const struct collective *k = r->k;
	int me = r->v->rank, n = r->v->ranks;
	char *table = r->k->kind == COLL_BARRIER ? NULL : venue_table(r->v);

	switch (k->kind) {
	case COLL_BCAST:
		if (me != r->root)
			span_copy(side_block(&k->recv, 0), r->far
				? span_bytes(table, r->bytes) : seat(r, r->root));
		break;
	case COLL_GATHER:
		for (int i = 0; me == r->root && i < n; i++)
			if (i != me || !k->send.in_place)
				span_copy(side_block(&k->recv, i), seat(r, i));
		break;
	case COLL_SCATTER:
		if (!k->recv.in_place)
			span_copy(side_block(&k->recv, 0), seat(r, me));
		break;
	case COLL_ALLGATHER: span_copy(side_whole(&k->recv, n), span_bytes(table, (size_t)n * r->bytes)); break;
	case COLL_ALLTOALL:
		for (int i = 0; i < n; i++)
			span_copy(side_block(&k->recv, i), span_bytes(venue_seat(r->v, i) +
				(size_t)me * r->bytes, r->bytes));
		break;
	case COLL_REDUCE:
		if (me == r->root)
			memcpy(k->recv.buffer, table, r->bytes);
		break;
	case COLL_ALLREDUCE: memcpy(k->recv.buffer, r->brief ? r->v->place->sync.result : table, r->bytes); break;
	case COLL_REDUCE_SCATTER:
		span_copy(elements(r, k->recv.buffer, k->recv.count),
			span_slice(elements(r, table, operand_count(r)), me * k->recv.count, k->recv.count));
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
	int root = mpi_venue_cluster(r->self, r->c, r->k->root);
	struct span table;

	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_sched_among(s, r->v->leaders, r->v->clusters, r->v->cluster);
	table = r->k->kind >= COLL_REDUCE ? elements(r, venue_table(r->v), r->k->recv.count)
		: span_bytes(venue_table(r->v), r->bytes);
	if (r->k->kind >= COLL_REDUCE)
		s->op = mpi_op_bind(r->self, r->k->op, r->k->recv.datatype);
	switch (r->k->kind) {
	case COLL_BCAST: mpi_bcast_binomial(s, table, root); break;
	case COLL_REDUCE: mpi_reduce_binomial(s, table, table, root); break;
	case COLL_ALLREDUCE: mpi_allreduce_doubling(s, table, table); break;
	default: mpi_barrier_dissemination(s); break;
	}
	return mpi_sched_run(s);
}

/* The first rank of the cluster opens. What it failed at, all have failed at. */
static void
meet_far(struct round *r, struct meeting *m)
{
	bool last = mpi_meet_come(m);

	if (r->v->rank != 0) {
		r->c->collectives++;		/* as on the first one */
		if (last)
			mpi_meet_wake(m);
		mpi_meet_wait(m);
		r->err = m->sync->error;
		return;
	}
	if (!last)
		mpi_meet_wait_for_all(m);
	if (r->bytes > 0)
		work_out(r);
	r->err = between_clusters(r);
	m->sync->error = r->err;
	mpi_meet_open(m);
}

static void
meet_near(struct round *r, struct meeting *m)
{
	if (!mpi_meet_come(m)) {
		mpi_meet_wait(m);
		return;
	}
	if (r->bytes > 0)
		work_out(r);
	mpi_meet_open(m);
}

static void
run(struct round *r)
{
	struct meeting m = {.self = r->self, .sync = &r->v->place->sync, .ranks = (uint32_t)r->v->ranks};

	m.lane_ranks = r->v->lane_ranks;
	m.lane = r->v->lane;
	m.lanes = r->v->lanes;
	if (r->bytes > 0)
		meet_coll_give(r);
	if (r->far)
		meet_far(r, &m);
	else
		meet_near(r, &m);
	if (r->bytes > 0)
		meet_coll_take(r);
	/* brief meetings use no seats of a turn */
	if (r->bytes > 0 && !r->brief)
		r->v->turn ^= 1;
	mpi_brief_know(r->self, r->c);
}

/* Bytes of a block as this rank sees it; the same on all. */
static size_t
block_bytes(const struct comm *c, const struct collective *k)
{
	bool at_root = c->rank == k->root;

	switch (k->kind) {
	case COLL_BARRIER: return 0;
	case COLL_GATHER: return span_size(side_block(at_root ? &k->recv : &k->send, 0));
	case COLL_SCATTER: return span_size(side_block(at_root ? &k->send : &k->recv, 0));
	case COLL_REDUCE:
	case COLL_ALLREDUCE:
	case COLL_SCAN:
	case COLL_EXSCAN: return (size_t)(k->recv.count * (MPI_Count)k->recv.type->extent);
	case COLL_REDUCE_SCATTER: return (size_t)(k->recv.count * (MPI_Count)k->recv.type->extent) * (size_t)c->size;
	default: return span_size(side_block(&k->recv, 0));
	}
}

/* Blocks of equal size, and operands that may be copied as bytes? */
static bool
is_plain(const struct collective *k)
{
	switch (k->kind) {
	case COLL_BARRIER:
	case COLL_BCAST: return true;
	case COLL_GATHER:
	case COLL_SCATTER:
	case COLL_ALLGATHER:
	case COLL_ALLTOALL: return k->even;
	case COLL_REDUCE_SCATTER: return k->even && span_is_plain(side_block(&k->recv, 0));
	case COLL_REDUCE:
	case COLL_ALLREDUCE:
	case COLL_SCAN:
	case COLL_EXSCAN: return span_is_plain((struct span){NULL, 1, k->recv.type});
	default: return false;
	}
}

/*
 * Those that are made of a part in each cluster and one between them; operands that do not commute
 * must lie in order.
 */
static bool
goes_far(struct mpi_rank *self, const struct venue *v, const struct collective *k)
{
	bool computes = k->kind == COLL_REDUCE || k->kind == COLL_ALLREDUCE;

	return k->kind == COLL_BARRIER || k->kind == COLL_BCAST ||
		(computes && (v->consecutive || mpi_op_commutes(self, k->op)));
}

/* False, on all ranks: it cannot be done so. */
static bool
meet_coll_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct round r = {.self = self, .c = c, .k = k};
	size_t seat_needs;

	if (mpi_comm_is_inter(c) || c->size < 2 || !is_plain(k))
		return false;
	if (k->kind == COLL_BARRIER && mpi_meet_all(self, c)) {
		mpi_brief_know(self, c);
		*err = MPI_SUCCESS;
		return true;
	}
	r.bytes = block_bytes(c, k);
	if (r.bytes > MEET_BYTES_MAX)
		return false;
	r.v = mpi_venue_of(self, c);
	if (r.v == NULL || r.v->place == NULL)
		return false;
	r.far = r.v->clusters > 1;
	r.brief = k->kind == COLL_ALLREDUCE && !r.far && r.bytes <= BRIEF_BYTES;
	seat_needs = r.brief ? 0 : k->kind == COLL_ALLTOALL ? r.bytes * (size_t)c->size : r.bytes;
	if (seat_needs > r.v->seat_bytes)
		return false;
	if (r.far && (r.v->largest < 2 || !goes_far(self, r.v, k)))
		return false;
	r.root = r.far ? mpi_venue_position(r.v, k->root) : k->root;
	if (k->kind >= COLL_REDUCE && k->kind <= COLL_EXSCAN)
		r.op = mpi_op_bind(self, k->op, k->recv.datatype);
	run(&r);
	mpi_op_release(&r.op);
	*err = r.err;
	return true;
}

const struct algorithm mpi_algorithm_barrier_meet = {.run = meet_coll_run, .brief = true};
const struct algorithm mpi_algorithm_bcast_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_gather_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_scatter_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_allgather_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_alltoall_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_reduce_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_allreduce_meet = {.run = meet_coll_run, .brief = true};
const struct algorithm mpi_algorithm_reduce_scatter_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_scan_meet = {.run = meet_coll_run};
const struct algorithm mpi_algorithm_exscan_meet = {.run = meet_coll_run};
