/* SPDX-License-Identifier: MIT
 *
 * Collectives among ranks of one address space, which tell each other where their data lies, and
 * read and write it there. They do so at a central barrier: what each names lies in its slot; while
 * they are together all of it stays where it is, and nobody changes it but as the collective says.
 *
 * To copy, a rank names the descriptions of its blocks, and the first byte of those that are equal
 * and in one piece; all others are copied as each side describes them. In reductions each rank
 * combines a slice of all operands, which it alone reads, so that results may lie where operands
 * are.
 *
 * Cost: two central barriers, and no message. To copy: m b on each rank where there is a root, n m
 * b otherwise, at the same time. To combine: (n - 1) / n m g on each; an allreduce takes one more
 * central barrier and (n - 1) / n m b, and a reduce-scatter (n - 1) m g.
 */
#include <stdlib.h>
#include <mpi/coll/algorithm.h>
#include <mpi/coll/central.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/locality.h>
#include <mpi/coll/pattern.h>
#include <mpi/coll/zerocopy.h>
#include <mpi/coll/flags.h>
#include <mpi/transport/transport.h>

struct gathering {
	struct central central;
	struct locality *v;
	const struct collective *k;
	int me;
	int n;
	size_t bytes;			/* of a block, if all have the same */
};

/* Wait until all have come here. */
static void
gathering_barrier(struct gathering *g)
{
	if (mpi_central_arrive(&g->central))
		mpi_central_release(&g->central);
	else
		mpi_central_wait(&g->central);
}

static struct address_list
all_addresses(const struct gathering *g)
{
	return (struct address_list){locality_slot(g->v, 0), g->v->slot_bytes, g->n};
}

/* What a rank has named. */
static const struct addresses *
addresses_of(const struct gathering *g, int rank)
{
	struct address_list all = all_addresses(g);

	return mpi_addresses_of(&all, rank);
}

/* Name the own data and wait for the others'. False, on all ranks: not for this communicator. */
static bool
gathering_begin(struct gathering *g, struct mpi_rank *self, struct comm *c, struct addresses mine)
{
	struct locality *v;

	if (mpi_comm_is_inter(c) || c->size < 2 || !transport_shares_memory(self))
		return false;
	v = mpi_locality_of(self, c);
	if (v == NULL || v->segment == NULL || v->clusters > 1)
		return false;
	g->v = v;
	g->me = v->rank;
	g->n = v->ranks;
	g->central = (struct central){.self = self, .sync = &v->segment->sync,
		.ranks = (uint32_t)v->ranks,
		.lanes = v->lanes};
	*(struct addresses *)(void *)locality_slot(v, v->rank) = mine;
	gathering_barrier(g);
	return true;
}

/* Nobody uses the others' data after this. */
static void
gathering_part(struct gathering *g)
{
	gathering_barrier(g);
	g->v->turn ^= 1;
}

/* --- copies --- */

/* The first byte of equal blocks in one piece, or NULL. */
static char *
address_of(const struct collective *k, const struct side *side, int block)
{
	bool plain = (k->even || k->kind == COLL_BCAST) && side->type != NULL &&
		mpi_type_is_plain(side->type);

	return plain ? span_first(side_block(side, block)) : NULL;
}

/* The own block goes to where the root wants it; the error is the root's. */
static void
put_block(const struct gathering *g)
{
	struct addresses *root = (struct addresses *)(uintptr_t)addresses_of(g, g->k->root);
	struct span own;

	if (g->k->send.in_place)
		return;
	own = side_block(&g->k->send, 0);
	if (root->out != NULL)
		mpi_type_pack(own.type, own.at, 0, root->out + (size_t)g->me * g->bytes,
			(MPI_Count)g->bytes);
	else if (span_copy_block(side_block(root->get, g->me), own) != MPI_SUCCESS)
		store_relaxed(&root->truncated, 1);
}

