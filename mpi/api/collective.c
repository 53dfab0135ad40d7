/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: the three forms of a call.
 */
#include <mpi/api/collective.h>
#include <mpi/coll/sched.h>
#include <mpi/core/request.h>

int
collective_blocking(struct call *call, struct comm *c, struct collective *k)
{
	int err = collective_check(call, c, k);

	return err == MPI_SUCCESS ? mpi_coll_run(call->self, c, k) : err;
}

static int
start_again(struct mpi_rank *self, struct request *r)
{
	(void)self;
	r->done = 0;
	mpi_sched_start(r->own, r);
	return MPI_SUCCESS;
}

static int
collective_drop(struct mpi_rank *self, struct request *r)
{
	(void)self;
	mpi_sched_free(r->own);
	return MPI_SUCCESS;
}

static const struct request_class persistent = {.start = start_again, .drop = collective_drop};

/* A request and a written schedule, to be started again and again. */
static int
collective_make(struct call *call, struct comm *c, const struct collective *k, struct request **r)
{
	struct sched *s = mpi_sched_new(call->self, c);

	*r = s ? mpi_request_new_class(call->self, c, &persistent, s) : NULL;
	if (*r == NULL) {
		if (s != NULL)
			mpi_sched_free(s);
		return MPI_ERR_NO_MEM;
	}
	mpi_coll_write(s, k);
	return MPI_SUCCESS;
}

int
collective_started(struct call *call, struct comm *c, struct collective *k, MPI_Request *request)
{
	struct request *r;
	int err = collective_check(call, c, k);

	if (err != MPI_SUCCESS)
		return err;
	r = mpi_request_new_class(call->self, c, NULL, NULL);
	if (r == NULL)
		return MPI_ERR_NO_MEM;
	err = mpi_coll_start(call->self, c, k, r);
	if (err != MPI_SUCCESS)
		mpi_request_free(call->self, r);
	else
		*request = (MPI_Request)r->handle;
	return err;
}

int
collective_prepared(struct call *call, struct comm *c, struct collective *k, MPI_Request *request)
{
	struct request *r;
	int err = collective_check(call, c, k);

	if (err == MPI_SUCCESS)
		err = collective_make(call, c, k, &r);
	if (err != MPI_SUCCESS)
		return err;
	((struct sched *)r->own)->keep = true;
	((struct sched *)r->own)->tag |= TAG_PERSISTENT;
	r->persistent = r->inactive = 1;
	*request = (MPI_Request)r->handle;
	return MPI_SUCCESS;
}
