/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes: how a type was made, and which predefined one fits.
 */
#include <mpi_impl.h>
#include <mpi/core/derived.h>
#include <mpi/core/op_pair.h>

static const struct contents named = {.combiner = MPI_COMBINER_NAMED};

static const struct contents *
contents_of(const struct type *t)
{
	return t->flags & TYPE_PREDEFINED ? &named : &((const struct derived *)t)->contents;
}

int
impl_Type_get_envelope(struct call *call, const struct args_Type_get_envelope *a)
{
	const struct contents *c = contents_of(a->datatype);

	(void)call;
	if (c->large)
		return MPI_ERR_TYPE;
	*a->num_integers = (int)c->integers;
	*a->num_addresses = (int)c->addresses;
	*a->num_datatypes = (int)c->types;
	*a->combiner = c->combiner;
	return MPI_SUCCESS;
}

int
impl_Type_get_envelope_c(struct call *call, const struct args_Type_get_envelope_c *a)
{
	const struct contents *c = contents_of(a->datatype);

	(void)call;
	*a->num_integers = c->integers;
	*a->num_addresses = c->addresses;
	*a->num_large_counts = c->counts;
	*a->num_datatypes = c->types;
	*a->combiner = c->combiner;
	return MPI_SUCCESS;
}

/* Where the program wants the lists. */
struct wanted {
	MPI_Count max_integers;
	MPI_Count max_addresses;
	MPI_Count max_counts;
	MPI_Count max_types;
	int *integers;
	MPI_Aint *addresses;
	MPI_Count *counts;
	MPI_Datatype *types;
};

static int
check_room(const struct contents *c, const struct wanted *w)
{
	if (c->combiner == MPI_COMBINER_NAMED)
		return MPI_ERR_TYPE;
	if (w->max_integers < c->integers || w->max_addresses < c->addresses ||
			w->max_counts < c->counts || w->max_types < c->types)
		return MPI_ERR_ARG;
	if ((c->integers > 0 && !w->integers) || (c->addresses > 0 && !w->addresses) ||
		(c->counts > 0 && !w->counts) ||
		(c->types > 0 && !w->types))
		return MPI_ERR_ARG;
	return MPI_SUCCESS;
}

static int
type_contents_tell(struct mpi_rank *self, const struct contents *c, const struct wanted *w)
{
	int err = check_room(c, w);

	if (err != MPI_SUCCESS)
		return err;
	for (MPI_Count i = 0; i < c->integers; i++)
		w->integers[i] = (int)c->values[i];
	for (MPI_Count i = 0; i < c->addresses; i++)
		w->addresses[i] = (MPI_Aint)c->values[c->integers + i];
	for (MPI_Count i = 0; i < c->counts; i++)
		w->counts[i] = c->values[c->integers + c->addresses + i];
	for (MPI_Count i = 0; i < c->types && err == MPI_SUCCESS; i++) {
		struct type *t = c->type[i];

		/* those without a name are not given away: nobody may free them */
		if (mpi_type_is_predefined(t))
			w->types[i] = mpi_type_handle(self, t);
		else
			err = mpi_type_give(self, mpi_type_hold(t), &w->types[i]);
	}
	return err;
}

int
impl_Type_get_contents(struct call *call, const struct args_Type_get_contents *a)
{
	struct wanted w = {a->max_integers, a->max_addresses, 0, a->max_datatypes,
		a->array_of_integers, a->array_of_addresses, NULL,
		a->array_of_datatypes};
	const struct contents *c = contents_of(a->datatype);

	return c->large ? MPI_ERR_TYPE : type_contents_tell(call->self, c, &w);
}

int
impl_Type_get_contents_c(struct call *call, const struct args_Type_get_contents_c *a)
{
	struct wanted w = {a->max_integers, a->max_addresses, a->max_large_counts, a->max_datatypes,
		a->array_of_integers,
		a->array_of_addresses, a->array_of_large_counts, a->array_of_datatypes};

	return type_contents_tell(call->self, contents_of(a->datatype), &w);
}

struct fitting {
	int class;
	int size;
	MPI_Datatype type;
};

static const struct fitting by_size[] = {
	{MPI_TYPECLASS_REAL, 2, MPI_REAL2}, {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
		{MPI_TYPECLASS_REAL, 8, MPI_REAL8},
	{MPI_TYPECLASS_REAL, 16, MPI_REAL16}, {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
		{MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
	{MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4}, {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
		{MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
	{MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4}, {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
		{MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
	{MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
};

int
impl_Type_match_size(struct call *call, const struct args_Type_match_size *a)
{
	(void)call;
	for (size_t i = 0; i < sizeof(by_size) / sizeof(by_size[0]); i++)
		if (by_size[i].class == a->typeclass && by_size[i].size == a->size) {
			*a->datatype = by_size[i].type;
			return MPI_SUCCESS;
		}
	return MPI_ERR_ARG;
}

struct pair {
	MPI_Datatype value;
	MPI_Datatype index;
	MPI_Datatype pair;
};

static const struct pair pairs[] = {
	{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
		{MPI_LONG, MPI_INT, MPI_LONG_INT},
	{MPI_INT, MPI_INT, MPI_2INT}, {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
		{MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
	{MPI_REAL, MPI_REAL, MPI_2REAL}, {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION,
		MPI_2DOUBLE_PRECISION},
	{MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

/* MPI_DATATYPE_NULL where there can be no such pair. */
int
impl_Type_get_value_index(struct call *call, const struct args_Type_get_value_index *a)
{
	MPI_Datatype value, index;
	struct type *t;
	int err;

	if (!mpi_type_is_predefined(a->value_type) || !mpi_type_is_predefined(a->index_type))
		return MPI_ERR_TYPE;
	value = mpi_type_handle(call->self, a->value_type);
	index = mpi_type_handle(call->self, a->index_type);
	*a->pair_type = MPI_DATATYPE_NULL;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].value == value && pairs[i].index == index) {
			*a->pair_type = pairs[i].pair;
			return MPI_SUCCESS;
		}
	err = mpi_type_pair(call->self, a->value_type, a->index_type, &t);
	if (err == MPI_SUCCESS && t != NULL)
		*a->pair_type = mpi_type_handle(call->self, t);
	return err;
}
