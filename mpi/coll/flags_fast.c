/* SPDX-License-Identifier: MIT
 *
 * The fast path of small collectives: the patterns of coll/passage.h, each compiled by itself, and
 * for a root and the others apart.
 *
 * Cost: that of the same collective with flags, in one round, and some hundred instructions.
 */
#include <string.h>
#include <mpi/coll/flags_fast.h>
#include <mpi/coll/rounds.h>
#include <mpi/core/request.h>
#include <mpi/transport/packet.h>

ALWAYS_INLINE bool
flags_fast_begin(struct flags *g, const struct fast_call *s, enum coll_kind kind, bool starts)
{
	struct locality *v = s->comm->locality;
	struct board *b;

	if (!mpi_choose_is_flags_fast(s->comm, kind, s->bytes))
		return false;
	b = starts ? &v->started : &v->waits;
	*g = flags_on(s->self, v, b);
	mpi_flags_next(g);
	return b->flags != NULL;
}

ALWAYS_INLINE const char *
data(const struct flags *g, int rank)
{
	return flags_of(g, g->round, rank)->small;
}

ALWAYS_INLINE void
wait_all(struct flags *g)
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_flags_wait(g, i);
	g->b->seen = g->round;
}

ALWAYS_INLINE void
keep(char *to, const char *from, size_t bytes)
{
	if (to != from)
		bytes_copy_few(to, from, bytes);
}

/* Where what is for this rank begins on the line of another. */
ALWAYS_INLINE size_t
own_part(const struct flags *g, const struct fast_call *s, enum coll_kind kind)
{
	return patterns[kind].each ? (size_t)g->me * s->bytes : 0;
}

/* Blocks that the others have laid, each in its place. */
ALWAYS_INLINE void
flags_fast_collect(struct flags *g, const struct fast_call *s, size_t skip)
{
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_flags_wait(g, i);
		bytes_copy_few(s->out + (size_t)i * s->bytes, data(g, i) + skip, s->bytes);
	}
	g->b->seen = g->round;
}

/*
 * The operand of a rank. The own one is read where it is, for another rank may be reading the line
 * on which it was laid, unless the result takes its place.
 */
ALWAYS_INLINE const char *
operand(const struct flags *g, const struct fast_call *s, int rank, size_t skip)
{
	return (rank == g->me && s->in != s->out ? s->in : data(g, rank)) + skip;
}

/*
 * With two ranks the second one has its own operand in place before the first one's has come. The
 * order is that of the ranks on both.
 */
ALWAYS_INLINE void
combine_two(struct flags *g, const struct fast_call *s)
{
	if (g->me == 1)
		keep(s->out, s->in, s->bytes);
	mpi_flags_wait(g, 1 - g->me);
	g->b->seen = g->round;
	if (g->me == 0)
		bytes_copy_few(s->out, data(g, 1), s->bytes);
	s->loop(operand(g, s, 0, 0), s->out, s->count);
}

/* What ranks 0 .. last have laid, combined in the order of the ranks. */
ALWAYS_INLINE void
flags_fast_combine(struct flags *g, const struct fast_call *s, enum coll_kind kind)
{
	size_t skip;
	int last;

	if (kind == COLL_EXSCAN && g->me == 0)
		return;
	if (!patterns[kind].prefix)
		wait_all(g);
	for (int i = 0; patterns[kind].prefix && i < g->me; i++)
		mpi_flags_wait(g, i);
	skip = own_part(g, s, kind);
	last = kind == COLL_EXSCAN ? g->me - 1 : patterns[kind].prefix ? g->me : g->n - 1;
	bytes_copy_few(s->out, operand(g, s, last, skip), s->bytes);
	for (int i = last - 1; i >= 0; i--)
		s->loop(operand(g, s, i, skip), s->out, s->count);
}

ALWAYS_INLINE void
flags_fast_take(struct flags *g, const struct fast_call *s, enum coll_kind kind, size_t skip)
{
	if (kind == COLL_ALLREDUCE && g->n == 2) {
		combine_two(g, s);
	} else if (patterns[kind].combines) {
		flags_fast_combine(g, s, kind);
	} else if (patterns[kind].gives == NOBODY) {
		wait_all(g);
	} else if (patterns[kind].gives == THE_ROOT) {
		mpi_flags_wait(g, s->root);
		bytes_copy_few(s->out, data(g, s->root) + own_part(g, s, kind), s->bytes);
	} else {
		flags_fast_collect(g, s, skip);
	}
}

