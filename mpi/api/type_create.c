/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes: constructors.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/core/derived.h>

#define LISTS 6

/* A type in the making: arguments as the constructors want them, and the copies made for that. */
struct making {
	struct call *call;
	struct type_arguments a;
	MPI_Count *copy[LISTS];
	int copies;
	struct type **types;
	int err;
};

/* A copy of an array of the program's; NULL, and the error is noted. */
static const MPI_Count *
list(struct making *m, struct numbers n, MPI_Count count)
{
	MPI_Count *copy;

	if (m->err == MPI_SUCCESS && count > 0 && n.array == NULL)
		m->err = MPI_ERR_ARG;
	if (m->err != MPI_SUCCESS)
		return NULL;
	copy = malloc(((size_t)count + 1) * sizeof(*copy));
	if (copy == NULL) {
		m->err = MPI_ERR_NO_MEM;
		return NULL;
	}
	for (MPI_Count i = 0; i < count; i++)
		copy[i] = numbers_at(n, (size_t)i);
	m->copy[m->copies++] = copy;
	return copy;
}

/* The same for numbers that must not be negative. */
static const MPI_Count *
lengths(struct making *m, struct numbers n, MPI_Count count)
{
	const MPI_Count *copy = list(m, n, count);

	for (MPI_Count i = 0; copy != NULL && i < count; i++)
		if (copy[i] < 0)
			m->err = MPI_ERR_ARG;
	return copy;
}

static void
length(struct making *m, MPI_Count n)
{
	if (n < 0 && m->err == MPI_SUCCESS)
		m->err = MPI_ERR_ARG;
}

static struct making
making(struct call *call, int combiner, MPI_Count count, struct type *old)
{
	return (struct making){.call = call, .a = {.combiner = combiner, .large = call->large,
		.count = count, .old = old}};
}

static void
clean_up(struct making *m)
{
	for (int i = 0; i < m->copies; i++)
		free(m->copy[i]);
	free(m->types);
}

static int
type_create_give(struct making *m, struct type *t, MPI_Datatype *newtype)
{
	if (m->err == MPI_SUCCESS)
		m->err = mpi_type_give(m->call->self, t, newtype);
	clean_up(m);
	return m->err;
}

static int
build(struct making *m, MPI_Datatype *newtype)
{
	struct type *t = NULL;

	if (m->err == MPI_SUCCESS)
		m->err = mpi_type_make(&m->a, &t);
	return type_create_give(m, t, newtype);
}

int
impl_Type_contiguous(struct call *call, const struct args_Type_contiguous *a)
{
	struct making m = making(call, MPI_COMBINER_CONTIGUOUS, a->count, a->oldtype);

	return build(&m, a->newtype);
}

int
impl_Type_vector(struct call *call, const struct args_Type_vector *a)
{
	struct making m = making(call, MPI_COMBINER_VECTOR, a->count, a->oldtype);

	length(&m, a->blocklength);
	m.a.block = a->blocklength;
	m.a.stride = a->stride;
	return build(&m, a->newtype);
}

int
impl_Type_create_hvector(struct call *call, const struct args_Type_create_hvector *a)
{
	struct making m = making(call, MPI_COMBINER_HVECTOR, a->count, a->oldtype);

	length(&m, a->blocklength);
	m.a.block = a->blocklength;
	m.a.stride = a->stride;
	return build(&m, a->newtype);
}

int
impl_Type_indexed(struct call *call, const struct args_Type_indexed *a)
{
	struct making m = making(call, MPI_COMBINER_INDEXED, a->count, a->oldtype);

	m.a.blocks = lengths(&m, a->array_of_blocklengths, a->count);
	m.a.displacements = list(&m, a->array_of_displacements, a->count);
	return build(&m, a->newtype);
}

int
impl_Type_create_hindexed(struct call *call, const struct args_Type_create_hindexed *a)
{
	struct making m = making(call, MPI_COMBINER_HINDEXED, a->count, a->oldtype);

	m.a.blocks = lengths(&m, a->array_of_blocklengths, a->count);
	m.a.displacements = list(&m, a->array_of_displacements, a->count);
	return build(&m, a->newtype);
}

int
impl_Type_create_indexed_block(struct call *call, const struct args_Type_create_indexed_block *a)
{
	struct making m = making(call, MPI_COMBINER_INDEXED_BLOCK, a->count, a->oldtype);

	length(&m, a->blocklength);
	m.a.block = a->blocklength;
	m.a.displacements = list(&m, a->array_of_displacements, a->count);
	return build(&m, a->newtype);
}

int
impl_Type_create_hindexed_block(struct call *call, const struct args_Type_create_hindexed_block *a)
{
	struct making m = making(call, MPI_COMBINER_HINDEXED_BLOCK, a->count, a->oldtype);

	length(&m, a->blocklength);
	m.a.block = a->blocklength;
	m.a.displacements = list(&m, a->array_of_displacements, a->count);
	return build(&m, a->newtype);
}

