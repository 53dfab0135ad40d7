/* SPDX-License-Identifier: MIT
 *
 * Chapter communicators.
 */
#include <stdlib.h>
#include <mpi/api/check.h>
#include <mpi/coll/coll.h>
#include <mpi_twins_comm.h>

int
PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(rank);
	if (err == MPI_SUCCESS)
		*rank = c->rank;
	return mpi_raise(self, c, err, "MPI_Comm_rank");
}

int
PMPI_Comm_size(MPI_Comm comm, int *size)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(size);
	if (err == MPI_SUCCESS)
		*size = c->size;
	return mpi_raise(self, c, err, "MPI_Comm_size");
}

int
PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(group);
	if (err == MPI_SUCCESS) {
		*group = mpi_group_handle(self, mpi_group_hold(c->group));
		if (*group == MPI_GROUP_NULL)
			err = MPI_ERR_NO_MEM;
	}
	return mpi_raise(self, c, err, "MPI_Comm_group");
}

int
PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	struct mpi_rank *self = mpi_self();
	struct comm *a, *b = NULL;
	int err = check_comm(self, comm1, &a);

	if (err == MPI_SUCCESS)
		err = check_comm(self, comm2, &b);
	if (err == MPI_SUCCESS)
		err = check_pointer(result);
	if (err == MPI_SUCCESS) {
		*result = mpi_group_compare(a->group, b->group);
		if (*result == MPI_IDENT && a != b)
			*result = MPI_CONGRUENT;
	}
	return mpi_raise(self, a, err, "MPI_Comm_compare");
}

int
PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(flag);
	if (err == MPI_SUCCESS)
		*flag = 0;
	return mpi_raise(self, c, err, "MPI_Comm_test_inter");
}

/* Contexts that no member of c has used: the largest of what they would take next. */
static int
agree_context(struct mpi_rank *self, struct comm *c, int32_t *context)
{
	int err = mpi_allreduce(self, c, &(struct reduction){&self->next_context, context, 1, MPI_INT32_T, MPI_MAX});

	if (err == MPI_SUCCESS)
		self->next_context = *context + 2;
	return err;
}

/* A communicator of the group (taken over) that takes its error handler from c. */
static int
make(struct mpi_rank *self, struct comm *c, struct group *g, int32_t context, MPI_Comm *newcomm)
{
	struct comm *made = g ? mpi_comm_new(self, g, context, c->errhandler) : NULL;

	if (made != NULL)
		*newcomm = mpi_comm_handle(made);
	else if (g != NULL)
		mpi_group_release(self, g);
	return made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int
PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int32_t context;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(newcomm);
	if (err == MPI_SUCCESS)
		err = agree_context(self, c, &context);
	if (err == MPI_SUCCESS)
		err = make(self, c, mpi_group_hold(c->group), context, newcomm);
	return mpi_raise(self, c, err, "MPI_Comm_dup");
}

/* what each rank brings to a split */
struct choice {
	int32_t color;
	int32_t key;
	int32_t rank;
};

static int
order(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The ranks that chose my color, by key and then by rank. */
static struct group *
same_color(struct mpi_rank *self, struct comm *c, struct choice *choices, int32_t color)
{
	int32_t *world;
	int n = 0;

	for (int i = 0; i < c->size; i++)
		if (choices[i].color == color)
			choices[n++] = choices[i];
	qsort(choices, (size_t)n, sizeof(*choices), order);
	world = malloc((size_t)n * sizeof(*world));
	if (world == NULL)
		return NULL;
	for (int i = 0; i < n; i++)
		world[i] = mpi_group_world(c->group, choices[i].rank);
	return mpi_group_of(self, world, n);
}

static int
split(struct mpi_rank *self, struct comm *c, struct choice mine, MPI_Comm *newcomm)
{
	struct choice *choices = malloc((size_t)c->size * sizeof(*choices));
	int32_t context;
	int err = choices ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	if (err == MPI_SUCCESS)
		err = mpi_allgather(self, c, &mine, choices, sizeof(mine));
	if (err == MPI_SUCCESS)
		err = agree_context(self, c, &context);
	*newcomm = MPI_COMM_NULL;
	if (err == MPI_SUCCESS && mine.color != MPI_UNDEFINED)
		err = make(self, c, same_color(self, c, choices, mine.color), context, newcomm);
	free(choices);
	return err;
}

int
PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS && (newcomm == NULL || (color < 0 && color != MPI_UNDEFINED)))
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS)
		err = split(self, c, (struct choice){color, key, c->rank}, newcomm);
	return mpi_raise(self, c, err, "MPI_Comm_split");
}

int
PMPI_Comm_free(MPI_Comm *comm)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c = NULL;
	int err = check_pointer(comm);

	if (err == MPI_SUCCESS)
		err = check_comm(self, *comm, &c);
	if (err == MPI_SUCCESS && (c == &self->world || c == &self->self))
		err = MPI_ERR_COMM;
	if (err != MPI_SUCCESS)
		return mpi_raise(self, c, err, "MPI_Comm_free");
	*comm = MPI_COMM_NULL;
	mpi_handle_drop(&self->tables[HANDLE_COMM], c->handle);
	mpi_comm_release(self, c);
	return MPI_SUCCESS;
}
