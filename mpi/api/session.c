/* SPDX-License-Identifier: MIT
 *
 * Chapter sessions: the sessions themselves and their process sets.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <mpi_impl.h>
#include <mpi/api/buffered.h>
#include <mpi/api/library.h>
#include <mpi/core/errcodes.h>
#include <mpi/core/info.h>
#include <mpi/core/session.h>

#define LEVEL_KEY "mpi_thread_support_level"
#define LEVEL_KEY_4_0 "thread_level"	/* its name in MPI 4.0 */

enum { PSET_WORLD, PSET_SELF, PSETS };

static const char *const psets[PSETS] = {"mpi://WORLD", "mpi://SELF"};

/* The number of a process set, or -1. */
static int
find_pset(const char *name)
{
	for (int i = 0; i < PSETS; i++)
		if (strcasecmp(name, psets[i]) == 0)
			return i;
	return -1;
}

/* The session is done for, or never was: what is left of it goes. */
static void
end(struct mpi_rank *self, struct session *s)
{
	mpi_handle_drop(&self->tables[HANDLE_SESSION], s->handle);
	mpi_session_release(self, s);
}

int
impl_Session_init(struct call *call, const struct args_Session_init *a)
{
	struct mpi_rank *self = call->self;
	const char *level = mpi_info_value(a->info, LEVEL_KEY);
	struct session *s;
	int err;

	if (level == NULL)
		level = mpi_info_value(a->info, LEVEL_KEY_4_0);
	s = mpi_session_new(self, a->errhandler);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	/* who does not say gets what there is */
	err = library_enter(self, level ? mpi_info_level(level) : self->thread_level,
		&s->thread_level);
	if (err != MPI_SUCCESS) {
		end(self, s);
		return err;
	}
	*a->session = (MPI_Session)s->handle;
	return MPI_SUCCESS;
}

int
impl_Session_finalize(struct call *call, const struct args_Session_finalize *a)
{
	struct mpi_rank *self = call->self;
	struct session *s;
	int err = call_session(call, *a->session, &s);

	if (err != MPI_SUCCESS)
		return err;
	call->raised_on.errhandler = NULL;	/* it may be gone */
	buffered_detach(self, &s->buffer, NULL, NULL);
	*a->session = MPI_SESSION_NULL;
	end(self, s);
	library_leave(self);
	return MPI_SUCCESS;
}

int
impl_Session_get_info(struct call *call, const struct args_Session_get_info *a)
{
	struct info *i = mpi_info_new();

	if (i != NULL) {
		mpi_info_set(i, LEVEL_KEY, mpi_info_level_name(a->session->thread_level));
		mpi_info_set(i, LEVEL_KEY_4_0, mpi_info_level_name(a->session->thread_level));
	}
	return mpi_info_publish(call->self, i, a->info_used);
}

int
impl_Session_get_num_psets(struct call *call, const struct args_Session_get_num_psets *a)
{
	(void)call;
	*a->npset_names = PSETS;
	return MPI_SUCCESS;
}

int
impl_Session_get_nth_pset(struct call *call, const struct args_Session_get_nth_pset *a)
{
	(void)call;
	if (a->n < 0 || a->n >= PSETS || *a->pset_len < 0 ||
		(*a->pset_len > 0 && a->pset_name == NULL))
		return MPI_ERR_ARG;
	if (*a->pset_len > 0)
		snprintf(a->pset_name, (size_t)*a->pset_len, "%s", psets[a->n]);
	*a->pset_len = (int)strlen(psets[a->n]) + 1;
	return MPI_SUCCESS;
}

int
impl_Session_get_pset_info(struct call *call, const struct args_Session_get_pset_info *a)
{
	int number = find_pset(a->pset_name);
	struct info *i = number >= 0 ? mpi_info_new() : NULL;
	char size[16];

	if (number < 0)
		return MPI_ERR_ARG;
	snprintf(size, sizeof(size), "%d", number == PSET_WORLD ? call->self->world_size : 1);
	if (i != NULL)
		mpi_info_set(i, "mpi_size", size);
	return mpi_info_publish(call->self, i, a->info);
}

int
impl_Group_from_session_pset(struct call *call, const struct args_Group_from_session_pset *a)
{
	struct mpi_rank *self = call->self;
	int number = find_pset(a->pset_name);
	struct group *g;

	if (number < 0)
		return MPI_ERR_ARG;
	g = number == PSET_WORLD ? mpi_group_range(self, 0, self->world_size)
		: mpi_group_range(self, self->world_rank, 1);
	if (g == NULL)
		return MPI_ERR_NO_MEM;
	g->session = mpi_session_hold(a->session);
	*a->newgroup = mpi_group_handle(self, g);
	return *a->newgroup == MPI_GROUP_NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int
impl_Session_create_errhandler(struct call *call, const struct args_Session_create_errhandler *a)
{
	return mpi_errhandler_new(call->self, ERRHANDLER_SESSION,
		(void (*)(void))a->session_errhandler_fn, a->errhandler);
}

int
impl_Session_get_errhandler(struct call *call, const struct args_Session_get_errhandler *a)
{
	return mpi_errhandler_publish(call->self, a->session->errhandler, a->errhandler);
}

int
impl_Session_set_errhandler(struct call *call, const struct args_Session_set_errhandler *a)
{
	return mpi_errhandler_set(call->self, &a->session->errhandler, a->errhandler,
		ERRHANDLER_SESSION);
}

int
impl_Session_call_errhandler(struct call *call, const struct args_Session_call_errhandler *a)
{
	struct raised_on where = call->raised_on;

	if (mpi_errcode_class(call->self, a->errorcode) < 0)
		return MPI_ERR_ARG;
	mpi_raise_on(call->self, where, a->errorcode, call->function);
	return MPI_SUCCESS;
}

int
impl_Session_attach_buffer(struct call *call, const struct args_Session_attach_buffer *a)
{
	(void)call;
	return buffered_attach(&a->session->buffer, a->buffer, a->size);
}

int
impl_Session_detach_buffer(struct call *call, const struct args_Session_detach_buffer *a)
{
	return buffered_detach(call->self, &a->session->buffer, a->buffer_addr, a->size);
}

int
impl_Session_flush_buffer(struct call *call, const struct args_Session_flush_buffer *a)
{
	buffered_flush(call->self, &a->session->buffer);
	return MPI_SUCCESS;
}

int
impl_Session_iflush_buffer(struct call *call, const struct args_Session_iflush_buffer *a)
{
	return buffered_iflush(call->self, &a->session->buffer, NULL, a->request);
}
