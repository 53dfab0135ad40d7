/* SPDX-License-Identifier: MIT
 *
 * Constructors of derived types. Each notes its arguments, makes the shape and computes the bounds;
 * nothing is left behind if a number gets too large.
 *
 * Bounds are those of the members, so that bounds set by MPI_Type_create_resized count for the
 * member that has them only.
 */
#include <stdlib.h>
#include <mpi/core/derived.h>

/* Bounds of what has been put together. */
struct bounds {
	MPI_Count lb;
	MPI_Count ub;
	MPI_Count true_lb;
	MPI_Count true_ub;
	MPI_Count size;
	uint8_t align;
	bool any;
	bool overflow;
};

static struct bounds
bounds_of(const struct type *t)
{
	/* what has neither data nor bounds of its own is nowhere */
	bool any = t->size > 0 || t->lb != 0 || t->extent != 0;
	struct bounds b = {.lb = t->lb, .true_lb = t->true_lb, .size = t->size, .align = t->align,
		.any = any};

	b.overflow = __builtin_add_overflow(t->lb, t->extent, &b.ub);
	b.overflow |= __builtin_add_overflow(t->true_lb, t->true_extent, &b.true_ub);
	return b;
}

static void
move_bound(struct bounds *b, MPI_Count *bound, MPI_Count by)
{
	b->overflow |= __builtin_add_overflow(*bound, by, bound);
}

/* The same `count` times, `stride` bytes apart. */
static void
bounds_repeat(struct bounds *b, MPI_Count count, MPI_Count stride)
{
	MPI_Count way;

	b->overflow |= __builtin_mul_overflow(b->size, count, &b->size);
	if (count == 0 || !b->any) {
		*b = (struct bounds){.overflow = b->overflow};
		return;
	}
	b->overflow |= __builtin_mul_overflow(count - 1, stride, &way);
	move_bound(b, way < 0 ? &b->lb : &b->ub, way);
	move_bound(b, way < 0 ? &b->true_lb : &b->true_ub, way);
}

