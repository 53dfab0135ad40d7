/* SPDX-License-Identifier: MIT
 *
 * Chapter groups.
 */
#include <stdlib.h>
#include <mpi_impl.h>

int
impl_Comm_group(struct call *call, const struct args_Comm_group *a)
{
	*a->group = mpi_group_handle(call->self, mpi_group_hold(a->comm->group));
	return *a->group == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int
impl_Group_rank(struct call *call, const struct args_Group_rank *a)
{
	(void)call;
	*a->rank = a->group->rank;
	return MPI_SUCCESS;
}

int
impl_Group_size(struct call *call, const struct args_Group_size *a)
{
	(void)call;
	*a->size = a->group->size;
	return MPI_SUCCESS;
}

int
impl_Group_free(struct call *call, const struct args_Group_free *a)
{
	struct mpi_rank *self = call->self;
	struct group *g;
	int err = mpi_group_get(self, *a->group, &g);

	if (err != MPI_SUCCESS)
		return err;
	if (g != &self->empty_group) {
		mpi_handle_drop(&self->tables[HANDLE_GROUP], (uintptr_t)*a->group);
		mpi_group_release(self, g);
	}
	*a->group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}

int
impl_Group_compare(struct call *call, const struct args_Group_compare *a)
{
	(void)call;
	*a->result = mpi_group_compare(a->group1, a->group2);
	return MPI_SUCCESS;
}

/* Ranks of a group in an array; `null`: MPI_PROC_NULL may be among them. */
static int
check_ranks(const struct group *g, int n, const int ranks[], bool null)
{
	if (n < 0 || (n > 0 && ranks == NULL))
		return MPI_ERR_ARG;
	for (int i = 0; i < n; i++)
		if ((ranks[i] < 0 || ranks[i] >= g->size) && !(null && ranks[i] == MPI_PROC_NULL))
			return MPI_ERR_RANK;
	return MPI_SUCCESS;
}

int
impl_Group_translate_ranks(struct call *call, const struct args_Group_translate_ranks *a)
{
	int err = check_ranks(a->group1, a->n, a->ranks1, true);

	(void)call;
	if (err == MPI_SUCCESS)
		err = call_array(a->n, a->ranks2);
	for (int i = 0; err == MPI_SUCCESS && i < a->n; i++) {
		int rank = a->ranks1[i];

		a->ranks2[i] = rank == MPI_PROC_NULL ? rank : mpi_group_find(a->group2, mpi_group_world(a->group1, rank));
	}
	return err;
}

int
impl_Group_incl(struct call *call, const struct args_Group_incl *a)
{
	int err = check_ranks(a->group, a->n, a->ranks, false);
	int32_t *world = err == MPI_SUCCESS ? malloc((size_t)(a->n ? a->n : 1) * sizeof(*world)) : NULL;
	struct group *made;

	if (world == NULL)
		return err == MPI_SUCCESS ? MPI_ERR_NO_MEM : err;
	for (int i = 0; i < a->n; i++)
		world[i] = mpi_group_world(a->group, a->ranks[i]);
	made = mpi_group_of(call->self, world, a->n);
	*a->newgroup = made ? mpi_group_handle(call->self, made) : MPI_GROUP_NULL;
	return *a->newgroup == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}
