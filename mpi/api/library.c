/* SPDX-License-Identifier: MIT
 *
 * Opening and closing the library.
 */
#include <mpi/api/library.h>
#include <mpi/coll/locality.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>
#include <mpi/core/type.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

/* No rank waits for another here: who is first may send to who is last. */
static int
open(struct mpi_rank *self)
{
	int err;

	transport_identify(self);
	err = mpi_comm_init(self);
	if (err == MPI_SUCCESS)
		err = mpi_pt2pt_init(self);
	return err == MPI_SUCCESS ? transport_init(self) : err;
}

static void
raise_level(struct mpi_rank *self, int level)
{
	self->thread_level = level;
	if (level != MPI_THREAD_MULTIPLE)
		return;
	/* other threads may be in the library from now on */
	mpi_rank_lock_favours_me(self);
	if (self->direct != DIRECT_NOT)
		self->direct = DIRECT_LOCKED;
}

int
library_enter(struct mpi_rank *self, int required, int *provided)
{
	int err = self->transport == NULL ? open(self) : MPI_SUCCESS;

	if (err != MPI_SUCCESS)
		return err;
	*provided = transport_thread_level(self, required);
	if (*provided > self->thread_level)
		raise_level(self, *provided);
	if (self->users++ == 0) {
		self->state = RANK_RUNNING;
		transport_hold(self, true);
	}
	return MPI_SUCCESS;
}

bool
library_is_quiet(const void *rank)
{
	const struct mpi_rank *self = rank;

	return list_is_empty(&self->outgoing) && list_is_empty(&self->answers) &&
		self->detached == NULL;
}

/* May the process end as well? */
static bool
may_be_left(const void *rank)
{
	return library_is_quiet(rank) && transport_all_is_read(mpi_self());
}

void
library_leave(struct mpi_rank *self)
{
	if (self->users == 1)
		mpi_wait_until(self, may_be_left, self);
	if (--self->users == 0) {
		self->state = RANK_FINALIZED;
		transport_hold(self, false);
	}
}

/* Some objects may be used without a library. */
static bool
outlives_library(int kind)
{
	return kind == HANDLE_INFO || kind == HANDLE_ERRHANDLER || kind == HANDLE_KEYVAL;
}

void
library_close(struct mpi_rank *self)
{
	if (self->users > 0 || self->transport == NULL)
		return;
	mpi_locality_exit(self);
	transport_exit(self);
	mpi_pt2pt_exit(self);
	mpi_type_exit(self);
	mpi_comm_exit(self);
	mpi_sched_exit(self);
	mpi_request_exit(self);
	for (int kind = 1; kind < HANDLE_KINDS; kind++)
		if (!outlives_library(kind) || self->tables[kind].used == 0)
			mpi_handle_table_free(&self->tables[kind]);
	mpi_handle_table_free(&self->bulk_names);
}
