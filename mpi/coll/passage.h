/* SPDX-License-Identifier: MIT
 *
 * Collectives among few ranks in one cluster with flags, as patterns: who gives, whether that is
 * one block for all or a block for each rank, who takes, and whether what was taken is copied or
 * combined. Who gives lays it beside its flag; who takes waits for the flags of the ranks that
 * gave, and for nobody else. Data that does not fit goes in parts, one in each round; an allreduce
 * in slices takes two rounds for each part. Operands are combined in the order of the ranks, so
 * that all get the same.
 *
 * Blocking calls (coll/flags_coll.c) go through it at once, those of small data (coll/flags_fast.c)
 * in fewer steps, started ones (coll/started_coll.c) step by step. It is compiled once for each
 * collective where its pattern is a constant.
 */
#ifndef MPI_COLL_PASSAGE_H
#define MPI_COLL_PASSAGE_H

#include <string.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/zerocopy.h>
#include <mpi/coll/flags.h>
#include <mpi/coll/pattern.h>
#include <mpi/core/op.h>

/* bytes up to which all ranks of an allreduce combine everything */
#define WHOLE_MAX 1024
#define ELEMENT_MAX 4096		/* bytes of an operand's element */

/* A collective on its way; all sizes in bytes. */
struct passage {
	struct flags g;
	const struct collective *k;
	bool gives;			/* this rank */
	bool takes;
	size_t all;			/* of a block, or of the operand */
	size_t at;			/* where the present part of it begins */
	size_t bytes;			/* of the part */
	MPI_Count count;		/* its elements, if they are combined */
	/* the one block that this rank gives, or gets, if it is copied */
	struct span own;
	struct operation op;
	/* own operand, and where the result goes; the same if in place */
	const char *in;
	char *out;
};

/* Operands that may be copied as bytes, elements that fit? The same answer on all ranks. */
static inline bool
can_combine(const struct mpi_rank *self, const struct collective *k, bool each)
{
	size_t buffer = mpi_flags_buffer_bytes(self) / (each ? FLAGS_RANKS_MAX : 1);
	size_t most = buffer < ELEMENT_MAX ? buffer : ELEMENT_MAX;
	const struct type *t = k->recv.type;

	return mpi_type_is_plain(t) && t->size > 0 && (size_t)t->extent <= most;
}

static inline bool
can(const struct mpi_rank *self, const struct collective *k, struct pattern is)
{
	bool many_blocks = k->kind >= COLL_GATHER && k->kind <= COLL_ALLTOALL;

	if ((many_blocks || is.each) && !k->even)
		return false;
	return !is.combines || can_combine(self, k, is.each);
}

/* The next part: what is left, most often all, or as many whole elements as there is room for. */
ALWAYS_INLINE void
next_part(struct passage *p, enum coll_kind kind)
{
	size_t buffer = mpi_flags_bytes(&p->g), n = patterns[kind].each ? (size_t)p->g.n : 1;

	p->bytes = p->all - p->at;
	p->count = p->k->recv.count;
	if (p->at == 0 && p->all * n <= buffer)
		return;
	if (p->bytes * n > buffer)
		p->bytes = buffer / n;
	if (patterns[kind].combines) {
		p->count = (MPI_Count)p->bytes / p->op.extent;
		p->bytes = (size_t)(p->count * p->op.extent);
	}
}

ALWAYS_INLINE size_t
laid(const struct passage *p, enum coll_kind kind)
{
	return p->bytes * (patterns[kind].each ? (size_t)p->g.n : 1);
}

ALWAYS_INLINE char *
data_of(const struct passage *p, enum coll_kind kind, int rank)
{
	return mpi_flags_data(&p->g, rank, laid(p, kind));
}

/* --- patterns that copy --- */

ALWAYS_INLINE const struct side *
side_given(const struct passage *p, enum coll_kind kind)
{
	return kind == COLL_BCAST || p->k->send.in_place ? &p->k->recv : &p->k->send;
}

/* Block i of a side whose blocks are equal, as `can` has seen. */
ALWAYS_INLINE struct span
equal_block(const struct side *s, int i)
{
	return (struct span){span_shift(s->buffer, i * s->count * (MPI_Count)s->type->extent),
		s->count, s->type};
}

