/* SPDX-License-Identifier: MIT
 *
 * Reductions of every basic type with every operation that it allows, and with two of our own.
 * Floating point gets small whole numbers, so that no order of adding matters.
 */
#include "flight.h"

enum kind { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, LOCAL, KINDS };
enum family { INTEGER, FLOATING, COMPLEX, LOGICAL, BYTES_ONLY, PAIR, OURS };

static const struct {
	MPI_Datatype type;
	enum family family;
	int floating;			/* size of the number to fill in, if it is one */
} types[] = {
	{MPI_INT, INTEGER, 0}, {MPI_UNSIGNED, INTEGER, 0}, {MPI_SHORT, INTEGER, 0},
	{MPI_UNSIGNED_SHORT, INTEGER, 0}, {MPI_LONG, INTEGER, 0},
	{MPI_UNSIGNED_LONG, INTEGER, 0}, {MPI_LONG_LONG, INTEGER, 0}, {MPI_SIGNED_CHAR, INTEGER, 0},
	{MPI_UNSIGNED_CHAR, INTEGER, 0},
	{MPI_INT8_T, INTEGER, 0}, {MPI_UINT16_T, INTEGER, 0}, {MPI_INT32_T, INTEGER, 0},
	{MPI_UINT64_T, INTEGER, 0}, {MPI_AINT, INTEGER, 0},
	{MPI_COUNT, INTEGER, 0}, {MPI_OFFSET, INTEGER, 0}, {MPI_FLOAT, FLOATING, 4},
	{MPI_DOUBLE, FLOATING, 8}, {MPI_C_FLOAT_COMPLEX, COMPLEX, 4},
	{MPI_C_DOUBLE_COMPLEX, COMPLEX, 8}, {MPI_C_BOOL, LOGICAL, 0}, {MPI_BYTE, BYTES_ONLY, 0},
	{MPI_2INT, PAIR, 0}, {MPI_FLOAT_INT, PAIR, 4},
	{MPI_DOUBLE_INT, PAIR, 8}, {MPI_LONG_INT, PAIR, 0}, {MPI_SHORT_INT, PAIR, 0},
};

#define TYPES ((int)(sizeof(types) / sizeof(*types)))

static MPI_Op
draw_op(enum family family, struct dice *dice)
{
	static const MPI_Op integer[] = {
		MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,
		MPI_BXOR,
	};
	static const MPI_Op floating[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD},
		complex[] = {MPI_SUM, MPI_PROD};
	static const MPI_Op logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR},
		bytes[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, pair[] = {MPI_MAXLOC, MPI_MINLOC};

	switch (family) {
	case INTEGER: return integer[below(dice, 10)];
	case FLOATING: return floating[below(dice, 4)];
	case COMPLEX: return complex[below(dice, 2)];
	case LOGICAL: return logical[below(dice, 3)];
	case BYTES_ONLY: return bytes[below(dice, 3)];
	default: return pair[below(dice, 2)];
	}
}

struct operand {
	MPI_Datatype type;
	MPI_Op op;
	enum family family;
	int floating;
	MPI_Aint extent;
	int count;			/* of the whole operand */
};

static void
draw_operand(struct operand *o, const struct differ *d, struct dice *dice)
{
	static const int counts[] = {0, 1, 2, 3, 7, 50, 400, 3000, 20000};
	MPI_Aint lb;
	int n = below(dice, TYPES + 4);

	*o = (struct operand){.count = counts[below(dice, 9)]};
	if (n < TYPES) {
		o->type = types[n].type;
		o->family = types[n].family;
		o->floating = types[n].floating;
		o->op = draw_op(o->family, dice);
	} else {
		o->family = OURS;
		o->type = n % 2 ? d->two : d->gapped;
		o->op = n % 2 ? d->compose : d->add;
	}
	MPI_Type_get_extent(o->type, &lb, &o->extent);
	if (o->count * o->extent > d->bytes)
		o->count = (int)(d->bytes / o->extent);
}

