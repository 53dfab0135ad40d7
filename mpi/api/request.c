/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: completion of one request and of all of several.
 */
#include <mpi_impl.h>
#include <mpi/api/request_set.h>
#include <mpi/pt2pt/pt2pt.h>

int
impl_Wait(struct call *call, const struct args_Wait *a)
{
	struct request *r;
	int err = set_find(call->self, *a->request, &r);

	if (err != MPI_SUCCESS)
		return err;
	if (r == NULL) {
		mpi_status_nothing(a->status);
		return MPI_SUCCESS;
	}
	mpi_wait(call->self, r);
	return set_finish_one(call, r, a->request, a->status);
}

/* Is it done, perhaps after some progress? */
static bool
test(struct mpi_rank *self, const struct request *r)
{
	if (r == NULL || mpi_request_is_done(r))
		return true;
	mpi_progress(self);
	if (mpi_request_is_done(r))
		return true;
	mpi_relax(self);
	return false;
}

int
impl_Test(struct call *call, const struct args_Test *a)
{
	struct request *r;
	int err = set_find(call->self, *a->request, &r);

	if (err != MPI_SUCCESS)
		return err;
	*a->flag = test(call->self, r);
	if (r == NULL)
		mpi_status_nothing(a->status);
	return *a->flag && r != NULL ? set_finish_one(call, r, a->request, a->status) : MPI_SUCCESS;
}

/* All requests of a set are done: statuses out, and how each ended if one failed. */
static int
finish_all(struct set *s, MPI_Status statuses[])
{
	int failed = MPI_SUCCESS;

	for (int i = 0; i < s->count; i++) {
		MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE :
			&statuses[i];
		int err = MPI_SUCCESS;

		if (s->requests[i] != NULL)
			err = set_finish(s, i, status);
		else
			mpi_status_nothing(status);
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
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count);

	if (err != MPI_SUCCESS)
		return err;
	for (int i = 0; i < s.count; i++)
		if (s.requests[i] != NULL)
			mpi_wait(s.self, s.requests[i]);
	err = finish_all(&s, a->array_of_statuses);
	set_raise(&s, call);
	set_close(&s);
	return err;
}

int
impl_Testall(struct call *call, const struct args_Testall *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count);

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	*a->flag = set_all_done(&s);
	if (*a->flag)
		err = finish_all(&s, a->array_of_statuses);
	else
		mpi_relax(s.self);
	set_raise(&s, call);
	set_close(&s);
	return err;
}

int
impl_Request_free(struct call *call, const struct args_Request_free *a)
{
	struct request *r = mpi_request_find(call->self, *a->request);
	int err = MPI_SUCCESS;

	if (r == NULL)
		return MPI_ERR_REQUEST;
	if (!mpi_request_is_active(r) || mpi_request_is_done(r))
		err = mpi_request_drop(call->self, r, (uintptr_t)*a->request);
	else
		mpi_request_detach(call->self, r);
	*a->request = MPI_REQUEST_NULL;
	return err;
}

int
impl_Cancel(struct call *call, const struct args_Cancel *a)
{
	struct request *r = mpi_request_find(call->self, *a->request);

	if (!mpi_request_is_active(r))
		return MPI_ERR_REQUEST;
	return mpi_request_cancel(call->self, r);
}

/* Without freeing anything: a copy of the status, as Wait would give it. */
static int
peek(struct mpi_rank *self, struct request *r, MPI_Status *status)
{
	MPI_Status unused;

	if (r == NULL)
		mpi_status_nothing(status);
	else if (r->class != NULL && r->class->finish != NULL)
		return r->class->finish(self, r, status ? status : &unused);
	else
		mpi_request_status(r, status);
	return MPI_SUCCESS;
}

int
impl_Request_get_status(struct call *call, const struct args_Request_get_status *a)
{
	struct request *r;
	int err = set_find(call->self, a->request, &r);

	if (err != MPI_SUCCESS)
		return err;
	*a->flag = test(call->self, r);
	return *a->flag ? peek(call->self, r, a->status) : MPI_SUCCESS;
}

int
impl_Request_get_status_all(struct call *call, const struct args_Request_get_status_all *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count);

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	*a->flag = set_all_done(&s);
	if (!*a->flag)
		mpi_relax(s.self);
	for (int i = 0; *a->flag && a->array_of_statuses != MPI_STATUSES_IGNORE && i < s.count; i++)
		peek(s.self, s.requests[i], &a->array_of_statuses[i]);
	set_close(&s);
	return MPI_SUCCESS;
}

int
impl_Request_get_status_any(struct call *call, const struct args_Request_get_status_any *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count), i;

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	i = set_first_done(&s);
	*a->flag = i >= 0;
	*a->indx = i < 0 || i == s.count ? MPI_UNDEFINED : i;
	if (!*a->flag)
		mpi_relax(s.self);
	else
		err = peek(s.self, i < s.count ? s.requests[i] : NULL, a->status);
	set_close(&s);
	return err;
}

int
impl_Request_get_status_some(struct call *call, const struct args_Request_get_status_some *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->incount), n = 0;

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	for (int i = 0; i < s.count; i++) {
		if (s.requests[i] == NULL || !mpi_request_is_done(s.requests[i]))
			continue;
		if (a->array_of_statuses != MPI_STATUSES_IGNORE)
			peek(s.self, s.requests[i], &a->array_of_statuses[n]);
		a->array_of_indices[n++] = i;
	}
	*a->outcount = set_first_done(&s) == s.count ? MPI_UNDEFINED : n;
	if (n == 0)
		mpi_relax(s.self);
	set_close(&s);
	return MPI_SUCCESS;
}
