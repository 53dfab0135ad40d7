/* SPDX-License-Identifier: MIT
 *
 * Attributes: Fortran's value is an integer, C's a pointer. Predefined ones are pointers to
 * integers in C. The functions of a key get the key's extra state by its address here.
 */
#include <stdlib.h>
#include <mpi/fortran/routines.h>

typedef void fortran_copy(int *object, int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out,
	int *flag, int *ierror);
typedef void fortran_delete(int *object, int *keyval, MPI_Aint *value, MPI_Aint *extra,
	int *ierror);

/* One for each key: the key's users may outlive the key, so it stays. */
struct fortran_key {
	struct fortran_key *next;	/* so that it can always be reached */
	fortran_copy *copy;
	fortran_delete *delete;
	MPI_Aint extra;
};

static struct fortran_key *all_keys;

static struct fortran_key *
key_new(fortran_copy *copy, fortran_delete *delete, MPI_Aint extra)
{
	struct fortran_key *k = malloc(sizeof(*k));

	if (k == NULL)
		return NULL;
	*k = (struct fortran_key){NULL, copy, delete, extra};
	k->next = __atomic_load_n(&all_keys, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all_keys, &k->next, k, 0, __ATOMIC_RELEASE,
		__ATOMIC_RELAXED))
		;
	return k;
}

static int
key_copy(struct fortran_key *k, int object, int keyval, void *in, void *out, int *flag)
{
	MPI_Aint from = (MPI_Aint)in, to = 0;
	int err = MPI_SUCCESS;

	k->copy(&object, &keyval, &k->extra, &from, &to, flag, &err);
	if (*flag)
		*(void **)out = (void *)to;
	return err;
}

static int
key_delete(struct fortran_key *k, int object, int keyval, void *value)
{
	MPI_Aint v = (MPI_Aint)value;
	int err = MPI_SUCCESS;

	k->delete(&object, &keyval, &v, &k->extra, &err);
	return err;
}

static int
comm_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	return key_copy(extra, MPI_Comm_toint(comm), keyval, in, out, flag);
}

static int
comm_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
	return key_delete(extra, MPI_Comm_toint(comm), keyval, value);
}

static int
type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
	return key_copy(extra, MPI_Type_toint(type), keyval, in, out, flag);
}

static int
type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
	return key_delete(extra, MPI_Type_toint(type), keyval, value);
}

FORTRAN_ROUTINE(comm_create_keyval, (fortran_copy *copy, fortran_delete *delete, int *keyval,
	const MPI_Aint *extra, int *ierror))
{
	struct fortran_key *k = key_new(copy, delete, *extra);

	*ierror = k != NULL ? MPI_Comm_create_keyval(comm_copy, comm_delete, keyval, k) :
		MPI_ERR_NO_MEM;
}

FORTRAN_ROUTINE(type_create_keyval, (fortran_copy *copy, fortran_delete *delete, int *keyval,
	const MPI_Aint *extra, int *ierror))
{
	struct fortran_key *k = key_new(copy, delete, *extra);

	*ierror = k != NULL ? MPI_Type_create_keyval(type_copy, type_delete, keyval, k) :
		MPI_ERR_NO_MEM;
}

FORTRAN_ROUTINE(comm_get_attr, (const int *comm, const int *keyval, MPI_Aint *value, int *flag,
	int *ierror))
{
	void *p = NULL;

	*ierror = MPI_Comm_get_attr(MPI_Comm_fromint(*comm), *keyval, &p, flag);
	if (*ierror != MPI_SUCCESS || !*flag)
		return;
	*value = *keyval >= MPI_TAG_UB && *keyval <= MPI_UNIVERSE_SIZE ? *(int *)p : (MPI_Aint)p;
}

FORTRAN_ROUTINE(comm_set_attr, (const int *comm, const int *keyval, const MPI_Aint *value,
	int *ierror))
{
	*ierror = MPI_Comm_set_attr(MPI_Comm_fromint(*comm), *keyval, (void *)*value);
}

FORTRAN_ROUTINE(type_get_attr, (const int *type, const int *keyval, MPI_Aint *value, int *flag,
	int *ierror))
{
	void *p = NULL;

	*ierror = MPI_Type_get_attr(MPI_Type_fromint(*type), *keyval, &p, flag);
	if (*ierror == MPI_SUCCESS && *flag)
		*value = (MPI_Aint)p;
}

FORTRAN_ROUTINE(type_set_attr, (const int *type, const int *keyval, const MPI_Aint *value,
	int *ierror))
{
	*ierror = MPI_Type_set_attr(MPI_Type_fromint(*type), *keyval, (void *)*value);
}

/* The functions that the standard has for keys: copy nothing, copy the value, do nothing. */
FORTRAN_ROUTINE(comm_null_copy_fn, (int *object, int *keyval, MPI_Aint *extra, MPI_Aint *in,
	MPI_Aint *out, int *flag, int *ierror))
{
	(void)object, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 0;
	*ierror = MPI_SUCCESS;
}

FORTRAN_ROUTINE(comm_dup_fn, (int *object, int *keyval, MPI_Aint *extra, MPI_Aint *in,
	MPI_Aint *out, int *flag, int *ierror))
{
	(void)object, (void)keyval, (void)extra;
	*out = *in;
	*flag = 1;
	*ierror = MPI_SUCCESS;
}

FORTRAN_ROUTINE(comm_null_delete_fn, (int *object, int *keyval, MPI_Aint *value, MPI_Aint *extra,
	int *ierror))
{
	(void)object, (void)keyval, (void)value, (void)extra;
	*ierror = MPI_SUCCESS;
}

fortran_copy mpi_type_null_copy_fn_ __attribute__((alias("mpi_comm_null_copy_fn_")));
fortran_copy mpi_type_dup_fn_ __attribute__((alias("mpi_comm_dup_fn_")));
fortran_delete mpi_type_null_delete_fn_ __attribute__((alias("mpi_comm_null_delete_fn_")));
