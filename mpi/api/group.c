/* SPDX-License-Identifier: MIT
 *
 * Chapter groups.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/core/session.h>

/* Members of a new group, as they are found. */
struct rank_list {
	int32_t *world;
	int size;
	struct session *session;	/* that the group they are taken from comes from, or NULL */
};

/* Room for n members. */
static int
rank_list_init(struct rank_list *l, long n)
{
	l->size = 0;
	l->session = NULL;
	l->world = malloc((size_t)(n > 0 ? n : 1) * sizeof(*l->world));
	return l->world ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static void
rank_list_add(struct rank_list *l, const struct group *g, int i)
{
	l->world[l->size++] = mpi_group_world(g, i);
	l->session = g->session;
}

/* The group of the members; or, after an error, nothing. Returns the error. */
static int
rank_list_group(struct call *call, struct rank_list *l, int err, MPI_Group *newgroup)
{
	struct group *made;

	if (err != MPI_SUCCESS) {
		free(l->world);
		return err;
	}
	made = mpi_group_of(call->self, l->world, l->size);
	if (made != NULL)
		made->session = mpi_session_hold(l->session);
	*newgroup = made ? mpi_group_handle(call->self, made) : MPI_GROUP_NULL;
	return *newgroup == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

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

/* Add the members of g that are (or are not) in `other`. */
static void
add_those(struct rank_list *l, const struct group *g, const struct group *other, bool in)
{
	for (int i = 0; i < g->size; i++)
		if ((mpi_group_find(other, mpi_group_world(g, i)) != MPI_UNDEFINED) == in)
			rank_list_add(l, g, i);
}

int
impl_Group_union(struct call *call, const struct args_Group_union *a)
{
	struct rank_list l;
	int err = rank_list_init(&l, (long)a->group1->size + a->group2->size);

	for (int i = 0; err == MPI_SUCCESS && i < a->group1->size; i++)
		rank_list_add(&l, a->group1, i);
	if (err == MPI_SUCCESS)
		add_those(&l, a->group2, a->group1, false);
	return rank_list_group(call, &l, err, a->newgroup);
}

int
impl_Group_intersection(struct call *call, const struct args_Group_intersection *a)
{
	struct rank_list l;
	int err = rank_list_init(&l, a->group1->size);

	if (err == MPI_SUCCESS)
		add_those(&l, a->group1, a->group2, true);
	return rank_list_group(call, &l, err, a->newgroup);
}

int
impl_Group_difference(struct call *call, const struct args_Group_difference *a)
{
	struct rank_list l;
	int err = rank_list_init(&l, a->group1->size);

	if (err == MPI_SUCCESS)
		add_those(&l, a->group1, a->group2, false);
	return rank_list_group(call, &l, err, a->newgroup);
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

		a->ranks2[i] = rank == MPI_PROC_NULL ? rank
			: mpi_group_find(a->group2, mpi_group_world(a->group1, rank));
	}
	return err;
}

/* Mark members; one that is named twice is an error. */
static int
mark(unsigned char *chosen, int rank)
{
	int err = chosen[rank] ? MPI_ERR_RANK : MPI_SUCCESS;

	chosen[rank] = 1;
	return err;
}

/* A choice of members: one byte for each, and them in the order in which they were chosen. */
struct choice {
	unsigned char *chosen;
	struct rank_list l;
};

static int
choice_init(struct choice *c, const struct group *g)
{
	int err = rank_list_init(&c->l, g->size);

	c->chosen = calloc((size_t)g->size + 1, 1);
	return c->chosen ? err : MPI_ERR_NO_MEM;
}

static int
choose(struct choice *c, const struct group *g, int rank)
{
	int err = rank < 0 || rank >= g->size ? MPI_ERR_RANK : mark(c->chosen, rank);

	if (err == MPI_SUCCESS)
		rank_list_add(&c->l, g, rank);
	return err;
}

/* The members that were chosen, or (`rest`) all others in the order of g. */
static int
choice_group(struct call *call, struct choice *c, const struct group *rest, int err,
	MPI_Group *newgroup)
{
	if (err == MPI_SUCCESS && rest != NULL) {
		c->l.size = 0;
		for (int i = 0; i < rest->size; i++)
			if (!c->chosen[i])
				rank_list_add(&c->l, rest, i);
	}
	free(c->chosen);
	return rank_list_group(call, &c->l, err, newgroup);
}

static int
choose_ranks(struct choice *c, const struct group *g, int n, const int ranks[])
{
	int err = n < 0 || (n > 0 && ranks == NULL) ? MPI_ERR_ARG : MPI_SUCCESS;

	for (int i = 0; err == MPI_SUCCESS && i < n; i++)
		err = choose(c, g, ranks[i]);
	return err;
}

int
impl_Group_incl(struct call *call, const struct args_Group_incl *a)
{
	struct choice c;
	int err = choice_init(&c, a->group);

	if (err == MPI_SUCCESS)
		err = choose_ranks(&c, a->group, a->n, a->ranks);
	return choice_group(call, &c, NULL, err, a->newgroup);
}

int
impl_Group_excl(struct call *call, const struct args_Group_excl *a)
{
	struct choice c;
	int err = choice_init(&c, a->group);

	if (err == MPI_SUCCESS)
		err = choose_ranks(&c, a->group, a->n, a->ranks);
	return choice_group(call, &c, a->group, err, a->newgroup);
}

/* The ranks first, first + stride ... up to last. */
static int
choose_range(struct choice *c, const struct group *g, const int range[3])
{
	int64_t last = range[1], stride = range[2];
	int err = MPI_SUCCESS;

	if (stride == 0)
		return MPI_ERR_ARG;
	if (range[0] < 0 || range[0] >= g->size || last < 0 || last >= g->size)
		return MPI_ERR_RANK;
	for (int64_t i = range[0]; err == MPI_SUCCESS && (stride > 0 ? i <= last : i >= last);
		i += stride)
		err = choose(c, g, (int)i);
	return err;
}

static int
choose_ranges(struct choice *c, const struct group *g, int n, int ranges[][3])
{
	int err = n < 0 || (n > 0 && ranges == NULL) ? MPI_ERR_ARG : MPI_SUCCESS;

	for (int i = 0; err == MPI_SUCCESS && i < n; i++)
		err = choose_range(c, g, ranges[i]);
	return err;
}

int
impl_Group_range_incl(struct call *call, const struct args_Group_range_incl *a)
{
	struct choice c;
	int err = choice_init(&c, a->group);

	if (err == MPI_SUCCESS)
		err = choose_ranges(&c, a->group, a->n, a->ranges);
	return choice_group(call, &c, NULL, err, a->newgroup);
}

int
impl_Group_range_excl(struct call *call, const struct args_Group_range_excl *a)
{
	struct choice c;
	int err = choice_init(&c, a->group);

	if (err == MPI_SUCCESS)
		err = choose_ranges(&c, a->group, a->n, a->ranges);
	return choice_group(call, &c, a->group, err, a->newgroup);
}