/* Take the block that another rank has for this one. */
static int
take_block(const struct gathering *g, int from, struct span to)
{
	const struct addresses *theirs = addresses_of(g, from);
	int i = patterns[g->k->kind].each ? g->me : 0;

	if (theirs->in != NULL) {
		mpi_type_unpack(to.type, to.at, 0, theirs->in + (size_t)i * g->bytes,
			(MPI_Count)g->bytes);
		return MPI_SUCCESS;
	}
	if (g->k->kind == COLL_ALLGATHER && theirs->give == theirs->get)
		i = from;
	return span_copy_block(to, side_block(theirs->give, i));
}

static int
take_blocks(const struct gathering *g)
{
	const struct collective *k = g->k;
	int err = MPI_SUCCESS;

	if (patterns[k->kind].gives == THE_ROOT)
		return k->recv.in_place || (k->kind == COLL_BCAST && g->me == k->root) ? err
			: take_block(g, k->root, side_block(&k->recv, 0));
	for (int i = k->send.in_place; i < g->n; i++) {
		int from = (g->me + i) % g->n;

		err = later_error(err, take_block(g, from, side_block(&k->recv, from)));
	}
	return err;
}

/*
 * Blocks with a type each are named by handles, which mean something to their own rank only; an
 * alltoall in place gives what it takes.
 */
static bool
run_copy(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct gathering g = {.k = k};
	bool overwrites = k->kind == COLL_ALLTOALL && k->send.in_place,
		gives_result = k->kind == COLL_BCAST || k->send.in_place,
		own_place = k->kind == COLL_ALLGATHER && k->send.in_place;
	struct addresses mine = {.give = gives_result ? &k->recv : &k->send, .get = &k->recv};

	if (k->send.types != NULL || k->recv.types != NULL || overwrites ||
		mpi_comm_is_inter(c))
		return false;
	if (k->even || k->kind == COLL_BCAST)
		g.bytes = mpi_choose_bytes(c, k);
	if (k->kind == COLL_GATHER)
		mine.out = c->rank == k->root ? address_of(k, mine.get, 0) : NULL;
	else if (k->kind != COLL_SCATTER || c->rank == k->root)
		mine.in = address_of(k, mine.give, own_place ? c->rank : 0);
	if (!gathering_begin(&g, self, c, mine))
		return false;
	if (k->kind == COLL_ALLTOALL && k->even && g.bytes <= LAID_SMALL_MAX)
		mpi_flags_make(self, c, g.bytes * (size_t)c->size);
	*err = MPI_SUCCESS;
	if (k->kind == COLL_GATHER)
		put_block(&g);
	else
		*err = take_blocks(&g);
	gathering_barrier(&g);
	if (k->kind == COLL_GATHER && g.me == k->root && addresses_of(&g, g.me)->truncated)
		*err = MPI_ERR_TRUNCATE;
	g.v->turn ^= 1;
	return true;
}

/* --- reductions --- */

static struct slice
slice_of(const struct gathering *g, int rank)
{
	return mpi_slice_of(g->k->recv.count, (MPI_Count)g->k->recv.type->extent, rank, g->n);
}

static const char *
own_operand(const struct collective *k)
{
	return k->send.in_place ? k->recv.buffer : k->send.buffer;
}

/* May operands be read by others as bytes? The same answer on all ranks. */
static bool
can_combine(const struct collective *k)
{
	return mpi_type_is_plain(k->recv.type) && k->recv.type->size > 0 &&
		k->recv.type->extent <= ZEROCOPY_BLOCK;
}

void
mpi_zerocopy_combine(const struct address_list *all, const struct operation *op, struct slice s,
	char *to)
{
	_Alignas(CACHE_LINE) char sum[ZEROCOPY_BLOCK];
	MPI_Count most = ZEROCOPY_BLOCK / op->extent;

	for (MPI_Count done = 0; done < s.count; done += most) {
		MPI_Count count = s.count - done < most ? s.count - done : most;
		size_t from = s.from + (size_t)(done * op->extent),
			bytes = (size_t)(count * op->extent);

		memcpy(sum, mpi_addresses_of(all, all->n - 1)->in + from, bytes);
		for (int i = all->n - 2; i >= 0; i--)
			mpi_op_apply(op, mpi_addresses_of(all, i)->in + from, sum, count);
		memcpy(to + (done * op->extent), sum, bytes);
	}
}

