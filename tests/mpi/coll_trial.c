/* SPDX-License-Identifier: MIT
 *
 * Random collectives: the calls, in their three forms, and what must come out.
 */
#include "coll_trial.h"
#include "../golden/collectives.h"

#define CALL(t, name, iname, ...) \
	do { \
		if ((t)->form == BLOCKING) { \
			MPI_##name(__VA_ARGS__, (t)->comm); \
		} else if ((t)->form == NONBLOCKING) { \
			MPI_##iname(__VA_ARGS__, (t)->comm, &(t)->request); \
		} else { \
			MPI_##name##_init(__VA_ARGS__, (t)->comm, MPI_INFO_NULL, &(t)->request); \
			MPI_Start(&(t)->request); \
		} \
	} while (0)

static void
barrier(struct trial *t)
{
	if (t->form == BLOCKING) {
		MPI_Barrier(t->comm);
	} else if (t->form == NONBLOCKING) {
		MPI_Ibarrier(t->comm, &t->request);
	} else {
		MPI_Barrier_init(t->comm, MPI_INFO_NULL, &t->request);
		MPI_Start(&t->request);
	}
}

static void
start_rooted(struct trial *t)
{
	const void *in = t->in_place && t->at_root ? MPI_IN_PLACE : t->send;
	void *out = t->in_place && t->at_root ? MPI_IN_PLACE : t->recv;
	int n = t->count;

	switch (t->kind) {
	case BCAST: CALL(t, Bcast, Ibcast, t->recv, n, t->type, t->root); break;
	case GATHER: CALL(t, Gather, Igather, in, n, t->type, t->recv, n, t->type, t->root); break;
	case SCATTER: CALL(t, Scatter, Iscatter, t->send, n, t->type, out, n, t->type, t->root);
	break;
	case GATHERV:
		CALL(t, Gatherv, Igatherv, in, t->send_counts[0], t->type, t->recv, t->recv_counts,
			t->recv_at, t->type, t->root);
		break;
	case SCATTERV:
		CALL(t, Scatterv, Iscatterv, t->send, t->send_counts, t->send_at, t->type, out,
			t->recv_counts[0], t->type, t->root);
		break;
	default: CALL(t, Reduce, Ireduce, in, t->recv, n, t->type, t->op, t->root); break;
	}
}

static void
start_unrooted(struct trial *t)
{
	const void *in = t->in_place ? MPI_IN_PLACE : t->send;
	int n = t->count, *sc = t->send_counts, *sd = t->send_at, *rc = t->recv_counts,
		*rd = t->recv_at;

	switch (t->kind) {
	case BARRIER: barrier(t); break;
	case ALLGATHER: CALL(t, Allgather, Iallgather, in, n, t->type, t->recv, n, t->type); break;
	case ALLGATHERV: CALL(t, Allgatherv, Iallgatherv, in, sc[0], t->type, t->recv, rc, rd,
	t->type); break;
	case ALLTOALL: CALL(t, Alltoall, Ialltoall, in, n, t->type, t->recv, n, t->type); break;
	case ALLTOALLV: CALL(t, Alltoallv, Ialltoallv, in, sc, sd, t->type, t->recv, rc, rd,
	t->type); break;
	case ALLTOALLW: CALL(t, Alltoallw, Ialltoallw, in, sc, sd, t->types, t->recv, rc, rd,
	t->types); break;
	case ALLREDUCE: CALL(t, Allreduce, Iallreduce, in, t->recv, n, t->type, t->op); break;
	case REDUCE_SCATTER: CALL(t, Reduce_scatter, Ireduce_scatter, in, t->recv, rc, t->type,
	t->op); break;
	case REDUCE_SCATTER_BLOCK: CALL(t, Reduce_scatter_block, Ireduce_scatter_block, in, t->recv,
	n, t->type, t->op); break;
	case SCAN: CALL(t, Scan, Iscan, in, t->recv, n, t->type, t->op); break;
	default: CALL(t, Exscan, Iexscan, in, t->recv, n, t->type, t->op); break;
	}
}

static int
is_rooted(enum kind kind)
{
	return kind == BCAST || kind == GATHER || kind == GATHERV || kind == SCATTER ||
		kind == SCATTERV || kind == REDUCE;
}

void
trial_start(struct trial *t)
{
	t->request = MPI_REQUEST_NULL;
	if (is_rooted(t->kind))
		start_rooted(t);
	else
		start_unrooted(t);
}

