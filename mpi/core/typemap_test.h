/* SPDX-License-Identifier: MIT
 *
 * For tests: type maps as the standard writes them, a list of (basic type, displacement) per type,
 * and nested types made at random, each with its map. Nothing here knows of shapes. Include in the
 * one file of a test.
 */
#ifndef MPI_CORE_TYPEMAP_TEST_H
#define MPI_CORE_TYPEMAP_TEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <mpi/core/derived.h>

#define MAP_MAX 3000

struct map_entry {
	int size;
	int rep;
	long at;
};

struct map {
	struct type *type;
	int entries;
	struct map_entry entry[MAP_MAX];
	long lb;
	long ub;
	int align;
	int any;			/* lb and ub mean something */
};

static uint64_t map_seed;

/* A number below n. */
static inline long
map_random(long n)
{
	map_seed ^= map_seed << 13;
	map_seed ^= map_seed >> 7;
	map_seed ^= map_seed << 17;
	return (long)(map_seed >> 11) % n;
}

static inline void
map_basic(struct map *m)
{
	static const struct { MPI_Datatype handle; int size[2]; int rep[2]; long at[2]; int extent;
		int align; } all[] = {
		{MPI_CHAR, {1, 0}, {REP_BYTE, 0}, {0, 0}, 1, 1},
		{MPI_SHORT, {2, 0}, {REP_I16, 0}, {0, 0}, 2, 2},
		{MPI_INT, {4, 0}, {REP_I32, 0}, {0, 0}, 4, 4},
		{MPI_FLOAT, {4, 0}, {REP_F32, 0}, {0, 0}, 4, 4},
		{MPI_DOUBLE, {8, 0}, {REP_F64, 0}, {0, 0}, 8, 8},
		{MPI_LONG_DOUBLE, {sizeof(long double), 0}, {REP_FLD, 0}, {0, 0},
			sizeof(long double), _Alignof(long double)},
		{MPI_C_DOUBLE_COMPLEX, {16, 0}, {REP_C64, 0}, {0, 0}, 16, 8},
		{MPI_DOUBLE_INT, {8, 4}, {REP_F64, REP_I32}, {0, 8}, 16, 8},
		{MPI_SHORT_INT, {2, 4}, {REP_I16, REP_I32}, {0, 4}, 8, 4},
	};
	long i = map_random(sizeof(all) / sizeof(all[0]));

	*m = (struct map){.type = mpi_type_find(all[i].handle), .ub = all[i].extent,
		.align = all[i].align, .any = 1};
	for (int k = 0; k < 2 && all[i].size[k] > 0; k++)
		m->entry[m->entries++] = (struct map_entry){all[i].size[k], all[i].rep[k],
			all[i].at[k]};
}

static inline long
map_extent(const struct map *m)
{
	return m->any ? m->ub - m->lb : 0;
}

/* `times` elements of `old` at `at`. Returns 0 if the map gets too long. */
static inline int
map_add(struct map *m, const struct map *old, long times, long at)
{
	for (long i = 0; i < times; i++, at += map_extent(old)) {
		if (m->entries + old->entries > MAP_MAX)
			return 0;
		for (int k = 0; k < old->entries; k++) {
			m->entry[m->entries] = old->entry[k];
			m->entry[m->entries++].at += at;
		}
		if (!old->any)
			continue;
		m->lb = !m->any || old->lb + at < m->lb ? old->lb + at : m->lb;
		m->ub = !m->any || old->ub + at > m->ub ? old->ub + at : m->ub;
		m->align = old->align > m->align ? old->align : m->align;
		m->any = 1;
	}
	return 1;
}

#define MAP_FEW 6

struct map_arguments {
	MPI_Count blocks[MAP_FEW];
	MPI_Count at[MAP_FEW];
	struct type *types[MAP_FEW];
};

