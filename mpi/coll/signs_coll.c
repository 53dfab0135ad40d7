/* SPDX-License-Identifier: MIT
 *
 * All collectives among few ranks in one cluster with signs. Each is a pattern: who gives, whether
 * that is one block for all or a block for each rank, who takes, and whether what was taken is
 * copied or combined. Who gives lays it beside its sign; who takes waits for the signs of the
 * ranks that gave, and for nobody else. Data that does not fit goes in parts, one in each round.
 * Operands are combined in the order of the ranks, so that all get the same.
 *
 * Cost: n - 1 reads of lines for each part where all give, one where the root does. To copy: the
 * bytes that a rank gives and takes times b, on all ranks at the same time. To combine: m b and
 * (n - 1) m g; in slices twice as many lines for each part, 2 m b and (n - 1) / n m g.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/signs.h>

#define WHOLE_MAX 1024			/* bytes up to which all ranks of an allreduce combine everything */
#define ELEMENT_MAX 4096		/* bytes of an operand's element */

/* All that follows is compiled once for each collective, whose pattern is a constant there. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum party { NOBODY, THE_ROOT, THE_OTHERS, EVERYBODY };

struct pattern {
	enum party gives;
	enum party takes;
	bool each;			/* a block for each rank */
	bool combines;
	bool prefix;			/* only what the ranks up to this one give */
};

static const struct pattern patterns[] = {
	[COLL_BARRIER] = {NOBODY, EVERYBODY, false, false, false},
	[COLL_BCAST] = {THE_ROOT, THE_OTHERS, false, false, false},
	[COLL_GATHER] = {THE_OTHERS, THE_ROOT, false, false, false},
	[COLL_SCATTER] = {THE_ROOT, THE_OTHERS, true, false, false},
	[COLL_ALLGATHER] = {EVERYBODY, EVERYBODY, false, false, false},
	[COLL_ALLTOALL] = {EVERYBODY, EVERYBODY, true, false, false},
	[COLL_REDUCE] = {THE_OTHERS, THE_ROOT, false, true, false},
	[COLL_ALLREDUCE] = {EVERYBODY, EVERYBODY, false, true, false},
	[COLL_REDUCE_SCATTER] = {EVERYBODY, EVERYBODY, true, true, false},
	[COLL_SCAN] = {EVERYBODY, EVERYBODY, false, true, true},
	[COLL_EXSCAN] = {EVERYBODY, EVERYBODY, false, true, true},
};

/* A collective on its way; all sizes in bytes. */
struct passage {
	struct signs g;
	const struct collective *k;
	bool gives;			/* this rank */
	bool takes;
	size_t all;			/* of a block, or of the operand */
	size_t at;			/* where the present part of it begins */
	size_t bytes;			/* of the part */
	MPI_Count count;		/* its elements, if they are combined */
	struct span own;		/* the one block that this rank gives, or gets, if it is copied */
	struct operation op;
	const char *in;			/* own operand, and where the result goes; the same if in place */
	char *out;
};

ALWAYS_INLINE bool
is_of(const struct passage *p, enum party party)
{
	bool root = p->g.me == p->k->root;

	return party == EVERYBODY || (party == THE_ROOT && root) || (party == THE_OTHERS && !root);
}

/* Operands that may be copied as bytes, elements that fit? The same answer on all ranks. */
static bool
can_combine(const struct mpi_rank *self, const struct collective *k, bool each)
{
	size_t room = mpi_signs_room_of(self) / (each ? SIGNS_RANKS_MAX : 1);
	size_t most = room < ELEMENT_MAX ? room : ELEMENT_MAX;
	const struct type *t = k->recv.type;

	return mpi_type_is_plain(t) && t->size > 0 && (size_t)t->extent <= most;
}

static bool
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
	size_t room = mpi_signs_bytes(&p->g), n = patterns[kind].each ? (size_t)p->g.n : 1;

	p->bytes = p->all - p->at;
	p->count = p->k->recv.count;
	if (p->at == 0 && p->all * n <= room)
		return;
	if (p->bytes * n > room)
		p->bytes = room / n;
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
	return mpi_signs_data(&p->g, rank, laid(p, kind));
}

/* --- patterns that copy --- */

ALWAYS_INLINE const struct side *
side_given(const struct passage *p, enum coll_kind kind)
{
	return kind == COLL_BCAST || p->k->send.in_place ? &p->k->recv : &p->k->send;
}

/* The block that this rank gives to another, or to all, itself among them. */
ALWAYS_INLINE struct span
block_given(const struct passage *p, enum coll_kind kind, int to)
{
	bool own_place = kind == COLL_ALLGATHER && p->k->send.in_place;

	return side_block(side_given(p, kind), patterns[kind].each || own_place ? to : 0);
}

