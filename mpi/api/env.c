/* SPDX-License-Identifier: MIT
 *
 * Chapter environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/buffered.h>
#include <mpi/api/library.h>
#include <mpi/coll/central_fast.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

static int
init(struct call *call, int required)
{
	struct mpi_rank *self = call->self;
	int err;

	if (self->world_state == RANK_FINALIZED)
		return call_refuse(call);
	err = self->world_state == RANK_FRESH ? library_enter(self, required, &self->world_level) :
		MPI_ERR_OTHER;
	if (err != MPI_SUCCESS)
		return err;
	mpi_comm_show_world(self, true);
	self->world_state = RANK_RUNNING;
	self->direct = self->thread_level == MPI_THREAD_MULTIPLE ? DIRECT_LOCKED : DIRECT_ALONE;
	return MPI_SUCCESS;
}

int
impl_Init(struct call *call, const struct args_Init *a)
{
	(void)a;
	return init(call, MPI_THREAD_SINGLE);
}

int
impl_Init_thread(struct call *call, const struct args_Init_thread *a)
{
	int err = init(call, a->required);

	if (err == MPI_SUCCESS)
		*a->provided = call->self->world_level;
	return err;
}

int
impl_Initialized(struct call *call, const struct args_Initialized *a)
{
	*a->flag = call->self->world_state != RANK_FRESH;
	return MPI_SUCCESS;
}

int
impl_Finalized(struct call *call, const struct args_Finalized *a)
{
	*a->flag = call->self->world_state == RANK_FINALIZED;
	return MPI_SUCCESS;
}

static void
leave_meetings(struct mpi_rank *self, struct comm *c)
{
	mpi_locality_leave(self, c->locality);
	free(c->plan);
	c->locality = NULL;
	c->plan = NULL;
	mpi_central_fast_forget(c);
}

int
impl_Finalize(struct call *call, const struct args_Finalize *a)
{
	struct mpi_rank *self = call->self;
	int err = self->world_state == RANK_RUNNING ? MPI_SUCCESS : MPI_ERR_OTHER;

	(void)a;
	/* while everything still works */
	if (err == MPI_SUCCESS)
		err = mpi_attr_delete_all(self, &self->self.attributes, self->self.handle);
	if (err == MPI_SUCCESS)
		err = mpi_attr_delete_all(self, &self->world.attributes, self->world.handle);
	if (err != MPI_SUCCESS)
		return err;
	buffered_detach(self, &self->buffer, NULL, NULL);
	buffered_detach(self, &self->world.buffer, NULL, NULL);
	mpi_wait_until(self, library_is_quiet, self);
	leave_meetings(self, &self->world);
	leave_meetings(self, &self->self);
	err = mpi_barrier(self, &self->world);
	if (err != MPI_SUCCESS)
		return err;
	leave_meetings(self, &self->world);
	self->world_state = RANK_FINALIZED;
	self->direct = DIRECT_NOT;
	mpi_comm_show_world(self, false);
	library_leave(self);
	return MPI_SUCCESS;
}

int
impl_Query_thread(struct call *call, const struct args_Query_thread *a)
{
	*a->provided = call->self->world_level;
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
	*a->resultlen = snprintf(a->version, MPI_MAX_LIBRARY_VERSION_STRING,
		"Atoll MPI, standard ABI %d.%d", MPI_ABI_VERSION,
		MPI_ABI_SUBVERSION);
	return MPI_SUCCESS;
}
