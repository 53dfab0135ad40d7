/* SPDX-License-Identifier: MIT
 *
 * Chapter communicators.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/coll/central_fast.h>
#include <mpi/core/info.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>

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

/* How much two groups have in common, worst of both. */
static int
worse(int a, int b)
{
	return a > b ? a : b;
}

int
impl_Comm_compare(struct call *call, const struct args_Comm_compare *a)
{
	struct comm *x = a->comm1, *y = a->comm2;

	(void)call;
	*a->result = MPI_UNEQUAL;
	if (mpi_comm_is_inter(x) == mpi_comm_is_inter(y))
		*a->result = mpi_group_compare(x->group, y->group);
	if (*a->result != MPI_UNEQUAL && mpi_comm_is_inter(x))
		*a->result = worse(*a->result, mpi_group_compare(x->remote, y->remote));
	if (*a->result == MPI_IDENT && x != y)
		*a->result = MPI_CONGRUENT;
	return MPI_SUCCESS;
}

int
impl_Comm_dup(struct call *call, const struct args_Comm_dup *a)
{
	return newcomm_of(call->self, a->comm, newcomm_copy(call->self, a->comm, NULL), a->newcomm);
}

int
impl_Comm_dup_with_info(struct call *call, const struct args_Comm_dup_with_info *a)
{
	return newcomm_of(call->self, a->comm, newcomm_copy(call->self, a->comm, a->info),
		a->newcomm);
}

/* A duplication that goes on beside the program. */
struct idup {
	struct agreement agreement;
	struct newcomm n;
	struct request *request;
};

static void
idup_done(struct mpi_rank *self, struct agreement *a)
{
	struct idup *d = list_entry(a, struct idup, agreement);
	int err = d->n.err != MPI_SUCCESS ? d->n.err : a->error;

	if (err == MPI_SUCCESS)
		mpi_comm_number(d->n.made, a->id);
	else
		newcomm_abandon(self, d->n.made);
	mpi_request_complete(d->request, err);
	free(d);
}

static int
idup(struct call *call, struct comm *c, const struct info *info, MPI_Comm *newcomm,
	MPI_Request *request)
{
	struct idup *d = calloc(1, sizeof(*d));
	struct request *r = d ? mpi_request_new(call->self, c) : NULL;

	if (r == NULL) {
		free(d);
		return MPI_ERR_NO_MEM;
	}
	*d = (struct idup){.n = newcomm_copy(call->self, c, info), .request = r};
	d->agreement.circle = mpi_circle_of(c);
	d->agreement.mine.agrees = d->n.err == MPI_SUCCESS;
	d->agreement.then = idup_done;
	*newcomm = d->n.made ? mpi_comm_handle(d->n.made) : MPI_COMM_NULL;
	*request = (MPI_Request)r->handle;
	mpi_agree_start(call->self, &d->agreement);
	return MPI_SUCCESS;
}

int
impl_Comm_idup(struct call *call, const struct args_Comm_idup *a)
{
	return idup(call, a->comm, NULL, a->newcomm, a->request);
}

int
impl_Comm_idup_with_info(struct call *call, const struct args_Comm_idup_with_info *a)
{
	return idup(call, a->comm, a->info, a->newcomm, a->request);
}

/* Of one group: those who are not in it get nothing. */
static int
comm_create(struct call *call, const struct args_Comm_create *a)
{
	struct newcomm n = {NULL, MPI_SUCCESS};

	if (a->group->rank != MPI_UNDEFINED)
		n = newcomm_group(call->self, a->comm, mpi_group_hold(a->group));
	return newcomm_of(call->self, a->comm, n, a->newcomm);
}

/* Between two groups: a split in which the key is the place in the group. */
static int
create_inter(struct call *call, const struct args_Comm_create *a)
{
	int place = a->group->rank;

	return newcomm_split(call->self, a->comm, place == MPI_UNDEFINED ? place : 0, place,
		a->newcomm);
}

int
impl_Comm_create(struct call *call, const struct args_Comm_create *a)
{
	if (!mpi_group_is_subset(a->group, a->comm->group))
		return MPI_ERR_GROUP;
	return mpi_comm_is_inter(a->comm) ? create_inter(call, a) : comm_create(call, a);
}

