/* SPDX-License-Identifier: MIT
 *
 * Collectives between two groups. What a group has in common is made among its own ranks; rank 0 of
 * each speaks for it.
 *
 * Cost: that of the local part, and a + m b between the groups; where each rank has its own block
 * for each of the other group (gather, scatter, allgather, alltoall) as many messages.
 */
#include <mpi/coll/algorithm.h>

#define AT_ONCE 64

static struct span
nothing(void)
{
	return span_bytes(NULL, 0);
}

/* Both groups' rank 0 exchange something. */
static void
leaders_exchange(struct sched *s, struct span in, struct span out)
{
	if (s->rank != 0)
		return;
	mpi_sched_recv(s, in, 0);
	mpi_sched_send(s, out, 0);
	mpi_sched_round(s);
}

static void
local_bcast(struct sched *s, struct span data)
{
	mpi_sched_local(s, true);
	mpi_algorithm_bcast_binomial.write(s, &(struct work){.out = data});
	mpi_sched_local(s, false);
}

static void
local_reduce(struct sched *s, struct span out, struct span in)
{
	mpi_sched_local(s, true);
	mpi_algorithm_reduce_binomial.write(s, &(struct work){.out = out, .in = in});
	mpi_sched_local(s, false);
}

static void
bcast(struct sched *s, const struct collective *k)
{
	struct span data;

	/* nothing is significant here */
	if (k->root == MPI_PROC_NULL)
		return;
	data = side_block(&k->recv, 0);
	if (k->root == MPI_ROOT)
		mpi_sched_send(s, data, 0);
	else if (s->rank == 0)
		mpi_sched_recv(s, data, k->root);
	mpi_sched_round(s);
	if (k->root >= 0)
		local_bcast(s, data);
}

/* Gather and scatter. */
static void
rooted(struct sched *s, const struct collective *k)
{
	struct rooted r = rooted_of(k);

	if (k->root >= 0)
		mpi_sched_move(s, r.up, side_block(r.one, 0), k->root);
	for (int i = 0; k->root == MPI_ROOT && i < mpi_comm_peers(s->c); i++)
		mpi_sched_move(s, !r.up, side_block(r.all, i), i);
	mpi_sched_round(s);
}

/*
 * `same`: every peer gets the one block. All go through the peers in the same order, so that no
 * circle of ranks can wait.
 */
static void
with_all(struct sched *s, const struct collective *k, bool same)
{
	for (int i = 0; i < mpi_comm_peers(s->c); i++) {
		mpi_sched_recv(s, side_block(&k->recv, i), i);
		mpi_sched_send(s, side_block(&k->send, same ? 0 : i), i);
		if ((i + 1) % AT_ONCE == 0)
			mpi_sched_round(s);
	}
	mpi_sched_round(s);
}

static void
reduce(struct sched *s, const struct collective *k)
{
	struct span in, sum = {0};

	if (k->root == MPI_ROOT)
		mpi_sched_recv(s, side_block(&k->recv, 0), 0);
	mpi_sched_round(s);
	if (k->root < 0)
		return;
	in = side_block(&k->send, 0);
	if (s->rank == 0)
		sum = mpi_sched_room(s, in.count, in.type);
	local_reduce(s, sum, in);
	if (s->rank == 0)
		mpi_sched_send(s, sum, k->root);
	mpi_sched_round(s);
}

/* To all of the other group; a barrier is one of nothing. */
static void
allreduce(struct sched *s, struct span out, struct span in)
{
	struct span sum = s->rank == 0 ? mpi_sched_room(s, in.count, in.type) : in;

	local_reduce(s, sum, in);
	leaders_exchange(s, out, sum);
	local_bcast(s, out);
}

static void
reduce_scatter(struct sched *s, const struct collective *k)
{
	struct span out = side_block(&k->recv, s->rank), in = side_block(&k->send, 0), sum = in,
		theirs = in;
	MPI_Count *counts = mpi_sched_scratch(s, (size_t)s->size * sizeof(*counts));

	out.at = k->recv.buffer;
	for (int i = 0; counts != NULL && i < s->size; i++)
		counts[i] = side_block(&k->recv, i).count;
	if (s->rank == 0) {
		sum = mpi_sched_room(s, in.count, in.type);
		theirs = mpi_sched_room(s, in.count, in.type);
	}
	local_reduce(s, sum, in);
	leaders_exchange(s, theirs, sum);
	mpi_sched_local(s, true);
	if (counts != NULL)
		mpi_sched_deal(s, out, theirs, counts);
	mpi_sched_local(s, false);
}

void
mpi_inter_write(struct sched *s, const struct collective *k)
{
	switch (k->kind) {
	case COLL_BARRIER: allreduce(s, nothing(), nothing()); break;
	case COLL_BCAST: bcast(s, k); break;
	case COLL_GATHER:
	case COLL_SCATTER: rooted(s, k); break;
	case COLL_ALLGATHER: with_all(s, k, true); break;
	case COLL_ALLTOALL: with_all(s, k, false); break;
	case COLL_REDUCE: reduce(s, k); break;
	case COLL_ALLREDUCE: allreduce(s, side_block(&k->recv, 0), side_block(&k->send, 0)); break;
	case COLL_REDUCE_SCATTER: reduce_scatter(s, k); break;
	default: s->broken = MPI_ERR_COMM; break;
	}
}
