/* SPDX-License-Identifier: MIT
 *
 * The fast path of small collectives.
 *
 * Cost: that of the same collective with flags, in one round, and some hundred instructions.
 */
#include <mpi/coll/flags_fast.h>
#include <mpi/transport/packet.h>

static inline __attribute__((always_inline)) bool
flags_fast_begin(struct flags *g, const struct fast_call *s, enum coll_kind kind)
{
	struct locality *v = s->comm->locality;

	if (!mpi_choose_is_flags_fast(s->comm, kind, s->bytes) || v->waits.flags == NULL)
		return false;
	*g = (struct flags){.self = s->self, .v = v, .b = &v->waits, .me = v->rank, .n = v->ranks,
		.round = v->waits.round + 1};
	return true;
}

static inline __attribute__((always_inline)) bool
end(struct flags *g)
{
	mpi_flags_end(g);
	return true;
}

static inline __attribute__((always_inline)) void
lay(struct flags *g, const struct fast_call *s)
{
	bytes_copy_few(mpi_flags_buffer(g, FLAGS_SMALL), s->in, s->bytes);
	mpi_flags_show(g);
}

static inline __attribute__((always_inline)) const char *
data(const struct flags *g, int rank)
{
	return flags_of(g, g->round, rank)->small;
}

static inline __attribute__((always_inline)) void
wait_all(struct flags *g)
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_flags_wait(g, i);
	g->b->seen = g->round;
}

bool
mpi_flags_fast_barrier(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_BARRIER))
		return false;
	mpi_flags_show(&g);
	wait_all(&g);
	return end(&g);
}

bool
mpi_flags_fast_bcast(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_BCAST))
		return false;
	if (g.me == s->root) {
		lay(&g, s);
		return end(&g);
	}
	mpi_flags_show(&g);
	mpi_flags_wait(&g, s->root);
	bytes_copy_few(s->out, data(&g, s->root), s->bytes);
	return end(&g);
}

/* Blocks that the others have laid, each in its place. */
static inline __attribute__((always_inline)) void
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

static inline __attribute__((always_inline)) void
keep(char *to, const char *from, size_t bytes)
{
	if (to != from)
		bytes_copy_few(to, from, bytes);
}

bool
mpi_flags_fast_gather(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_GATHER))
		return false;
	if (g.me != s->root) {
		lay(&g, s);
		return end(&g);
	}
	mpi_flags_show(&g);
	flags_fast_collect(&g, s, 0);
	keep(s->out + (size_t)g.me * s->bytes, s->in, s->bytes);
	return end(&g);
}

/* All blocks on one flag. */
static inline __attribute__((always_inline)) void
flags_fast_deal(struct flags *g, const struct fast_call *s)
{
	bytes_copy_few(mpi_flags_buffer(g, FLAGS_SMALL), s->in, (size_t)g->n * s->bytes);
	mpi_flags_show(g);
}

bool
mpi_flags_fast_scatter(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_SCATTER))
		return false;
	if (g.me == s->root) {
		flags_fast_deal(&g, s);
		keep(s->out, s->in + (size_t)g.me * s->bytes, s->bytes);
		return end(&g);
	}
	mpi_flags_show(&g);
	mpi_flags_wait(&g, s->root);
	bytes_copy_few(s->out, data(&g, s->root) + (size_t)g.me * s->bytes, s->bytes);
	return end(&g);
}

bool
mpi_flags_fast_allgather(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_ALLGATHER))
		return false;
	lay(&g, s);
	keep(s->out + (size_t)g.me * s->bytes, s->in, s->bytes);
	flags_fast_collect(&g, s, 0);
	return end(&g);
}

bool
mpi_flags_fast_alltoall(const struct fast_call *s)
{
	struct flags g;
	size_t own;

	if (!flags_fast_begin(&g, s, COLL_ALLTOALL))
		return false;
	own = (size_t)g.me * s->bytes;
	flags_fast_deal(&g, s);
	keep(s->out + own, s->in + own, s->bytes);
	flags_fast_collect(&g, s, own);
	return end(&g);
}

/* out = what ranks 0 .. last have laid, from byte `skip` on, combined in the order of the ranks. */
static inline __attribute__((always_inline)) void
flags_fast_combine(const struct flags *g, const struct fast_call *s, size_t skip, int last)
{
	bytes_copy_few(s->out, data(g, last) + skip, s->bytes);
	for (int i = last - 1; i >= 0; i--)
		s->loop(data(g, i) + skip, s->out, s->count);
}

/* The root's operand is on its own flag as well, as it may be where the result goes. */
bool
mpi_flags_fast_reduce(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_REDUCE))
		return false;
	lay(&g, s);
	if (g.me == s->root) {
		wait_all(&g);
		flags_fast_combine(&g, s, 0, g.n - 1);
	}
	return end(&g);
}

/*
 * With two ranks the second one has its own operand in place before the first one's has come. The
 * order is that of the ranks on both.
 */
bool
mpi_flags_fast_allreduce(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_ALLREDUCE))
		return false;
	lay(&g, s);
	if (g.n == 2) {
		if (g.me == 1)
			keep(s->out, s->in, s->bytes);
		mpi_flags_wait(&g, 1 - g.me);
		g.b->seen = g.round;
		if (g.me == 0)
			bytes_copy_few(s->out, data(&g, 1), s->bytes);
		s->loop(data(&g, 0), s->out, s->count);
		return end(&g);
	}
	wait_all(&g);
	flags_fast_combine(&g, s, 0, g.n - 1);
	return end(&g);
}

bool
mpi_flags_fast_reduce_scatter(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_REDUCE_SCATTER))
		return false;
	flags_fast_deal(&g, s);
	wait_all(&g);
	flags_fast_combine(&g, s, (size_t)g.me * s->bytes, g.n - 1);
	return end(&g);
}

static inline __attribute__((always_inline)) void
wait_for_first(struct flags *g, int ranks)
{
	for (int i = 0; i < ranks; i++)
		mpi_flags_wait(g, i);
}

bool
mpi_flags_fast_scan(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_SCAN))
		return false;
	lay(&g, s);
	wait_for_first(&g, g.me);
	flags_fast_combine(&g, s, 0, g.me);
	return end(&g);
}

bool
mpi_flags_fast_exscan(const struct fast_call *s)
{
	struct flags g;

	if (!flags_fast_begin(&g, s, COLL_EXSCAN))
		return false;
	lay(&g, s);
	wait_for_first(&g, g.me);
	if (g.me > 0)
		flags_fast_combine(&g, s, 0, g.me - 1);
	return end(&g);
}
