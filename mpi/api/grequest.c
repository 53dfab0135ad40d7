/* SPDX-License-Identifier: MIT
 *
 * Chapter generalised requests: operations of the program's own that are completed like MPI's.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/core/request.h>

struct general {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra_state;
};

static int
grequest_finish(struct mpi_rank *self, struct request *r, MPI_Status *status)
{
	struct general *g = r->own;

	(void)self;
	mpi_status_empty(status);
	return g->query ? g->query(g->extra_state, status) : MPI_SUCCESS;
}

static int
cancel(struct mpi_rank *self, struct request *r)
{
	struct general *g = r->own;

	(void)self;
	return g->cancel ? g->cancel(g->extra_state, (int)mpi_request_is_done(r)) : MPI_SUCCESS;
}

static int
grequest_drop(struct mpi_rank *self, struct request *r)
{
	struct general *g = r->own;
	int err = g->free ? g->free(g->extra_state) : MPI_SUCCESS;

	(void)self;
	free(g);
	return err;
}

static const struct request_class general_class = {.finish = grequest_finish, .cancel = cancel,
	.drop = grequest_drop};

int
impl_Grequest_start(struct call *call, const struct args_Grequest_start *a)
{
	struct general *g = malloc(sizeof(*g));
	struct request *r;

	if (g == NULL)
		return MPI_ERR_NO_MEM;
	*g = (struct general){a->query_fn, a->free_fn, a->cancel_fn, a->extra_state};
	r = mpi_request_new_class(call->self, NULL, &general_class, g);
	if (r == NULL) {
		free(g);
		return MPI_ERR_NO_MEM;
	}
	*a->request = (MPI_Request)r->handle;
	return MPI_SUCCESS;
}

int
impl_Grequest_complete(struct call *call, const struct args_Grequest_complete *a)
{
	/* also one that the program has freed already */
	struct request *r = mpi_handle_find(&call->self->tables[HANDLE_REQUEST],
		(uintptr_t)a->request);

	if (r == NULL || r->class != &general_class)
		return MPI_ERR_REQUEST;
	mpi_request_complete(r, MPI_SUCCESS);
	return MPI_SUCCESS;
}
