/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: completion of requests.
 */
#include <mpi/api/check.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>
#include <mpi_twins_request.h>

/* Several requests, as Waitany and its kin take them. */
struct set {
	struct mpi_rank *self;
	MPI_Request *requests;
	int count;
};

/* An active request of a handle; NULL and MPI_SUCCESS for MPI_REQUEST_NULL. */
static int
find(struct mpi_rank *self, const MPI_Request *handle, struct request **r)
{
	*r = NULL;
	if (self->state != RANK_RUNNING)
		return MPI_ERR_OTHER;
	if (handle == NULL)
		return MPI_ERR_ARG;
	if (*handle == MPI_REQUEST_NULL)
		return MPI_SUCCESS;
	*r = mpi_request_find(self, *handle);
	return *r ? MPI_SUCCESS : MPI_ERR_REQUEST;
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

/* The same, with the error handler of its communicator. */
static int
finish_raise(struct mpi_rank *self, struct request *r, MPI_Request *handle, MPI_Status *status, const char *function)
{
	struct comm *c = r->comm;
	int err;

	c->references++;
	err = mpi_raise(self, c, finish(self, r, handle, status), function);
	mpi_comm_release(self, c);
	return err;
}

static int
check_set(struct set *s, int count, MPI_Request requests[])
{
	int err = check_running(s->self);

	*s = (struct set){s->self, requests, count};
	if (err == MPI_SUCCESS && count < 0)
		err = MPI_ERR_COUNT;
	if (err == MPI_SUCCESS && count > 0)
		err = check_pointer(requests);
	for (int i = 0; err == MPI_SUCCESS && i < count; i++) {
		struct request *r;

		err = find(s->self, &requests[i], &r);
	}
	return err;
}

/* Number of the first request that is done, -1: none yet, count: there is none that is active. */
static int
first_done(const struct set *s)
{
	bool active = false;

	for (int i = 0; i < s->count; i++) {
		struct request *r;

		find(s->self, &s->requests[i], &r);
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
		struct request *r;

		find(s->self, &s->requests[i], &r);
		if (r != NULL && !mpi_request_is_done(r))
			return false;
	}
	return true;
}

int
PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct request *r;
	int err = find(self, request, &r);

	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Wait");
	if (r == NULL) {
		mpi_status_empty(status);
		return MPI_SUCCESS;
	}
	mpi_wait(self, r);
	return finish_raise(self, r, request, status, "MPI_Wait");
}

int
PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct request *r;
	int err = find(self, request, &r);

	if (err == MPI_SUCCESS)
		err = check_pointer(flag);
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Test");
	if (r != NULL && !mpi_request_is_done(r))
		mpi_progress(self);
	*flag = r == NULL || mpi_request_is_done(r);
	if (r == NULL)
		mpi_status_empty(status);
	if (!*flag)
		transport_relax(self);
	return *flag && r != NULL ? finish_raise(self, r, request, status, "MPI_Test") : MPI_SUCCESS;
}

/* All requests of a set are done: statuses out, and how each ended if one failed. */
static int
finish_all(const struct set *s, MPI_Status statuses[], const char *function)
{
	int failed = MPI_SUCCESS;

	for (int i = 0; i < s->count; i++) {
		MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
		struct request *r;
		int err = MPI_SUCCESS;

		find(s->self, &s->requests[i], &r);
		if (r != NULL)
			err = finish(s->self, r, &s->requests[i], status);
		else
			mpi_status_empty(status);
		if (err != MPI_SUCCESS)
			failed = MPI_ERR_IN_STATUS;
		if (status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = err;
	}
	return mpi_raise(s->self, NULL, failed, function);
}

int
PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	struct set s = {.self = mpi_self()};
	int err = check_set(&s, count, array_of_requests);

	if (err != MPI_SUCCESS)
		return mpi_raise(s.self, NULL, err, "MPI_Waitall");
	for (int i = 0; i < count; i++) {
		struct request *r;

		find(s.self, &array_of_requests[i], &r);
		if (r != NULL)
			mpi_wait(s.self, r);
	}
	return finish_all(&s, array_of_statuses, "MPI_Waitall");
}

int
PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
	struct set s = {.self = mpi_self()};
	int err = check_set(&s, count, array_of_requests);

	if (err == MPI_SUCCESS)
		err = check_pointer(flag);
	if (err != MPI_SUCCESS)
		return mpi_raise(s.self, NULL, err, "MPI_Testall");
	mpi_progress(s.self);
	*flag = all_done(&s);
	if (!*flag)
		transport_relax(s.self);
	return *flag ? finish_all(&s, array_of_statuses, "MPI_Testall") : MPI_SUCCESS;
}

/* The request with this number (or none) is done. */
static int
finish_one(struct set *s, int i, MPI_Status *status, const char *function)
{
	struct request *r;

	if (i == s->count) {
		mpi_status_empty(status);
		return MPI_SUCCESS;
	}
	find(s->self, &s->requests[i], &r);
	return finish_raise(s->self, r, &s->requests[i], status, function);
}

int
PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
	struct set s = {.self = mpi_self()};
	int err = check_set(&s, count, array_of_requests), i;

	if (err == MPI_SUCCESS)
		err = check_pointer(indx);
	if (err != MPI_SUCCESS)
		return mpi_raise(s.self, NULL, err, "MPI_Waitany");
	mpi_wait_until(s.self, any_done, &s);
	i = first_done(&s);
	*indx = i == count ? MPI_UNDEFINED : i;
	return finish_one(&s, i, status, "MPI_Waitany");
}

int
PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
{
	struct set s = {.self = mpi_self()};
	int err = check_set(&s, count, array_of_requests), i;

	if (err == MPI_SUCCESS && (indx == NULL || flag == NULL))
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return mpi_raise(s.self, NULL, err, "MPI_Testany");
	mpi_progress(s.self);
	i = first_done(&s);
	*flag = i >= 0;
	if (!*flag)
		transport_relax(s.self);
	*indx = i < 0 || i == count ? MPI_UNDEFINED : i;
	return *flag ? finish_one(&s, i, status, "MPI_Testany") : MPI_SUCCESS;
}

int
PMPI_Request_free(MPI_Request *request)
{
	struct mpi_rank *self = mpi_self();
	struct request *r;
	int err = find(self, request, &r);

	if (err == MPI_SUCCESS && r == NULL)
		err = MPI_ERR_REQUEST;
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Request_free");
	*request = MPI_REQUEST_NULL;
	if (mpi_request_is_done(r))
		mpi_request_free(self, r);
	else
		mpi_request_detach(self, r);
	return MPI_SUCCESS;
}