/* The slices that the other ranks have combined, from their results. */
static void
collect(const struct gathering *g)
{
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;
		struct slice s = slice_of(g, from);

		memcpy((char *)g->k->recv.buffer + s.from, addresses_of(g, from)->out + s.from,
			s.bytes);
	}
}

/* Has every rank named what it gives? The same answer on all ranks. */
static bool
all_are_given(const struct gathering *g)
{
	for (int i = 0; i < g->n; i++)
		if (addresses_of(g, i)->in == NULL)
			return false;
	return true;
}

/* What this rank combines. */
static struct slice
own_slice(const struct gathering *g)
{
	MPI_Count count = g->k->recv.count;
	size_t bytes = (size_t)(count * (MPI_Count)g->k->recv.type->extent);

	return g->k->kind == COLL_REDUCE_SCATTER
		? (struct slice){count, (size_t)g->me * bytes, bytes} : slice_of(g, g->me);
}

/*
 * A reduction to the root's result, and one to the own result, from where all collect the slices of
 * an allreduce. `beside`: a block that is in place is made there, as others still read where it
 * belongs.
 */
static void
combine_slices(struct gathering *g, struct mpi_rank *self, char *beside)
{
	const struct collective *k = g->k;
	struct operation op = mpi_op_bind(self, k->op, k->recv.datatype);
	struct address_list all = all_addresses(g);
	struct slice mine = own_slice(g);
	char *to = addresses_of(g, k->kind == COLL_REDUCE ? k->root : g->me)->out;

	if (k->kind != COLL_REDUCE_SCATTER)
		to += mine.from;
	mpi_zerocopy_combine(&all, &op, mine, beside ? beside : to);
	if (k->kind == COLL_ALLREDUCE) {
		gathering_barrier(g);
		collect(g);
	}
	gathering_part(g);
	if (beside != NULL)
		memcpy(to, beside, mine.bytes);
	mpi_op_release(&op);
}

/*
 * A rank that has no memory for a block in place says so by naming nothing: nobody goes this way
 * then.
 */
static bool
run_reduction(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct gathering g = {.k = k};
	bool each = k->kind == COLL_REDUCE_SCATTER, there = false;
	struct addresses mine = {.in = own_operand(k), .out = k->recv.buffer};
	char *beside = NULL;

	if (!can_combine(k) || (each && (!k->even || k->recv.count == 0)))
		return false;
	if (each && k->send.in_place) {
		beside = malloc((size_t)(k->recv.count * (MPI_Count)k->recv.type->extent));
		mine.in = beside != NULL ? mine.in : NULL;
	}
	if (gathering_begin(&g, self, c, mine)) {
		there = !each || all_are_given(&g);
		if (there)
			combine_slices(&g, self, beside);
		else
			gathering_part(&g);
	}
	free(beside);
	*err = MPI_SUCCESS;
	return there;
}

const struct algorithm mpi_algorithm_bcast_zerocopy = {.run = run_copy};
const struct algorithm mpi_algorithm_gather_zerocopy = {.run = run_copy};
const struct algorithm mpi_algorithm_scatter_zerocopy = {.run = run_copy};
const struct algorithm mpi_algorithm_allgather_zerocopy = {.run = run_copy};
const struct algorithm mpi_algorithm_alltoall_zerocopy =
	{.run = run_copy, .starts = STARTS_LAID_SMALL};
const struct algorithm mpi_algorithm_reduce_zerocopy = {.run = run_reduction};
const struct algorithm mpi_algorithm_allreduce_zerocopy =
	{.run = run_reduction, .starts = STARTS_ZEROCOPY};
const struct algorithm mpi_algorithm_reduce_scatter_zerocopy = {.run = run_reduction};