/* displacements of alltoallw are in bytes */
static size_t
place(const struct trial *t, int at)
{
	return t->kind == ALLTOALLW ? (size_t)at : (size_t)at * t->extent;
}

/* Block `from_at` of a peer's input goes to `to_at`. */
static void
put(struct trial *t, int to_at, const char *input, int from_at, int count)
{
	memcpy(t->expect + place(t, to_at), input + place(t, from_at), (size_t)count * t->extent);
}

/* Where the blocks lie in a peer's input. */
static const int *
layout_of(const struct trial *t, const struct golden_inputs *in, int peer)
{
	return (const int *)(const void *)(golden_input(in, peer) + t->bytes);
}

/* Each peer's block for this rank. */
static void
expect_blocks(struct trial *t, const struct golden_inputs *in)
{
	int spreads = t->kind == ALLTOALL || t->kind == ALLTOALLV || t->kind == ALLTOALLW,
		collects = t->kind == GATHER || t->kind == GATHERV;

	for (int i = 0; i < t->peers; i++) {
		int from = 0;

		if (spreads)
			from = layout_of(t, in, i)[t->rank];
		else if (t->in_place && (!collects || i == t->root))
			from = t->recv_at[i];		/* in place: at its own place */
		put(t, t->recv_at[i], golden_input(in, i), from, t->recv_counts[i]);
	}
}

static void
expect_scattered(struct trial *t, const struct golden_inputs *in, char *folded)
{
	int at = 0;

	golden_fold(in, 0, t->peers - 1, folded,
		&(struct golden_operand){t->total, t->type, t->extent, t->op});
	for (int i = 0; i < t->rank; i++)
		at += t->recv_counts[i];
	memcpy(t->expect, folded + (size_t)at * t->extent,
		(size_t)t->recv_counts[t->rank] * t->extent);
}

static void
expect(struct trial *t, const struct golden_inputs *in, char *scratch)
{
	struct golden_operand o = {t->count, t->type, t->extent, t->op};
	int receives = t->inter ? t->root >= 0 : 1;

	switch (t->kind) {
	case BARRIER: break;
	case BCAST:
		if (receives)
			put(t, 0, golden_input(in, t->root_rank), 0, t->count);
		break;
	case SCATTER:
	case SCATTERV:
		if (receives && !(t->at_root && t->in_place))
			put(t, 0, golden_input(in, t->root_rank),
				layout_of(t, in, t->root_rank)[t->rank],
				t->recv_counts[0]);
		break;
	case GATHER:
	case GATHERV:
		if (t->at_root)
			expect_blocks(t, in);
		break;
	case ALLGATHER: case ALLGATHERV: case ALLTOALL: case ALLTOALLV: case ALLTOALLW:
		expect_blocks(t, in);
		break;
	case REDUCE:
		if (t->at_root)
			golden_fold(in, 0, t->peers - 1, t->expect, &o);
		break;
	case ALLREDUCE: golden_fold(in, 0, t->peers - 1, t->expect, &o); break;
	case SCAN: golden_fold(in, 0, t->rank, t->expect, &o); break;
	case EXSCAN:
		if (t->rank > 0)
			golden_fold(in, 0, t->rank - 1, t->expect, &o);
		break;
	default: expect_scattered(t, in, scratch); break;
	}
}

/*
 * `expect` holds what the receive buffer held before the call. The peers' inputs come with where in
 * them each rank's block begins.
 */
int
trial_is_right(struct trial *t)
{
	/* the inputs of all peers lie side by side: each must begin where doubles may */
	size_t layout = ((size_t)(t->peers > t->size ? t->peers : t->size) * sizeof(int) + 15) /
		16 * 16, bytes = t->bytes + layout;
	int uses_recv = t->kind == BCAST ||
		(t->in_place &&
		(!is_rooted(t->kind) || (t->at_root && t->kind != SCATTER && t->kind != SCATTERV)));
	const int *at = t->in_place && !is_rooted(t->kind) ? t->recv_at : t->send_at;
	char *mine = calloc(1, bytes), *scratch = malloc(t->bytes + 1);
	struct golden_inputs in;
	int same;

	memcpy(mine, uses_recv ? t->expect : t->send, t->bytes);
	memcpy(mine + t->bytes, at, (size_t)t->peers * sizeof(int));
	in = golden_exchange(t->comm, mine, bytes);
	expect(t, &in, scratch);
	same = t->kind == EXSCAN && t->rank == 0 ? 1 : memcmp(t->expect, t->recv, t->bytes) == 0;
	free(in.all);
	free(scratch);
	free(mine);
	return same;
}
