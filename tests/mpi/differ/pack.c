/* SPDX-License-Identifier: MIT
 *
 * Packing in two forms, and what types say of themselves.
 */
#include "differ.h"

#define PIECES 4

struct piece {
	struct made made;
	int count;
	struct space space;
	struct space copy;
};

static int
size_all(struct piece *of, int n)
{
	int all = 0, size;

	for (int i = 0; i < n; i++) {
		MPI_Pack_size(of[i].count, of[i].made.type, MPI_COMM_WORLD, &size);
		all += size;
	}
	return all;
}

/* Several values into one buffer, by way of another rank, and out again. */
static void
through(struct differ *d, struct piece *of, int n)
{
	int room = size_all(of, n), position = 0, len, to = (d->rank + 1) % d->size,
		from = (d->rank + d->size - 1) % d->size;
	char *packed = calloc(1, (size_t)room + 1), *got = calloc(1, (size_t)room + 1);
	MPI_Status s;

	for (int i = 0; i < n; i++)
		MPI_Pack(of[i].space.at, of[i].count, of[i].made.type, packed, room, &position,
			MPI_COMM_WORLD);
	MPI_Sendrecv(packed, position, MPI_PACKED, to, TAG_PACKED, got, room, MPI_PACKED, from,
		TAG_PACKED, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_PACKED, &len);
	position = 0;
	for (int i = 0; i < n; i++)
		MPI_Unpack(got, len, &position, of[i].copy.at, of[i].count, of[i].made.type,
			MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		space_sum(&of[i].copy, &d->sum);
	free(packed);
	free(got);
}

static void
external(struct differ *d, struct piece *p)
{
	MPI_Aint size, position = 0, back = 0;
	char *out;

	MPI_Pack_external_size("external32", p->count, p->made.type, &size);
	out = calloc(1, (size_t)size + 1);
	MPI_Pack_external("external32", p->space.at, p->count, p->made.type, out, size, &position);
	sum_number(&d->sum, position);
	sum_bytes(&d->sum, out, (size_t)position);
	MPI_Unpack_external("external32", out, position, &back, p->copy.at, p->count, p->made.type);
	sum_number(&d->sum, back);
	space_sum(&p->copy, &d->sum);
	free(out);
}

void
step_pack(struct differ *d, struct dice *dice)
{
	int n = 1 + below(dice, PIECES), converts = below(dice, 2);
	struct piece of[PIECES];

	n = n < d->most ? n : d->most;
	for (int i = 0; i < n; i++) {
		/*
		 * converted: nothing nested, for not all libraries can do so with structures in
		 * structures
		 */
		struct form f = {.shape = mix(dice->state, (uint64_t)i), .where = (uint64_t)i,
			.basic = -1, .small = 1};

		f.plain = converts || below(dice, 2);
		of[i].made = type_make(&f);
		of[i].count = below(dice, 20);
		of[i].space = space_make(of[i].made.type, of[i].count - 1);
		of[i].copy = space_make(of[i].made.type, of[i].count - 1);
		space_fill(&of[i].space, mix(f.shape, (uint64_t)d->rank));
		space_fill(&of[i].copy, 1);
	}
	if (!converts)
		through(d, of, n);
	for (int i = 0; converts && i < n; i++)
		external(d, &of[i]);
	for (int i = 0; i < n; i++) {
		space_drop(&of[i].space);
		space_drop(&of[i].copy);
		type_drop(&of[i].made);
	}
}

static void
sum_contents(struct differ *d, MPI_Datatype t)
{
	int ni, na, nt, combiner, integers[64], x, inner;
	MPI_Aint addresses[16];
	MPI_Datatype types[16];

	MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
	sum_number(&d->sum, combiner);
	if (combiner == MPI_COMBINER_NAMED || ni > 64 || na > 16 || nt > 16)
		return;
	MPI_Type_get_contents(t, ni, na, nt, integers, addresses, types);
	sum_bytes(&d->sum, integers, (size_t)ni * sizeof(int));
	sum_bytes(&d->sum, addresses, (size_t)na * sizeof(MPI_Aint));
	for (int i = 0; i < nt; i++) {
		MPI_Type_get_envelope(types[i], &x, &x, &x, &inner);
		sum_number(&d->sum, inner);
		if (inner != MPI_COMBINER_NAMED && inner != MPI_COMBINER_VALUE_INDEX)
			MPI_Type_free(&types[i]);
	}
}

/* Numbers of a type, and of one like it. */
void
step_types(struct differ *d, struct dice *dice)
{
	for (int i = 0; i < 6; i++) {
		struct form f = {.shape = mix(dice->state, (uint64_t)i), .where = 9, .basic = -1,
			.small = 1};
		MPI_Aint lb, extent, true_lb, true_extent;
		struct made made;
		MPI_Count wide[2];
		int size;

		f.plain = below(dice, 2);
		made = type_make(&f);
		MPI_Type_size(made.type, &size);
		MPI_Type_get_extent(made.type, &lb, &extent);
		MPI_Type_get_true_extent(made.type, &true_lb, &true_extent);
		MPI_Type_get_extent_c(made.type, &wide[0], &wide[1]);
		sum_number(&d->sum, size);
		sum_number(&d->sum, lb);
		sum_number(&d->sum, extent);
		sum_number(&d->sum, true_lb);
		sum_number(&d->sum, true_extent);
		sum_bytes(&d->sum, wide, sizeof(wide));
		sum_contents(d, made.type);
		type_drop(&made);
	}
}
