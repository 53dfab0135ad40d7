/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: the persistent forms.
 */
#include <mpi/api/collective.h>

int
impl_Barrier_init(struct call *call, const struct args_Barrier_init *a)
{
	struct collective k = BARRIER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Bcast_init(struct call *call, const struct args_Bcast_init *a)
{
	struct collective k = BCAST(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Gather_init(struct call *call, const struct args_Gather_init *a)
{
	struct collective k = GATHER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Gatherv_init(struct call *call, const struct args_Gatherv_init *a)
{
	struct collective k = GATHERV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Scatter_init(struct call *call, const struct args_Scatter_init *a)
{
	struct collective k = SCATTER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Scatterv_init(struct call *call, const struct args_Scatterv_init *a)
{
	struct collective k = SCATTERV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Allgather_init(struct call *call, const struct args_Allgather_init *a)
{
	struct collective k = ALLGATHER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Allgatherv_init(struct call *call, const struct args_Allgatherv_init *a)
{
	struct collective k = ALLGATHERV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Alltoall_init(struct call *call, const struct args_Alltoall_init *a)
{
	struct collective k = ALLTOALL(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Alltoallv_init(struct call *call, const struct args_Alltoallv_init *a)
{
	struct collective k = ALLTOALLV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Alltoallw_init(struct call *call, const struct args_Alltoallw_init *a)
{
	struct collective k = ALLTOALLW(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Reduce_init(struct call *call, const struct args_Reduce_init *a)
{
	struct collective k = REDUCE(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Allreduce_init(struct call *call, const struct args_Allreduce_init *a)
{
	struct collective k = REDUCTION(COLL_ALLREDUCE, a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Reduce_scatter_init(struct call *call, const struct args_Reduce_scatter_init *a)
{
	struct collective k = REDUCE_SCATTER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Reduce_scatter_block_init(struct call *call, const struct args_Reduce_scatter_block_init *a)
{
	struct collective k = REDUCE_SCATTER_BLOCK(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Scan_init(struct call *call, const struct args_Scan_init *a)
{
	struct collective k = REDUCTION(COLL_SCAN, a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Exscan_init(struct call *call, const struct args_Exscan_init *a)
{
	struct collective k = REDUCTION(COLL_EXSCAN, a);

	return collective_prepared(call, a->comm, &k, a->request);
}