/* The block that this rank gives to another, or to all, itself among them. */
ALWAYS_INLINE struct span
block_given(const struct passage *p, enum coll_kind kind, int to)
{
	bool own_place = kind == COLL_ALLGATHER && p->k->send.in_place;

	return equal_block(side_given(p, kind), patterns[kind].each || own_place ? to : 0);
}

/* Where this rank takes another one's block to. */
ALWAYS_INLINE struct span
block_taken(const struct passage *p, enum coll_kind kind, int from)
{
	return equal_block(&p->k->recv, patterns[kind].gives == THE_ROOT ? 0 : from);
}

ALWAYS_INLINE void
lay_blocks(struct passage *p, enum coll_kind kind, char *buffer)
{
	for (int i = 0; i < (patterns[kind].each ? p->g.n : 1); i++) {
		struct span block;

		if (patterns[kind].each && i == p->g.me)
			continue;
		block = patterns[kind].each ? block_given(p, kind, i) : p->own;
		mpi_type_pack(block.type, block.at, (MPI_Count)p->at, buffer + (size_t)i * p->bytes,
			(MPI_Count)p->bytes);
	}
}

ALWAYS_INLINE void
take_block(struct passage *p, enum coll_kind kind, int from)
{
	size_t skip = patterns[kind].each ? (size_t)p->g.me * p->bytes : 0;
	struct span block;

	mpi_flags_wait(&p->g, from);
	block = kind == COLL_BCAST ? p->own : block_taken(p, kind, from);
	mpi_type_unpack(block.type, block.at, (MPI_Count)p->at, data_of(p, kind, from) + skip,
		(MPI_Count)p->bytes);
}

ALWAYS_INLINE void
take_blocks(struct passage *p, enum coll_kind kind)
{
	if (patterns[kind].gives == THE_ROOT) {
		take_block(p, kind, p->k->root);
		return;
	}
	for (int i = 1; i < p->g.n; i++)
		take_block(p, kind, (p->g.me + i) % p->g.n);
}

/* The block that stays on its rank. */
ALWAYS_INLINE void
keep_own(const struct passage *p, enum coll_kind kind)
{
	struct span own;

	if (!keeps_block(kind, p->g.me == p->k->root) || p->k->send.in_place ||
		p->k->recv.in_place)
		return;
	own = patterns[kind].each ? block_given(p, kind, p->g.me) : p->own;
	if (span_size(own) > 0)
		span_copy(block_taken(p, kind, p->g.me), own);
}

/* --- patterns that combine --- */

ALWAYS_INLINE void
lay_operand(const struct passage *p, enum coll_kind kind, char *buffer)
{
	for (int i = 0; i < (patterns[kind].each ? p->g.n : 1); i++)
		memcpy(buffer + (size_t)i * p->bytes, p->in + (size_t)i * p->all + p->at, p->bytes);
}

/*
 * What a rank has given of the own result. The own operand is where it was, unless the result
 * overwrites it: then it is on the own flag as well. The `first` that is read is still there.
 */
ALWAYS_INLINE const char *
operand(const struct passage *p, enum coll_kind kind, int rank, bool first)
{
	size_t me = patterns[kind].each ? (size_t)p->g.me : 0;

	if (rank == p->g.me && (first || p->in != p->out))
		return p->in + me * p->all + p->at;
	return data_of(p, kind, rank) + me * p->bytes;
}

/* Combine a slice of what ranks 0 .. last have given. */
ALWAYS_INLINE void
fold(struct passage *p, enum coll_kind kind, int last, struct slice s, char *to)
{
	for (int i = last; i >= 0; i--) {
		const char *theirs = operand(p, kind, i, i == last) + s.from;

		if (i != p->g.me)
			mpi_flags_wait(&p->g, i);
		if (i < last)
			mpi_op_apply(&p->op, theirs, to, s.count);
		else if (to != theirs)
			memcpy(to, theirs, s.bytes);
	}
}

ALWAYS_INLINE void
take_operands(struct passage *p, enum coll_kind kind)
{
	int last = kind == COLL_EXSCAN ? p->g.me - 1 : patterns[kind].prefix ? p->g.me : p->g.n - 1;

	fold(p, kind, last, (struct slice){p->count, 0, p->bytes}, p->out + p->at);
}

