/* SPDX-License-Identifier: MIT
 *
 * Packing and unpacking along a shape, whole or any piece of it. Both directions are one walk: what
 * differs is who is read.
 */
#include <string.h>
#include <base/copy.h>
#include <mpi/core/shape.h>

#define SHORT_BLOCK 256		/* up to here a call of memcpy costs more than it saves */
#define FEW 64			/* and up to here a loop */

struct mover {
	char *stream;			/* where the next byte comes from or goes to */
	bool packs;
};

static void
copy_short(char *to, const char *from, size_t len)
{
	size_t i = 0;

	for (; i + 32 <= len; i += 32)
		memcpy(to + i, from + i, 32);
	if (i < len)
		memcpy(to + len - 32, from + len - 32, 32);
}

void
mpi_shape_copy_bytes(char *to, const char *from, size_t len)
{
	if (len <= FEW)
		copy_few(to, from, len, FEW);
	else if (len <= SHORT_BLOCK)
		copy_short(to, from, len);
	else
		memcpy(to, from, len);
}

static inline void
move(struct mover *m, char *memory, size_t len)
{
	if (m->packs)
		mpi_shape_copy_bytes(m->stream, memory, len);
	else
		mpi_shape_copy_bytes(memory, m->stream, len);
	m->stream += len;
}

/* Both sides advance by their step; `bytes` is a constant where it can be. */
#define EACH_BLOCK(bytes) \
	for (; count > 0; count--, to = address_shift(to, to_step), \
		from = address_shift(from, from_step)) \
		memcpy(to, from, (bytes))

static void
copy_blocks(char *to, MPI_Aint to_step, const char *from, MPI_Aint from_step, size_t block,
	MPI_Count count)
{
	switch (block) {
	case 1:
		EACH_BLOCK(1);
		break;
	case 2:
		EACH_BLOCK(2);
		break;
	case 4:
		EACH_BLOCK(4);
		break;
	case 8:
		EACH_BLOCK(8);
		break;
	case 12:
		EACH_BLOCK(12);
		break;
	case 16:
		EACH_BLOCK(16);
		break;
	case 24:
		EACH_BLOCK(24);
		break;
	case 32:
		EACH_BLOCK(32);
		break;
	default:
		for (; count > 0; count--, to = address_shift(to, to_step),
			from = address_shift(from, from_step))
			mpi_shape_copy_bytes(to, from, block);
	}
}

/* Blocks at regular distances. */
static void
move_blocks(struct mover *m, char *memory, MPI_Aint stride, size_t block, MPI_Count count)
{
	if (m->packs)
		copy_blocks(m->stream, (MPI_Aint)block, memory, stride, block, count);
	else
		copy_blocks(memory, stride, m->stream, (MPI_Aint)block, block, count);
	m->stream += (size_t)count * block;
}

/* Equal blocks anywhere: those of one size that a compiler can copy by an instruction or two. */
#define EACH_RUN(bytes) \
	do { \
		if (m->packs) \
			for (MPI_Count i = 0; i < count; i++, stream += (bytes)) \
				memcpy(stream, address_shift(memory, runs[i].at), (bytes)); \
		else \
			for (MPI_Count i = 0; i < count; i++, stream += (bytes)) \
				memcpy(address_shift(memory, runs[i].at), stream, (bytes)); \
	} while (0)

static void
move_even_runs(struct mover *m, const struct run *runs, MPI_Count count, char *memory, size_t block)
{
	/* not in *m, which the bytes that are moved might overlap for all the compiler knows */
	char *stream = m->stream;

	m->stream += (size_t)count * block;
	switch (block) {
	case 4:
		EACH_RUN(4);
		break;
	case 8:
		EACH_RUN(8);
		break;
	case 16:
		EACH_RUN(16);
		break;
	case 24:
		EACH_RUN(24);
		break;
	case 32:
		EACH_RUN(32);
		break;
	default:
		for (MPI_Count i = 0; i < count; i++, stream += block) {
			char *at = address_shift(memory, runs[i].at);

			mpi_shape_copy_bytes(m->packs ? stream : at, m->packs ? at : stream, block);
		}
	}
}

static void
move_uneven_runs(struct mover *m, const struct run *r, MPI_Count count, char *memory)
{
	char *stream = m->stream;
	const struct run *end = r + count;

	for (; r < end; r++) {
		size_t len = (size_t)(r[1].start - r[0].start);
		char *at = address_shift(memory, r->at);

		mpi_shape_copy_bytes(m->packs ? stream : at, m->packs ? at : stream, len);
		stream += len;
	}
	m->stream = stream;
}

static void move_whole(struct mover *m, const struct shape *s, char *memory);

