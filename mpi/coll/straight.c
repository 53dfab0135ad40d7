/* SPDX-License-Identifier: MIT
 *
 * The straight way of small collectives.
 *
 * Cost: that of the same collective with signs, in one round, and some hundred instructions.
 */
#include <mpi/coll/straight.h>
#include <mpi/transport/packet.h>

static inline __attribute__((always_inline)) bool
straight_begin(struct signs *g, const struct straight *s, enum coll_kind kind)
{
	struct venue *v = s->comm->venue;

	if (!mpi_choose_is_straight(s->comm, kind, s->bytes) || v->waits.signs == NULL)
		return false;
	*g = (struct signs){.self = s->self, .v = v, .b = &v->waits, .me = v->rank, .n = v->ranks,
		.round = v->waits.round + 1};
	return true;
}

static inline __attribute__((always_inline)) bool
end(struct signs *g)
{
	mpi_signs_end(g);
	return true;
}

static inline __attribute__((always_inline)) void
lay(struct signs *g, const struct straight *s)
{
	bytes_copy_few(mpi_signs_room(g, SIGNS_SMALL), s->in, s->bytes);
	mpi_signs_show(g);
}

static inline __attribute__((always_inline)) const char *
data(const struct signs *g, int rank)
{
	return signs_of(g, g->round, rank)->small;
}

static inline __attribute__((always_inline)) void
wait_all(struct signs *g)
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_signs_wait(g, i);
	g->b->seen = g->round;
}

bool
mpi_straight_barrier(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_BARRIER))
		return false;
	mpi_signs_show(&g);
	wait_all(&g);
	return end(&g);
}

bool
mpi_straight_bcast(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_BCAST))
		return false;
	if (g.me == s->root) {
		lay(&g, s);
		return end(&g);
	}
	mpi_signs_show(&g);
	mpi_signs_wait(&g, s->root);
	bytes_copy_few(s->out, data(&g, s->root), s->bytes);
	return end(&g);
}

/* Blocks that the others have laid, each in its place. */
static inline __attribute__((always_inline)) void
straight_collect(struct signs *g, const struct straight *s, size_t skip)
{
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_signs_wait(g, i);
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
mpi_straight_gather(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_GATHER))
		return false;
	if (g.me != s->root) {
		lay(&g, s);
		return end(&g);
	}
	mpi_signs_show(&g);
	straight_collect(&g, s, 0);
	keep(s->out + (size_t)g.me * s->bytes, s->in, s->bytes);
	return end(&g);
}

/* All blocks on one sign. */
static inline __attribute__((always_inline)) void
straight_deal(struct signs *g, const struct straight *s)
{
	bytes_copy_few(mpi_signs_room(g, SIGNS_SMALL), s->in, (size_t)g->n * s->bytes);
	mpi_signs_show(g);
}

bool
mpi_straight_scatter(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_SCATTER))
		return false;
	if (g.me == s->root) {
		straight_deal(&g, s);
		keep(s->out, s->in + (size_t)g.me * s->bytes, s->bytes);
		return end(&g);
	}
	mpi_signs_show(&g);
	mpi_signs_wait(&g, s->root);
	bytes_copy_few(s->out, data(&g, s->root) + (size_t)g.me * s->bytes, s->bytes);
	return end(&g);
}

bool
mpi_straight_allgather(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_ALLGATHER))
		return false;
	lay(&g, s);
	keep(s->out + (size_t)g.me * s->bytes, s->in, s->bytes);
	straight_collect(&g, s, 0);
	return end(&g);
}

bool
mpi_straight_alltoall(const struct straight *s)
{
	struct signs g;
	size_t own;

	if (!straight_begin(&g, s, COLL_ALLTOALL))
		return false;
	own = (size_t)g.me * s->bytes;
	straight_deal(&g, s);
	keep(s->out + own, s->in + own, s->bytes);
	straight_collect(&g, s, own);
	return end(&g);
}

/* out = what ranks 0 .. last have laid, from byte `skip` on, combined in the order of the ranks. */
static inline __attribute__((always_inline)) void
straight_combine(const struct signs *g, const struct straight *s, size_t skip, int last)
{
	bytes_copy_few(s->out, data(g, last) + skip, s->bytes);
	for (int i = last - 1; i >= 0; i--)
		s->loop(data(g, i) + skip, s->out, s->count);
}

/* The root's operand is on its own sign as well, as it may be where the result goes. */
bool
mpi_straight_reduce(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_REDUCE))
		return false;
	lay(&g, s);
	if (g.me == s->root) {
		wait_all(&g);
		straight_combine(&g, s, 0, g.n - 1);
	}
	return end(&g);
}

/*
 * With two ranks the second one has its own operand in place before the first one's has come. The
 * order is that of the ranks on both.
 */
bool
mpi_straight_allreduce(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_ALLREDUCE))
		return false;
	lay(&g, s);
	if (g.n == 2) {
		if (g.me == 1)
			keep(s->out, s->in, s->bytes);
		mpi_signs_wait(&g, 1 - g.me);
		g.b->seen = g.round;
		if (g.me == 0)
			bytes_copy_few(s->out, data(&g, 1), s->bytes);
		s->loop(data(&g, 0), s->out, s->count);
		return end(&g);
	}
	wait_all(&g);
	straight_combine(&g, s, 0, g.n - 1);
	return end(&g);
}

bool
mpi_straight_reduce_scatter(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_REDUCE_SCATTER))
		return false;
	straight_deal(&g, s);
	wait_all(&g);
	straight_combine(&g, s, (size_t)g.me * s->bytes, g.n - 1);
	return end(&g);
}

static inline __attribute__((always_inline)) void
wait_for_first(struct signs *g, int ranks)
{
	for (int i = 0; i < ranks; i++)
		mpi_signs_wait(g, i);
}

bool
mpi_straight_scan(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_SCAN))
		return false;
	lay(&g, s);
	wait_for_first(&g, g.me);
	straight_combine(&g, s, 0, g.me);
	return end(&g);
}

bool
mpi_straight_exscan(const struct straight *s)
{
	struct signs g;

	if (!straight_begin(&g, s, COLL_EXSCAN))
		return false;
	lay(&g, s);
	wait_for_first(&g, g.me);
	if (g.me > 0)
		straight_combine(&g, s, 0, g.me - 1);
	return end(&g);
}
