/* SPDX-License-Identifier: MIT
 *
 * Reduction to all: pairs of ranks exchange and combine, at distances 1, 2, 4 ... If n is no power of two, the first ranks fold in pairs
 * before and unfold after. Operands stay in the order of the ranks.
 *
 * Cost: ceil(log2 n) (a + m b + m g), and 2 (a + m b) + m g more if n is no power of two.
 */
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>
#include <mpi/core/op.h>
#include <mpi/core/type.h>

struct state {
	struct mpi_rank *self;
	struct comm *c;
	const struct reduction *r;
	size_t bytes;
	char *theirs;
	int folded;			/* pairs that fold: ranks 0 .. 2*folded-1 */
};

/* out = (lower rank's) op (higher rank's) */
static void
combine(const struct state *s, int partner)
{
	const struct reduction *r = s->r;

	if (partner < s->c->rank) {
		mpi_op_apply(s->self, r->op, s->theirs, r->out, r->count, r->type);
	} else {
		mpi_op_apply(s->self, r->op, r->out, s->theirs, r->count, r->type);
		memcpy(r->out, s->theirs, s->bytes);
	}
}

static struct exchange
exchange_with(const struct state *s, int partner)
{
	return (struct exchange){.out = s->r->out, .out_bytes = s->bytes, .to = partner, .in = s->theirs, .in_bytes = s->bytes,
		.from = partner};
}

/* Even ranks of the folding pairs give their operand to the odd one. */
static int
fold(const struct state *s)
{
	int partner = s->c->rank ^ 1, err;
	struct exchange x = exchange_with(s, partner);

	if (s->c->rank % 2 == 0)
		return step_send(s->self, s->c, &x, TAG_ALLREDUCE);
	err = step_recv(s->self, s->c, &x, TAG_ALLREDUCE);
	if (err == MPI_SUCCESS)
		combine(s, partner);
	return err;
}

static int
unfold(const struct state *s)
{
	struct exchange x = exchange_with(s, s->c->rank ^ 1);

	if (s->c->rank % 2 != 0)
		return step_send(s->self, s->c, &x, TAG_ALLREDUCE);
	x.in = s->r->out;
	return step_recv(s->self, s->c, &x, TAG_ALLREDUCE);
}

/* `position` counts the ranks that take part: the odd ones of the folded pairs and all others. */
static int
double_up(const struct state *s, int position, int count)
{
	int err = MPI_SUCCESS;

	for (int distance = 1; distance < count && err == MPI_SUCCESS; distance *= 2) {
		int other = position ^ distance;
		int partner = other < s->folded ? 2 * other + 1 : other + s->folded;
		struct exchange x = exchange_with(s, partner);

		err = step_exchange(s->self, s->c, &x, TAG_ALLREDUCE);
		if (err == MPI_SUCCESS)
			combine(s, partner);
	}
	return err;
}

static int
run(struct state *s)
{
	int rank = s->c->rank, count = 1, err = MPI_SUCCESS;
	bool folds;

	while (count * 2 <= s->c->size)
		count *= 2;
	s->folded = s->c->size - count;
	folds = rank < 2 * s->folded;
	if (folds)
		err = fold(s);
	if (err == MPI_SUCCESS && (!folds || rank % 2 != 0))
		err = double_up(s, folds ? rank / 2 : rank - s->folded, count);
	if (err == MPI_SUCCESS && folds)
		err = unfold(s);
	return err;
}

int
mpi_allreduce_recursive_doubling(struct mpi_rank *self, struct comm *c, const struct reduction *r)
{
	_Alignas(16) char small[SCRATCH_SMALL];
	size_t bytes = (size_t)r->count * mpi_type_find(r->type)->extent;
	struct state s = {self, c, r, bytes, scratch_take(small, sizeof(small), bytes), 0};
	int err;

	if (s.theirs == NULL)
		return MPI_ERR_NO_MEM;
	if (r->in != r->out && bytes > 0)
		memcpy(r->out, r->in, bytes);
	err = run(&s);
	scratch_free(small, s.theirs);
	return err;
}
