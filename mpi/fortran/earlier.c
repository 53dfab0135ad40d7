/* SPDX-License-Identifier: MIT
 *
 * Routines of MPI-1 that later versions replaced or removed, and that programs still call. Their
 * addresses, extents and attributes are default integers.
 */
#include <limits.h>
#include <stdlib.h>
#include <mpi/fortran/routines.h>

typedef void earlier_copy(int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
	int *ierror);
typedef void earlier_delete(int *comm, int *keyval, int *value, int *extra, int *ierror);

struct earlier_key {
	struct earlier_key *next;	/* so that it can always be reached */
	earlier_copy *copy;
	earlier_delete *delete;
	int extra;
};

static struct earlier_key *all_keys;

static int
earlier_int(MPI_Aint value, int *to)
{
	if (value < INT_MIN || value > INT_MAX)
		return MPI_ERR_ARG;
	*to = (int)value;
	return MPI_SUCCESS;
}

static MPI_Aint *
earlier_displacements(const int *from, int count)
{
	MPI_Aint *out = malloc(count > 0 ? (size_t)count * sizeof(*out) : 1);

	for (int i = 0; out != NULL && i < count; i++)
		out[i] = from[i];
	return out;
}

FORTRAN_ROUTINE(address, (const void *location, int *address, int *ierror))
{
	MPI_Aint a;

	*ierror = MPI_Get_address(fortran_buffer(location), &a);
	if (*ierror == MPI_SUCCESS)
		*ierror = earlier_int(a, address);
}

FORTRAN_ROUTINE(type_extent, (const int *type, int *extent, int *ierror))
{
	MPI_Aint lb, e;

	*ierror = MPI_Type_get_extent(MPI_Type_fromint(*type), &lb, &e);
	if (*ierror == MPI_SUCCESS)
		*ierror = earlier_int(e, extent);
}

FORTRAN_ROUTINE(type_lb, (const int *type, int *bound, int *ierror))
{
	MPI_Aint lb, e;

	*ierror = MPI_Type_get_extent(MPI_Type_fromint(*type), &lb, &e);
	if (*ierror == MPI_SUCCESS)
		*ierror = earlier_int(lb, bound);
}

FORTRAN_ROUTINE(type_ub, (const int *type, int *bound, int *ierror))
{
	MPI_Aint lb, e;

	*ierror = MPI_Type_get_extent(MPI_Type_fromint(*type), &lb, &e);
	if (*ierror == MPI_SUCCESS)
		*ierror = earlier_int(lb + e, bound);
}

FORTRAN_ROUTINE(type_hvector, (const int *count, const int *length, const int *stride,
	const int *old, int *new, int *ierror))
{
	MPI_Datatype t = MPI_DATATYPE_NULL;

	*ierror = MPI_Type_create_hvector(*count, *length, *stride, MPI_Type_fromint(*old), &t);
	*new = MPI_Type_toint(t);
}

FORTRAN_ROUTINE(type_hindexed, (const int *count, const int *lengths, const int *displs,
	const int *old, int *new, int *ierror))
{
	MPI_Aint *d = earlier_displacements(displs, *count);
	MPI_Datatype t = MPI_DATATYPE_NULL;

	*ierror = d == NULL ? MPI_ERR_NO_MEM :
		MPI_Type_create_hindexed(*count, lengths, d, MPI_Type_fromint(*old), &t);
	*new = MPI_Type_toint(t);
	free(d);
}

FORTRAN_ROUTINE(type_struct, (const int *count, const int *lengths, const int *displs,
	const int *types, int *new, int *ierror))
{
	MPI_Aint *d = earlier_displacements(displs, *count);
	MPI_Datatype *all = fortran_types_in(types, *count), t = MPI_DATATYPE_NULL;

	*ierror = d == NULL ? MPI_ERR_NO_MEM : MPI_Type_create_struct(*count, lengths, d, all, &t);
	*new = MPI_Type_toint(t);
	free(all);
	free(d);
}

void mpi_comm_create_errhandler_(void (*f)(void), int *errhandler, int *ierror);

FORTRAN_ROUTINE(errhandler_create, (void (*f)(void), int *errhandler, int *ierror))
{
	mpi_comm_create_errhandler_(f, errhandler, ierror);
}

FORTRAN_ROUTINE(errhandler_set, (const int *comm, const int *errhandler, int *ierror))
{
	*ierror = MPI_Comm_set_errhandler(MPI_Comm_fromint(*comm),
		MPI_Errhandler_fromint(*errhandler));
}

FORTRAN_ROUTINE(errhandler_get, (const int *comm, int *errhandler, int *ierror))
{
	MPI_Errhandler c = MPI_ERRHANDLER_NULL;

	*ierror = MPI_Comm_get_errhandler(MPI_Comm_fromint(*comm), &c);
	*errhandler = MPI_Errhandler_toint(c);
}

static int
earlier_key_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	struct earlier_key *k = extra;
	int c = MPI_Comm_toint(comm), from = (int)(MPI_Aint)in, to = 0, err = MPI_SUCCESS;

	k->copy(&c, &keyval, &k->extra, &from, &to, flag, &err);
	if (*flag)
		*(void **)out = (void *)(MPI_Aint)to;
	return err;
}

static int
earlier_key_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
	struct earlier_key *k = extra;
	int c = MPI_Comm_toint(comm), v = (int)(MPI_Aint)value, err = MPI_SUCCESS;

	k->delete(&c, &keyval, &v, &k->extra, &err);
	return err;
}

FORTRAN_ROUTINE(keyval_create, (earlier_copy *copy, earlier_delete *delete, int *keyval,
	const int *extra, int *ierror))
{
	struct earlier_key *k = malloc(sizeof(*k));

	*ierror = MPI_ERR_NO_MEM;
	if (k == NULL)
		return;
	*k = (struct earlier_key){__atomic_load_n(&all_keys, __ATOMIC_RELAXED), copy, delete,
		*extra};
	while (!__atomic_compare_exchange_n(&all_keys, &k->next, k, 0, __ATOMIC_RELEASE,
		__ATOMIC_RELAXED))
		;
	*ierror = MPI_Comm_create_keyval(earlier_key_copy, earlier_key_delete, keyval, k);
}

FORTRAN_ROUTINE(attr_put, (const int *comm, const int *keyval, const int *value, int *ierror))
{
	*ierror = MPI_Comm_set_attr(MPI_Comm_fromint(*comm), *keyval, (void *)(MPI_Aint)*value);
}

void mpi_comm_get_attr_(const int *comm, const int *keyval, MPI_Aint *value, int *flag,
	int *ierror);

FORTRAN_ROUTINE(attr_get, (const int *comm, const int *keyval, int *value, int *flag, int *ierror))
{
	MPI_Aint v = 0;

	mpi_comm_get_attr_(comm, keyval, &v, flag, ierror);
	if (*ierror == MPI_SUCCESS && *flag)
		*value = (int)v;
}

FORTRAN_ROUTINE(null_copy_fn, (int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
	int *ierror))
{
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 0;
	*ierror = MPI_SUCCESS;
}

FORTRAN_ROUTINE(dup_fn, (int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
	int *ierror))
{
	(void)comm, (void)keyval, (void)extra;
	*out = *in;
	*flag = 1;
	*ierror = MPI_SUCCESS;
}

FORTRAN_ROUTINE(null_delete_fn, (int *comm, int *keyval, int *value, int *extra, int *ierror))
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	*ierror = MPI_SUCCESS;
}