/* The types of a structure's members. */
static void
resolve(struct making *m, const MPI_Datatype *handles)
{
	if (m->err == MPI_SUCCESS && m->a.count > 0 && handles == NULL)
		m->err = MPI_ERR_ARG;
	if (m->err != MPI_SUCCESS)
		return;
	m->a.types = m->types = malloc(((size_t)m->a.count + 1) * sizeof(struct type *));
	if (m->types == NULL)
		m->err = MPI_ERR_NO_MEM;
	for (MPI_Count i = 0; m->err == MPI_SUCCESS && i < m->a.count; i++)
		m->err = call_type(m->call, handles[i], &m->types[i]);
}

int
impl_Type_create_struct(struct call *call, const struct args_Type_create_struct *a)
{
	struct making m = making(call, MPI_COMBINER_STRUCT, a->count, NULL);

	m.a.blocks = lengths(&m, a->array_of_blocklengths, a->count);
	m.a.displacements = list(&m, a->array_of_displacements, a->count);
	resolve(&m, a->array_of_types);
	return build(&m, a->newtype);
}

int
impl_Type_create_resized(struct call *call, const struct args_Type_create_resized *a)
{
	struct making m = making(call, MPI_COMBINER_RESIZED, 0, a->oldtype);

	m.a.lb = a->lb;
	m.a.extent = a->extent;
	return build(&m, a->newtype);
}

int
impl_Type_dup(struct call *call, const struct args_Type_dup *a)
{
	struct making m = making(call, MPI_COMBINER_DUP, 0, a->oldtype);
	struct attr_object from, to;
	struct type *t;
	MPI_Datatype new;
	int err = build(&m, &new);

	if (err != MPI_SUCCESS)
		return err;
	t = mpi_type_find(new);
	err = mpi_type_attributes(call->self, a->oldtype, &from) &&
		mpi_type_attributes(call->self, t, &to) ?
		mpi_attr_copy(call->self, from, to) : MPI_ERR_NO_MEM;
	if (err != MPI_SUCCESS) {
		mpi_type_take_back(call->self, t);
		return err;
	}
	*a->newtype = new;
	return MPI_SUCCESS;
}

static int
build_array(struct making *m, struct array_arguments *a, MPI_Datatype *newtype)
{
	struct type *t = NULL;

	a->large = m->call->large;
	if (m->err == MPI_SUCCESS && a->dimensions < 1)
		m->err = MPI_ERR_DIMS;
	if (m->err == MPI_SUCCESS && a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN)
		m->err = MPI_ERR_ARG;
	if (m->err == MPI_SUCCESS)
		m->err = mpi_type_make_array(a, &t);
	return type_create_give(m, t, newtype);
}

int
impl_Type_create_subarray(struct call *call, const struct args_Type_create_subarray *a)
{
	struct making m = making(call, MPI_COMBINER_SUBARRAY, 0, a->oldtype);
	struct array_arguments array = {.combiner = MPI_COMBINER_SUBARRAY, .dimensions = a->ndims,
		.order = a->order, .old = a->oldtype};

	length(&m, a->ndims);
	array.sizes = list(&m, a->array_of_sizes, a->ndims);
	array.subsizes = list(&m, a->array_of_subsizes, a->ndims);
	array.starts = list(&m, a->array_of_starts, a->ndims);
	return build_array(&m, &array, a->newtype);
}

int
impl_Type_create_darray(struct call *call, const struct args_Type_create_darray *a)
{
	struct making m = making(call, MPI_COMBINER_DARRAY, 0, a->oldtype);
	struct array_arguments array = {.combiner = MPI_COMBINER_DARRAY, .dimensions = a->ndims,
		.order = a->order, .old = a->oldtype,
		.size = a->size, .rank = a->rank};

	length(&m, a->ndims);
	array.sizes = list(&m, a->array_of_gsizes, a->ndims);
	array.distributions = list(&m, NUMBERS(a->array_of_distribs), a->ndims);
	array.arguments = list(&m, NUMBERS(a->array_of_dargs), a->ndims);
	array.grid = list(&m, NUMBERS(a->array_of_psizes), a->ndims);
	return build_array(&m, &array, a->newtype);
}

static int
by_precision(struct call *call, int combiner, int precision, int range, MPI_Datatype *newtype)
{
	struct type *t;
	int err = mpi_type_f90(call->self, combiner, precision, range, &t);

	if (err == MPI_SUCCESS)
		*newtype = mpi_type_handle(call->self, t);
	return err;
}

int
impl_Type_create_f90_real(struct call *call, const struct args_Type_create_f90_real *a)
{
	return by_precision(call, MPI_COMBINER_F90_REAL, a->p, a->r, a->newtype);
}

int
impl_Type_create_f90_complex(struct call *call, const struct args_Type_create_f90_complex *a)
{
	return by_precision(call, MPI_COMBINER_F90_COMPLEX, a->p, a->r, a->newtype);
}

int
impl_Type_create_f90_integer(struct call *call, const struct args_Type_create_f90_integer *a)
{
	return by_precision(call, MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, a->r, a->newtype);
}