static MPI_Count
smaller(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

static MPI_Count
larger(MPI_Count a, MPI_Count b)
{
	return a > b ? a : b;
}

/* Another member, `at` bytes from the origin. */
static void
bounds_add(struct bounds *all, struct bounds b, MPI_Count at)
{
	if (!b.any)
		return;
	move_bound(&b, &b.lb, at);
	move_bound(&b, &b.ub, at);
	move_bound(&b, &b.true_lb, at);
	move_bound(&b, &b.true_ub, at);
	b.overflow |= all->overflow;
	if (all->any) {
		b.lb = smaller(b.lb, all->lb);
		b.ub = larger(b.ub, all->ub);
		b.align = all->align > b.align ? all->align : b.align;
	}
	if (all->any && all->size > 0) {
		b.true_lb = b.size > 0 ? smaller(b.true_lb, all->true_lb) : all->true_lb;
		b.true_ub = b.size > 0 ? larger(b.true_ub, all->true_ub) : all->true_ub;
	}
	b.overflow |= __builtin_add_overflow(b.size, all->size, &b.size);
	*all = b;
}

/* The bounds must be known to be right before the shape is made. */
static int
bounds_set(struct derived *d, const struct bounds *b)
{
	struct type *t = &d->type;
	bool overflow = b->overflow;

	t->lb = b->lb;
	t->align = b->align > 0 ? b->align : 1;
	t->size = b->size;
	t->true_lb = b->size > 0 ? b->true_lb : 0;
	overflow |= __builtin_sub_overflow(b->ub, b->lb, &t->extent);
	overflow |= __builtin_sub_overflow(b->true_ub, b->true_lb, &t->true_extent);
	if (b->size == 0)
		t->true_extent = 0;
	return overflow ? MPI_ERR_VALUE_TOO_LARGE : MPI_SUCCESS;
}

/* What a transfer wants to know at once. */
static void
type_make_finish(struct derived *d)
{
	struct type *t = &d->type;

	if (t->size == 0 || shape_is_plain(&d->shape, (MPI_Aint)t->extent))
		t->flags |= TYPE_PLAIN;
}

static int
make_contiguous(struct derived *d, const struct type_arguments *a)
{
	struct bounds b = bounds_of(a->old);
	int err;

	bounds_repeat(&b, a->count, a->old->extent);
	err = bounds_set(d, &b);
	if (err == MPI_SUCCESS)
		mpi_shape_repeat(&d->shape, mpi_type_shape(a->old), a->count,
			(MPI_Aint)a->old->extent, 0);
	return err;
}

static int
make_vector(struct derived *d, const struct type_arguments *a, MPI_Count unit)
{
	struct bounds b = bounds_of(a->old);
	MPI_Count stride;
	int err;

	b.overflow |= __builtin_mul_overflow(a->stride, unit, &stride);
	bounds_repeat(&b, a->block, a->old->extent);
	bounds_repeat(&b, a->count, stride);
	err = bounds_set(d, &b);
	if (err != MPI_SUCCESS)
		return err;
	mpi_shape_repeat(&d->room[0], mpi_type_shape(a->old), a->block, (MPI_Aint)a->old->extent,
		0);
	mpi_shape_repeat(&d->shape, &d->room[0], a->count, (MPI_Aint)stride, 0);
	return MPI_SUCCESS;
}

static int
make_blocks(struct derived *d, const struct block_list *blocks, const struct type *old)
{
	struct bounds all = {.size = 0};
	int err;

	for (MPI_Count i = 0; i < blocks->count; i++) {
		struct bounds b = bounds_of(old);
		MPI_Count at;

		b.overflow |= __builtin_mul_overflow(blocks->at[i], blocks->unit, &at);
		bounds_repeat(&b, blocks_length(blocks, i), old->extent);
		bounds_add(&all, b, at);
		if (all.overflow)
			return MPI_ERR_VALUE_TOO_LARGE;
	}
	err = bounds_set(d, &all);
	if (err == MPI_SUCCESS && mpi_shape_blocks(d->room, blocks, mpi_type_shape(old),
			(MPI_Aint)old->extent, &d->lists) != 0)
		err = MPI_ERR_NO_MEM;
	d->shape = d->room[0];
	return err;
}

static int
make_indexed(struct derived *d, const struct type_arguments *a, MPI_Count unit)
{
	struct block_list b = {.count = a->count, .block = a->block, .blocks = a->blocks,
		.at = a->displacements, .unit = unit};

	return make_blocks(d, &b, a->old);
}

/* Bounds of a structure: its extent keeps the members of the next one aligned. */
static int
struct_bounds(struct derived *d, const struct type_arguments *a)
{
	struct bounds all = {.size = 0};
	MPI_Count rest;

	for (MPI_Count i = 0; i < a->count; i++) {
		struct bounds b = bounds_of(a->types[i]);

		bounds_repeat(&b, a->blocks[i], a->types[i]->extent);
		bounds_add(&all, b, a->displacements[i]);
		if (all.overflow)
			return MPI_ERR_VALUE_TOO_LARGE;
	}
	rest = a->count > 1 && all.any && !__builtin_sub_overflow(all.ub, all.lb, &rest) ?
		rest % all.align : 0;
	if (rest > 0)
		move_bound(&all, &all.ub, all.align - rest);
	return bounds_set(d, &all);
}

static int
make_struct(struct derived *d, const struct type_arguments *a)
{
	struct part *parts;
	int err = struct_bounds(d, a);

	if (err != MPI_SUCCESS)
		return err;
	parts = malloc((size_t)(a->count + 1) * sizeof(*parts));
	if (parts == NULL)
		return MPI_ERR_NO_MEM;
	for (MPI_Count i = 0; i < a->count; i++)
		parts[i] = (struct part){.at = (MPI_Aint)a->displacements[i], .count = a->blocks[i],
			.stride = (MPI_Aint)a->types[i]->extent,
			.of = mpi_type_shape(a->types[i])};
	if (mpi_shape_parts(&d->shape, parts, a->count, &d->lists) != 0)
		err = MPI_ERR_NO_MEM;
	free(parts);
	return err;
}

/* All members of one type: a list of blocks. */
static bool
is_of_one_type(const struct type_arguments *a)
{
	for (MPI_Count i = 1; i < a->count; i++)
		if (a->types[i] != a->types[0])
			return false;
	return a->count > 0;
}

static int
make_struct_of_one(struct derived *d, const struct type_arguments *a)
{
	struct block_list b = {.count = a->count, .blocks = a->blocks, .at = a->displacements,
		.unit = 1};
	int err = make_blocks(d, &b, a->types[0]);

	return err == MPI_SUCCESS ? struct_bounds(d, a) : err;
}

static int
make_resized(struct derived *d, const struct type_arguments *a)
{
	struct bounds b = bounds_of(a->old);

	b.lb = a->lb;
	b.overflow |= __builtin_add_overflow(a->lb, a->extent, &b.ub);
	d->shape = *mpi_type_shape(a->old);
	return bounds_set(d, &b);
}

static int
make_dup(struct derived *d, const struct type_arguments *a)
{
	struct bounds b = bounds_of(a->old);

	d->shape = *mpi_type_shape(a->old);
	d->type.flags |= a->old->flags & TYPE_COMMITTED;
	return bounds_set(d, &b);
}

static int
type_make_make(struct derived *d, const struct type_arguments *a)
{
	switch (a->combiner) {
	case MPI_COMBINER_DUP:
		return make_dup(d, a);
	case MPI_COMBINER_CONTIGUOUS:
		return make_contiguous(d, a);
	case MPI_COMBINER_VECTOR:
		return make_vector(d, a, a->old->extent);
	case MPI_COMBINER_HVECTOR:
		return make_vector(d, a, 1);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
		return make_indexed(d, a, a->old->extent);
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return make_indexed(d, a, 1);
	case MPI_COMBINER_RESIZED:
		return make_resized(d, a);
	default:
		return is_of_one_type(a) ? make_struct_of_one(d, a) : make_struct(d, a);
	}
}

/*
 * The arguments of each constructor, in the order of its parameters; the first with class 0 ends
 * them.
 */
static struct derived *
type_make_start(const struct type_arguments *a)
{
	bool has_count = a->combiner != MPI_COMBINER_DUP && a->combiner != MPI_COMBINER_RESIZED;
	bool is_vector = a->combiner == MPI_COMBINER_VECTOR || a->combiner == MPI_COMBINER_HVECTOR;
	bool is_block = a->combiner == MPI_COMBINER_INDEXED_BLOCK ||
		a->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	bool in_elements = a->combiner == MPI_COMBINER_VECTOR ||
		a->combiner == MPI_COMBINER_INDEXED ||
		a->combiner == MPI_COMBINER_INDEXED_BLOCK;
	bool is_resized = a->combiner == MPI_COMBINER_RESIZED;
	struct argument list[] = {
		{'n', has_count, &a->count},
		{'n', is_vector || is_block, &a->block},
		{'n', a->blocks ? a->count : 0, a->blocks},
		{in_elements ? 'n' : 'd', is_vector, &a->stride},
		{in_elements ? 'n' : 'd', a->displacements ? a->count : 0, a->displacements},
		{'d', is_resized, &a->lb},
		{'d', is_resized, &a->extent},
		{0, 0, NULL},
	};
	bool many = a->combiner == MPI_COMBINER_STRUCT;

	return mpi_derived_new(a->combiner, a->large, list, many ? a->types : &a->old,
		many ? a->count : 1);
}

int
mpi_type_make(const struct type_arguments *a, struct type **new)
{
	struct derived *d = type_make_start(a);
	int err;

	if (d == NULL)
		return MPI_ERR_NO_MEM;
	err = type_make_make(d, a);
	if (err != MPI_SUCCESS) {
		mpi_type_release(&d->type);
		return err;
	}
	type_make_finish(d);
	*new = &d->type;
	return MPI_SUCCESS;
}