/* A rank's share of the part. */
static inline struct slice
slice_of(const struct passage *p, int rank)
{
	return mpi_slice_of(p->count, p->op.extent, rank, p->g.n);
}

/* All but the own slice is for others to read. */
ALWAYS_INLINE void
lay_slices(struct passage *p, char *buffer)
{
	struct slice mine = slice_of(p, p->g.me);
	size_t end = mine.from + mine.bytes;

	memcpy(buffer, p->in + p->at, mine.from);
	memcpy(buffer + end, p->in + p->at + end, p->bytes - end);
}

/* Combine the own slice of what all have laid in the last round, into the buffer of this one. */
ALWAYS_INLINE void
fold_slice(struct passage *p, enum coll_kind kind, char *buffer)
{
	struct slice mine = slice_of(p, p->g.me);
	struct passage given = *p;

	/* the own operand stays until the result is in the buffer */
	given.out = NULL;
	given.g.round--;
	fold(&given, kind, p->g.n - 1, mine, buffer + mine.from);
	mpi_flags_show(&p->g);
	memcpy(p->out + p->at + mine.from, buffer + mine.from, mine.bytes);
}

ALWAYS_INLINE void
take_slices(struct passage *p, enum coll_kind kind)
{
	for (int i = 1; i < p->g.n; i++) {
		int from = (p->g.me + i) % p->g.n;
		struct slice s = slice_of(p, from);

		mpi_flags_wait(&p->g, from);
		memcpy(p->out + p->at + s.from, data_of(p, kind, from) + s.from, s.bytes);
	}
}

/* --- all --- */

/* The first half of a part that is not combined in slices: give. The flag is shown after it. */
ALWAYS_INLINE void
lay(struct passage *p, enum coll_kind kind, char *buffer)
{
	if (p->gives && patterns[kind].combines)
		lay_operand(p, kind, buffer);
	else if (p->gives)
		lay_blocks(p, kind, buffer);
}

/* Once, behind the first flag: while that goes to the others the own block is copied. */
ALWAYS_INLINE void
keep_own_behind_flag(const struct passage *p, enum coll_kind kind)
{
	if (p->at == 0 && !patterns[kind].combines)
		keep_own(p, kind);
}

/* The second half: take, when those who give have shown the round. */
ALWAYS_INLINE void
take(struct passage *p, enum coll_kind kind)
{
	if (p->takes && patterns[kind].combines)
		take_operands(p, kind);
	else if (p->takes)
		take_blocks(p, kind);
}

/* Does an allreduce combine the present part in slices? */
ALWAYS_INLINE bool
goes_in_slices(const struct passage *p, enum coll_kind kind)
{
	return kind == COLL_ALLREDUCE && p->bytes > WHOLE_MAX;
}

/* What there is to do; the flags are found after this. False, on all ranks: not so. */
ALWAYS_INLINE bool
passage_describe(struct passage *p, enum coll_kind kind, struct mpi_rank *self,
	const struct comm *c)
{
	const struct collective *k = p->k;

	if (!can(self, k, patterns[kind]))
		return false;
	p->at = 0;
	if (kind != COLL_BARRIER && !patterns[kind].combines && !patterns[kind].each)
		p->own = block_given(p, kind, c->rank);
	p->all = kind == COLL_BCAST ? span_size(p->own) : mpi_choose_bytes(c, k);
	return true;
}

ALWAYS_INLINE void
passage_begin(struct passage *p, enum coll_kind kind, struct mpi_rank *self)
{
	const struct collective *k = p->k;
	bool root = p->g.me == k->root;

	if (patterns[kind].combines) {
		p->op = mpi_op_bind(self, k->op, k->recv.datatype);
		p->in = k->send.in_place ? k->recv.buffer : k->send.buffer;
		p->out = k->recv.buffer;
	}
	p->gives = is_of(patterns[kind].gives, root) ||
		(patterns[kind].combines && p->in == p->out);
	p->takes = is_of(patterns[kind].takes, root);
}

ALWAYS_INLINE void
passage_end(struct passage *p, enum coll_kind kind)
{
	if (patterns[kind].combines)
		mpi_op_release(&p->op);
}

#endif
