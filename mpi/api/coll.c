/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: arguments are checked and MPI_IN_PLACE is resolved here.
 */
#include <mpi/api/check.h>
#include <mpi/coll/coll.h>
#include <mpi/core/op.h>
#include <mpi_twins_coll.h>

/* One side of a collective that moves blocks. */
struct side {
	const void *buffer;
	int count;
	MPI_Datatype datatype;
	size_t bytes;			/* out */
};

static int
check_side(struct side *s)
{
	return check_buffer(s->buffer, s->count, s->datatype, &s->bytes);
}

/* Where rank i's block lies in a buffer that has all of them. */
static char *
block_of(const struct side *s, int i)
{
	return (char *)(uintptr_t)s->buffer + (size_t)i * s->bytes;
}

int
PMPI_Barrier(MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = mpi_barrier(self, c);
	return mpi_raise(self, c, err, "MPI_Barrier");
}

int
PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	size_t bytes;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_buffer(buffer, count, datatype, &bytes);
	if (err == MPI_SUCCESS)
		err = check_root(c, root);
	if (err == MPI_SUCCESS && c->size > 1)
		err = mpi_bcast(self, c, buffer, bytes, root);
	return mpi_raise(self, c, err, "MPI_Bcast");
}

/* Checks of both reductions. `has_result`: this rank gets the result. */
static int
check_reduction(struct mpi_rank *self, struct reduction *r, bool has_result)
{
	size_t bytes;
	int err;

	if (r->in == MPI_IN_PLACE && !has_result)
		return MPI_ERR_BUFFER;
	if (r->in == MPI_IN_PLACE)
		r->in = r->out;
	err = check_buffer(r->in, r->count, r->type, &bytes);
	if (err == MPI_SUCCESS && has_result)
		err = check_buffer(r->out, r->count, r->type, &bytes);
	return err == MPI_SUCCESS ? mpi_op_check(self, r->op, r->type) : err;
}

int
PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct reduction r = {sendbuf, recvbuf, count, datatype, op};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_root(c, root);
	if (err == MPI_SUCCESS)
		err = check_reduction(self, &r, c->rank == root);
	if (err == MPI_SUCCESS && count > 0)
		err = mpi_reduce(self, c, &r, root);
	return mpi_raise(self, c, err, "MPI_Reduce");
}

int
PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct reduction r = {sendbuf, recvbuf, count, datatype, op};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_reduction(self, &r, true);
	if (err == MPI_SUCCESS && count > 0)
		err = mpi_allreduce(self, c, &r);
	return mpi_raise(self, c, err, "MPI_Allreduce");
}

/*
 * Gather and scatter look the same from the root: `many` has a block per rank and is significant at the root only, `one` is the own block,
 * which may be in place at the root.
 */
static int
check_rooted(const struct comm *c, struct side *one, struct side *many, int root)
{
	bool in_place = one->buffer == MPI_IN_PLACE;
	int err = check_root(c, root);

	if (err == MPI_SUCCESS && c->rank == root)
		err = check_side(many);
	if (err != MPI_SUCCESS)
		return err;
	if (!in_place)
		return check_side(one);
	if (c->rank != root)
		return MPI_ERR_BUFFER;
	one->buffer = block_of(many, root);
	one->bytes = many->bytes;
	return MPI_SUCCESS;
}

int
PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct side one = {sendbuf, sendcount, sendtype, 0}, many = {recvbuf, recvcount, recvtype, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_rooted(c, &one, &many, root);
	if (err == MPI_SUCCESS)
		err = mpi_gather(self, c, &(struct blocks){one.buffer, recvbuf, one.bytes}, root);
	return mpi_raise(self, c, err, "MPI_Gather");
}

int
PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
	MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct side one = {recvbuf, recvcount, recvtype, 0}, many = {sendbuf, sendcount, sendtype, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_rooted(c, &one, &many, root);
	if (err == MPI_SUCCESS)
		err = mpi_scatter(self, c, &(struct blocks){sendbuf, (void *)(uintptr_t)one.buffer, one.bytes}, root);
	return mpi_raise(self, c, err, "MPI_Scatter");
}

/* Allgather and alltoall: everybody has all of `many`; `own` is resolved if it is in place. */
static int
check_unrooted(struct side *own, const void *in_place, struct side *many)
{
	int err = check_side(many);

	if (err != MPI_SUCCESS || own->buffer != MPI_IN_PLACE)
		return err == MPI_SUCCESS ? check_side(own) : err;
	own->buffer = in_place;
	own->bytes = many->bytes;
	return MPI_SUCCESS;
}

int
PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
	MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct side one = {sendbuf, sendcount, sendtype, 0}, many = {recvbuf, recvcount, recvtype, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_unrooted(&one, NULL, &many);
	if (err == MPI_SUCCESS && sendbuf == MPI_IN_PLACE)
		one.buffer = block_of(&many, c->rank);
	if (err == MPI_SUCCESS && one.bytes != many.bytes)
		err = MPI_ERR_COUNT;
	if (err == MPI_SUCCESS)
		err = mpi_allgather(self, c, one.buffer, recvbuf, many.bytes);
	return mpi_raise(self, c, err, "MPI_Allgather");
}

int
PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
	MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct side out = {sendbuf, sendcount, sendtype, 0}, in = {recvbuf, recvcount, recvtype, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_unrooted(&out, recvbuf, &in);
	if (err == MPI_SUCCESS && out.bytes != in.bytes)
		err = MPI_ERR_COUNT;
	if (err == MPI_SUCCESS)
		err = mpi_alltoall(self, c, &(struct blocks){out.buffer, recvbuf, in.bytes});
	return mpi_raise(self, c, err, "MPI_Alltoall");
}
