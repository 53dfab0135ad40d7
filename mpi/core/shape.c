/* SPDX-License-Identifier: MIT
 *
 * Making shapes: what can be merged is merged, what is regular becomes a loop.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/shape.h>

#define SPLICE_ALWAYS 8		/* lists up to this length are taken into the list above them */
#define DEPTH_MAX 32		/* and longer ones where the tree is this deep */

static uint64_t
power(uint64_t base, uint64_t exponent)
{
	uint64_t result = 1;

	for (; exponent > 0; exponent /= 2, base *= base)
		if (exponent % 2 != 0)
			result *= base;
	return result;
}

uint64_t
mpi_signature_join(uint64_t a, uint64_t b, MPI_Count elements)
{
	return a * power(SIGNATURE_FACTOR, (uint64_t)elements) + b;
}

uint64_t
mpi_signature_repeat(uint64_t a, MPI_Count elements, MPI_Count times)
{
	uint64_t result = 0, factor = power(SIGNATURE_FACTOR, (uint64_t)elements);

	/* `a` stands for a power of two of them at each step, `factor` for their length */
	for (; times > 0; times /= 2, a = a * factor + a, factor *= factor)
		if (times % 2 != 0)
			result = result * factor + a;
	return result;
}

/* Does the next repetition of a loop start where the loop would have gone on? */
static bool
goes_on(const struct shape *loop, MPI_Aint stride)
{
	return (uint64_t)loop->stride * (uint64_t)loop->count == (uint64_t)stride;
}

void
mpi_shape_repeat(struct shape *s, const struct shape *of, MPI_Count count, MPI_Aint stride,
	MPI_Aint at)
{
	if (count == 1 && at == 0) {
		*s = *of;
		return;
	}
	if (of->kind == SHAPE_LOOP && (count == 1 || of->count == 1 || goes_on(of, stride))) {
		at += of->at;
		stride = of->count == 1 ? stride : of->stride;
		count *= of->count;
		of = of->of;
	}
	*s = (struct shape){
		.kind = SHAPE_LOOP, .depth = (uint16_t)(of->depth + 1), .size = count * of->size,
			.elements = count * of->elements,
		.signature = mpi_signature_repeat(of->signature, of->elements, count),
			.count = count, .stride = stride, .at = at, .of = of,
		.dense = of->dense && (count == 1 || stride == of->size), .first = at + of->first,
	};
}

/* Blocks become runs; those that touch become one. Returns how many there are. */
static MPI_Count
merge_blocks(struct run *runs, const struct block_list *b, const struct shape *of, MPI_Aint stride)
{
	MPI_Count n = 0, start = 0;
	MPI_Aint end = 0;

	for (MPI_Count i = 0; i < b->count; i++) {
		MPI_Count length = blocks_length(b, i);
		MPI_Aint at = (MPI_Aint)(b->at[i] * b->unit);

		if (length == 0 || of->size == 0)
			continue;
		if (n == 0 || at != end)
			runs[n++] = (struct run){at, start};
		start += length * of->size;
		end = at + length * stride;
	}
	runs[n] = (struct run){0, start};
	return n;
}

/* Are all runs equally long, and equally far apart? */
static void
look_for_order(const struct run *runs, MPI_Count n, bool *even, bool *regular)
{
	MPI_Count length = runs[1].start - runs[0].start;
	MPI_Aint step = n > 1 ? (MPI_Aint)((uint64_t)runs[1].at - (uint64_t)runs[0].at) : 0;

	*even = *regular = true;
	for (MPI_Count i = 1; i < n && *even; i++) {
		*even = runs[i + 1].start - runs[i].start == length;
		*regular = *regular && (MPI_Aint)((uint64_t)runs[i].at -
			(uint64_t)runs[i - 1].at) == step;
	}
	*regular = *regular && *even;
}

static void
make_runs(struct shape *s, const struct run *runs, MPI_Count n, const struct shape *of,
	MPI_Aint stride)
{
	MPI_Count times = runs[n].start / of->size;

	*s = (struct shape){
		.kind = SHAPE_RUNS, .even = true, .depth = (uint16_t)(of->depth + 1),
			.size = runs[n].start, .elements = times * of->elements,
		.signature = mpi_signature_repeat(of->signature, of->elements, times), .count = n,
			.stride = stride, .of = of, .runs = runs,
	};
}

