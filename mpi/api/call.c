/* SPDX-License-Identifier: MIT
 *
 * Checks of handles, and what happens to an error.
 */
#include <stdio.h>
#include <mpi/api/call.h>
#include <mpi/core/info.h>
#include <mpi/core/op.h>
#include <mpi/core/session.h>
#include <mpi/transport/transport.h>

static const char *
why_refused(const struct mpi_rank *self)
{
	if (self->world_state == RANK_FINALIZED)
		return "after MPI_Finalize: that must be the program's last call of MPI";
	if (self->state == RANK_FINALIZED)
		return "after MPI_Session_finalize of the last session: open another one, or call "
			"MPI_Init, before it";
	return "before MPI_Init: call MPI_Init, MPI_Init_thread or MPI_Session_init first";
}

int
call_refuse(struct call *call)
{
	struct mpi_rank *self = call->self;
	char message[160];

	if (!self->prepared)
		mpi_rank_init(self);
	/* who this rank is may be asked before it joins the job only */
	if (self->transport == NULL && self->state == RANK_FRESH)
		transport_identify(self);
	snprintf(message, sizeof(message), "%s was called %s", call->function, why_refused(self));
	if (self->initial != &self->errhandlers[ERRORS_RETURN])
		mpi_die(self, 1, message);
	call->raised_on = (struct raised_on){self->initial, 0};
	return MPI_ERR_OTHER;
}

int
call_raise_on_held(struct call *call, int err)
{
	int result = mpi_raise(call->self, call->held, err, call->function);

	if (call->locked)
		mpi_rank_lock(call->self);
	mpi_comm_release(call->self, call->held);
	if (call->locked)
		mpi_rank_unlock(call->self);
	return result;
}

int
call_without_files(struct call *call)
{
	struct mpi_rank *self = call->self;

	if (self->file_errhandler == &self->errhandlers[ERRORS_RETURN] && !self->named_files)
		fprintf(stderr, "MPI rank %d: %s: %s\n", self->world_rank, call->function,
			mpi_error_text(MPI_ERR_UNSUPPORTED_OPERATION));
	self->named_files = true;
	return MPI_ERR_UNSUPPORTED_OPERATION;
}

int
call_group(struct call *call, MPI_Group handle, struct group **g)
{
	return mpi_group_get(call->self, handle, g);
}

int
call_errhandler(struct call *call, MPI_Errhandler handle, struct errhandler **e)
{
	*e = mpi_errhandler_find(call->self, handle);
	return *e ? MPI_SUCCESS : MPI_ERR_ERRHANDLER;
}

int
call_raises(struct call *call, enum errhandler_kind kind, MPI_Errhandler handle,
	struct errhandler **e)
{
	int err = call_errhandler(call, handle, e);

	if (err == MPI_SUCCESS && (*e)->kind != ERRHANDLER_ANY && (*e)->kind != kind)
		err = MPI_ERR_ERRHANDLER;
	if (err == MPI_SUCCESS)
		call->raised_on = (struct raised_on){*e, (uintptr_t)(kind == ERRHANDLER_COMM
			? (void *)MPI_COMM_NULL : (void *)MPI_SESSION_NULL)};
	return err;
}

int
call_type(struct call *call, MPI_Datatype handle, struct type **t)
{
	(void)call;
	*t = (struct type *)(uintptr_t)mpi_type_find(handle);
	return *t ? MPI_SUCCESS : MPI_ERR_TYPE;
}

int
call_committed(struct call *call, MPI_Datatype handle, struct type **t)
{
	int err = call_type(call, handle, t);

	return err == MPI_SUCCESS && !mpi_type_is_committed(*t) ? MPI_ERR_TYPE : err;
}

int
call_op(struct call *call, MPI_Op op)
{
	return mpi_op_exists(call->self, op) ? MPI_SUCCESS : MPI_ERR_OP;
}

int
call_info(struct call *call, MPI_Info handle, struct info **i)
{
	*i = mpi_info_find(call->self, handle);
	return *i || handle == MPI_INFO_NULL ? MPI_SUCCESS : MPI_ERR_INFO;
}

int
call_info_given(struct call *call, MPI_Info handle, struct info **i)
{
	*i = mpi_info_find(call->self, handle);
	return *i ? MPI_SUCCESS : MPI_ERR_INFO;
}

int
call_window(struct call *call, MPI_Win handle, struct window **w)
{
	*w = mpi_handle_find(&call->self->tables[HANDLE_WIN], (uintptr_t)handle);
	return *w ? MPI_SUCCESS : MPI_ERR_WIN;
}

int
call_file(struct call *call, MPI_File handle, struct file **f)
{
	*f = mpi_handle_find(&call->self->tables[HANDLE_FILE], (uintptr_t)handle);
	return *f ? MPI_SUCCESS : MPI_ERR_FILE;
}

int
call_session(struct call *call, MPI_Session handle, struct session **s)
{
	*s = mpi_handle_find(&call->self->tables[HANDLE_SESSION], (uintptr_t)handle);
	if (*s != NULL)
		call->raised_on = (struct raised_on){(*s)->errhandler, (uintptr_t)handle};
	return *s ? MPI_SUCCESS : MPI_ERR_SESSION;
}

int
call_root(const struct comm *c, int root)
{
	if (mpi_comm_is_inter(c) && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return MPI_SUCCESS;
	return root >= 0 && root < mpi_comm_peers(c) ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int
call_toint(uintptr_t handle)
{
	return (int)(uint32_t)handle;
}

uintptr_t
call_fromint(enum handle_kind kind, int number)
{
	struct mpi_rank *self = mpi_self();
	bool locked = self->thread_level == MPI_THREAD_MULTIPLE;
	uintptr_t handle;

	/* a table may move while another thread makes an object */
	if (locked)
		mpi_rank_lock(self);
	handle = mpi_handle_widen(&self->tables[kind], (uint32_t)number);
	if (locked)
		mpi_rank_unlock(self);
	return handle;
}