static void
put(char *at, const struct operand *o, struct dice *dice)
{
	int small = below(dice, 4) - 1;
	float f = (float)small;
	double g = small;

	for (MPI_Aint i = 0; i < o->extent; i++)
		at[i] = (char)(o->family == LOGICAL ? below(dice, 2) : o->family == PAIR ? 0 :
			below(dice, 256));
	if (o->floating == 4)
		memcpy(at, &f, sizeof(f));
	else if (o->floating == 8)
		memcpy(at, &g, sizeof(g));
	else if (o->family == PAIR)
		at[0] = (char)(small + 2);
	if (o->family == PAIR)
		at[o->type == MPI_SHORT_INT || o->type == MPI_2INT || o->type == MPI_FLOAT_INT ? 4 :
			8] = (char)below(dice, 6);
	small = below(dice, 4) - 1;
	f = (float)small;
	g = small;
	if (o->family == COMPLEX)
		memcpy(at + o->floating, o->floating == 4 ? (void *)&f : (void *)&g,
			(size_t)o->floating);
}

static char *
fill(const struct operand *o, int count, uint64_t seed)
{
	char *memory = calloc(1, (size_t)(count + 1) * (size_t)o->extent + 2 * GUARD);
	struct dice dice = dice_of(seed, 1, 2);

	for (int i = 0; i < count + 1; i++)
		put(memory + GUARD + i * o->extent, o, &dice);
	return memory;
}

/* Which of two zeros a product is depends on the order. */
static void
one_zero(const struct operand *o, char *packed, int len)
{
	if (o->family != FLOATING && o->family != COMPLEX)
		return;
	for (int i = 0; o->floating == 4 && i < len / 4; i++)
		((float *)(void *)packed)[i] += 0.0f;
	for (int i = 0; o->floating == 8 && i < len / 8; i++)
		((double *)(void *)packed)[i] += 0.0;
}

/* All of the memory, but not the gaps of elements. */
static void
note(struct sum *sum, const struct operand *o, const char *memory, int count, MPI_Comm comm)
{
	int size, position = 0;
	char *packed;

	MPI_Pack_size(count + 1, o->type, comm, &size);
	packed = calloc(1, (size_t)size + 1);
	MPI_Pack(memory + GUARD, count + 1, o->type, packed, size, &position, comm);
	one_zero(o, packed, position);
	sum_bytes(sum, packed, (size_t)position);
	sum_bytes(sum, memory, GUARD);
	free(packed);
}

struct reduction {
	struct operand o;
	int kind;
	int in_place;
	int *parts;			/* reduce_scatter: of each member */
	char *out;
	char *in;
	struct flight f;
};

/* Parts of a total that both groups can divide. */
static void
draw_parts(struct reduction *r, const struct place *p, uint64_t seed)
{
	int n = p->sizes[p->side], left, even = r->o.count % 1000 / n;

	r->parts = calloc((size_t)n + 1, sizeof(int));
	r->o.count = p->inter ? r->o.count % 1000 / (p->sizes[0] * p->sizes[1]) * p->sizes[0] *
		p->sizes[1] : even * n;
	left = r->o.count;
	for (int i = 0; i < n; i++) {
		int part = i == n - 1 ? left :
			(int)(mix(seed, (uint64_t)(i + 100 * p->side)) % (uint64_t)(2 * r->o.count /
			n + 1));

		r->parts[i] = r->kind == REDUCE_SCATTER ? (part < left ? part : left) :
			r->o.count / n;
		left -= r->parts[i];
	}
}

