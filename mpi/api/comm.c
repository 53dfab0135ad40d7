/* SPDX-License-Identifier: MIT
 *
 * Chapter communicators.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/coll/coll.h>

int
impl_Comm_rank(struct call *call, const struct args_Comm_rank *a)
{
	(void)call;
	*a->rank = a->comm->rank;
	return MPI_SUCCESS;
}

int
impl_Comm_size(struct call *call, const struct args_Comm_size *a)
{
	(void)call;
	*a->size = a->comm->size;
	return MPI_SUCCESS;
}

int
impl_Comm_compare(struct call *call, const struct args_Comm_compare *a)
{
	(void)call;
	*a->result = mpi_group_compare(a->comm1->group, a->comm2->group);
	if (*a->result == MPI_IDENT && a->comm1 != a->comm2)
		*a->result = MPI_CONGRUENT;
	return MPI_SUCCESS;
}

int
impl_Comm_test_inter(struct call *call, const struct args_Comm_test_inter *a)
{
	(void)call;
	*a->flag = mpi_comm_is_inter(a->comm);
	return MPI_SUCCESS;
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
impl_Comm_dup(struct call *call, const struct args_Comm_dup *a)
{
	struct comm *c = a->comm;
	int32_t context;
	int err = agree_context(call->self, c, &context);

	return err == MPI_SUCCESS ? make(call->self, c, mpi_group_hold(c->group), context, a->newcomm) : err;
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
impl_Comm_split(struct call *call, const struct args_Comm_split *a)
{
	if (a->color < 0 && a->color != MPI_UNDEFINED)
		return MPI_ERR_ARG;
	return split(call->self, a->comm, (struct choice){a->color, a->key, a->comm->rank}, a->newcomm);
}

int
impl_Comm_free(struct call *call, const struct args_Comm_free *a)
{
	struct mpi_rank *self = call->self;
	struct comm *c = mpi_comm_find(self, *a->comm);

	if (c == NULL || c == &self->world || c == &self->self)
		return MPI_ERR_COMM;
	*a->comm = MPI_COMM_NULL;
	mpi_handle_drop(&self->tables[HANDLE_COMM], c->handle);
	mpi_comm_release(self, c);
	return MPI_SUCCESS;
}