/* Blocks of one type. */
static inline int
map_blocks(struct map *m, const struct map *old, struct type_arguments *a, struct map_arguments *v)
{
	static const int combiners[] = {MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED,
		MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK};
	long at = map_random(20) - 5, extent = map_extent(old), step = map_random(4) == 0;

	a->combiner = combiners[map_random(4)];
	a->count = map_random(MAP_FEW + 1);
	a->block = map_random(4);
	a->displacements = v->at;
	if (a->combiner == MPI_COMBINER_INDEXED || a->combiner == MPI_COMBINER_HINDEXED)
		a->blocks = v->blocks;
	for (long i = 0; i < a->count; i++) {
		long n = a->blocks ? (v->blocks[i] = step ? 1 : map_random(4)) : a->block;
		long in_bytes = a->combiner == MPI_COMBINER_HINDEXED ||
			a->combiner == MPI_COMBINER_HINDEXED_BLOCK;

		v->at[i] = at;
		if (!map_add(m, old, n, in_bytes ? at : at * extent))
			return 0;
		/* now and then the next block touches this one */
		at += in_bytes ? n * extent : n;
		at += step ? 3 : map_random(3) * (in_bytes ? map_random(30) : 1);
	}
	return 1;
}

static inline int
map_vector(struct map *m, const struct map *old, struct type_arguments *a)
{
	long in_bytes = map_random(2);

	a->combiner = in_bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR;
	a->count = map_random(6);
	a->block = map_random(5);
	a->stride = in_bytes ? map_random(100) - 30 : map_random(12) - 3;
	for (long i = 0; i < a->count; i++)
		if (!map_add(m, old, a->block, i * a->stride * (in_bytes ? 1 : map_extent(old))))
			return 0;
	return 1;
}

static inline int
map_struct(struct map *m, const struct map *known, int count, struct type_arguments *a,
	struct map_arguments *v)
{
	long at = map_random(10);

	a->combiner = MPI_COMBINER_STRUCT;
	a->count = map_random(MAP_FEW + 1);
	a->blocks = v->blocks;
	a->displacements = v->at;
	a->types = v->types;
	for (long i = 0; i < a->count; i++) {
		const struct map *old = &known[map_random(count)];

		v->types[i] = old->type;
		v->blocks[i] = map_random(4);
		v->at[i] = at - (map_random(8) == 0 ? 3 : 0);
		if (!map_add(m, old, v->blocks[i], v->at[i]))
			return 0;
		at += v->blocks[i] * map_extent(old) + map_random(3) * map_random(9);
	}
	if (a->count > 1 && m->any && (m->ub - m->lb) % m->align != 0)
		m->ub += m->align - (m->ub - m->lb) % m->align;
	return 1;
}

/* A type made of known ones. Returns 0 if it would be too large; then nothing is made. */
static inline int
map_derive(struct map *m, const struct map *known, int count)
{
	const struct map *old = &known[map_random(count)];
	struct map_arguments v;
	struct type_arguments a = {.old = old->type};
	int fits;

	*m = (struct map){.align = 1};
	switch (map_random(8)) {
	case 0:
		a.combiner = MPI_COMBINER_DUP;
		fits = map_add(m, old, 1, 0);
		break;
	case 1:
		a.combiner = MPI_COMBINER_CONTIGUOUS;
		a.count = map_random(6);
		fits = map_add(m, old, a.count, 0);
		break;
	case 2:
		a.combiner = MPI_COMBINER_RESIZED;
		a.lb = map_random(20) - 10;
		a.extent = map_random(80) - 10;
		fits = map_add(m, old, 1, 0);
		m->lb = a.lb;
		m->ub = a.lb + a.extent;
		m->any = 1;
		break;
	case 3:
	case 4:
		fits = map_vector(m, old, &a);
		break;
	case 5:
	case 6:
		fits = map_blocks(m, old, &a, &v);
		break;
	default:
		fits = map_struct(m, known, count, &a, &v);
	}
	/* what has neither data nor bounds is nowhere */
	if (m->entries == 0 && m->lb == 0 && m->ub == 0)
		m->any = 0;
	return fits && mpi_type_make(&a, &m->type) == MPI_SUCCESS;
}

/* Least and largest displacement of a byte of data. */
static inline void
map_range(const struct map *m, long *low, long *high)
{
	*low = *high = 0;
	for (int i = 0; i < m->entries; i++) {
		const struct map_entry *e = &m->entry[i];

		*low = i == 0 || e->at < *low ? e->at : *low;
		*high = i == 0 || e->at + e->size > *high ? e->at + e->size : *high;
	}
}

/* The data of `count` elements, byte by byte: displacement of each byte. Returns how many. */
static inline long
map_bytes(const struct map *m, long count, long *at)
{
	long n = 0;

	for (long i = 0; i < count; i++)
		for (int k = 0; k < m->entries; k++)
			for (int b = 0; b < m->entry[k].size; b++)
				at[n++] = m->entry[k].at + i * map_extent(m) + b;
	return n;
}

#endif
