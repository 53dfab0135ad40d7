/* SPDX-License-Identifier: MIT
 *
 * Blocking collectives with flags: all patterns (coll/passage.h), each compiled by itself.
 *
 * Cost: n - 1 reads of lines for each part where all give, one where the root does. To copy: the
 * bytes that a rank gives and takes times b, on all ranks at the same time. To combine: m b and
 * (n - 1) m g; in slices twice as many lines for each part, 2 m b and (n - 1) / n m g.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/passage.h>

/* Each combines its slice and lays that where it was, in another round; all collect the slices. */
ALWAYS_INLINE void
allreduce_in_slices(struct passage *p, enum coll_kind kind)
{
	lay_slices(p, mpi_flags_buffer(&p->g, p->bytes));
	mpi_flags_show(&p->g);
	mpi_flags_wait_all(&p->g);
	mpi_flags_next(&p->g);
	fold_slice(p, kind, mpi_flags_buffer(&p->g, p->bytes));
	take_slices(p, kind);
	p->g.b->seen = p->g.round;
}

ALWAYS_INLINE void
exchange(struct passage *p, enum coll_kind kind)
{
	lay(p, kind, p->gives ? mpi_flags_buffer(&p->g, laid(p, kind)) : NULL);
	mpi_flags_show(&p->g);
	keep_own_behind_flag(p, kind);
	take(p, kind);
	if (p->takes && patterns[kind].gives != THE_ROOT && !patterns[kind].prefix)
		p->g.b->seen = p->g.round;
}

static void
barrier(struct flags *g)
{
	mpi_flags_next(g);
	mpi_flags_show(g);
	mpi_flags_wait_all(g);
}

ALWAYS_INLINE void
passage_pass(struct passage *p, enum coll_kind kind)
{
	for (; p->at < p->all; p->at += p->bytes) {
		next_part(p, kind);
		mpi_flags_next(&p->g);
		if (goes_in_slices(p, kind))
			allreduce_in_slices(p, kind);
		else
			exchange(p, kind);
	}
}

ALWAYS_INLINE bool
flags_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err,
	enum coll_kind kind)
{
	struct passage p;

	p.k = k;
	if (!passage_describe(&p, kind, self, c))
		return false;
	if (!mpi_flags_begin(&p.g, self, c, p.all * (patterns[kind].each ? (size_t)c->size : 1)))
		return false;
	passage_begin(&p, kind, self);
	if (kind == COLL_BARRIER)
		barrier(&p.g);
	else
		passage_pass(&p, kind);
	mpi_flags_end(&p.g);
	passage_end(&p, kind);
	*err = MPI_SUCCESS;
	return true;
}

#define FLAGS(name, kind) \
	static bool \
	name##_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err) \
	{ \
		return flags_run(self, c, k, err, kind); \
	} \
	const struct algorithm mpi_algorithm_##name##_flags = {.run = name##_run, \
		.starts = STARTS_LAID, .flags_fast = true};

FOR_EACH_PATTERN(FLAGS)
