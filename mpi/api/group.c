/* SPDX-License-Identifier: MIT
 *
 * Chapter groups.
 */
#include <stdlib.h>
#include <mpi/api/check.h>
#include <mpi_twins_group.h>

static int
check_group(struct mpi_rank *self, MPI_Group handle, struct group **g)
{
	return self->state == RANK_RUNNING ? mpi_group_get(self, handle, g) : MPI_ERR_OTHER;
}

int
PMPI_Group_rank(MPI_Group group, int *rank)
{
	struct mpi_rank *self = mpi_self();
	struct group *g;
	int err = check_group(self, group, &g);

	if (err == MPI_SUCCESS)
		err = check_pointer(rank);
	if (err == MPI_SUCCESS)
		*rank = g->rank;
	return mpi_raise(self, NULL, err, "MPI_Group_rank");
}

int
PMPI_Group_size(MPI_Group group, int *size)
{
	struct mpi_rank *self = mpi_self();
	struct group *g;
	int err = check_group(self, group, &g);

	if (err == MPI_SUCCESS)
		err = check_pointer(size);
	if (err == MPI_SUCCESS)
		*size = g->size;
	return mpi_raise(self, NULL, err, "MPI_Group_size");
}

int
PMPI_Group_free(MPI_Group *group)
{
	struct mpi_rank *self = mpi_self();
	struct group *g = NULL;
	int err = check_pointer(group);

	if (err == MPI_SUCCESS)
		err = check_group(self, *group, &g);
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Group_free");
	if (g != &self->empty_group) {
		mpi_handle_drop(&self->tables[HANDLE_GROUP], (uintptr_t)*group);
		mpi_group_release(self, g);
	}
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}

int
PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
	struct mpi_rank *self = mpi_self();
	struct group *a, *b;
	int err = check_group(self, group1, &a);

	if (err == MPI_SUCCESS)
		err = check_group(self, group2, &b);
	if (err == MPI_SUCCESS)
		err = check_pointer(result);
	if (err == MPI_SUCCESS)
		*result = mpi_group_compare(a, b);
	return mpi_raise(self, NULL, err, "MPI_Group_compare");
}

static int
check_ranks(const struct group *g, int n, const int ranks[])
{
	if (n < 0 || (n > 0 && ranks == NULL))
		return MPI_ERR_ARG;
	for (int i = 0; i < n; i++)
		if ((ranks[i] < 0 || ranks[i] >= g->size) && ranks[i] != MPI_PROC_NULL)
			return MPI_ERR_RANK;
	return MPI_SUCCESS;
}

int
PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
	struct mpi_rank *self = mpi_self();
	struct group *a, *b;
	int err = check_group(self, group1, &a);

	if (err == MPI_SUCCESS)
		err = check_group(self, group2, &b);
	if (err == MPI_SUCCESS)
		err = check_ranks(a, n, ranks1);
	if (err == MPI_SUCCESS && n > 0)
		err = check_pointer(ranks2);
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Group_translate_ranks");
	for (int i = 0; i < n; i++)
		ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : mpi_group_find(b, mpi_group_world(a, ranks1[i]));
	return MPI_SUCCESS;
}

static int
incl(struct mpi_rank *self, const struct group *g, int n, const int ranks[], MPI_Group *newgroup)
{
	int32_t *world = malloc((size_t)(n ? n : 1) * sizeof(*world));
	struct group *made;

	if (world == NULL)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++)
		world[i] = mpi_group_world(g, ranks[i]);
	made = mpi_group_of(self, world, n);
	*newgroup = made ? mpi_group_handle(self, made) : MPI_GROUP_NULL;
	return *newgroup == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int
PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
	struct mpi_rank *self = mpi_self();
	struct group *g;
	int err = check_group(self, group, &g);

	if (err == MPI_SUCCESS)
		err = check_ranks(g, n, ranks);
	for (int i = 0; err == MPI_SUCCESS && i < n; i++)
		if (ranks[i] == MPI_PROC_NULL)
			err = MPI_ERR_RANK;
	if (err == MPI_SUCCESS)
		err = check_pointer(newgroup);
	if (err == MPI_SUCCESS)
		err = incl(self, g, n, ranks, newgroup);
	return mpi_raise(self, NULL, err, "MPI_Group_incl");
}