static void
draw(struct reduction *r, struct differ *d, const struct place *p, struct dice *dice)
{
	uint64_t seed = mix(dice->state, (uint64_t)p->salt),
		mine = mix(seed, 40 + (uint64_t)place_me(p));

	*r = (struct reduction){0};
	flight_describe(&r->f, p);
	r->kind = below(dice, KINDS);
	if (p->inter && (r->kind == SCAN || r->kind == EXSCAN))
		r->kind = ALLREDUCE;
	r->f.form = (enum form_of_call)below(dice, FORMS);
	flight_root(&r->f, dice);
	r->in_place = !p->inter && below(dice, 3) == 0 && r->kind != LOCAL;
	draw_operand(&r->o, d, dice);
	if (r->kind == REDUCE_SCATTER || r->kind == REDUCE_SCATTER_BLOCK)
		draw_parts(r, p, seed);
	r->out = fill(&r->o, r->o.count, mine);
	r->in = fill(&r->o, r->o.count, mix(mine, 1));
}

static void
start(struct reduction *r)
{
	struct flight *f = &r->f;
	const struct operand *o = &r->o;
	void *in = r->in + GUARD;
	const void *out = r->in_place && (r->kind != REDUCE || f->at_root) ? MPI_IN_PLACE :
		r->out + GUARD;

	switch (r->kind) {
	case REDUCE: CALL(f, Reduce, Ireduce, out, f->at_root ? in : NULL, o->count, o->type, o->op,
	f->root); break;
	case ALLREDUCE: CALL(f, Allreduce, Iallreduce, out, in, o->count, o->type, o->op); break;
	case REDUCE_SCATTER: CALL(f, Reduce_scatter, Ireduce_scatter, out, in, r->parts, o->type,
	o->op); break;
	case REDUCE_SCATTER_BLOCK: CALL(f, Reduce_scatter_block, Ireduce_scatter_block, out, in,
	r->parts[0], o->type, o->op); break;
	case SCAN: CALL(f, Scan, Iscan, out, in, o->count, o->type, o->op); break;
	case EXSCAN: CALL(f, Exscan, Iexscan, out, in, o->count, o->type, o->op); break;
	default: MPI_Reduce_local(r->out + GUARD, in, o->count, o->type, o->op); break;
	}
}

static int
defined(const struct reduction *r)
{
	const struct place *p = r->f.place;
	int scatters = r->kind == REDUCE_SCATTER || r->kind == REDUCE_SCATTER_BLOCK;

	if (r->kind == EXSCAN && p->rank == 0)
		return 0;
	/* in place, only the first part of the buffer is said to be anything */
	return !(scatters && r->in_place);
}

static void
finish(struct differ *d, struct reduction *r)
{
	MPI_Comm comm = r->f.comm;

	if (defined(r))
		note(&d->sum, &r->o, r->in, r->o.count, comm);
	else if (r->parts)
		note(&d->sum, &r->o, r->in, r->parts[r->f.place->rank] - 1, comm);
	note(&d->sum, &r->o, r->out, r->o.count, comm);
	SAY(d, "reduction %d: sum %llx", r->kind, (unsigned long long)d->sum.value);
	free(r->parts);
	free(r->in);
	free(r->out);
}

void
step_reductions(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES)];
	struct reduction of[FLIGHTS];
	MPI_Request requests[FLIGHTS];
	MPI_Status statuses[FLIGHTS];
	int n = 1 + below(dice, FLIGHTS), active = 0;

	if (p->comm == MPI_COMM_NULL)
		return;
	n = n < d->most ? n : d->most;
	for (int i = 0; i < n; i++) {
		struct dice own = dice_of(dice->state, 700 + (uint64_t)i, (uint64_t)p->salt);

		draw(&of[i], d, p, &own);
		SAY(d, "%s: reduction %d form %d root %d in place %d count %d family %d extent %d",
			p->name, of[i].kind, of[i].f.form, of[i].f.root,
			of[i].in_place, of[i].o.count, of[i].o.family, (int)of[i].o.extent);
		start(&of[i]);
	}
	for (int i = 0; i < n; i++)
		if (of[i].f.request != MPI_REQUEST_NULL)
			requests[active++] = of[i].f.request;
	d->errors += finish_collectives(d, active, requests, statuses);
	for (int i = 0; i < active; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[i]);
	for (int i = 0; i < n; i++)
		finish(d, &of[i]);
}
