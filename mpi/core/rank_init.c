/* SPDX-License-Identifier: MIT
 *
 * What a rank's state holds before the first message.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>
#include <mpi/transport/transport.h>

void
mpi_rank_init(struct mpi_rank *self)
{
	self->prepared = true;
	for (int kind = 1; kind < HANDLE_KINDS; kind++)
		self->tables[kind].kind = (enum handle_kind)kind;
	for (int i = 0; i < ERRORS_PREDEFINED; i++)
		self->errhandlers[i] = (struct errhandler){
			.references = 1, .handle = (uintptr_t)MPI_ERRORS_ARE_FATAL + (uintptr_t)i};
	self->tables[HANDLE_KEYVAL].narrow = true;	/* keys are of type int */
	self->empty_group = (struct group){.references = 1, .rank = MPI_UNDEFINED, .stride = 1};
	self->initial = mpi_errhandler_named(self, getenv(INITIAL_ERRHANDLER));
	if (self->initial == NULL)
		self->initial = &self->errhandlers[ERRORS_ARE_FATAL];
	self->file_errhandler = mpi_errhandler_hold(&self->errhandlers[ERRORS_RETURN]);
	list_init(&self->agreements);
	mpi_match_init(&self->match);
	self->bulk_names = (struct handle_table){.kind = HANDLE_REQUEST, .narrow = true};
	list_init(&self->pushing);
	list_init(&self->running);
	list_init(&self->outgoing);
	list_init(&self->answers);
	list_init(&self->pending);
	list_init(&self->bulk_wanted);
	list_init(&self->bulk_allowed);
}
