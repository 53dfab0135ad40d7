/* SPDX-License-Identifier: MIT
 *
 * Chapter topologies: Cartesian ones.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/api/place.h>
#include <mpi/core/topology.h>

int
impl_Topo_test(struct call *call, const struct args_Topo_test *a)
{
	(void)call;
	*a->status = a->comm->topology ? a->comm->topology->kind : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

int
impl_Dims_create(struct call *call, const struct args_Dims_create *a)
{
	(void)call;
	if (a->nnodes <= 0 || a->ndims < 0)
		return MPI_ERR_ARG;
	if (a->ndims == 0)
		return MPI_SUCCESS;
	return a->dims ? mpi_dims_create(a->nnodes, a->ndims, a->dims) : MPI_ERR_ARG;
}

/* The number of ranks in a grid, no more than fit into the communicator. */
static int
check_grid(const struct comm *c, int ndims, const int dims[], const int periods[], int *ranks)
{
	int64_t n = 1;

	if (mpi_comm_is_inter(c))
		return MPI_ERR_COMM;
	if (ndims < 0)
		return MPI_ERR_ARG;
	if (ndims > 0 && (dims == NULL || periods == NULL))
		return MPI_ERR_ARG;
	for (int i = 0; i < ndims && n <= c->size; i++) {
		if (dims[i] <= 0)
			return MPI_ERR_DIMS;
		n *= dims[i];
	}
	*ranks = (int)n;
	return n <= c->size ? MPI_SUCCESS : MPI_ERR_DIMS;
}

int
impl_Cart_create(struct call *call, const struct args_Cart_create *a)
{
	int ranks, err = check_grid(a->comm_old, a->ndims, a->dims, a->periods, &ranks);
	struct newcomm n = {NULL, MPI_SUCCESS};
	struct group *g;

	if (err != MPI_SUCCESS)
		return err;
	g = place_grid(call->self, a->comm_old, a->reorder ? a->ndims : 0, a->dims, ranks);
	if (g == NULL || g->rank != MPI_UNDEFINED)
		n = newcomm_group(call->self, a->comm_old, g);
	else
		mpi_group_release(call->self, g);
	if (n.made != NULL) {
		n.made->topology = mpi_topology_cart(a->ndims, a->dims, a->periods, n.made->rank);
		if (n.made->topology == NULL) {
			newcomm_abandon(call->self, n.made);
			n = (struct newcomm){NULL, MPI_ERR_NO_MEM};
		}
	}
	return newcomm_of(call->self, a->comm_old, n, a->comm_cart);
}

int
impl_Cart_map(struct call *call, const struct args_Cart_map *a)
{
	int ranks, err = check_grid(a->comm, a->ndims, a->dims, a->periods, &ranks);
	struct group *g = err == MPI_SUCCESS ? place_grid(call->self, a->comm, a->ndims, a->dims,
		ranks) : NULL;

	if (err == MPI_SUCCESS && g == NULL)
		err = MPI_ERR_NO_MEM;
	if (err == MPI_SUCCESS)
		*a->newrank = g->rank;
	mpi_group_release(call->self, g);
	return err;
}

/* The grid of a communicator. */
static int
grid_of(const struct comm *c, const struct cart **cart)
{
	if (c->topology == NULL || c->topology->kind != MPI_CART)
		return MPI_ERR_TOPOLOGY;
	*cart = &c->topology->cart;
	return MPI_SUCCESS;
}

int
impl_Cartdim_get(struct call *call, const struct args_Cartdim_get *a)
{
	const struct cart *cart;
	int err = grid_of(a->comm, &cart);

	(void)call;
	if (err == MPI_SUCCESS)
		*a->ndims = cart->ndims;
	return err;
}

int
impl_Cart_get(struct call *call, const struct args_Cart_get *a)
{
	const struct cart *cart;
	int err = grid_of(a->comm, &cart);

	(void)call;
	if (err == MPI_SUCCESS && a->maxdims < cart->ndims)
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS && cart->ndims > 0 &&
		(a->dims == NULL || a->periods == NULL || a->coords == NULL))
		err = MPI_ERR_ARG;
	for (int i = 0; err == MPI_SUCCESS && i < cart->ndims; i++) {
		a->dims[i] = cart->dims[i];
		a->periods[i] = cart->periods[i];
		a->coords[i] = cart->coords[i];
	}
	return err;
}