int
impl_Comm_create_group(struct call *call, const struct args_Comm_create_group *a)
{
	struct circle circle = {.comm = a->comm, .members = a->group, .context = a->comm->context +
		CONTEXT_GROUP, .tag = a->tag};
	int err = call_send_tag(a->tag);

	if (err == MPI_SUCCESS && mpi_comm_is_inter(a->comm))
		err = MPI_ERR_COMM;
	if (err == MPI_SUCCESS && !mpi_group_is_subset(a->group, a->comm->group))
		err = MPI_ERR_GROUP;
	if (err != MPI_SUCCESS)
		return err;
	*a->newcomm = MPI_COMM_NULL;
	if (a->group->rank == MPI_UNDEFINED)
		return a->group->size == 0 ? MPI_SUCCESS : MPI_ERR_GROUP;
	return newcomm_agree(call->self, circle, newcomm_group(call->self, a->comm,
		mpi_group_hold(a->group)), a->newcomm);
}

/* A communicator that the program may free. */
static int
find_own(struct mpi_rank *self, struct call *call, MPI_Comm handle, struct comm **c)
{
	int err = call_comm(call, handle, c);

	return err == MPI_SUCCESS && (*c == &self->world || *c == &self->self) ? MPI_ERR_COMM : err;
}

static int
free_comm(struct call *call, struct comm *c, MPI_Comm *handle)
{
	struct comm *raises = call->comm;
	int err;

	call->comm = NULL;	/* it may be gone */
	err = mpi_comm_free(call->self, c);
	if (err == MPI_SUCCESS)
		*handle = MPI_COMM_NULL;
	else
		call->comm = raises;
	return err;
}

int
impl_Comm_free(struct call *call, const struct args_Comm_free *a)
{
	struct comm *c;
	int err = find_own(call->self, call, *a->comm, &c);

	return err == MPI_SUCCESS ? free_comm(call, c, a->comm) : err;
}

static bool
is_quiet(const void *arg)
{
	return ((const struct comm *)arg)->references == 1;
}

int
impl_Comm_disconnect(struct call *call, const struct args_Comm_disconnect *a)
{
	struct comm *c;
	int err = find_own(call->self, call, *a->comm, &c);

	if (err != MPI_SUCCESS)
		return err;
	mpi_wait_until(call->self, is_quiet, c);
	return free_comm(call, c, a->comm);
}

int
impl_Comm_get_parent(struct call *call, const struct args_Comm_get_parent *a)
{
	(void)call;
	*a->parent = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int
impl_Comm_set_name(struct call *call, const struct args_Comm_set_name *a)
{
	size_t len = strlen(a->comm_name);
	char *name;

	(void)call;
	if (len >= MPI_MAX_OBJECT_NAME)
		len = MPI_MAX_OBJECT_NAME - 1;
	name = calloc(1, len + 1);
	if (name == NULL)
		return MPI_ERR_NO_MEM;
	memcpy(name, a->comm_name, len);
	free(a->comm->name);
	a->comm->name = name;
	return MPI_SUCCESS;
}

static const char *
first_name(MPI_Comm handle)
{
	return handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : handle == MPI_COMM_SELF ?
		"MPI_COMM_SELF" : "";
}

int
impl_Comm_get_name(struct call *call, const struct args_Comm_get_name *a)
{
	const char *name = "MPI_COMM_NULL";
	struct comm *c;

	if (a->comm != MPI_COMM_NULL) {
		int err = call_comm(call, a->comm, &c);

		if (err != MPI_SUCCESS)
			return err;
		name = c->name ? c->name : first_name(a->comm);
	}
	strcpy(a->comm_name, name);
	*a->resultlen = (int)strlen(name);
	return MPI_SUCCESS;
}

int
impl_Comm_set_info(struct call *call, const struct args_Comm_set_info *a)
{
	(void)call;
	if (a->info == NULL)
		return MPI_ERR_INFO;
	mpi_info_drop(a->comm->info);
	a->comm->info = newcomm_hints(a->info);
	free(a->comm->plan);
	a->comm->plan = NULL;
	mpi_central_fast_forget(a->comm);
	return MPI_SUCCESS;
}

int
impl_Comm_get_info(struct call *call, const struct args_Comm_get_info *a)
{
	return mpi_info_publish(call->self, mpi_info_copy(a->comm->info), a->info_used);
}
