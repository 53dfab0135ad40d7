/* SPDX-License-Identifier: MIT
 *
 * Blocks of data, laid out one after the other, with gaps in any order, or each with a type of its
 * own.
 */
#include "flight.h"

static void
shuffle(struct dice *d, int *order, int n, int really)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; really && i > 0; i--) {
		int j = below(d, i + 1), other = order[i];

		order[i] = order[j];
		order[j] = other;
	}
}

/* One type: displacements in extents. */
static void
lay_elements(struct blocks *b, const struct blocks_plan *plan, struct dice *d)
{
	struct form f = {.shape = plan->shapes[0], .where = plan->where,
		.plain = plan->shapes[0] % 3 > 0, .basic = -1};
	int *order = calloc((size_t)b->n + 1, sizeof(*order)), next = 0,
		vector = plan->layout == VECTOR;

	b->made_n = 1;
	b->made[0] = type_make(&f);
	b->types[0] = b->made[0].type;
	shuffle(d, order, b->n, vector);
	for (int i = 0; i < b->n; i++) {
		b->at[order[i]] = next;
		next += b->counts[order[i]] + (vector ? below(d, 3) : 0);
	}
	b->space = space_make(b->types[0], next - 1);
	free(order);
}

/* A type for each block: displacements in bytes. */
static void
lay_bytes(struct blocks *b, const struct blocks_plan *plan, struct dice *d)
{
	MPI_Aint next = 0, lb, extent, true_lb, true_extent;
	int *order = calloc((size_t)b->n + 1, sizeof(*order));

	b->made_n = b->n;
	shuffle(d, order, b->n, 1);
	for (int i = 0; i < b->n; i++) {
		int k = order[i];
		struct form f = {.shape = plan->shapes[k], .where = mix(plan->where, (uint64_t)k),
			.plain = plan->shapes[k] % 3 > 0, .basic = -1};

		b->made[k] = type_make(&f);
		b->types[k] = b->made[k].type;
		MPI_Type_get_extent(b->types[k], &lb, &extent);
		MPI_Type_get_true_extent(b->types[k], &true_lb, &true_extent);
		next += (true_lb < 0 ? -true_lb : 0) + 16 * below(d, 3);
		next = (next + 15) / 16 * 16;
		b->at[k] = (int)next;
		next += true_lb + true_extent + (b->counts[k] > 0 ? b->counts[k] - 1 : 0) * extent;
	}
	b->space = space_make(MPI_BYTE, next);
	free(order);
}

void
blocks_make(struct blocks *b, const struct blocks_plan *plan)
{
	struct dice d = dice_of(plan->where, 808, 0);
	size_t n = (size_t)plan->n + 1;

	*b = (struct blocks){.n = plan->n};
	b->counts = calloc(n, sizeof(*b->counts));
	b->at = calloc(n, sizeof(*b->at));
	b->far_at = calloc(n, sizeof(*b->far_at));
	b->types = calloc(n, sizeof(MPI_Datatype));
	b->made = calloc(n, sizeof(*b->made));
	for (int i = 0; i < plan->n; i++)
		b->counts[i] = plan->counts[i];
	if (plan->layout == BYTES)
		lay_bytes(b, plan, &d);
	else
		lay_elements(b, plan, &d);
	for (int i = 0; i < plan->n; i++)
		b->far_at[i] = b->at[i];
	space_fill(&b->space, plan->seed);
}

void
blocks_drop(struct blocks *b)
{
	for (int i = 0; i < b->made_n; i++)
		type_drop(&b->made[i]);
	if (b->made)
		space_drop(&b->space);
	free(b->counts);
	free(b->at);
	free(b->far_at);
	free(b->types);
	free(b->made);
}