int
impl_Cart_rank(struct call *call, const struct args_Cart_rank *a)
{
	const struct cart *cart;
	int err = grid_of(a->comm, &cart), rank;

	(void)call;
	if (err == MPI_SUCCESS && cart->ndims > 0 && a->coords == NULL)
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return err;
	rank = mpi_cart_rank(cart, a->coords);
	if (rank == MPI_PROC_NULL)
		return MPI_ERR_RANK;
	*a->rank = rank;
	return MPI_SUCCESS;
}

int
impl_Cart_coords(struct call *call, const struct args_Cart_coords *a)
{
	const struct cart *cart;
	int err = grid_of(a->comm, &cart);

	(void)call;
	if (err == MPI_SUCCESS && (a->maxdims < cart->ndims ||
		(cart->ndims > 0 && a->coords == NULL)))
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS)
		mpi_cart_coords(cart, a->rank, a->coords);
	return err;
}

int
impl_Cart_shift(struct call *call, const struct args_Cart_shift *a)
{
	const struct cart *cart;
	int err = grid_of(a->comm, &cart), rank = a->comm->rank;

	(void)call;
	if (err == MPI_SUCCESS && (a->direction < 0 || a->direction >= cart->ndims))
		err = cart->ndims > 0 ? MPI_ERR_ARG : MPI_ERR_DIMS;
	if (err != MPI_SUCCESS)
		return err;
	*a->rank_source = mpi_cart_shifted(cart, rank, a->direction,
		a->disp == INT_MIN ? INT_MAX : -a->disp);
	*a->rank_dest = mpi_cart_shifted(cart, rank, a->direction, a->disp);
	return MPI_SUCCESS;
}

/*
 * The ranks that differ only in the dimensions that remain, in their order; the caller is among
 * them.
 */
static struct group *
slice(struct mpi_rank *self, const struct comm *c, const struct cart *cart, const struct cart *part)
{
	int ranks = 1, *at = malloc((size_t)(2 * cart->ndims + 1) * sizeof(*at)), *in_part = at
		? at + cart->ndims : NULL;
	int32_t *world;

	for (int i = 0; i < part->ndims; i++)
		ranks *= part->dims[i];
	world = malloc((size_t)ranks * sizeof(*world));
	if (at == NULL || world == NULL) {
		free(at);
		free(world);
		return NULL;
	}
	for (int r = 0; r < ranks; r++) {
		mpi_cart_coords(part, r, in_part);
		for (int i = 0, k = 0; i < cart->ndims; i++)
			at[i] = part->coords[i] ? in_part[k++] : cart->coords[i];
		world[r] = mpi_group_world(c->group, mpi_cart_rank(cart, at));
	}
	free(at);
	return mpi_group_of(self, world, ranks);
}

/*
 * `part`: the dimensions that remain; its coords say for each dimension of the whole whether it
 * does.
 */
static struct newcomm
subgrid(struct mpi_rank *self, struct comm *c, const struct cart *cart, const struct cart *part)
{
	struct newcomm n = newcomm_group(self, c, slice(self, c, cart, part));

	if (n.made == NULL)
		return n;
	n.made->topology = mpi_topology_cart(part->ndims, part->dims, part->periods, n.made->rank);
	if (n.made->topology != NULL)
		return n;
	newcomm_abandon(self, n.made);
	return (struct newcomm){NULL, MPI_ERR_NO_MEM};
}

int
impl_Cart_sub(struct call *call, const struct args_Cart_sub *a)
{
	struct newcomm n = {NULL, MPI_ERR_NO_MEM};
	struct cart part = {0};
	const struct cart *cart;
	int err = grid_of(a->comm, &cart);

	if (err == MPI_SUCCESS && cart->ndims > 0 && a->remain_dims == NULL)
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return err;
	part.dims = malloc((size_t)(3 * cart->ndims + 1) * sizeof(*part.dims));
	if (part.dims != NULL) {
		part.periods = part.dims + cart->ndims;
		part.coords = part.periods + cart->ndims;
		for (int i = 0; i < cart->ndims; i++) {
			part.coords[i] = a->remain_dims[i] != 0;
			part.dims[part.ndims] = cart->dims[i];
			part.periods[part.ndims] = cart->periods[i];
			part.ndims += part.coords[i];
		}
		n = subgrid(call->self, a->comm, cart, &part);
	}
	free(part.dims);
	return newcomm_of(call->self, a->comm, n, a->newcomm);
}
