/* SPDX-License-Identifier: MIT
 *
 * Pairs of a value and an index that have no name, laid out as a C structure of the two. One is
 * made when it is first asked for and belongs to the rank; asking again gives the same one.
 * MPI_MINLOC and MPI_MAXLOC take them.
 *
 * Source: MPI 5.0, 6.9.4.
 */
#include <string.h>
#include <mpi/core/derived.h>
#include <mpi/core/op_pair.h>
#include <mpi/core/rank.h>

static struct derived *
known(const struct mpi_rank *self, const struct type *value, const struct type *index)
{
	for (struct derived *d = self->unnamed_types; d != NULL; d = d->next) {
		const struct contents *c = &d->contents;

		if (c->combiner == MPI_COMBINER_VALUE_INDEX && c->type[0] == value &&
			c->type[1] == index)
			return d;
	}
	return NULL;
}

static MPI_Count
index_at(const struct type *value, const struct type *index)
{
	return (value->extent + index->align - 1) / index->align * index->align;
}

static int
type_pair_make(struct mpi_rank *self, struct type *value, struct type *index, struct type **t)
{
	const MPI_Count ones[] = {1, 1}, at[] = {0, index_at(value, index)};
	struct type *const parts[] = {value, index};
	struct type_arguments a = {.combiner = MPI_COMBINER_STRUCT, .count = 2, .blocks = ones,
		.displacements = at, .types = parts};
	int err = mpi_type_make(&a, t);
	struct derived *d;
	MPI_Datatype handle;

	if (err == MPI_SUCCESS)
		err = mpi_type_give(self, *t, &handle);
	if (err != MPI_SUCCESS)
		return err;
	d = derived_of(*t);
	d->contents.combiner = MPI_COMBINER_VALUE_INDEX;
	d->contents.integers = d->contents.addresses = d->contents.counts = 0;
	d->type.flags |= TYPE_UNNAMED | TYPE_COMMITTED;
	d->next = self->unnamed_types;
	self->unnamed_types = d;
	return MPI_SUCCESS;
}

int
mpi_type_pair(struct mpi_rank *self, struct type *value, struct type *index, struct type **t)
{
	struct derived *d = known(self, value, index);

	*t = d ? &d->type : NULL;
	/*
	 * values are numbers with an order; indices whole numbers, but for Fortran's pairs, which
	 * have names
	 */
	if (d != NULL || value->basic < BASIC_I8 || value->basic > BASIC_FLD ||
			index->basic < BASIC_I8 || index->basic > BASIC_U64)
		return MPI_SUCCESS;
	return type_pair_make(self, value, index, t);
}

bool
mpi_type_is_pair(const struct type *t)
{
	return (t->flags & TYPE_UNNAMED) && ((const struct derived *)t)->contents.combiner ==
		MPI_COMBINER_VALUE_INDEX;
}

/* Below 0, 0 or above: how a is to b. */
#define COMPARE(c) \
	do { \
		c x, y; \
		memcpy(&x, a, sizeof(x)); \
		memcpy(&y, b, sizeof(y)); \
		return x < y ? -1 : x > y; \
	} while (0)

static int
compare(enum basic basic, const char *a, const char *b)
{
	switch (basic) {
	case BASIC_I8: COMPARE(int8_t);
	case BASIC_I16: COMPARE(int16_t);
	case BASIC_I32: COMPARE(int32_t);
	case BASIC_I64: COMPARE(int64_t);
	case BASIC_U8: COMPARE(uint8_t);
	case BASIC_U16: COMPARE(uint16_t);
	case BASIC_U32: COMPARE(uint32_t);
	case BASIC_U64: COMPARE(uint64_t);
	case BASIC_F32: COMPARE(float);
	case BASIC_F64: COMPARE(double);
	default: COMPARE(long double);
	}
}

struct pairing
mpi_pairing(const struct type *t, bool larger)
{
	const struct contents *c = &((const struct derived *)t)->contents;

	return (struct pairing){
		.value = c->type[0]->basic, .index = c->type[1]->basic,
			.index_at = (size_t)index_at(c->type[0], c->type[1]),
		.extent = (size_t)t->extent, .larger = larger,
	};
}

void
mpi_pairing_apply(const struct pairing *p, const void *in, void *inout, size_t count)
{
	const char *a = in;
	char *b = inout;

	for (size_t i = 0; i < count; i++, a += p->extent, b += p->extent) {
		int value = compare(p->value, a, b);

		if (p->larger ? value > 0 : value < 0)
			memcpy(b, a, p->extent);
		else if (value == 0 && compare(p->index, a + p->index_at, b + p->index_at) < 0)
			memcpy(b, a, p->extent);
	}
}