/* Where this rank takes another one's block to. */
ALWAYS_INLINE struct span
block_taken(const struct passage *p, enum coll_kind kind, int from)
{
	return side_block(&p->k->recv, patterns[kind].gives == THE_ROOT ? 0 : from);
}

ALWAYS_INLINE void
lay_blocks(struct passage *p, enum coll_kind kind, char *room)
{
	for (int i = 0; i < (patterns[kind].each ? p->g.n : 1); i++) {
		struct span block = patterns[kind].each ? block_given(p, kind, i) : p->own;

		if (patterns[kind].each && i == p->g.me)
			continue;
		mpi_type_pack(block.type, block.at, (MPI_Count)p->at, room + (size_t)i * p->bytes,
			(MPI_Count)p->bytes);
	}
}

ALWAYS_INLINE void
take_block(struct passage *p, enum coll_kind kind, int from)
{
	size_t skip = patterns[kind].each ? (size_t)p->g.me * p->bytes : 0;
	struct span block;

	mpi_signs_wait(&p->g, from);
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
	p->g.v->seen = p->g.round;
}

/* The block that stays on its rank. */
ALWAYS_INLINE void
keep_own(const struct passage *p, enum coll_kind kind)
{
	bool root = p->g.me == p->k->root && kind != COLL_BCAST;
	struct span own;

	if (patterns[kind].takes == EVERYBODY ? patterns[kind].gives != EVERYBODY : !root)
		return;
	if (p->k->send.in_place || p->k->recv.in_place)
		return;
	own = patterns[kind].each ? block_given(p, kind, p->g.me) : p->own;
	if (span_size(own) > 0)
		span_copy(block_taken(p, kind, p->g.me), own);
}

/* --- patterns that combine --- */

ALWAYS_INLINE void
lay_operand(const struct passage *p, enum coll_kind kind, char *room)
{
	for (int i = 0; i < (patterns[kind].each ? p->g.n : 1); i++)
		memcpy(room + (size_t)i * p->bytes, p->in + (size_t)i * p->all + p->at, p->bytes);
}

/*
 * What a rank has given of the own result. The own operand is where it was, unless the result
 * overwrites it: then it is on the own sign as well. The `first` that is read is still there.
 */
ALWAYS_INLINE const char *
operand(const struct passage *p, enum coll_kind kind, int rank, bool first)
{
	size_t me = patterns[kind].each ? (size_t)p->g.me : 0;

	if (rank == p->g.me && (first || p->in != p->out))
		return p->in + me * p->all + p->at;
	return data_of(p, kind, rank) + me * p->bytes;
}

/* Elements of what ranks 0 .. last have given, and where they lie in the part. */
struct slice {
	MPI_Count count;
	size_t from;
	size_t bytes;
};

ALWAYS_INLINE void
fold(struct passage *p, enum coll_kind kind, int last, struct slice s, char *to)
{
	for (int i = last; i >= 0; i--) {
		const char *theirs = operand(p, kind, i, i == last) + s.from;

		if (i != p->g.me)
			mpi_signs_wait(&p->g, i);
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
	if (!patterns[kind].prefix)
		p->g.v->seen = p->g.round;
}

/* A rank's share of the part. */
static struct slice
slice_of(const struct passage *p, int rank)
{
	MPI_Count each = (p->count + p->g.n - 1) / p->g.n;
	MPI_Count first = rank * each < p->count ? rank * each : p->count;
	MPI_Count count = p->count - first < each ? p->count - first : each;

	return (struct slice){count, (size_t)(first * p->op.extent), (size_t)(count * p->op.extent)};
}

/* All but the own slice is for others to read. */
static void
lay_slices(struct passage *p, struct slice mine)
{
	size_t end = mine.from + mine.bytes;
	char *room = mpi_signs_room(&p->g, p->bytes);

	memcpy(room, p->in + p->at, mine.from);
	memcpy(room + end, p->in + p->at + end, p->bytes - end);
	mpi_signs_show(&p->g);
	mpi_signs_wait_all(&p->g);
}

/* Each combines its slice and lays that where it was, in another round; all collect the slices. */
ALWAYS_INLINE void
allreduce_in_slices(struct passage *p, enum coll_kind kind)
{
	struct slice mine = slice_of(p, p->g.me);
	struct passage given;
	char *room;

	lay_slices(p, mine);
	given = *p;
	given.out = NULL;		/* the own operand stays until the result is in the room */
	mpi_signs_next(&p->g);
	room = mpi_signs_room(&p->g, p->bytes) + mine.from;
	fold(&given, kind, p->g.n - 1, mine, room);
	mpi_signs_show(&p->g);
	memcpy(p->out + p->at + mine.from, room, mine.bytes);
	for (int i = 1; i < p->g.n; i++) {
		int from = (p->g.me + i) % p->g.n;
		struct slice s = slice_of(p, from);

		mpi_signs_wait(&p->g, from);
		memcpy(p->out + p->at + s.from, data_of(p, kind, from) + s.from, s.bytes);
	}
	p->g.v->seen = p->g.round;
}

/* --- all --- */

ALWAYS_INLINE void
exchange(struct passage *p, enum coll_kind kind)
{
	char *room = p->gives ? mpi_signs_room(&p->g, laid(p, kind)) : NULL;

	if (p->gives && patterns[kind].combines)
		lay_operand(p, kind, room);
	else if (p->gives)
		lay_blocks(p, kind, room);
	mpi_signs_show(&p->g);
	if (p->takes && patterns[kind].combines)
		take_operands(p, kind);
	else if (p->takes)
		take_blocks(p, kind);
}

static void
barrier(struct signs *g)
{
	mpi_signs_next(g);
	mpi_signs_show(g);
	mpi_signs_wait_all(g);
}

ALWAYS_INLINE void
passage_pass(struct passage *p, enum coll_kind kind)
{
	for (; p->at < p->all; p->at += p->bytes) {
		next_part(p, kind);
		mpi_signs_next(&p->g);
		if (kind == COLL_ALLREDUCE && p->bytes > WHOLE_MAX)
			allreduce_in_slices(p, kind);
		else
			exchange(p, kind);
	}
}

ALWAYS_INLINE void
passage_begin(struct passage *p, enum coll_kind kind, struct mpi_rank *self)
{
	const struct collective *k = p->k;

	if (patterns[kind].combines) {
		p->op = mpi_op_bind(self, k->op, k->recv.datatype);
		p->in = k->send.in_place ? k->recv.buffer : k->send.buffer;
		p->out = k->recv.buffer;
	}
	p->gives = is_of(p, patterns[kind].gives) || (patterns[kind].combines && p->in == p->out);
	p->takes = is_of(p, patterns[kind].takes);
}

ALWAYS_INLINE bool
signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err,
	enum coll_kind kind)
{
	struct passage p;