/* `count` whole elements. */
static void
move_repeated(struct mover *m, const struct shape *of, MPI_Count count, MPI_Aint stride,
	char *memory)
{
	if (shape_is_plain(of, stride))
		move(m, address_shift(memory, of->first), (size_t)(count * of->size));
	else if (of->dense)
		move_blocks(m, address_shift(memory, of->first), stride, (size_t)of->size, count);
	else
		for (; count > 0; count--, memory = address_shift(memory, stride))
			move_whole(m, of, memory);
}

static void
move_runs(struct mover *m, const struct shape *s, char *memory)
{
	const struct shape *of = s->of;
	const struct run *r = s->runs, *end = r + s->count;

	if (shape_is_plain(of, s->stride)) {
		memory = address_shift(memory, of->first);
		if (s->even)
			move_even_runs(m, r, s->count, memory, (size_t)(r[1].start - r[0].start));
		else
			move_uneven_runs(m, r, s->count, memory);
		return;
	}
	for (; r < end; r++)
		move_repeated(m, of, (r[1].start - r[0].start) / of->size, s->stride,
			address_shift(memory, r->at));
}

static void
move_whole(struct mover *m, const struct shape *s, char *memory)
{
	if (s->dense) {
		move(m, address_shift(memory, s->first), (size_t)s->size);
	} else if (s->kind == SHAPE_LOOP) {
		move_repeated(m, s->of, s->count, s->stride, address_shift(memory, s->at));
	} else if (s->kind == SHAPE_RUNS) {
		move_runs(m, s, memory);
	} else {
		for (const struct part *p = s->parts, *end = p + s->count; p < end; p++)
			move_repeated(m, p->of, p->count, p->stride, address_shift(memory, p->at));
	}
}

static void move_piece(struct mover *m, const struct shape *s, char *memory, MPI_Count from,
	MPI_Count to);

/* The bytes [from, to) of repeated elements. */
static void
move_some(struct mover *m, const struct shape *of, MPI_Aint stride, char *memory, MPI_Count from,
	MPI_Count to)
{
	MPI_Count first, last;

	if (shape_is_plain(of, stride)) {
		move(m, address_shift(memory, of->first + from), (size_t)(to - from));
		return;
	}
	first = from / of->size;
	last = to / of->size;
	from -= first * of->size;
	to -= last * of->size;
	if (first == last) {
		move_piece(m, of, address_shift(memory, first * stride), from, to);
		return;
	}
	if (from > 0) {
		move_piece(m, of, address_shift(memory, first * stride), from, of->size);
		first++;
	}
	if (first < last)
		move_repeated(m, of, last - first, stride, address_shift(memory, first * stride));
	if (to > 0)
		move_piece(m, of, address_shift(memory, last * stride), 0, to);
}

/* The block in which a byte lies: the last one that starts at it or before. */
static const struct run *
find_run(const struct shape *s, MPI_Count byte)
{
	MPI_Count low = 0, high = s->count;

	if (s->even)
		return s->runs + byte / (s->size / s->count);
	while (high - low > 1) {
		MPI_Count middle = low + (high - low) / 2;

		if (s->runs[middle].start <= byte)
			low = middle;
		else
			high = middle;
	}
	return s->runs + low;
}

static inline MPI_Count
larger(MPI_Count a, MPI_Count b)
{
	return a > b ? a : b;
}

static inline MPI_Count
smaller(MPI_Count a, MPI_Count b)
{
	return a < b ? a : b;
}

static void
move_piece(struct mover *m, const struct shape *s, char *memory, MPI_Count from, MPI_Count to)
{
	if (from >= to)
		return;
	if (s->dense) {
		move(m, address_shift(memory, s->first + from), (size_t)(to - from));
	} else if (s->kind == SHAPE_LOOP) {
		move_some(m, s->of, s->stride, address_shift(memory, s->at), from, to);
	} else if (s->kind == SHAPE_RUNS) {
		for (const struct run *r = find_run(s, from); r->start < to &&
			r < s->runs + s->count; r++)
			move_some(m, s->of, s->stride, address_shift(memory, r->at),
				larger(from, r->start) - r->start,
				smaller(to, r[1].start) - r->start);
	} else {
		for (const struct part *p = shape_part_at(s, from); p->start < to &&
			p < s->parts + s->count; p++)
			move_some(m, p->of, p->stride, address_shift(memory, p->at),
				larger(from, p->start) - p->start,
				smaller(to, p[1].start) - p->start);
	}
}

static void
move_elements(struct mover *m, const struct elements *e, MPI_Count from, MPI_Count to)
{
	if (from < to)
		move_some(m, e->shape, e->stride, e->memory, from, to);
}

void
mpi_shape_pack(const struct elements *e, MPI_Count from, MPI_Count to, void *stream)
{
	struct mover m = {stream, true};

	move_elements(&m, e, from, to);
}

void
mpi_shape_unpack(const struct elements *e, MPI_Count from, MPI_Count to, const void *stream)
{
	struct mover m = {(void *)(uintptr_t)stream, false};

	move_elements(&m, e, from, to);
}