ALWAYS_INLINE void
flags_fast_lay(struct flags *g, const struct fast_call *s, enum coll_kind kind)
{
	bytes_copy_few(mpi_flags_buffer(g, FLAGS_SMALL), s->in,
		patterns[kind].each ? (size_t)g->n * s->bytes : s->bytes);
}

/* The block that stays on its rank. */
ALWAYS_INLINE void
flags_fast_keep(const struct flags *g, const struct fast_call *s, enum coll_kind kind, size_t own)
{
	if (kind != COLL_ALLTOALL)
		own = (size_t)g->me * s->bytes;
	keep(s->out + (patterns[kind].gives == THE_ROOT ? 0 : own),
		s->in + (patterns[kind].each ? own : 0), s->bytes);
}

/*
 * Operands of all are laid, also where the result may overwrite them. What an alltoall needs twice
 * is worked out before functions are called.
 */
ALWAYS_INLINE bool
flags_fast_pass(struct flags *g, const struct fast_call *s, enum coll_kind kind, bool root)
{
	size_t own = kind == COLL_ALLTOALL ? own_part(g, s, kind) : 0;

	if (patterns[kind].combines || is_of(patterns[kind].gives, root))
		flags_fast_lay(g, s, kind);
	mpi_flags_show(g);
	if (!patterns[kind].combines && keeps_block(kind, root))
		flags_fast_keep(g, s, kind, own);
	if (is_of(patterns[kind].takes, patterns[kind].combines ? g->me == s->root : root))
		flags_fast_take(g, s, kind, own);
	mpi_flags_end(g);
	return true;
}

ALWAYS_INLINE bool
flags_fast(const struct fast_call *s, enum coll_kind kind)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, kind, false))
		return false;
	if (!patterns[kind].combines && patterns[kind].takes != EVERYBODY && g.me == s->root)
		return flags_fast_pass(&g, s, kind, true);
	return flags_fast_pass(&g, s, kind, false);
}

#define FAST(name, kind) \
	bool \
	mpi_flags_fast_##name(const struct fast_call *s) \
	{ \
		return flags_fast(s, kind); \
	}

FOR_EACH_PATTERN(FAST)

/* --- a broadcast that is started --- */

/* One whose data lies in one buffer, as far as there are any. */
static bool
starts_large(struct flags *g, const struct fast_call *s)
{
	struct locality *v = s->comm->locality;

	if (s->bytes <= FLAGS_SMALL || !mpi_choose_starts(s->comm, COLL_BCAST, s->bytes))
		return false;
	if (v == NULL || v->started.buffers == NULL || s->bytes > v->round_bytes)
		return false;
	*g = flags_on(s->self, v, &v->started);
	mpi_flags_next(g);
	return true;
}

static void
pass_large(struct flags *g, const struct fast_call *s, bool root)
{
	if (root)
		memcpy(mpi_flags_data(g, g->me, s->bytes), s->in, s->bytes);
	mpi_flags_show(g);
	if (!root)
		memcpy(s->out, mpi_flags_data(g, s->root, s->bytes), s->bytes);
	mpi_flags_end(g);
}

/* The request is done when the call has gone through. */
ALWAYS_INLINE bool
start_bcast(struct flags *g, const struct fast_call *s, MPI_Request *request, bool small)
{
	bool root = g->me == s->root;
	uintptr_t handle;

	if (!(root ? rounds_buffer_is_free(g, small ? FLAGS_SMALL : s->bytes) :
		rounds_is_shown(g, s->root)))
		return false;
	handle = mpi_request_sent_handle(s->self);
	if (handle == 0)
		return false;
	*request = (MPI_Request)handle;
	if (small)
		flags_fast_pass(g, s, COLL_BCAST, root);
	else
		pass_large(g, s, root);
	g->v->shown = g->round;
	rounds_show_over(g, g->round + 1);
	return true;
}

static __attribute__((noinline)) bool
start_large_bcast(const struct fast_call *s, MPI_Request *request)
{
	struct flags g;
	bool over;

	if (!starts_large(&g, s) || !list_is_empty(&g.v->open))
		return false;
	g.v->over_most = OVER_LARGE;
	rounds_show_over(&g, g.round);
	over = start_bcast(&g, s, request, false);
	g.v->over_most = OVER_SMALL;
	return over;
}

bool
mpi_flags_start_bcast(const struct fast_call *s, MPI_Request *request)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_BCAST, true))
		return start_large_bcast(s, request);
	return list_is_empty(&g.v->open) && start_bcast(&g, s, request, true);
}
