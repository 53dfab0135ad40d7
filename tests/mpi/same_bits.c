/* SPDX-License-Identifier: MIT
 *
 * Every rank gets the same bits from a reduction to all: by each algorithm, in each form of the
 * call, also where the order of two operands shows (values that are no numbers, zeros of both
 * flags, an operation of the program's that says that it commutes and does not).
 *
 * usage: same_bits [STEP]	does only each STEP-th comparison
 */
#include <complex.h>
#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include "check.h"
#include "coll_force.h"

#define MOST 700
#define COMMS 4

/* of a call */
enum { BLOCKING, STARTED, PERSISTENT };

/* Pairs of a value and an index, as MPI_MINLOC wants them. */
struct float_pair {
	float value;
	int index;
};
struct double_pair {
	double value;
	int index;
};
struct long_double_pair {
	long double value;
	int index;
};

enum part { PART_FLOAT, PART_DOUBLE, PART_LONG_DOUBLE };

/* A type: values, and perhaps an index after them. */
struct shape {
	MPI_Datatype type;
	size_t extent;
	enum part part;
	int parts;
	size_t index_at;		/* 0: there is none */
};

struct reduction {
	const struct shape *shape;
	MPI_Op op;
	int count;
	int form;
};

struct world {
	struct check *c;
	MPI_Comm comm[COMMS];
	MPI_Op last;			/* gives its second operand */
	uint64_t state;			/* of the random numbers of this rank */
	unsigned step, number;		/* each step-th comparison is done */
	const char *name;
	_Alignas(64) char in[MOST * 32];
	_Alignas(64) char out[MOST * 32];
	_Alignas(64) char first[MOST * 32];
};

static const int counts[] = {1, 33, MOST};

static uint32_t
draw(struct world *w)
{
	w->state = w->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->state >> 33);
}

/* Numbers that are none have another payload each time. */
static double
drawn_double(struct world *w)
{
	uint64_t bits = (uint64_t)(draw(w) % 2) << 63 | (uint64_t)0x7ff8 << 48 | draw(w);
	double x;

	switch (draw(w) % 5) {
	case 0: return 0.0;
	case 1: return -0.0;
	case 2: return (double)(int)(draw(w) % 3) - 1.5;
	default: memcpy(&x, &bits, sizeof(x)); return x;
	}
}

static float
drawn_float(struct world *w)
{
	uint32_t bits = (draw(w) % 2) << 31 | (uint32_t)0x7fc << 20 | draw(w) % 1000;
	float x;

	switch (draw(w) % 5) {
	case 0: return 0.0f;
	case 1: return -0.0f;
	case 2: return (float)(int)(draw(w) % 3) - 1.5f;
	default: memcpy(&x, &bits, sizeof(x)); return x;
	}
}

/* Fill a value's bytes that count; those of its padding stay 0. */
static void
put_part(struct world *w, enum part part, char *at)
{
	double d = drawn_double(w);
	float f = drawn_float(w);
	long double l = d;

	if (part == PART_FLOAT)
		memcpy(at, &f, sizeof(f));
	else if (part == PART_DOUBLE)
		memcpy(at, &d, sizeof(d));
	else
		memcpy(at, &l, LDBL_MANT_DIG == 64 ? 10 : sizeof(l));
}

static size_t
part_bytes(enum part part)
{
	return part == PART_FLOAT ? sizeof(float) : part == PART_DOUBLE ? sizeof(double) :
		sizeof(long double);
}

static void
fill(struct world *w, const struct shape *s, int count)
{
	memset(w->in, 0, (size_t)count * s->extent);
	for (int i = 0; i < count; i++) {
		char *at = w->in + (size_t)i * s->extent;
		int index = (int)(draw(w) % 3);

		for (int k = 0; k < s->parts; k++)
			put_part(w, s->part, at + (size_t)k * part_bytes(s->part));
		if (s->index_at > 0)
			memcpy(at + s->index_at, &index, sizeof(index));
	}
}

/* Padding says nothing. */
static void
wipe_padding(const struct shape *s, char *data, int count)
{
	for (int i = 0; i < count; i++) {
		char *at = data + (size_t)i * s->extent;
		size_t values = (size_t)s->parts * part_bytes(s->part), end = values;

		for (int k = 0; k < s->parts && s->part == PART_LONG_DOUBLE && LDBL_MANT_DIG == 64;
			k++)
			memset(at + (size_t)k * sizeof(long double) + 10, 0,
				sizeof(long double) - 10);
		if (s->index_at > 0) {
			memset(at + values, 0, s->index_at - values);
			end = s->index_at + sizeof(int);
		}
		memset(at + end, 0, s->extent - end);
	}
}

static void
last(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)in;
	(void)inout;
	(void)len;
	(void)type;
}

