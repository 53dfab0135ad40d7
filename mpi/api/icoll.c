/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: the non-blocking forms.
 */
#include <mpi/api/collective.h>

int
impl_Ibarrier(struct call *call, const struct args_Ibarrier *a)
{
	struct collective k = BARRIER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ibcast(struct call *call, const struct args_Ibcast *a)
{
	struct collective k = BCAST(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Igather(struct call *call, const struct args_Igather *a)
{
	struct collective k = GATHER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Igatherv(struct call *call, const struct args_Igatherv *a)
{
	struct collective k = GATHERV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iscatter(struct call *call, const struct args_Iscatter *a)
{
	struct collective k = SCATTER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iscatterv(struct call *call, const struct args_Iscatterv *a)
{
	struct collective k = SCATTERV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iallgather(struct call *call, const struct args_Iallgather *a)
{
	struct collective k = ALLGATHER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iallgatherv(struct call *call, const struct args_Iallgatherv *a)
{
	struct collective k = ALLGATHERV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ialltoall(struct call *call, const struct args_Ialltoall *a)
{
	struct collective k = ALLTOALL(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ialltoallv(struct call *call, const struct args_Ialltoallv *a)
{
	struct collective k = ALLTOALLV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ialltoallw(struct call *call, const struct args_Ialltoallw *a)
{
	struct collective k = ALLTOALLW(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ireduce(struct call *call, const struct args_Ireduce *a)
{
	struct collective k = REDUCE(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iallreduce(struct call *call, const struct args_Iallreduce *a)
{
	struct collective k = REDUCTION(COLL_ALLREDUCE, a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ireduce_scatter(struct call *call, const struct args_Ireduce_scatter *a)
{
	struct collective k = REDUCE_SCATTER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Ireduce_scatter_block(struct call *call, const struct args_Ireduce_scatter_block *a)
{
	struct collective k = REDUCE_SCATTER_BLOCK(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iscan(struct call *call, const struct args_Iscan *a)
{
	struct collective k = REDUCTION(COLL_SCAN, a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Iexscan(struct call *call, const struct args_Iexscan *a)
{
	struct collective k = REDUCTION(COLL_EXSCAN, a);

	return collective_started(call, a->comm, &k, a->request);
}
