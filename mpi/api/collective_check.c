/* SPDX-License-Identifier: MIT
 *
 * Checks of the arguments of collectives. A side is checked where it is significant; every check
 * comes before the first message.
 */
#include <mpi/api/collective.h>
#include <mpi/core/op.h>
#include <mpi/core/topology.h>

/* Where a block lies: with MPI_BOTTOM as the buffer, a displacement may be an address. */
static const void *
block_at(const struct side *s, int i, const struct type *t)
{
	MPI_Count displ = s->displs.array ? numbers_at(s->displs, (size_t)i) : 0;

	return span_shift(s->buffer, s->types ? displ : displ * (MPI_Count)t->extent);
}

static int
check_block(struct call *call, const struct side *s, int i, MPI_Datatype datatype, struct type **t)
{
	MPI_Count count = s->counts.array ? numbers_at(s->counts, (size_t)i) : s->count;
	int err = call_count(count);

	if (err == MPI_SUCCESS)
		err = call_committed(call, datatype, t);
	return err == MPI_SUCCESS ? call_buffer(block_at(s, i, *t), count, *t) : err;
}

int
collective_check_side(struct call *call, struct side *s, int blocks)
{
	bool vector = s->counts.array != NULL;
	struct type *t = NULL;
	int err = MPI_SUCCESS;

	for (int i = 0; err == MPI_SUCCESS && i < (vector ? blocks : 1); i++)
		err = check_block(call, s, i, s->types ? s->types[i] : s->datatype, &t);
	s->type = t;
	return err;
}

