/* SPDX-License-Identifier: MIT
 *
 * Shapes: where the data of a datatype lies, as a tree of loops and lists over leaves of basic
 * elements, in the order of the type map.
 *
 * A shape holds pointers to the shapes it repeats and to lists, which belong to the type it was
 * made for; a type keeps the types it was made of, so they live as long. What the tree repeats is
 * not unrolled: its memory is in proportion to the arguments of the constructors. Lists of single
 * members are taken into the list above them where that is cheap, and always where the tree would
 * become deep. What is left below one another holds at least twice the data, so that a path has at
 * most some hundred nodes and recursion is bounded.
 */
#ifndef MPI_CORE_SHAPE_H
#define MPI_CORE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>

/* how one basic element is represented */
enum rep {
	REP_BYTE, REP_I8, REP_U8, REP_I16, REP_U16, REP_I32, REP_U32, REP_I64, REP_U64, REP_LONG,
		REP_ULONG, REP_WCHAR, REP_I128,
	REP_F16, REP_F32, REP_F64, REP_FLD, REP_F128, REP_C16, REP_C32, REP_C64, REP_CLD, REP_C128,
	REP_LEAVES,
	/* two basic elements each */
	REP_FLOAT_INT = REP_LEAVES, REP_DOUBLE_INT, REP_LONG_INT, REP_2INT, REP_SHORT_INT,
		REP_LD_INT, REP_2F32, REP_2F64,
	REP_COUNT
};

enum shape_kind { SHAPE_LEAF, SHAPE_LOOP, SHAPE_RUNS, SHAPE_PARTS };

struct shape;

/*
 * A block of a list: elements of one shape. The next block's start ends it; the list has one entry
 * more than blocks.
 */
struct run {
	MPI_Aint at;			/* displacement of its first element */
	MPI_Count start;		/* bytes of data before it */
};

/* A member of a list: any elements. One entry more than members, likewise. */
struct part {
	MPI_Aint at;
	MPI_Count start;
	MPI_Count count;
	MPI_Aint stride;
	const struct shape *of;
};

struct shape {
	uint8_t kind;
	uint8_t rep;			/* leaf */
	/* the data is one piece of memory in order, from `first` on */
	bool dense;
	bool even;			/* runs: all equally long */
	uint16_t depth;			/* nodes on the longest path below */
	MPI_Count size;			/* bytes of data */
	MPI_Count elements;		/* basic elements */
	MPI_Aint first;			/* dense: displacement of the first byte */
	uint64_t signature;		/* of the sequence of basic elements */
	MPI_Count count;		/* loop: repetitions; list: its length */
	MPI_Aint stride;		/* loop and runs: from one element to the next */
	MPI_Aint at;			/* loop: displacement of the first */
	const struct shape *of;		/* loop and runs: the element */
	union {
		const struct run *runs;
		const struct part *parts;
	};
};

/*
 * The member of a list in which a byte of its data lies: the last one that starts at it or before.
 */
static inline const struct part *
shape_part_at(const struct shape *s, MPI_Count byte)
{
	MPI_Count low = 0, high = s->count;

	while (high - low > 1) {
		MPI_Count middle = low + (high - low) / 2;

		if (s->parts[middle].start <= byte)
			low = middle;
		else
			high = middle;
	}
	return s->parts + low;
}

/* What is known of a representation. Complex numbers have two components. */
struct rep_info {
	uint8_t size;			/* of a component */
	uint8_t components;
	uint8_t external;		/* size of a component in external32 */
	char kind;			/* b: bytes, s and u: integers, f: floating */
};

extern const struct rep_info mpi_reps[REP_LEAVES];
extern const struct shape mpi_basic_shapes[REP_COUNT];

/* p + by, also for MPI_BOTTOM */
static inline char *
address_shift(const void *p, MPI_Aint by)
{
	return (char *)((uintptr_t)p + (uintptr_t)by);
}

/* Elements side by side, without a gap? */
static inline bool
shape_is_plain(const struct shape *s, MPI_Aint stride)
{
	return s->dense && s->size == stride;
}

/* `count` times `of`, from `at` on. Sizes have been checked. */
void mpi_shape_repeat(struct shape *s, const struct shape *of, MPI_Count count, MPI_Aint stride,
	MPI_Aint at);

/* blocks[i] (NULL: `block`) elements at[i] bytes from the origin */
struct block_list {
	MPI_Count count;
	MPI_Count block;
	const MPI_Count *blocks;
	const MPI_Count *at;		/* in units of `unit` bytes */
	MPI_Count unit;
};

static inline MPI_Count
blocks_length(const struct block_list *b, MPI_Count i)
{
	return b->blocks ? b->blocks[i] : b->block;
}

/*
 * Blocks of one shape. `room` has place for two more shapes, *lists gets what must be freed with
 * the shape (NULL: nothing). -1: no memory.
 */
int mpi_shape_blocks(struct shape room[2], const struct block_list *b, const struct shape *of,
	MPI_Aint stride, void **lists);

/* Members of several shapes; `parts` (without starts) belongs to the caller. */
int mpi_shape_parts(struct shape *s, const struct part *parts, MPI_Count count, void **lists);

/*
 * Move the bytes [from, to) of the data of `count` elements between memory and a contiguous stream,
 * which has just these bytes. to <= count * size. Memory and stream do not overlap.
 */
struct elements {
	const struct shape *shape;
	MPI_Aint stride;
	void *memory;
};

/* Bytes that lie side by side; fast also for few. */
void mpi_shape_copy_bytes(char *to, const char *from, size_t len);

void mpi_shape_pack(const struct elements *e, MPI_Count from, MPI_Count to, void *stream);
void mpi_shape_unpack(const struct elements *e, MPI_Count from, MPI_Count to, const void *stream);

/*
 * Basic elements of which at least one byte is in the first `bytes` bytes of one shape; *whole: are
 * all of them complete?
 */
MPI_Count mpi_shape_elements(const struct shape *s, MPI_Count bytes, bool *whole);

/* Bytes that the first `elements` basic elements have. */
MPI_Count mpi_shape_bytes(const struct shape *s, MPI_Count elements);

/*
 * Signatures: of two sequences after one another, and of one many times. `elements` are those of
 * the second, or of the one.
 */
uint64_t mpi_signature_join(uint64_t a, uint64_t b, MPI_Count elements);
uint64_t mpi_signature_repeat(uint64_t a, MPI_Count elements, MPI_Count times);

#define SIGNATURE_OF(rep) ((uint64_t)((rep) + 1) * 0x9e3779b97f4a7c15u)
#define SIGNATURE_FACTOR 0xd1342543de82ef95u

#endif
