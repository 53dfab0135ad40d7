/* SPDX-License-Identifier: MIT
 *
 * Chapter neighbourhood collectives.
 */
#include <mpi/api/collective.h>

int
impl_Neighbor_allgather(struct call *call, const struct args_Neighbor_allgather *a)
{
	struct collective k = NEIGHBOR_ALLGATHER(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Ineighbor_allgather(struct call *call, const struct args_Ineighbor_allgather *a)
{
	struct collective k = NEIGHBOR_ALLGATHER(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Neighbor_allgather_init(struct call *call, const struct args_Neighbor_allgather_init *a)
{
	struct collective k = NEIGHBOR_ALLGATHER(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Neighbor_allgatherv(struct call *call, const struct args_Neighbor_allgatherv *a)
{
	struct collective k = NEIGHBOR_ALLGATHERV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Ineighbor_allgatherv(struct call *call, const struct args_Ineighbor_allgatherv *a)
{
	struct collective k = NEIGHBOR_ALLGATHERV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Neighbor_allgatherv_init(struct call *call, const struct args_Neighbor_allgatherv_init *a)
{
	struct collective k = NEIGHBOR_ALLGATHERV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoall(struct call *call, const struct args_Neighbor_alltoall *a)
{
	struct collective k = NEIGHBOR_ALLTOALL(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Ineighbor_alltoall(struct call *call, const struct args_Ineighbor_alltoall *a)
{
	struct collective k = NEIGHBOR_ALLTOALL(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoall_init(struct call *call, const struct args_Neighbor_alltoall_init *a)
{
	struct collective k = NEIGHBOR_ALLTOALL(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoallv(struct call *call, const struct args_Neighbor_alltoallv *a)
{
	struct collective k = NEIGHBOR_ALLTOALLV(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Ineighbor_alltoallv(struct call *call, const struct args_Ineighbor_alltoallv *a)
{
	struct collective k = NEIGHBOR_ALLTOALLV(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoallv_init(struct call *call, const struct args_Neighbor_alltoallv_init *a)
{
	struct collective k = NEIGHBOR_ALLTOALLV(a);

	return collective_prepared(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoallw(struct call *call, const struct args_Neighbor_alltoallw *a)
{
	struct collective k = NEIGHBOR_ALLTOALLW(a);

	return collective_blocking(call, a->comm, &k);
}

int
impl_Ineighbor_alltoallw(struct call *call, const struct args_Ineighbor_alltoallw *a)
{
	struct collective k = NEIGHBOR_ALLTOALLW(a);

	return collective_started(call, a->comm, &k, a->request);
}

int
impl_Neighbor_alltoallw_init(struct call *call, const struct args_Neighbor_alltoallw_init *a)
{
	struct collective k = NEIGHBOR_ALLTOALLW(a);

	return collective_prepared(call, a->comm, &k, a->request);
}
