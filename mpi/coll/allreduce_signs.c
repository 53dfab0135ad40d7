/* SPDX-License-Identifier: MIT
 *
 * Reduction to all among few ranks in one cluster. Each lays its operand beside its sign. If it is
 * small, all combine everything by themselves; of more data, in parts, each combines its slice and
 * lays it there in another round, and all collect the slices. Operands stay in the order of the
 * ranks, so that all get the same.
 *
 * Cost: n - 1 reads of lines and (n - 1) m g; with slices twice as many lines for each part, 2 m b + (n - 1) / n m g.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_parts.h>
#include <mpi/coll/signs.h>

#define WHOLE_MAX 1024			/* bytes up to which all combine everything */

static void
allreduce_signs_combine(struct signs *g, const struct parts *p)
{
	memcpy(mpi_signs_room(g, p->bytes), p->in, p->bytes);
	mpi_signs_show(g);
	mpi_signs_wait_all(g);
	/* the own operand is on the own sign as well: `out` may be where it was */
	memcpy(p->out, mpi_signs_data(g, g->n - 1, p->bytes), p->bytes);
	for (int i = g->n - 2; i >= 0; i--)
		mpi_op_apply(&p->op, mpi_signs_data(g, i, p->bytes), p->out, p->count);
}

/* A rank's slice: bytes `from` .. `from + bytes - 1`. */
struct slice {
	MPI_Count first;
	MPI_Count count;
	size_t from;
	size_t bytes;
};

static struct slice
slice_of(const struct signs *g, const struct parts *p, int rank)
{
	MPI_Count each = (p->count + g->n - 1) / g->n, end;
	struct slice s;

	s.first = rank * each < p->count ? rank * each : p->count;
	end = s.first + each < p->count ? s.first + each : p->count;
	s.count = end - s.first;
	s.from = (size_t)(s.first * p->op.extent);
	s.bytes = (size_t)(s.count * p->op.extent);
	return s;
}

/* All but the own slice is for others to read. */
static void
lay(struct signs *g, const struct parts *p)
{
	struct slice mine = slice_of(g, p, g->me);
	size_t end = mine.from + mine.bytes;
	char *room = mpi_signs_room(g, p->bytes);

	memcpy(room, p->in, mine.from);
	memcpy(room + end, p->in + end, p->bytes - end);
	mpi_signs_show(g);
	mpi_signs_wait_all(g);
}

static void
combine_slices(struct signs *g, const struct parts *p)
{
	struct slice mine = slice_of(g, p, g->me);
	struct signs before;
	char *room;

	lay(g, p);
	before = *g;
	mpi_signs_next(g);
	room = mpi_signs_room(g, p->bytes) + mine.from;
	mpi_parts_combine(&before, p, room, mine.first, mine.count);
	mpi_signs_show(g);
	memcpy(p->out + mine.from, room, mine.bytes);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;
		struct slice s = slice_of(g, p, from);

		mpi_signs_wait(g, from);
		memcpy(p->out + s.from, mpi_signs_data(g, from, p->bytes) + s.from, s.bytes);
	}
	g->v->seen = g->round;
}

static bool
allreduce_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct parts p;
	struct signs g;

	if (!mpi_parts_fit(self, k) || !mpi_signs_begin(&g, self, c, mpi_parts_bytes(k)))
		return false;
	for (mpi_parts_begin(&p, self, k); mpi_parts_next(&p, &g);) {
		mpi_signs_next(&g);
		if (p.bytes <= WHOLE_MAX)
			allreduce_signs_combine(&g, &p);
		else
			combine_slices(&g, &p);
	}
	mpi_signs_end(&g);
	mpi_op_release(&p.op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_allreduce_signs = {.run = allreduce_signs_run, .straight = true};
