/* SPDX-License-Identifier: MIT
 *
 * Types by Fortran's precision and range: predefined, but without a name. One is made when it is
 * first asked for and belongs to the rank; asking again gives the same one.
 *
 * Source: MPI 5.0, 19.1.5.
 */
#include <float.h>
#include <mpi/core/derived.h>
#include <mpi/core/rank.h>

/* a kind of numbers: decimal digits, range of exponents, or digits of an integer */
struct kind {
	int precision;
	int range;
	MPI_Datatype type;
};

static const struct kind reals[] = {
	{FLT_DIG, 37, MPI_REAL4}, {DBL_DIG, 307, MPI_REAL8}, {LDBL_DIG, 4931, MPI_LONG_DOUBLE},
		{0, 0, NULL},
};
static const struct kind complexes[] = {
	{FLT_DIG, 37, MPI_COMPLEX8}, {DBL_DIG, 307, MPI_COMPLEX16},
		{LDBL_DIG, 4931, MPI_C_LONG_DOUBLE_COMPLEX}, {0, 0, NULL},
};
static const struct kind integers[] = {
	{0, 2, MPI_INTEGER1}, {0, 4, MPI_INTEGER2}, {0, 9, MPI_INTEGER4}, {0, 18, MPI_INTEGER8},
		{0, 0, NULL},
};

/* The smallest kind that has the precision and the range; MPI_UNDEFINED asks for nothing. */
static struct type *
smallest(const struct kind *k, int precision, int range)
{
	for (; k->type != NULL; k++)
		if ((precision == MPI_UNDEFINED || k->precision >= precision) &&
				(range == MPI_UNDEFINED || k->range >= range))
			return mpi_type_find(k->type);
	return NULL;
}

static struct derived *
known(const struct mpi_rank *self, int combiner, MPI_Count a, MPI_Count b)
{
	for (struct derived *d = self->unnamed_types; d != NULL; d = d->next) {
		const struct contents *c = &d->contents;

		if (c->combiner == combiner && c->values[0] == a &&
			(c->integers < 2 || c->values[1] == b))
			return d;
	}
	return NULL;
}

static struct derived *
type_f90_make(struct mpi_rank *self, int combiner, const MPI_Count *values, const struct type *like)
{
	struct argument list[] = {{'i', combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2, values},
		{0, 0, NULL}};
	struct derived *d = mpi_derived_new(combiner, false, list, NULL, 0);
	MPI_Datatype handle;

	if (d == NULL)
		return NULL;
	d->shape = *mpi_type_shape(like);
	d->type = *like;
	d->type.flags = (d->type.flags & (uint8_t)~TYPE_PREDEFINED) | TYPE_UNNAMED;
	if (mpi_type_give(self, &d->type, &handle) != MPI_SUCCESS)
		return NULL;
	d->next = self->unnamed_types;
	self->unnamed_types = d;
	return d;
}

int
mpi_type_f90(struct mpi_rank *self, int combiner, int precision, int range, struct type **t)
{
	const struct kind *kinds = combiner == MPI_COMBINER_F90_REAL ? reals
		: combiner == MPI_COMBINER_F90_COMPLEX ? complexes : integers;
	bool integer = combiner == MPI_COMBINER_F90_INTEGER;
	MPI_Count values[] = {integer ? range : precision, range};
	struct type *like = NULL;
	struct derived *d;

	if (integer ? range != MPI_UNDEFINED : precision != MPI_UNDEFINED || range != MPI_UNDEFINED)
		like = smallest(kinds, integer ? MPI_UNDEFINED : precision, range);
	if (like == NULL)
		return MPI_ERR_ARG;
	d = known(self, combiner, values[0], values[1]);
	if (d == NULL)
		d = type_f90_make(self, combiner, values, like);
	*t = d ? &d->type : NULL;
	return d ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
