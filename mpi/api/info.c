/* SPDX-License-Identifier: MIT
 *
 * Chapter info objects.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/core/info.h>

static int
check_key(const char *key)
{
	size_t len = strlen(key);

	return len > 0 && len < MPI_MAX_INFO_KEY ? MPI_SUCCESS : MPI_ERR_INFO_KEY;
}

int
impl_Info_create(struct call *call, const struct args_Info_create *a)
{
	return mpi_info_publish(call->self, mpi_info_new(), a->info);
}

int
impl_Info_create_env(struct call *call, const struct args_Info_create_env *a)
{
	struct info *i = mpi_info_copy(mpi_info_find(call->self, MPI_INFO_ENV));

	if (i != NULL && a->argc > 0 && a->argv != NULL && a->argv[0] != NULL)
		mpi_info_set(i, "command", a->argv[0]);
	return mpi_info_publish(call->self, i, a->info);
}

int
impl_Info_dup(struct call *call, const struct args_Info_dup *a)
{
	return mpi_info_publish(call->self, mpi_info_copy(a->info), a->newinfo);
}

int
impl_Info_free(struct call *call, const struct args_Info_free *a)
{
	struct info *i = mpi_info_find(call->self, *a->info);

	if (i == NULL || i->handle == 0)
		return MPI_ERR_INFO;
	mpi_handle_drop(&call->self->tables[HANDLE_INFO], i->handle);
	mpi_info_drop(i);
	*a->info = MPI_INFO_NULL;
	return MPI_SUCCESS;
}

int
impl_Info_set(struct call *call, const struct args_Info_set *a)
{
	int err = check_key(a->key);

	(void)call;
	if (err == MPI_SUCCESS && strlen(a->value) >= MPI_MAX_INFO_VAL)
		err = MPI_ERR_INFO_VALUE;
	return err == MPI_SUCCESS ? mpi_info_set(a->info, a->key, a->value) : err;
}

int
impl_Info_delete(struct call *call, const struct args_Info_delete *a)
{
	int err = check_key(a->key);

	(void)call;
	return err == MPI_SUCCESS ? mpi_info_delete(a->info, a->key) : err;
}

/* Copy what fits into `room` bytes, with the final NUL. */
static void
copy_text(char *to, const char *from, size_t room)
{
	size_t len = strlen(from);

	if (room == 0)
		return;
	if (len >= room)
		len = room - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

int
impl_Info_get(struct call *call, const struct args_Info_get *a)
{
	int err = check_key(a->key);
	const char *value = err == MPI_SUCCESS ? mpi_info_value(a->info, a->key) : NULL;

	(void)call;
	if (err == MPI_SUCCESS && a->valuelen < 0)
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return err;
	*a->flag = value != NULL;
	if (value != NULL)
		copy_text(a->value, value, (size_t)a->valuelen + 1);
	return MPI_SUCCESS;
}

int
impl_Info_get_string(struct call *call, const struct args_Info_get_string *a)
{
	int err = check_key(a->key);
	const char *value = err == MPI_SUCCESS ? mpi_info_value(a->info, a->key) : NULL;

	(void)call;
	if (err == MPI_SUCCESS && (*a->buflen < 0 || (*a->buflen > 0 && a->value == NULL)))
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return err;
	*a->flag = value != NULL;
	if (value != NULL) {
		copy_text(a->value, value, (size_t)*a->buflen);
		*a->buflen = (int)strlen(value) + 1;
	}
	return MPI_SUCCESS;
}

int
impl_Info_get_valuelen(struct call *call, const struct args_Info_get_valuelen *a)
{
	int err = check_key(a->key);
	const char *value = err == MPI_SUCCESS ? mpi_info_value(a->info, a->key) : NULL;

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	*a->flag = value != NULL;
	if (value != NULL)
		*a->valuelen = (int)strlen(value);
	return MPI_SUCCESS;
}

int
impl_Info_get_nkeys(struct call *call, const struct args_Info_get_nkeys *a)
{
	(void)call;
	*a->nkeys = a->info->count;
	return MPI_SUCCESS;
}

int
impl_Info_get_nthkey(struct call *call, const struct args_Info_get_nthkey *a)
{
	(void)call;
	if (a->n < 0 || a->n >= a->info->count)
		return MPI_ERR_ARG;
	strcpy(a->key, a->info->pair[a->n].key);
	return MPI_SUCCESS;
}
