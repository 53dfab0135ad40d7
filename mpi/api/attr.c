/* SPDX-License-Identifier: MIT
 *
 * Chapter attributes.
 */
#include <mpi_impl.h>
#include <mpi/core/derived.h>
#include <mpi/core/errcodes.h>

static struct attr_object
of_comm(struct comm *c)
{
	return (struct attr_object){&c->attributes, ATTR_COMM, c->handle};
}

static bool
is_predefined(int keyval)
{
	return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

/* What every communicator has from the start. */
static int *
predefined(struct mpi_rank *self, int keyval)
{
	int *v = &self->predefined[keyval - MPI_TAG_UB];

	switch (keyval) {
	case MPI_TAG_UB:
		*v = INT_MAX;
		break;
	case MPI_IO:
		*v = MPI_ANY_SOURCE;
		break;
	case MPI_HOST:
		*v = MPI_PROC_NULL;
		break;
	case MPI_LASTUSEDCODE:
		*v = mpi_errcode_last(self);
		break;
	case MPI_UNIVERSE_SIZE:
		*v = self->world_size;
		break;
	case MPI_APPNUM:
		*v = self->app;
		break;
	case MPI_WTIME_IS_GLOBAL:
	default:
		*v = 0;
		break;
	}
	return v;
}

static int
set(struct call *call, struct attr_object o, int keyval, void *value)
{
	if (o.kind == ATTR_COMM && is_predefined(keyval))
		return MPI_ERR_KEYVAL;
	return mpi_attr_set(call->self, o, keyval, value);
}

static int
get(struct call *call, struct attr_object o, int keyval, void *value, int *flag)
{
	void *found = NULL;
	bool is_there = true;
	int err = MPI_SUCCESS;

	if (o.kind == ATTR_COMM && is_predefined(keyval))
		found = predefined(call->self, keyval);
	else
		err = mpi_attr_get(call->self, o, keyval, &found, &is_there);
	if (err != MPI_SUCCESS)
		return err;
	*flag = is_there;
	if (is_there)
		*(void **)value = found;
	return MPI_SUCCESS;
}

int
impl_Comm_create_keyval(struct call *call, const struct args_Comm_create_keyval *a)
{
	return mpi_keyval_new(call->self, ATTR_COMM,
		(struct attr_functions){(void (*)(void))a->comm_copy_attr_fn,
		(void (*)(void))a->comm_delete_attr_fn, a->extra_state}, a->comm_keyval);
}

int
impl_Keyval_create(struct call *call, const struct args_Keyval_create *a)
{
	return mpi_keyval_new(call->self, ATTR_COMM,
		(struct attr_functions){(void (*)(void))a->copy_fn, (void (*)(void))a->delete_fn,
		a->extra_state}, a->keyval);
}

int
impl_Type_create_keyval(struct call *call, const struct args_Type_create_keyval *a)
{
	return mpi_keyval_new(call->self, ATTR_TYPE,
		(struct attr_functions){(void (*)(void))a->type_copy_attr_fn,
		(void (*)(void))a->type_delete_attr_fn, a->extra_state}, a->type_keyval);
}

int
impl_Win_create_keyval(struct call *call, const struct args_Win_create_keyval *a)
{
	return mpi_keyval_new(call->self, ATTR_WIN,
		(struct attr_functions){(void (*)(void))a->win_copy_attr_fn,
		(void (*)(void))a->win_delete_attr_fn, a->extra_state}, a->win_keyval);
}

int
impl_Comm_free_keyval(struct call *call, const struct args_Comm_free_keyval *a)
{
	return mpi_keyval_free(call->self, ATTR_COMM, a->comm_keyval);
}

int
impl_Keyval_free(struct call *call, const struct args_Keyval_free *a)
{
	return mpi_keyval_free(call->self, ATTR_COMM, a->keyval);
}

int
impl_Type_free_keyval(struct call *call, const struct args_Type_free_keyval *a)
{
	return mpi_keyval_free(call->self, ATTR_TYPE, a->type_keyval);
}

int
impl_Win_free_keyval(struct call *call, const struct args_Win_free_keyval *a)
{
	return mpi_keyval_free(call->self, ATTR_WIN, a->win_keyval);
}

int
impl_Type_set_attr(struct call *call, const struct args_Type_set_attr *a)
{
	struct attr_object o;

	return mpi_type_attributes(call->self, a->datatype, &o)
		? set(call, o, a->type_keyval, a->attribute_val) : MPI_ERR_NO_MEM;
}

int
impl_Type_get_attr(struct call *call, const struct args_Type_get_attr *a)
{
	struct attr_object o;

	return mpi_type_attributes(call->self, a->datatype, &o)
		? get(call, o, a->type_keyval, a->attribute_val, a->flag) : MPI_ERR_NO_MEM;
}

int
impl_Type_delete_attr(struct call *call, const struct args_Type_delete_attr *a)
{
	struct attr_object o;

	return mpi_type_attributes(call->self, a->datatype, &o)
		? mpi_attr_delete(call->self, o, a->type_keyval) : MPI_ERR_NO_MEM;
}

int
impl_Comm_set_attr(struct call *call, const struct args_Comm_set_attr *a)
{
	return set(call, of_comm(a->comm), a->comm_keyval, a->attribute_val);
}

int
impl_Attr_put(struct call *call, const struct args_Attr_put *a)
{
	return set(call, of_comm(a->comm), a->keyval, a->attribute_val);
}

int
impl_Comm_get_attr(struct call *call, const struct args_Comm_get_attr *a)
{
	return get(call, of_comm(a->comm), a->comm_keyval, a->attribute_val, a->flag);
}

int
impl_Attr_get(struct call *call, const struct args_Attr_get *a)
{
	return get(call, of_comm(a->comm), a->keyval, a->attribute_val, a->flag);
}

int
impl_Comm_delete_attr(struct call *call, const struct args_Comm_delete_attr *a)
{
	return mpi_attr_delete(call->self, of_comm(a->comm), a->comm_keyval);
}

int
impl_Attr_delete(struct call *call, const struct args_Attr_delete *a)
{
	return mpi_attr_delete(call->self, of_comm(a->comm), a->keyval);
}
