/* SPDX-License-Identifier: MIT
 *
 * Types nested at random. Constructors and lengths come from the seed of the shape, displacements
 * and gaps from that of the layout: two types of one shape have the same signature and different
 * layouts. Elements never lie over one another.
 */
#include "differ.h"

#define FEW 5
#define SIZE_MAX_BYTES 2000

static const struct {
	MPI_Datatype type;
	int size;
} basics[] = {
	{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_LONG, 8}, {MPI_FLOAT, 4}, {MPI_DOUBLE, 8},
	{MPI_C_DOUBLE_COMPLEX, 16}, {MPI_UINT16_T, 2},
	{MPI_BYTE, 1}, {MPI_INT8_T, 1}, {MPI_UNSIGNED_LONG_LONG, 8}, {MPI_AINT, 8},
	{MPI_C_FLOAT_COMPLEX, 8}, {MPI_UNSIGNED_CHAR, 1},
	{MPI_DOUBLE_INT, 12}, {MPI_SHORT_INT, 6}, {MPI_2INT, 8},
};

#define BASICS 14
#define PAIRS 3

struct maker {
	struct dice shape;
	struct dice where;
	int basic;
	int small;
	int odd;
};

MPI_Datatype
type_basic(int number)
{
	return basics[number].type;
}

int
type_basics(void)
{
	return BASICS;
}

static struct made
leaf(struct maker *m)
{
	int n = m->basic >= 0 ? m->basic : below(&m->shape, BASICS + (m->small ? PAIRS : 0));

	m->odd |= n >= BASICS;
	return (struct made){.type = basics[n].type, .size = basics[n].size};
}

/*
 * Places for n blocks of some lengths, in any order, with gaps. Unit: elements, or bytes if `unit`
 * says how long an element is.
 */
static void
spread(struct maker *m, int n, const int *lengths, MPI_Aint *at, MPI_Aint unit)
{
	int order[FEW];
	MPI_Aint next = (below(&m->where, 4) - 1) * unit;

	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0 && below(&m->where, 2); i--) {
		int j = below(&m->where, i + 1), other = order[i];

		order[i] = order[j];
		order[j] = other;
	}
	for (int i = 0; i < n; i++) {
		at[order[i]] = next;
		next += lengths[order[i]] * unit + below(&m->where, 3) * (unit > 1 ? 8 : 1);
	}
}

static int
blocks(struct maker *m, MPI_Datatype old, MPI_Datatype *t)
{
	int n = below(&m->shape, FEW) + 1, even = below(&m->shape, 2),
		length = below(&m->shape, 3) + 1, bytes = below(&m->where, 2);
	int lengths[FEW], in_elements[FEW];
	MPI_Aint at[FEW], lb, extent;

	MPI_Type_get_extent(old, &lb, &extent);
	for (int i = 0; i < n; i++)
		lengths[i] = even ? length : below(&m->shape, 4);
	spread(m, n, lengths, at, bytes ? extent : 1);
	for (int i = 0; i < n; i++)
		in_elements[i] = (int)at[i];
	if (even && below(&m->where, 2))
		return bytes ? MPI_Type_create_hindexed_block(n, length, at, old, t) :
			MPI_Type_create_indexed_block(n, length, in_elements, old, t);
	return bytes ? MPI_Type_create_hindexed(n, lengths, at, old, t) :
		MPI_Type_indexed(n, lengths, in_elements, old, t);
}

static int
vector(struct maker *m, MPI_Datatype old, MPI_Datatype *t)
{
	int n = below(&m->shape, 4) + 1, length = below(&m->shape, 3) + 1,
		stride = length + below(&m->where, 3);
	int back = m->small && below(&m->where, 3) == 0;
	MPI_Aint lb, extent, bytes;

	MPI_Type_get_extent(old, &lb, &extent);
	bytes = length * extent + 8 * below(&m->where, 4);
	if (below(&m->where, 2))
		return MPI_Type_vector(n, length, back ? -stride : stride, old, t);
	return MPI_Type_create_hvector(n, length, back ? -bytes : bytes, old, t);
}