static void
reduce(struct world *w, const struct reduction *x, MPI_Comm comm)
{
	int in_place = (x->count + x->form) % 2, inter;
	MPI_Datatype type = x->shape->type;
	const void *in = w->in;
	MPI_Request r = MPI_REQUEST_NULL;

	MPI_Comm_test_inter(comm, &inter);
	if (in_place && !inter) {
		memcpy(w->out, w->in, (size_t)x->count * x->shape->extent);
		in = MPI_IN_PLACE;
	}
	if (x->form == BLOCKING) {
		MPI_Allreduce(in, w->out, x->count, type, x->op, comm);
		return;
	}
	if (x->form == STARTED) {
		MPI_Iallreduce(in, w->out, x->count, type, x->op, comm, &r);
	} else {
		MPI_Allreduce_init(in, w->out, x->count, type, x->op, comm, MPI_INFO_NULL, &r);
		MPI_Start(&r);
	}
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (x->form == PERSISTENT)
		MPI_Request_free(&r);
}

/* All ranks of `group` take part in one result. */
static void
compare(struct world *w, const struct reduction *r, MPI_Comm comm, MPI_Comm group)
{
	const struct shape *s = r->shape;
	int count = r->count;
	size_t bytes = (size_t)count * s->extent;
	char name[MPI_MAX_OBJECT_NAME] = "";
	int len;

	if (w->number++ % w->step != 0)
		return;
	fill(w, s, count);
	reduce(w, r, comm);
	wipe_padding(s, w->out, count);
	memcpy(w->first, w->out, bytes);
	MPI_Bcast(w->first, (int)bytes, MPI_BYTE, 0, group);
	MPI_Type_get_name(s->type, name, &len);
	for (size_t i = 0; i < bytes; i++) {
		if (w->first[i] == w->out[i])
			continue;
		check_fail(w->c,
			"%s: %s, operation %#llx, %d elements, form %d: element %zu differs",
			w->name, name, (unsigned long long)(uintptr_t)r->op, count, r->form,
			i / s->extent);
		return;
	}
}

static void
each_form(struct world *w, const struct shape *s, MPI_Op op)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (int k = 0; k < COMMS; k++) {
			MPI_Comm group = k == COMMS - 1 ? w->comm[2] : w->comm[k];
			struct reduction r = {s, op, counts[i], BLOCKING};

			if (w->comm[k] == MPI_COMM_NULL)
				continue;
			compare(w, &r, w->comm[k], group);
			r.form = (i + (size_t)k) % 2 ? STARTED : PERSISTENT;
			compare(w, &r, w->comm[k], group);
		}
}

static void
each_type(struct world *w)
{
	const struct shape plain[] = {
		{MPI_FLOAT, sizeof(float), PART_FLOAT, 1, 0},
		{MPI_DOUBLE, sizeof(double), PART_DOUBLE, 1, 0},
		{MPI_LONG_DOUBLE, sizeof(long double), PART_LONG_DOUBLE, 1, 0}};
	const struct shape complexes[] = {
		{MPI_C_FLOAT_COMPLEX, sizeof(float _Complex), PART_FLOAT, 2, 0},
		{MPI_C_DOUBLE_COMPLEX, sizeof(double _Complex), PART_DOUBLE, 2, 0},
		{MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double _Complex), PART_LONG_DOUBLE, 2, 0}};
	const struct shape pairs[] = {
		{MPI_FLOAT_INT, sizeof(struct float_pair), PART_FLOAT, 1,
		offsetof(struct float_pair, index)},
		{MPI_DOUBLE_INT, sizeof(struct double_pair), PART_DOUBLE, 1,
		offsetof(struct double_pair, index)},
		{MPI_LONG_DOUBLE_INT, sizeof(struct long_double_pair), PART_LONG_DOUBLE, 1,
		offsetof(struct long_double_pair, index)}};
	const MPI_Op ops[] = {MPI_MIN, MPI_MAX, MPI_SUM, MPI_PROD, w->last};

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 5; k++)
			each_form(w, &plain[i], ops[k]);
		for (int k = 2; k < 4; k++)
			each_form(w, &complexes[i], ops[k]);
		each_form(w, &pairs[i], MPI_MINLOC);
		each_form(w, &pairs[i], MPI_MAXLOC);
	}
}

static int
is_of_allreduce(const char *name)
{
	return strncmp(name, "allreduce=", strlen("allreduce=")) == 0;
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	static struct world w;

	w = (struct world){.c = &c, .state = 77u + (uint64_t)c.rank, .name = "the default",
		.step = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 1,
		.comm = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL}};
	MPI_Op_create(last, 1, &w.last);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -c.rank, &w.comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, c.rank % 2, c.rank, &w.comm[2]);
	if (c.size > 1)
		MPI_Intercomm_create(w.comm[2], 0, MPI_COMM_WORLD, 1 - c.rank % 2, 5, &w.comm[3]);
	each_type(&w);
	for (int a = 0; a < COLL_NAMES; a++) {
		if (!is_of_allreduce(coll_names[a]))
			continue;
		w.name = coll_names[a];
		for (int i = 0; i < COMMS; i++)
			if (w.comm[i] != MPI_COMM_NULL)
				coll_force(w.comm[i], w.name);
		w.number = (unsigned)a;
		each_type(&w);
	}
	for (int i = 1; i < COMMS; i++)
		if (w.comm[i] != MPI_COMM_NULL)
			MPI_Comm_free(&w.comm[i]);
	MPI_Op_free(&w.last);
	return check_end(&c);
}
