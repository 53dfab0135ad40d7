/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: the blocking forms.
 */
#include <mpi/api/collective.h>

int
impl_Barrier(struct call *call, const struct args_Barrier *a)
{
	struct collective k = BARRIER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Bcast(struct call *call, const struct args_Bcast *a)
{
	struct collective k = BCAST(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Gather(struct call *call, const struct args_Gather *a)
{
	struct collective k = GATHER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Gatherv(struct call *call, const struct args_Gatherv *a)
{
	struct collective k = GATHERV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Scatter(struct call *call, const struct args_Scatter *a)
{
	struct collective k = SCATTER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Scatterv(struct call *call, const struct args_Scatterv *a)
{
	struct collective k = SCATTERV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Allgather(struct call *call, const struct args_Allgather *a)
{
	struct collective k = ALLGATHER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Allgatherv(struct call *call, const struct args_Allgatherv *a)
{
	struct collective k = ALLGATHERV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Alltoall(struct call *call, const struct args_Alltoall *a)
{
	struct collective k = ALLTOALL(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Alltoallv(struct call *call, const struct args_Alltoallv *a)
{
	struct collective k = ALLTOALLV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Alltoallw(struct call *call, const struct args_Alltoallw *a)
{
	struct collective k = ALLTOALLW(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Reduce(struct call *call, const struct args_Reduce *a)
{
	struct collective k = REDUCE(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Allreduce(struct call *call, const struct args_Allreduce *a)
{
	struct collective k = REDUCTION(COLL_ALLREDUCE, a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Reduce_scatter(struct call *call, const struct args_Reduce_scatter *a)
{
	struct collective k = REDUCE_SCATTER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Reduce_scatter_block(struct call *call, const struct args_Reduce_scatter_block *a)
{
	struct collective k = REDUCE_SCATTER_BLOCK(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Scan(struct call *call, const struct args_Scan *a)
{
	struct collective k = REDUCTION(COLL_SCAN, a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Exscan(struct call *call, const struct args_Exscan *a)
{
	struct collective k = REDUCTION(COLL_EXSCAN, a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Reduce_local(struct call *call, const struct args_Reduce_local *a)
{
	struct side s = SIDE(a->inbuf, a->count, a->datatype);
	struct operation o;
	int err = a->inbuf == MPI_IN_PLACE || a->inoutbuf == MPI_IN_PLACE ? MPI_ERR_BUFFER
		: collective_check_side(call, &s, 1);

	s.buffer = a->inoutbuf;
	if (err == MPI_SUCCESS)
		err = collective_check_side(call, &s, 1);
	if (err == MPI_SUCCESS)
		err = mpi_op_check(call->self, a->op, a->datatype);
	if (err != MPI_SUCCESS || a->count == 0)
		return err;
	o = mpi_op_bind(call->self, a->op, a->datatype);
	mpi_op_apply(&o, a->inbuf, a->inoutbuf, a->count);
	mpi_op_release(&o);
	return MPI_SUCCESS;
}