/* Counts and displacements are there. */
static int
check_vectors(const struct side *s)
{
	return s->counts.array != NULL && s->displs.array != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int
resolve_in_place(struct side *s, bool allowed)
{
	if (s->buffer != MPI_IN_PLACE)
		return MPI_SUCCESS;
	s->in_place = true;
	s->buffer = NULL;
	return allowed ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

/* Does this rank stand at the root, or on the other side? */
static bool
is_root(const struct comm *c, int root)
{
	return mpi_comm_is_inter(c) ? root == MPI_ROOT : root == c->rank;
}

static bool
takes_part(const struct comm *c, int root)
{
	return !mpi_comm_is_inter(c) || root != MPI_PROC_NULL;
}

/*
 * `many` has a block per rank and is significant at the root, `one` everywhere else, and at the
 * root of one group unless in place.
 */
static int
check_rooted(struct call *call, const struct comm *c, struct side *one, struct side *many, int root)
{
	bool at_root = is_root(c, root), inter = mpi_comm_is_inter(c);
	int err = MPI_SUCCESS;

	if (!takes_part(c, root))
		return MPI_SUCCESS;
	if (at_root && many->buffer == MPI_IN_PLACE)
		return MPI_ERR_BUFFER;
	if (at_root)
		err = collective_check_side(call, many, mpi_comm_peers(c));
	if (err != MPI_SUCCESS || (at_root && inter))
		return err;
	err = resolve_in_place(one, at_root);
	if (err != MPI_SUCCESS || one->in_place)
		return err;
	return collective_check_side(call, one, 1);
}

static int
check_bcast(struct call *call, const struct comm *c, struct collective *k)
{
	if (!takes_part(c, k->root))
		return MPI_SUCCESS;
	return k->recv.buffer == MPI_IN_PLACE ? MPI_ERR_BUFFER :
		collective_check_side(call, &k->recv, 1);
}

/* Everybody gives and everybody gets. */
static int
check_all(struct call *call, const struct comm *c, struct collective *k, int give, int get)
{
	int err = k->recv.buffer == MPI_IN_PLACE ? MPI_ERR_BUFFER :
		collective_check_side(call, &k->recv, get);

	if (err == MPI_SUCCESS)
		err = resolve_in_place(&k->send, !mpi_comm_is_inter(c) && give >= 0);
	if (err != MPI_SUCCESS || k->send.in_place)
		return err;
	return collective_check_side(call, &k->send, give);
}

/* The operand is as long as all blocks together. */
static int
check_reduce_scatter(struct call *call, const struct comm *c, struct collective *k)
{
	int err = collective_check_side(call, &k->recv, c->size);
	MPI_Count total = 0;

	for (int i = 0; err == MPI_SUCCESS && i < c->size; i++)
		total += k->recv.counts.array ? numbers_at(k->recv.counts, (size_t)i) :
			k->recv.count;
	k->send.count = total;
	return err == MPI_SUCCESS ? check_all(call, c, k, 1, c->size) : err;
}

static int
check_reduction(struct call *call, const struct comm *c, struct collective *k)
{
	int err;

	if (k->kind == COLL_REDUCE)
		err = takes_part(c, k->root) ? check_rooted(call, c, &k->send, &k->recv, k->root) :
			MPI_SUCCESS;
	else if (k->kind == COLL_REDUCE_SCATTER)
		err = k->recv.buffer == MPI_IN_PLACE ? MPI_ERR_BUFFER :
			check_reduce_scatter(call, c, k);
	else
		err = check_all(call, c, k, 1, 1);
	if (err != MPI_SUCCESS || (k->kind == COLL_REDUCE && !takes_part(c, k->root)))
		return err;
	if (k->kind == COLL_REDUCE && !is_root(c, k->root))
		k->recv.type = k->send.type;
	if ((k->kind == COLL_SCAN || k->kind == COLL_EXSCAN) && mpi_comm_is_inter(c))
		return MPI_ERR_COMM;
	return mpi_op_check(call->self, k->op, k->recv.datatype);
}

static int
check_neighbors(struct call *call, const struct comm *c, struct collective *k)
{
	const struct adjacency *near;
	int err = mpi_topo_neighbors(c, &near);

	if (err != MPI_SUCCESS)
		return err;
	if (k->send.buffer == MPI_IN_PLACE || k->recv.buffer == MPI_IN_PLACE)
		return MPI_ERR_BUFFER;
	if (!k->even && near->in > 0)
		err = check_vectors(&k->recv);
	if (err == MPI_SUCCESS && !k->even && near->out > 0 && k->kind == COLL_NEIGHBOR_ALLTOALL)
		err = check_vectors(&k->send);
	if (err == MPI_SUCCESS)
		err = collective_check_side(call, &k->recv, near->in);
	return err == MPI_SUCCESS ? collective_check_side(call, &k->send, k->kind ==
		COLL_NEIGHBOR_ALLTOALL ? near->out : 1) : err;
}

static int
check_arrays_to_all(const struct collective *k)
{
	bool w = k->send.types != NULL || k->recv.types != NULL;
	int err = k->send.buffer != MPI_IN_PLACE ? check_vectors(&k->send) : MPI_SUCCESS;

	if (err == MPI_SUCCESS)
		err = check_vectors(&k->recv);
	return err == MPI_SUCCESS && w && k->recv.types == NULL ? MPI_ERR_ARG : err;
}

/* The arrays of the functions that take them, where they are significant. */
static int
check_arrays(const struct comm *c, const struct collective *k)
{
	if (k->even)
		return MPI_SUCCESS;
	switch (k->kind) {
	case COLL_GATHER: return is_root(c, k->root) ? check_vectors(&k->recv) : MPI_SUCCESS;
	case COLL_SCATTER: return is_root(c, k->root) ? check_vectors(&k->send) : MPI_SUCCESS;
	case COLL_ALLGATHER: return check_vectors(&k->recv);
	case COLL_ALLTOALL: return check_arrays_to_all(k);
	case COLL_REDUCE_SCATTER: return k->recv.counts.array != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
	default: return MPI_SUCCESS;
	}
}

int
collective_check(struct call *call, const struct comm *c, struct collective *k)
{
	int peers = mpi_comm_peers(c), err = check_arrays(c, k);

	if (err != MPI_SUCCESS)
		return err;
	switch (k->kind) {
	case COLL_BARRIER: return MPI_SUCCESS;
	case COLL_BCAST: return check_bcast(call, c, k);
	case COLL_GATHER: return check_rooted(call, c, &k->send, &k->recv, k->root);
	case COLL_SCATTER: return check_rooted(call, c, &k->recv, &k->send, k->root);
	case COLL_ALLGATHER: return check_all(call, c, k, 1, peers);
	case COLL_ALLTOALL: return check_all(call, c, k, peers, peers);
	case COLL_NEIGHBOR_ALLGATHER:
	case COLL_NEIGHBOR_ALLTOALL: return check_neighbors(call, c, k);
	default: return check_reduction(call, c, k);
	}
}