	p.k = k;
	p.at = 0;
	if (kind != COLL_BARRIER && !patterns[kind].combines && !patterns[kind].each)
		p.own = block_given(&p, kind, c->rank);
	p.all = kind == COLL_BCAST ? span_size(p.own) : mpi_choose_bytes(c, k);
	if (!can(self, k, patterns[kind]))
		return false;
	if (!mpi_signs_begin(&p.g, self, c, p.all * (patterns[kind].each ? (size_t)c->size : 1)))
		return false;
	passage_begin(&p, kind, self);
	if (kind == COLL_BARRIER)
		barrier(&p.g);
	else
		passage_pass(&p, kind);
	mpi_signs_end(&p.g);
	if (patterns[kind].combines)
		mpi_op_release(&p.op);
	else
		keep_own(&p, kind);
	*err = MPI_SUCCESS;
	return true;
}

#define WAY(name, kind) \
	static bool \
	name(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err) \
	{ \
		return signs_run(self, c, k, err, kind); \
	}

WAY(barrier_run, COLL_BARRIER)
WAY(bcast_run, COLL_BCAST)
WAY(gather_run, COLL_GATHER)
WAY(scatter_run, COLL_SCATTER)
WAY(allgather_run, COLL_ALLGATHER)
WAY(alltoall_run, COLL_ALLTOALL)
WAY(reduce_run, COLL_REDUCE)
WAY(allreduce_run, COLL_ALLREDUCE)
WAY(reduce_scatter_run, COLL_REDUCE_SCATTER)
WAY(scan_run, COLL_SCAN)
WAY(exscan_run, COLL_EXSCAN)

const struct algorithm mpi_algorithm_barrier_signs = {.run = barrier_run, .straight = true};
const struct algorithm mpi_algorithm_bcast_signs = {.run = bcast_run, .straight = true};
const struct algorithm mpi_algorithm_gather_signs = {.run = gather_run, .straight = true};
const struct algorithm mpi_algorithm_scatter_signs = {.run = scatter_run, .straight = true};
const struct algorithm mpi_algorithm_allgather_signs = {.run = allgather_run, .straight = true};
const struct algorithm mpi_algorithm_alltoall_signs = {.run = alltoall_run, .straight = true};
const struct algorithm mpi_algorithm_reduce_signs = {.run = reduce_run, .straight = true};
const struct algorithm mpi_algorithm_allreduce_signs = {.run = allreduce_run, .straight = true};
const struct algorithm mpi_algorithm_reduce_scatter_signs = {
	.run = reduce_scatter_run, .straight = true};
const struct algorithm mpi_algorithm_scan_signs = {.run = scan_run, .straight = true};
const struct algorithm mpi_algorithm_exscan_signs = {.run = exscan_run, .straight = true};
