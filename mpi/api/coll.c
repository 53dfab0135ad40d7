/* SPDX-License-Identifier: MIT
 *
 * Chapters collectives and neighbourhood collectives. mpi/tools/mpigen.py reads which functions
 * FORMS defines.
 */
#include <mpi/api/collective.h>

/* The blocking form of a function, the non-blocking and the persistent one. */
#define FORMS(blocking, started, describe) \
	int \
	impl_##blocking(struct call *call, const struct args_##blocking *a) \
	{ \
		struct collective k = describe(a); \
 \
		return collective_blocking(call, a->comm, &k); \
	} \
	int \
	impl_##started(struct call *call, const struct args_##started *a) \
	{ \
		struct collective k = describe(a); \
 \
		return collective_started(call, a->comm, &k, a->request); \
	} \
	int \
	impl_##blocking##_init(struct call *call, const struct args_##blocking##_init *a) \
	{ \
		struct collective k = describe(a); \
 \
		return collective_prepared(call, a->comm, &k, a->request); \
	}

FORMS(Barrier, Ibarrier, BARRIER)
FORMS(Bcast, Ibcast, BCAST)
FORMS(Gather, Igather, GATHER)
FORMS(Gatherv, Igatherv, GATHERV)
FORMS(Scatter, Iscatter, SCATTER)
FORMS(Scatterv, Iscatterv, SCATTERV)
FORMS(Allgather, Iallgather, ALLGATHER)
FORMS(Allgatherv, Iallgatherv, ALLGATHERV)
FORMS(Alltoall, Ialltoall, ALLTOALL)
FORMS(Alltoallv, Ialltoallv, ALLTOALLV)
FORMS(Alltoallw, Ialltoallw, ALLTOALLW)
FORMS(Reduce, Ireduce, REDUCE)
FORMS(Allreduce, Iallreduce, ALLREDUCE)
FORMS(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER)
FORMS(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK)
FORMS(Scan, Iscan, SCAN)
FORMS(Exscan, Iexscan, EXSCAN)
FORMS(Neighbor_allgather, Ineighbor_allgather, NEIGHBOR_ALLGATHER)
FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOR_ALLGATHERV)
FORMS(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOR_ALLTOALL)
FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOR_ALLTOALLV)
FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_ALLTOALLW)

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
