/* SPDX-License-Identifier: MIT
 *
 * Attributes.
 */
#include <stdlib.h>
#include <mpi/core/attr.h>
#include <mpi/core/rank.h>

struct keyval {
	int references;			/* the program's handle, and each attribute */
	int number;
	enum attr_kind kind;
	/*
	 * the program's handle is gone; attributes may live on, and be read and deleted under its
	 * number
	 */
	bool freed;
	struct attr_functions f;
};

struct attr {
	struct attr *before;		/* set before this one */
	struct keyval *key;
	void *value;
};

#define COPY_NOTHING 0			/* copy functions that are numbers */
#define COPY_VALUE 1

int
mpi_keyval_new(struct mpi_rank *self, enum attr_kind kind, struct attr_functions f, int *keyval)
{
	struct keyval *k = malloc(sizeof(*k));

	if (k == NULL)
		return MPI_ERR_NO_MEM;
	*k = (struct keyval){.references = 1, .kind = kind, .f = f};
	k->number = (int)(uint32_t)mpi_handle_new(&self->tables[HANDLE_KEYVAL], k);
	if (k->number == 0) {
		free(k);
		return MPI_ERR_NO_MEM;
	}
	*keyval = k->number;
	return MPI_SUCCESS;
}

static struct keyval *
find_key(struct mpi_rank *self, enum attr_kind kind, int keyval)
{
	struct keyval *k = mpi_handle_find(&self->tables[HANDLE_KEYVAL], (uint32_t)keyval);

	return k != NULL && k->kind == kind ? k : NULL;
}

static void
release_key(struct mpi_rank *self, struct keyval *k)
{
	if (--k->references > 0)
		return;
	mpi_handle_drop(&self->tables[HANDLE_KEYVAL], (uint32_t)k->number);
	free(k);
}

int
mpi_keyval_free(struct mpi_rank *self, enum attr_kind kind, int *keyval)
{
	struct keyval *k = find_key(self, kind, *keyval);

	if (k == NULL || k->freed)
		return MPI_ERR_KEYVAL;
	k->freed = true;
	release_key(self, k);
	*keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

/* The link to the attribute with this key, or NULL. */
static struct attr **
attr_find(struct attr_list *list, const struct keyval *k)
{
	for (struct attr **at = &list->last; *at != NULL; at = &(*at)->before)
		if ((*at)->key == k)
			return at;
	return NULL;
}

static int
call_delete(const struct keyval *k, uintptr_t handle, void *value)
{
	if (k->f.drop == NULL)
		return MPI_SUCCESS;
	switch (k->kind) {
	case ATTR_COMM:
		return ((MPI_Comm_delete_attr_function *)k->f.drop)((MPI_Comm)handle, k->number,
			value, k->f.extra);
	case ATTR_TYPE:
		return ((MPI_Type_delete_attr_function *)k->f.drop)((MPI_Datatype)handle, k->number,
			value, k->f.extra);
	case ATTR_WIN:
	default:
		return ((MPI_Win_delete_attr_function *)k->f.drop)((MPI_Win)handle, k->number,
			value, k->f.extra);
	}
}

/* What the copy function makes of a value; *flag: there shall be a copy. */
static int
call_copy(const struct keyval *k, uintptr_t handle, void *value, void **copy, int *flag)
{
	uintptr_t f = (uintptr_t)k->f.copy;

	*copy = value;
	*flag = f == COPY_VALUE;
	if (f == COPY_NOTHING || f == COPY_VALUE)
		return MPI_SUCCESS;
	switch (k->kind) {
	case ATTR_COMM:
		return ((MPI_Comm_copy_attr_function *)k->f.copy)((MPI_Comm)handle, k->number,
			k->f.extra, value, copy, flag);
	case ATTR_TYPE:
		return ((MPI_Type_copy_attr_function *)k->f.copy)((MPI_Datatype)handle, k->number,
			k->f.extra, value, copy, flag);
	case ATTR_WIN:
	default:
		return ((MPI_Win_copy_attr_function *)k->f.copy)((MPI_Win)handle, k->number,
			k->f.extra, value, copy, flag);
	}
}

static int
add(struct attr_list *list, struct keyval *k, void *value)
{
	struct attr *a = malloc(sizeof(*a));

	if (a == NULL)
		return MPI_ERR_NO_MEM;
	*a = (struct attr){list->last, k, value};
	k->references++;
	list->last = a;
	return MPI_SUCCESS;
}

/* Delete the attribute under a key. The callback may have done so itself. */
static int
delete_under(struct mpi_rank *self, struct attr_list *list, struct keyval *k, uintptr_t handle)
{
	struct attr **at = attr_find(list, k), *gone;
	int err = MPI_SUCCESS;

	if (at == NULL)
		return MPI_SUCCESS;
	k->references++;
	err = call_delete(k, handle, (*at)->value);
	at = err == MPI_SUCCESS ? attr_find(list, k) : NULL;
	if (at != NULL) {
		gone = *at;
		*at = gone->before;
		release_key(self, gone->key);
		free(gone);
	}
	release_key(self, k);
	return err;
}

int
mpi_attr_set(struct mpi_rank *self, struct attr_object o, int keyval, void *value)
{
	struct keyval *k = find_key(self, o.kind, keyval);
	int err = k && !k->freed ? delete_under(self, o.list, k, o.handle) : MPI_ERR_KEYVAL;

	return err == MPI_SUCCESS ? add(o.list, k, value) : err;
}

int
mpi_attr_get(struct mpi_rank *self, struct attr_object o, int keyval, void **value, bool *found)
{
	struct keyval *k = find_key(self, o.kind, keyval);
	struct attr **at = k ? attr_find(o.list, k) : NULL;

	*found = at != NULL;
	if (*found)
		*value = (*at)->value;
	return k ? MPI_SUCCESS : MPI_ERR_KEYVAL;
}

int
mpi_attr_delete(struct mpi_rank *self, struct attr_object o, int keyval)
{
	struct keyval *k = find_key(self, o.kind, keyval);

	if (k == NULL)
		return MPI_ERR_KEYVAL;
	return attr_find(o.list, k) ? delete_under(self, o.list, k, o.handle) : MPI_ERR_KEYVAL;
}

/* Copy the older attributes first, so that the order stays. */
static int
copy_from(const struct attr *a, uintptr_t handle, struct attr_list *to)
{
	int err = a->before ? copy_from(a->before, handle, to) : MPI_SUCCESS, flag = 0;
	void *copy;

	if (err == MPI_SUCCESS)
		err = call_copy(a->key, handle, a->value, &copy, &flag);
	return err == MPI_SUCCESS && flag ? add(to, a->key, copy) : err;
}

int
mpi_attr_copy(struct mpi_rank *self, struct attr_object from, struct attr_object to)
{
	int err = from.list->last ? copy_from(from.list->last, from.handle, to.list) : MPI_SUCCESS;

	if (err != MPI_SUCCESS)
		mpi_attr_delete_all(self, to.list, to.handle);
	return err;
}

int
mpi_attr_delete_all(struct mpi_rank *self, struct attr_list *list, uintptr_t handle)
{
	int err = MPI_SUCCESS;

	while (err == MPI_SUCCESS && list->last != NULL)
		err = delete_under(self, list, list->last->key, handle);
	return err;
}
