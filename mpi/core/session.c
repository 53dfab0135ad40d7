/* SPDX-License-Identifier: MIT
 *
 * Sessions.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>
#include <mpi/core/session.h>

struct session *
mpi_session_new(struct mpi_rank *self, struct errhandler *errhandler)
{
	struct session *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	*s = (struct session){.references = 1,
		.handle = mpi_handle_new(&self->tables[HANDLE_SESSION], s)};
	if (s->handle == 0) {
		free(s);
		return NULL;
	}
	s->errhandler = mpi_errhandler_hold(errhandler);
	return s;
}

struct session *
mpi_session_hold(struct session *s)
{
	if (s != NULL)
		s->references++;
	return s;
}

void
mpi_session_release(struct mpi_rank *self, struct session *s)
{
	if (s == NULL || --s->references > 0)
		return;
	mpi_errhandler_release(self, s->errhandler);
	free(s);
}
