/* SPDX-License-Identifier: MIT
 *
 * Chapter environment: start and end of the library, time, names.
 */
#include <stdio.h>
#include <string.h>
#include <mpi/api/check.h>
#include <mpi/coll/coll.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>
#include <mpi_twins_env.h>

/* No rank waits for another here: who is first may send to who is last. */
static int
start(struct mpi_rank *self)
{
	int err;

	mpi_rank_init(self);
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

int
PMPI_Init(int *argc, char ***argv)
{
	int provided;

	(void)argc;
	(void)argv;
	return PMPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided);
}

int
PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct mpi_rank *self = mpi_self();
	int err = self->state == RANK_FRESH ? MPI_SUCCESS : MPI_ERR_OTHER;

	(void)argc;
	(void)argv;
	if (err == MPI_SUCCESS)
		err = check_pointer(provided);
	if (err == MPI_SUCCESS)
		err = start(self);
	if (err == MPI_SUCCESS) {
		/* the program may have threads; one at a time may call */
		self->thread_level = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
		*provided = self->thread_level;
		transport_hold(true);
	}
	return mpi_raise(self, NULL, err, "MPI_Init");
}

int
PMPI_Initialized(int *flag)
{
	struct mpi_rank *self = mpi_self();

	if (flag == NULL)
		return mpi_raise(self, NULL, MPI_ERR_ARG, "MPI_Initialized");
	*flag = self->state != RANK_FRESH;
	return MPI_SUCCESS;
}

int
PMPI_Finalized(int *flag)
{
	struct mpi_rank *self = mpi_self();

	if (flag == NULL)
		return mpi_raise(self, NULL, MPI_ERR_ARG, "MPI_Finalized");
	*flag = self->state == RANK_FINALIZED;
	return MPI_SUCCESS;
}

static bool
nothing_left(const void *arg)
{
	const struct mpi_rank *self = arg;

	return link_is_empty(&self->outgoing) && link_is_empty(&self->answers) && self->detached == NULL;
}

int
PMPI_Finalize(void)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS) {
		mpi_wait_until(self, nothing_left, self);
		err = mpi_barrier(self, &self->world);
		mpi_wait_until(self, nothing_left, self);
	}
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Finalize");
	self->state = RANK_FINALIZED;
	transport_exit(self);
	mpi_pt2pt_exit(self);
	mpi_comm_exit(self);
	mpi_request_exit(self);
	for (int kind = 1; kind < HANDLE_KINDS; kind++)
		mpi_handle_table_free(&self->tables[kind]);
	mpi_handle_table_free(&self->bulk_names);
	transport_hold(false);
	return MPI_SUCCESS;
}

int
PMPI_Query_thread(int *provided)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS)
		err = check_pointer(provided);
	if (err == MPI_SUCCESS)
		*provided = self->thread_level;
	return mpi_raise(self, NULL, err, "MPI_Query_thread");
}

int
PMPI_Is_thread_main(int *flag)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS)
		err = check_pointer(flag);
	if (err == MPI_SUCCESS)
		*flag = transport_is_first_thread(self);
	return mpi_raise(self, NULL, err, "MPI_Is_thread_main");
}

int
PMPI_Abort(MPI_Comm comm, int errorcode)
{
	struct mpi_rank *self = mpi_self();
	char message[64];

	(void)comm;
	snprintf(message, sizeof(message), "MPI_Abort(%d)", errorcode);
	mpi_die(self, errorcode, message);
}

double
PMPI_Wtime(void)
{
	return transport_seconds();
}

double
PMPI_Wtick(void)
{
	return transport_tick();
}

int
PMPI_Get_processor_name(char *name, int *resultlen)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS && (name == NULL || resultlen == NULL))
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS) {
		transport_place_name(self, name, MPI_MAX_PROCESSOR_NAME);
		*resultlen = (int)strlen(name);
	}
	return mpi_raise(self, NULL, err, "MPI_Get_processor_name");
}

int
PMPI_Get_version(int *version, int *subversion)
{
	if (version == NULL || subversion == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Get_version");
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

int
PMPI_Get_library_version(char *version, int *resultlen)
{
	if (version == NULL || resultlen == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Get_library_version");
	*resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Atoll MPI, standard ABI %d.%d", MPI_ABI_VERSION,
		MPI_ABI_SUBVERSION);
	return MPI_SUCCESS;
}

int
PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
	if (abi_major == NULL || abi_minor == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Abi_get_version");
	*abi_major = MPI_ABI_VERSION;
	*abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}
