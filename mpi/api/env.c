/* SPDX-License-Identifier: MIT
 *
 * Chapter environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/buffered.h>
#include <mpi/coll/place.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

/* No rank waits for another here: who is first may send to who is last. */
static int
start(struct mpi_rank *self)
{
	int err;

	transport_identify(self);
	err = mpi_comm_init(self);
	if (err == MPI_SUCCESS)
		err = mpi_pt2pt_init(self);
	if (err == MPI_SUCCESS)
		err = transport_init(self);
	if (err == MPI_SUCCESS)
		self->state = RANK_RUNNING;
	return err;
}

static int
init(struct mpi_rank *self, int required)
{
	int err = self->state == RANK_FRESH ? start(self) : MPI_ERR_OTHER, most;

	if (err != MPI_SUCCESS)
		return err;
	most = transport_thread_level(self);
	self->thread_level = required < most ? required : most;
	self->direct = self->thread_level != MPI_THREAD_MULTIPLE;
	transport_hold(true);
	return MPI_SUCCESS;
}

int
impl_Init(struct call *call, const struct args_Init *a)
{
	(void)a;
	return init(call->self, MPI_THREAD_SINGLE);
}

int
impl_Init_thread(struct call *call, const struct args_Init_thread *a)
{
	int err = init(call->self, a->required);

	if (err == MPI_SUCCESS)
		*a->provided = call->self->thread_level;
	return err;
}

int
impl_Initialized(struct call *call, const struct args_Initialized *a)
{
	*a->flag = call->self->state != RANK_FRESH;
	return MPI_SUCCESS;
}

int
impl_Finalized(struct call *call, const struct args_Finalized *a)
{
	*a->flag = call->self->state == RANK_FINALIZED;
	return MPI_SUCCESS;
}

static bool
nothing_left(const void *arg)
{
	const struct mpi_rank *self = arg;

	return link_is_empty(&self->outgoing) && link_is_empty(&self->answers) && self->detached == NULL;
}

static bool
outlives_finalize(int kind)
{
	return kind == HANDLE_INFO || kind == HANDLE_ERRHANDLER || kind == HANDLE_KEYVAL;
}

int
impl_Finalize(struct call *call, const struct args_Finalize *a)
{
	struct mpi_rank *self = call->self;
	int err;

	(void)a;
	/* while everything still works */
	err = mpi_attr_delete_all(self, &self->self.attributes, self->self.handle);
	if (err == MPI_SUCCESS)
		err = mpi_attr_delete_all(self, &self->world.attributes, self->world.handle);
	if (err != MPI_SUCCESS)
		return err;
	buffered_detach(self, &self->buffer, NULL, NULL);
	buffered_detach(self, &self->world.buffer, NULL, NULL);
	mpi_wait_until(self, nothing_left, self);
	mpi_venue_leave(self, self->world.venue);
	mpi_venue_leave(self, self->self.venue);
	free(self->world.plan);
	free(self->self.plan);
	err = mpi_barrier(self, &self->world);
	mpi_wait_until(self, nothing_left, self);
	if (err != MPI_SUCCESS)
		return err;
	self->state = RANK_FINALIZED;
	self->direct = false;
	mpi_venue_exit(self);
	transport_exit(self);
	mpi_pt2pt_exit(self);
	mpi_type_exit(self);
	mpi_comm_exit(self);
	mpi_sched_exit(self);
	mpi_request_exit(self);
	/* info objects, error handlers and keys may be used and freed later */
	for (int kind = 1; kind < HANDLE_KINDS; kind++)
		if (!outlives_finalize(kind) || self->tables[kind].used == 0)
			mpi_handle_table_free(&self->tables[kind]);
	mpi_handle_table_free(&self->bulk_names);
	transport_hold(false);
	return MPI_SUCCESS;
}

int
impl_Query_thread(struct call *call, const struct args_Query_thread *a)
{
	*a->provided = call->self->thread_level;
	return MPI_SUCCESS;
}

int
impl_Is_thread_main(struct call *call, const struct args_Is_thread_main *a)
{
	*a->flag = transport_is_first_thread(call->self);
	return MPI_SUCCESS;
}

int
impl_Abort(struct call *call, const struct args_Abort *a)
{
	char message[64];

	snprintf(message, sizeof(message), "MPI_Abort(%d)", a->errorcode);
	mpi_die(call->self, a->errorcode, message);
}

double
impl_Wtime(void)
{
	return transport_seconds();
}

double
impl_Wtick(void)
{
	return transport_tick();
}

int
impl_Get_processor_name(struct call *call, const struct args_Get_processor_name *a)
{
	transport_place_name(call->self, a->name, MPI_MAX_PROCESSOR_NAME);
	*a->resultlen = (int)strlen(a->name);
	return MPI_SUCCESS;
}

int
impl_Get_version(struct call *call, const struct args_Get_version *a)
{
	(void)call;
	*a->version = MPI_VERSION;
	*a->subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

int
impl_Get_library_version(struct call *call, const struct args_Get_library_version *a)
{
	(void)call;
	*a->resultlen = snprintf(a->version, MPI_MAX_LIBRARY_VERSION_STRING, "Atoll MPI, standard ABI %d.%d", MPI_ABI_VERSION,
		MPI_ABI_SUBVERSION);
	return MPI_SUCCESS;
}
