/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: completion of requests.
 */
#include <mpi_impl.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

/* Several requests, as Waitany and its kin take them. */
struct set {
	struct mpi_rank *self;
	MPI_Request *requests;
	int count;
};

/* An active request of a handle; NULL and MPI_SUCCESS for MPI_REQUEST_NULL. */
static int
find(struct mpi_rank *self, MPI_Request handle, struct request **r)
{
	*r = NULL;
	if (handle == MPI_REQUEST_NULL)
		return MPI_SUCCESS;
	*r = mpi_request_find(self, handle);
	return *r ? MPI_SUCCESS : MPI_ERR_REQUEST;
}

/* Number i of a set that was checked. */
static struct request *
at(const struct set *s, int i)
{
	struct request *r;

	find(s->self, s->requests[i], &r);
	return r;
}

/* The program learns of a request that is done. Returns its error class. */
static int
finish(struct mpi_rank *self, struct request *r, MPI_Request *handle, MPI_Status *status)
{
	int err = r->error;

	mpi_request_status(r, status);
	*handle = MPI_REQUEST_NULL;
	mpi_request_free(self, r);
	return err;
}

/* The same; an error goes to the error handler of its communicator. */
static int
finish_one(struct call *call, struct request *r, MPI_Request *handle, MPI_Status *status)
{
	if (r->error != MPI_SUCCESS)
		call->comm = r->comm;		/* outlives the request: the program has a handle */
	return finish(call->self, r, handle, status);
}

static int
check_set(const struct set *s)
{
	int err = MPI_SUCCESS;

	for (int i = 0; err == MPI_SUCCESS && i < s->count; i++) {
		struct request *r;

		err = find(s->self, s->requests[i], &r);
	}
	return err;
}

/* Number of the first request that is done, -1: none yet, count: there is none that is active. */
static int
first_done(const struct set *s)
{
	bool active = false;

	for (int i = 0; i < s->count; i++) {
		struct request *r = at(s, i);

		if (r == NULL)
			continue;
		if (mpi_request_is_done(r))
			return i;
		active = true;
	}
	return active ? -1 : s->count;
}

static bool
any_done(const void *arg)
{
	return first_done(arg) >= 0;
}

static bool
all_done(const struct set *s)
{
	for (int i = 0; i < s->count; i++) {
		struct request *r = at(s, i);

		if (r != NULL && !mpi_request_is_done(r))
			return false;
	}
	return true;
}

int
impl_Wait(struct call *call, const struct args_Wait *a)
{
	struct request *r;
	int err = find(call->self, *a->request, &r);

	if (err != MPI_SUCCESS)
		return err;
	if (r == NULL) {
		mpi_status_empty(a->status);
		return MPI_SUCCESS;
	}
	mpi_wait(call->self, r);
	return finish_one(call, r, a->request, a->status);
}

int
impl_Test(struct call *call, const struct args_Test *a)
{
	struct request *r;
	int err = find(call->self, *a->request, &r);

	if (err != MPI_SUCCESS)
		return err;
	if (r != NULL && !mpi_request_is_done(r))
		mpi_progress(call->self);
	*a->flag = r == NULL || mpi_request_is_done(r);
	if (r == NULL)
		mpi_status_empty(a->status);
	if (!*a->flag)
		transport_relax(call->self);
	return *a->flag && r != NULL ? finish_one(call, r, a->request, a->status) : MPI_SUCCESS;
}

/* All requests of a set are done: statuses out, and how each ended if one failed. */
static int
finish_all(const struct set *s, MPI_Status statuses[])
{
	int failed = MPI_SUCCESS;

	for (int i = 0; i < s->count; i++) {
		MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
		struct request *r = at(s, i);
		int err = MPI_SUCCESS;

		if (r != NULL)
			err = finish(s->self, r, &s->requests[i], status);
		else
			mpi_status_empty(status);
		if (err != MPI_SUCCESS)
			failed = MPI_ERR_IN_STATUS;
		if (status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = err;
	}
	return failed;
}

int
impl_Waitall(struct call *call, const struct args_Waitall *a)
{
	struct set s = {call->self, a->array_of_requests, a->count};
	int err = check_set(&s);

	if (err != MPI_SUCCESS)
		return err;
	for (int i = 0; i < s.count; i++) {
		struct request *r = at(&s, i);

		if (r != NULL)
			mpi_wait(s.self, r);
	}
	return finish_all(&s, a->array_of_statuses);
}

int
impl_Testall(struct call *call, const struct args_Testall *a)
{
	struct set s = {call->self, a->array_of_requests, a->count};
	int err = check_set(&s);

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	*a->flag = all_done(&s);
	if (!*a->flag)
		transport_relax(s.self);
	return *a->flag ? finish_all(&s, a->array_of_statuses) : MPI_SUCCESS;
}

/* The request with this number (or none) is done. */
static int
finish_at(struct call *call, const struct set *s, int i, MPI_Status *status)
{
	if (i == s->count) {
		mpi_status_empty(status);
		return MPI_SUCCESS;
	}
	return finish_one(call, at(s, i), &s->requests[i], status);
}

int
impl_Waitany(struct call *call, const struct args_Waitany *a)
{
	struct set s = {call->self, a->array_of_requests, a->count};
	int err = check_set(&s), i;

	if (err != MPI_SUCCESS)
		return err;
	mpi_wait_until(s.self, any_done, &s);
	i = first_done(&s);
	*a->indx = i == s.count ? MPI_UNDEFINED : i;
	return finish_at(call, &s, i, a->status);
}

int
impl_Testany(struct call *call, const struct args_Testany *a)
{
	struct set s = {call->self, a->array_of_requests, a->count};
	int err = check_set(&s), i;

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	i = first_done(&s);
	*a->flag = i >= 0;
	if (!*a->flag)
		transport_relax(s.self);
	*a->indx = i < 0 || i == s.count ? MPI_UNDEFINED : i;
	return *a->flag ? finish_at(call, &s, i, a->status) : MPI_SUCCESS;
}

int
impl_Request_free(struct call *call, const struct args_Request_free *a)
{
	struct request *r;
	int err = find(call->self, *a->request, &r);

	if (err != MPI_SUCCESS || r == NULL)
		return MPI_ERR_REQUEST;
	*a->request = MPI_REQUEST_NULL;
	if (mpi_request_is_done(r))
		mpi_request_free(call->self, r);
	else
		mpi_request_detach(call->self, r);
	return MPI_SUCCESS;
}
