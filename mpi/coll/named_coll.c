/* SPDX-License-Identifier: MIT
 *
 * Collectives of any blocks among few ranks of one address space. Each rank lays what it gives into
 * its room and goes on; what does not fit it only shows, and stays until all have it. Others copy
 * large blocks of a scatter at the same time from the root's memory, and those of a gather to where
 * the root, which shows that, wants them.
 *
 * Cost: a cache line from each rank that gives to each that takes, two if blocks are large. To
 * copy: m b on each rank where there is a root, and n m b there unless blocks are large; n m b on
 * each otherwise, at the same time. No message.
 */
#include <mpi/coll/named.h>

/* The later of two errors. */
static int
worse(int err, int bad)
{
	return bad != MPI_SUCCESS ? bad : err;
}

/* --- gather --- */

static int
put(struct signs *g, const struct collective *k)
{
	struct span own = mpi_side_block(&k->send, 0);
	const struct side *all;
	int err;

	if (mpi_named_fits(g, mpi_span_size(own))) {
		mpi_named_give(g, &own);
		return MPI_SUCCESS;
	}
	mpi_signs_wait(g, k->root);
	all = mpi_named_of(g, k->root)->what;
	err = mpi_named_copy(mpi_side_block(all, g->me), own);
	mpi_named_show_copied(g, all, err != MPI_SUCCESS);
	return MPI_SUCCESS;
}

/* The block of a rank that has shown something; the error is the root's, whoever copied. */
static int
get(const struct signs *g, int rank, struct span to)
{
	const struct named *n = mpi_named_of(g, rank);

	if (n->what == NULL)
		return mpi_named_take(g, rank, to);
	return n->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int
gather_at_root(struct signs *g, const struct collective *k)
{
	int err = MPI_SUCCESS;

	mpi_named_show(g, &k->recv);
	if (!k->send.in_place)
		err = mpi_named_copy(mpi_side_block(&k->recv, g->me), mpi_side_block(&k->send, 0));
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_signs_wait(g, i);
		err = worse(err, get(g, i, mpi_side_block(&k->recv, i)));
	}
	g->v->seen = g->round;
	return err;
}

/* --- scatter --- */

static int
take_from_root(struct signs *g, const struct collective *k)
{
	int err;

	mpi_signs_wait(g, k->root);
	err = mpi_named_take_own(g, k->root, mpi_side_block(&k->recv, 0));
	mpi_named_show(g, NULL);
	return err;
}

static void
blocks_of(struct span own[], const struct collective *k, int n)
{
	for (int i = 0; i < n; i++)
		own[i] = mpi_side_block(&k->send, i);
}

static int
scatter_at_root(struct signs *g, const struct collective *k)
{
	struct span own[SIGNS_RANKS_MAX];
	int err = MPI_SUCCESS;
	bool laid;

	blocks_of(own, k, g->n);
	laid = mpi_named_deal(g, own);
	if (!k->recv.in_place)
		err = mpi_named_copy(mpi_side_block(&k->recv, 0), own[g->me]);
	if (!laid)
		mpi_signs_wait_all(g);
	return err;
}

/* --- allgather, alltoall --- */

/* `err`: what the own block came to; `stays`: this rank only showed where its data lies. */
static int
take_from_all(struct signs *g, const struct collective *k, bool stays, int err)
{
	mpi_signs_wait_all(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;
		struct span to = mpi_side_block(&k->recv, from);
		int bad = k->kind == COLL_ALLTOALL ? mpi_named_take_own(g, from, to) : mpi_named_take(g, from, to);

		stays |= mpi_named_of(g, from)->what != NULL;
		err = worse(err, bad);
	}
	if (stays)
		mpi_named_part(g);
	return err;
}

static int
allgather(struct signs *g, const struct collective *k)
{
	struct span own = k->send.in_place ? mpi_side_block(&k->recv, g->me) : mpi_side_block(&k->send, 0);
	bool laid = mpi_named_give(g, &own);
	int err = k->send.in_place ? MPI_SUCCESS : mpi_named_copy(mpi_side_block(&k->recv, g->me), own);

	return take_from_all(g, k, !laid, err);
}

static int
alltoall(struct signs *g, const struct collective *k)
{
	struct span own[SIGNS_RANKS_MAX];
	bool laid;

	blocks_of(own, k, g->n);
	laid = mpi_named_deal(g, own);
	return take_from_all(g, k, !laid, mpi_named_copy(mpi_side_block(&k->recv, g->me), own[g->me]));
}

/* --- all --- */

static int
pass(struct signs *g, const struct collective *k)
{
	switch (k->kind) {
	case COLL_GATHER: return g->me == k->root ? gather_at_root(g, k) : put(g, k);
	case COLL_SCATTER: return g->me == k->root ? scatter_at_root(g, k) : take_from_root(g, k);
	case COLL_ALLGATHER: return allgather(g, k);
	default: return alltoall(g, k);
	}
}

/* An alltoall in place gives what it takes. */
static bool
named_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct signs g;

	if ((k->kind == COLL_ALLTOALL && k->send.in_place) || !mpi_named_begin(&g, self, c))
		return false;
	*err = pass(&g, k);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_gather_named = {.run = named_run};
const struct algorithm mpi_algorithm_scatter_named = {.run = named_run};
const struct algorithm mpi_algorithm_allgather_named = {.run = named_run};
const struct algorithm mpi_algorithm_alltoall_named = {.run = named_run};