int
mpi_shape_blocks(struct shape room[2], const struct block_list *b, const struct shape *of,
	MPI_Aint stride, void **lists)
{
	struct run *runs = malloc(((size_t)b->count + 1) * sizeof(*runs)), *fitting;
	MPI_Count n, length;
	bool even, regular;

	*lists = NULL;
	if (runs == NULL)
		return -1;
	n = merge_blocks(runs, b, of, stride);
	if (n == 0) {
		mpi_shape_repeat(room, of, 0, stride, 0);
		free(runs);
		return 0;
	}
	look_for_order(runs, n, &even, &regular);
	length = runs[1].start / of->size;
	if (regular) {
		mpi_shape_repeat(&room[1], of, length, stride, 0);
		mpi_shape_repeat(room, &room[1], n, n > 1 ? runs[1].at - runs[0].at : room[1].size,
			runs[0].at);
		free(runs);
		return 0;
	}
	fitting = realloc(runs, ((size_t)n + 1) * sizeof(*runs));
	*lists = fitting ? fitting : runs;
	make_runs(room, *lists, n, of, stride);
	room->even = even;
	return 0;
}

/* A member that is a loop becomes the loop's elements where that is the same. */
static struct part
simplify(struct part p)
{
	const struct shape *of = p.of;

	if (of->kind != SHAPE_LOOP || (p.count > 1 && of->count > 1 && !goes_on(of, p.stride)))
		return p;
	p.at += of->at;
	p.stride = of->count > 1 ? of->stride : p.stride;
	p.count *= of->count;
	p.of = of->of;
	return p;
}

/* Do the members of a member take its place? */
static bool
is_spliced(const struct part *p)
{
	const struct shape *of = p->of;

	if (p->count != 1 || (of->kind != SHAPE_PARTS && of->kind != SHAPE_RUNS))
		return false;
	return of->depth >= DEPTH_MAX || (of->kind == SHAPE_PARTS && of->count <= SPLICE_ALWAYS);
}

static size_t
most_parts(const struct part *parts, MPI_Count count)
{
	size_t n = 1;

	for (MPI_Count i = 0; i < count; i++) {
		struct part p = simplify(parts[i]);

		n += is_spliced(&p) ? (size_t)p.of->count : 1;
	}
	return n;
}

/* Append a member to a list, or to its last member if it goes on there. */
static void
append(struct part *list, MPI_Count *n, struct part p)
{
	struct part *last = *n > 0 ? &list[*n - 1] : NULL;

	if (p.of->size == 0 || p.count == 0)
		return;
	if (last != NULL && last->of == p.of &&
		(last->count == 1 || p.count == 1 || last->stride == p.stride)) {
		MPI_Aint stride = last->count > 1 ? last->stride : p.stride;

		if (p.at == last->at + last->count * stride) {
			last->stride = stride;
			last->count += p.count;
			return;
		}
	}
	list[(*n)++] = p;
}

static void
append_all(struct part *list, MPI_Count *n, const struct part *given)
{
	struct part p = simplify(*given);
	const struct shape *of = p.of;

	if (!is_spliced(&p)) {
		append(list, n, p);
		return;
	}
	for (MPI_Count i = 0; i < of->count; i++) {
		struct part inner = {.stride = of->stride, .of = of->of};

		if (of->kind == SHAPE_PARTS) {
			inner = of->parts[i];
		} else {
			inner.at = of->runs[i].at;
			inner.count = (of->runs[i + 1].start - of->runs[i].start) / of->of->size;
		}
		inner.at += p.at;
		append(list, n, simplify(inner));
	}
}

/* Starts, and what the list knows of its members. */
static void
make_parts(struct shape *s, struct part *list, MPI_Count n)
{
	MPI_Aint end = n > 0 ? list[0].at + list[0].of->first : 0;

	*s = (struct shape){.kind = SHAPE_PARTS, .dense = true, .first = end, .count = n,
		.parts = list};
	for (MPI_Count i = 0; i < n; i++) {
		struct part *p = &list[i];
		const struct shape *of = p->of;

		p->start = s->size;
		s->size += p->count * of->size;
		s->signature = mpi_signature_join(s->signature, mpi_signature_repeat(of->signature,
			of->elements, p->count),
			p->count * of->elements);
		s->elements += p->count * of->elements;
		s->depth = of->depth >= s->depth ? (uint16_t)(of->depth + 1) : s->depth;
		s->dense = s->dense && of->dense && (p->count == 1 || p->stride == of->size) &&
			p->at + of->first == end;
		end = p->at + of->first + p->count * of->size;
	}
	list[n] = (struct part){.start = s->size};
}

int
mpi_shape_parts(struct shape *s, const struct part *parts, MPI_Count count, void **lists)
{
	struct part *list = malloc(most_parts(parts, count) * sizeof(*list));
	MPI_Count n = 0;

	*lists = NULL;
	if (list == NULL)
		return -1;
	for (MPI_Count i = 0; i < count; i++)
		append_all(list, &n, &parts[i]);
	if (n == 1) {
		mpi_shape_repeat(s, list->of, list->count, list->stride, list->at);
		free(list);
		return 0;
	}
	make_parts(s, list, n);
	*lists = list;
	return 0;
}