static int
subarray(struct maker *m, MPI_Datatype old, MPI_Datatype *t)
{
	int n = below(&m->shape, 3) + 1, sizes[3], subsizes[3], starts[3];

	for (int i = 0; i < n; i++) {
		subsizes[i] = below(&m->shape, 3) + 1;
		sizes[i] = subsizes[i] + below(&m->where, 3);
		starts[i] = below(&m->where, sizes[i] - subsizes[i] + 1);
	}
	return MPI_Type_create_subarray(n, sizes, subsizes, starts,
		below(&m->where, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, t);
}

static int
dealt(struct maker *m, MPI_Datatype old, MPI_Datatype *t)
{
	int n = below(&m->shape, 3) + 1, sizes[3], kinds[3], arguments[3], grid[3], size = 1, rank,
		order;

	for (int i = 0; i < n; i++) {
		sizes[i] = below(&m->shape, 6) + 1;
		grid[i] = below(&m->shape, 3) + 1;
		kinds[i] = below(&m->shape, 2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
		arguments[i] = kinds[i] == MPI_DISTRIBUTE_BLOCK ||
			below(&m->shape, 2) ? MPI_DISTRIBUTE_DFLT_DARG : below(&m->shape, 3) + 1;
		if (below(&m->shape, 4) == 0) {
			grid[i] = 1;
			kinds[i] = MPI_DISTRIBUTE_NONE;
		}
		size *= grid[i];
	}
	rank = below(&m->shape, size);
	order = below(&m->shape, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	return MPI_Type_create_darray(size, rank, n, sizes, kinds, arguments, grid, order, old, t);
}

static struct made build(struct maker *m, int depth);

/* Members at multiples of 16, so that every library agrees on the padding. */
static int
structure(struct maker *m, int depth, MPI_Datatype *t)
{
	int n = below(&m->shape, FEW - 1) + 1, lengths[FEW], result;
	struct made parts[FEW];
	MPI_Datatype types[FEW];
	MPI_Aint at[FEW], next = 16 * below(&m->where, 3), lb, extent;

	for (int i = 0; i < n; i++) {
		parts[i] = build(m, depth - 1);
		types[i] = parts[i].type;
		lengths[i] = below(&m->shape, 3) + 1;
		MPI_Type_get_extent(types[i], &lb, &extent);
		next += (-lb + 15) / 16 * 16;
		at[i] = next;
		next += (lb + lengths[i] * extent + 31) / 16 * 16 + 16 * below(&m->where, 2);
	}
	result = MPI_Type_create_struct(n, lengths, at, types, t);
	for (int i = 0; i < n; i++)
		type_drop(&parts[i]);
	return result;
}

static int
derive(struct maker *m, int kind, MPI_Datatype old, MPI_Datatype *t)
{
	switch (kind) {
	case 0: return MPI_Type_contiguous(below(&m->shape, 4) + 1, old, t);
	case 1:
	case 2: return vector(m, old, t);
	case 3:
	case 4: return blocks(m, old, t);
	case 5:
		m->odd = 1;
		return subarray(m, old, t);
	default:
		m->odd = 1;
		return dealt(m, old, t);
	}
}

/* What changes no signature. */
static MPI_Datatype
wrap(struct maker *m, MPI_Datatype t)
{
	MPI_Datatype wrapped = t;
	MPI_Aint lb, extent;

	int kind = below(&m->where, 8);

	m->odd |= kind < 2;
	MPI_Type_get_extent(t, &lb, &extent);
	switch (kind) {
	case 0: MPI_Type_dup(t, &wrapped); break;
	case 1: MPI_Type_create_resized(t, lb - 16 * below(&m->where, 2), (extent + 47) / 16 * 16,
	&wrapped); break;
	default: return t;
	}
	MPI_Type_free(&t);
	return wrapped;
}

static struct made
build(struct maker *m, int depth)
{
	struct made old, made = {.derived = 1};
	MPI_Datatype t = MPI_DATATYPE_NULL;

	if (depth == 0 || below(&m->shape, 5) == 0)
		return leaf(m);
	if (below(&m->shape, 4) == 0) {
		m->odd = 1;
		structure(m, depth, &t);
	} else {
		/* of arrays of types with bounds of their own, MPICH 5.0.2 has another opinion */
		int kind = below(&m->shape, 7);

		old = kind < 5 ? build(m, depth - 1) : leaf(m);
		derive(m, kind, old.type, &t);
		type_drop(&old);
	}
	made.type = wrap(m, t);
	MPI_Type_size(made.type, &made.size);
	if (made.size > 0)
		return made;
	/* where empty types have their bounds is every library's own affair */
	type_drop(&made);
	return build(m, depth);
}

struct made
type_make(const struct form *f)
{
	struct maker m = {.shape = dice_of(f->shape, 1, 0), .where = dice_of(f->where, 2, 0),
		.small = f->small};
	struct made made;

	m.basic = !f->plain ? -1 : f->basic >= 0 ? f->basic : below(&m.shape, BASICS);
	for (;;) {
		m.odd = 0;
		made = build(&m, below(&m.shape, 4));
		/* the same at both ends */
		if (made.size <= SIZE_MAX_BYTES)
			break;
		type_drop(&made);
	}
	made.odd = m.odd;
	if (made.derived)
		MPI_Type_commit(&made.type);
	return made;
}

void
type_drop(struct made *m)
{
	if (m->derived)
		MPI_Type_free(&m->type);
}

struct space
space_make(MPI_Datatype type, MPI_Aint last)
{
	MPI_Aint lb, extent, true_lb, true_extent, low, high;
	struct space s;

	MPI_Type_get_extent(type, &lb, &extent);
	MPI_Type_get_true_extent(type, &true_lb, &true_extent);
	low = true_lb < 0 ? true_lb : 0;
	high = true_lb + true_extent + (last > 0 ? last : 0) * extent;
	low = (low - GUARD - 15) / 16 * 16;
	s.len = (size_t)(high - low + GUARD);
	s.memory = calloc(1, s.len);
	s.at = s.memory - low;
	return s;
}

void
space_fill(struct space *s, uint64_t seed)
{
	uint64_t x = mix(seed, s->len);

	for (size_t i = 0; i < s->len; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		s->memory[i] = (char)(x >> 56);
	}
}

void
space_sum(const struct space *s, struct sum *sum)
{
	sum_bytes(sum, s->memory, s->len);
}

void
space_drop(struct space *s)
{
	free(s->memory);
}
