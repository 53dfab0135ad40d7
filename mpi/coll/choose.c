/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses.
 */
#include <mpi/coll/choose.h>

#define BCAST_TREE_MAX 65536		/* bytes up to which the whole goes along a tree */
#define TREE_MAX 2048			/* bytes of a block up to which gather and scatter use a tree */
#define REDUCE_TREE_MAX 32768
#define ALLREDUCE_DOUBLING_MAX 8192
#define ALLGATHER_TREE_MAX 16384	/* bytes of all blocks */
#define ALLTOALL_BRUCK_MAX 64
#define RANKS_FEW 8

void
mpi_choose_bcast(struct sched *s, struct span data, int root)
{
	if (mpi_span_size(data) <= BCAST_TREE_MAX || s->size <= 2 || !mpi_span_is_plain(data))
		mpi_bcast_binomial(s, data, root);
	else
		mpi_bcast_scatter_ring(s, data, root);
}

void
mpi_choose_gather(struct sched *s, const struct collective *k)
{
	const struct side *one = s->rank == k->root ? &k->recv : &k->send;

	if (k->even && s->size > RANKS_FEW && mpi_span_size(mpi_side_block(one, 0)) <= TREE_MAX)
		mpi_gather_binomial(s, k);
	else
		mpi_gather_linear(s, k);
}

void
mpi_choose_scatter(struct sched *s, const struct collective *k)
{
	const struct side *one = s->rank == k->root ? &k->send : &k->recv;

	if (k->even && s->size > RANKS_FEW && mpi_span_size(mpi_side_block(one, 0)) <= TREE_MAX)
		mpi_scatter_binomial(s, k);
	else
		mpi_scatter_linear(s, k);
}

void
mpi_choose_allgather(struct sched *s, const struct collective *k)
{
	struct span all = mpi_side_whole(&k->recv, s->size);

	if (!k->even || mpi_span_size(all) > ALLGATHER_TREE_MAX)
		mpi_allgather_ring(s, &k->recv);
	else if ((s->size & (s->size - 1)) == 0)
		mpi_allgather_doubling(s, all);
	else
		mpi_allgather_bruck(s, all);
}

void
mpi_choose_alltoall(struct sched *s, const struct side *out, const struct side *in, bool even)
{
	if (even && s->size > RANKS_FEW && mpi_span_size(mpi_side_block(in, 0)) <= ALLTOALL_BRUCK_MAX)
		mpi_alltoall_bruck(s, out, in);
	else
		mpi_alltoall_pairwise(s, out, in);
}

/* May the data be cut in blocks that are combined in any order? */
static bool
may_be_cut(const struct sched *s, struct span data)
{
	return s->op.own == NULL && data.count >= s->size && s->size > 2;
}

void
mpi_choose_reduce(struct sched *s, struct span out, struct span in, int root)
{
	if (mpi_span_size(in) > REDUCE_TREE_MAX && may_be_cut(s, in))
		mpi_reduce_halving(s, out, in, root);
	else
		mpi_reduce_binomial(s, out, in, root);
}

void
mpi_choose_allreduce(struct sched *s, struct span out)
{
	if (mpi_span_size(out) <= ALLREDUCE_DOUBLING_MAX || !may_be_cut(s, out))
		mpi_allreduce_doubling(s, out);
	else if ((s->size & (s->size - 1)) == 0)
		mpi_allreduce_halving(s, out);
	else
		mpi_allreduce_ring(s, out);
}

void
mpi_choose_reduce_scatter(struct sched *s, struct span out, struct span in, const MPI_Count *counts)
{
	if (mpi_operation_commutes(&s->op))
		mpi_reduce_scatter_pairwise(s, out, in, counts);
	else
		mpi_reduce_scatter_at_root(s, out, in, counts);
}
