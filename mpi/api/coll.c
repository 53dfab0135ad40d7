/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: which buffers are significant here, and what MPI_IN_PLACE means.
 */
#include <mpi_impl.h>
#include <mpi/coll/coll.h>
#include <mpi/core/op.h>

/* One side of a collective that moves blocks. */
struct side {
	const void *buffer;
	MPI_Count count;
	MPI_Datatype datatype;
	size_t bytes;			/* out */
};

static int
check_side(struct call *call, struct side *s)
{
	struct type *t;
	int err = call_count(s->count);

	if (err == MPI_SUCCESS)
		err = call_committed(call, s->datatype, &t);
	if (err == MPI_SUCCESS)
		err = call_buffer(s->buffer, s->count, t);
	if (err == MPI_SUCCESS)
		s->bytes = (size_t)s->count * t->extent;
	return err;
}

/* Where rank i's block lies in a buffer that has all of them. */
static char *
block_of(const struct side *s, int i)
{
	return (char *)(uintptr_t)s->buffer + (size_t)i * s->bytes;
}

int
impl_Barrier(struct call *call, const struct args_Barrier *a)
{
	return mpi_barrier(call->self, a->comm);
}

int
impl_Bcast(struct call *call, const struct args_Bcast *a)
{
	struct side s = {a->buffer, a->count, a->datatype, 0};
	int err = check_side(call, &s);

	return err == MPI_SUCCESS && a->comm->size > 1 ? mpi_bcast(call->self, a->comm, a->buffer, s.bytes, a->root) : err;
}

/* Checks of both reductions. `has_result`: this rank gets the result. */
static int
check_reduction(struct call *call, struct reduction *r, bool has_result)
{
	struct side in = {r->in, r->count, r->type, 0}, out = {r->out, r->count, r->type, 0};
	int err;

	if (r->in == MPI_IN_PLACE && !has_result)
		return MPI_ERR_BUFFER;
	if (r->in == MPI_IN_PLACE)
		r->in = in.buffer = r->out;
	err = check_side(call, &in);
	if (err == MPI_SUCCESS && has_result)
		err = check_side(call, &out);
	return err == MPI_SUCCESS ? mpi_op_check(call->self, r->op, r->type) : err;
}

int
impl_Reduce(struct call *call, const struct args_Reduce *a)
{
	struct reduction r = {a->sendbuf, a->recvbuf, (int)a->count, a->datatype, a->op};
	int err = check_reduction(call, &r, a->comm->rank == a->root);

	return err == MPI_SUCCESS && a->count > 0 ? mpi_reduce(call->self, a->comm, &r, a->root) : err;
}

int
impl_Allreduce(struct call *call, const struct args_Allreduce *a)
{
	struct reduction r = {a->sendbuf, a->recvbuf, (int)a->count, a->datatype, a->op};
	int err = check_reduction(call, &r, true);

	return err == MPI_SUCCESS && a->count > 0 ? mpi_allreduce(call->self, a->comm, &r) : err;
}

/*
 * Gather and scatter look the same from the root: `many` has a block per rank and is significant at the root only, `one` is the own block,
 * which may be in place at the root.
 */
static int
check_rooted(struct call *call, struct side *one, struct side *many, int root)
{
	bool in_place = one->buffer == MPI_IN_PLACE, at_root = call->comm->rank == root;
	int err = at_root ? check_side(call, many) : MPI_SUCCESS;

	if (err != MPI_SUCCESS)
		return err;
	if (!in_place)
		return check_side(call, one);
	if (!at_root)
		return MPI_ERR_BUFFER;
	one->buffer = block_of(many, root);
	one->bytes = many->bytes;
	return MPI_SUCCESS;
}

int
impl_Gather(struct call *call, const struct args_Gather *a)
{
	struct side one = {a->sendbuf, a->sendcount, a->sendtype, 0}, many = {a->recvbuf, a->recvcount, a->recvtype, 0};
	int err = check_rooted(call, &one, &many, a->root);

	return err == MPI_SUCCESS ? mpi_gather(call->self, a->comm, &(struct blocks){one.buffer, a->recvbuf, one.bytes}, a->root) : err;
}

int
impl_Scatter(struct call *call, const struct args_Scatter *a)
{
	struct side one = {a->recvbuf, a->recvcount, a->recvtype, 0}, many = {a->sendbuf, a->sendcount, a->sendtype, 0};
	int err = check_rooted(call, &one, &many, a->root);

	if (err != MPI_SUCCESS)
		return err;
	return mpi_scatter(call->self, a->comm, &(struct blocks){a->sendbuf, (void *)(uintptr_t)one.buffer, one.bytes}, a->root);
}

/* Allgather and alltoall: everybody has all of `many`; `own` is resolved if it is in place. */
static int
check_unrooted(struct call *call, struct side *own, const void *in_place, struct side *many)
{
	int err = check_side(call, many);

	if (err != MPI_SUCCESS || own->buffer != MPI_IN_PLACE)
		return err == MPI_SUCCESS ? check_side(call, own) : err;
	own->buffer = in_place;
	own->bytes = many->bytes;
	return MPI_SUCCESS;
}

int
impl_Allgather(struct call *call, const struct args_Allgather *a)
{
	struct side one = {a->sendbuf, a->sendcount, a->sendtype, 0}, many = {a->recvbuf, a->recvcount, a->recvtype, 0};
	int err = check_unrooted(call, &one, NULL, &many);

	if (err == MPI_SUCCESS && a->sendbuf == MPI_IN_PLACE)
		one.buffer = block_of(&many, a->comm->rank);
	if (err == MPI_SUCCESS && one.bytes != many.bytes)
		err = MPI_ERR_COUNT;
	return err == MPI_SUCCESS ? mpi_allgather(call->self, a->comm, one.buffer, a->recvbuf, many.bytes) : err;
}

int
impl_Alltoall(struct call *call, const struct args_Alltoall *a)
{
	struct side out = {a->sendbuf, a->sendcount, a->sendtype, 0}, in = {a->recvbuf, a->recvcount, a->recvtype, 0};
	int err = check_unrooted(call, &out, a->recvbuf, &in);

	if (err == MPI_SUCCESS && out.bytes != in.bytes)
		err = MPI_ERR_COUNT;
	return err == MPI_SUCCESS ? mpi_alltoall(call->self, a->comm, &(struct blocks){out.buffer, a->recvbuf, in.bytes}) : err;
}
