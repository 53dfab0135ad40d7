/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: completion of one or some of several requests.
 */
#include <mpi_impl.h>
#include <mpi/api/request_set.h>
#include <mpi/pt2pt/pt2pt.h>

/* The request with this number (or none) is done. */
static int
finish_at(struct call *call, const struct set *s, int i, MPI_Status *status)
{
	if (i == s->count) {
		mpi_status_nothing(status);
		return MPI_SUCCESS;
	}
	return set_finish_one(call, s->requests[i], &s->handles[i], status);
}

int
impl_Waitany(struct call *call, const struct args_Waitany *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count), i;

	if (err != MPI_SUCCESS)
		return err;
	mpi_wait_until(s.self, set_any_done, &s);
	i = set_first_done(&s);
	*a->indx = i == s.count ? MPI_UNDEFINED : i;
	err = finish_at(call, &s, i, a->status);
	set_close(&s);
	return err;
}

int
impl_Testany(struct call *call, const struct args_Testany *a)
{
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->count), i;

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	i = set_first_done(&s);
	*a->flag = i >= 0;
	*a->indx = i < 0 || i == s.count ? MPI_UNDEFINED : i;
	if (*a->flag)
		err = finish_at(call, &s, i, a->status);
	else
		mpi_relax(s.self);
	set_close(&s);
	return err;
}

/* What Waitsome and Testsome give back. */
struct some {
	int *outcount;
	int *indices;
	MPI_Status *statuses;
};

/* Finish all that are done. Error class: MPI_ERR_IN_STATUS if one failed. */
static int
finish_some(struct set *s, const struct some *out)
{
	int failed = MPI_SUCCESS, n = 0;

	for (int i = 0; i < s->count; i++) {
		MPI_Status *status = out->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE :
			&out->statuses[n];
		int err;

		if (s->requests[i] == NULL || !mpi_request_is_done(s->requests[i]))
			continue;
		err = set_finish(s, i, status);
		if (err != MPI_SUCCESS)
			failed = MPI_ERR_IN_STATUS;
		if (status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = err;
		out->indices[n++] = i;
	}
	*out->outcount = n;
	return failed;
}

int
impl_Waitsome(struct call *call, const struct args_Waitsome *a)
{
	struct some out = {a->outcount, a->array_of_indices, a->array_of_statuses};
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->incount);

	if (err != MPI_SUCCESS)
		return err;
	mpi_wait_until(s.self, set_any_done, &s);
	if (set_first_done(&s) == s.count)
		*a->outcount = MPI_UNDEFINED;
	else
		err = finish_some(&s, &out);
	set_raise(&s, call);
	set_close(&s);
	return err;
}

int
impl_Testsome(struct call *call, const struct args_Testsome *a)
{
	struct some out = {a->outcount, a->array_of_indices, a->array_of_statuses};
	struct set s;
	int err = set_open(&s, call->self, a->array_of_requests, a->incount), first;

	if (err != MPI_SUCCESS)
		return err;
	mpi_progress(s.self);
	first = set_first_done(&s);
	if (first == s.count)
		*a->outcount = MPI_UNDEFINED;
	else if (first >= 0)
		err = finish_some(&s, &out);
	else
		*a->outcount = 0;
	if (first < 0)
		mpi_relax(s.self);
	set_raise(&s, call);
	set_close(&s);
	return err;
}
