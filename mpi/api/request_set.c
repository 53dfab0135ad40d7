/* SPDX-License-Identifier: MIT
 *
 * Several requests.
 */
#include <stdlib.h>
#include <mpi/api/request_set.h>

int
set_find(struct mpi_rank *self, MPI_Request handle, struct request **r)
{
	*r = NULL;
	if (handle == MPI_REQUEST_NULL)
		return MPI_SUCCESS;
	*r = mpi_request_find(self, handle);
	if (*r == NULL)
		return MPI_ERR_REQUEST;
	if (!mpi_request_is_active(*r))
		*r = NULL;
	return MPI_SUCCESS;
}

int
set_open(struct set *s, struct mpi_rank *self, const MPI_Request *handles, int count)
{
	int err = MPI_SUCCESS;

	s->self = self;
	s->failed = NULL;
	s->handles = (MPI_Request *)(uintptr_t)handles;
	s->count = count;
	s->requests = count <= SET_FEW ? s->few : malloc((size_t)count * sizeof(*s->requests));
	if (s->requests == NULL)
		return MPI_ERR_NO_MEM;
	for (int i = 0; err == MPI_SUCCESS && i < count; i++)
		err = set_find(self, handles[i], &s->requests[i]);
	if (err != MPI_SUCCESS)
		set_close(s);
	return err;
}

void
set_close(struct set *s)
{
	if (s->requests != s->few)
		free(s->requests);
}

int
set_first_done(const struct set *s)
{
	bool active = false;

	for (int i = 0; i < s->count; i++) {
		if (s->requests[i] == NULL)
			continue;
		if (mpi_request_is_done(s->requests[i]))
			return i;
		active = true;
	}
	return active ? -1 : s->count;
}

bool
set_any_done(const void *set)
{
	return set_first_done(set) >= 0;
}

bool
set_all_done(const void *set)
{
	const struct set *s = set;

	for (int i = 0; i < s->count; i++)
		if (s->requests[i] != NULL && !mpi_request_is_done(s->requests[i]))
			return false;
	return true;
}

/* Finish a request; if it has failed, its communicator out, held, or NULL: it has none. */
static int
request_set_finish(struct mpi_rank *self, struct request *r, MPI_Request *handle,
	MPI_Status *status, struct comm **failed)
{
	struct comm *c = r->comm;
	int err;

	*failed = NULL;
	if (c != NULL)
		c->references++;
	err = mpi_request_finish(self, r, handle, status);
	if (err != MPI_SUCCESS)
		*failed = c;
	else if (c != NULL)
		mpi_comm_release(self, c);
	return err;
}

int
set_finish(struct set *s, int i, MPI_Status *status)
{
	struct comm *failed;
	int err = request_set_finish(s->self, s->requests[i], &s->handles[i], status, &failed);

	s->requests[i] = NULL;
	if (s->failed == NULL)
		s->failed = failed;
	else if (failed != NULL)
		mpi_comm_release(s->self, failed);
	return err;
}

void
set_raise(const struct set *s, struct call *call)
{
	if (s->failed != NULL)
		call_failed_on(call, s->failed);
}

int
set_finish_one(struct call *call, struct request *r, MPI_Request *handle, MPI_Status *status)
{
	struct comm *failed;
	int err = request_set_finish(call->self, r, handle, status, &failed);

	if (failed != NULL)
		call_failed_on(call, failed);
	return err;
}
