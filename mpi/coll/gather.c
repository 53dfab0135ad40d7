/* SPDX-License-Identifier: MIT
 *
 * Gather by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- linear ---
 *
 * Gather: the root receives from all at once. Any blocks.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */

void
mpi_gather_linear(struct sched *s, const struct collective *k)
{
	if (s->rank != k->root) {
		mpi_sched_send(s, side_block(&k->send, 0), k->root);
		mpi_sched_round(s);
		return;
	}
	for (int i = 0; i < s->size; i++)
		if (i != s->rank)
			mpi_sched_recv(s, side_block(&k->recv, i), i);
	if (!k->send.in_place)
		mpi_sched_copy(s, side_block(&k->recv, s->rank), side_block(&k->send, 0));
	mpi_sched_round(s);
}

static void
gather_linear_write(struct sched *s, const struct work *w)
{
	mpi_gather_linear(s, w->k);
}

const struct algorithm mpi_algorithm_gather_linear = {.write = gather_linear_write};

/* --- binomial tree ---
 *
 * Gather of equal blocks along a binomial tree: each position collects those of the positions below
 * it, as bytes.
 *
 * Cost: ceil(log2 n) a + (n - 1) m b.
 */

/*
 * The root's positions wrap around: blocks of positions first .. first + n - 1 lie in at most two
 * pieces of its buffer.
 */
static void
unwrap(struct sched *s, const struct side *all, const char *bytes, size_t block)
{
	for (int i = 0; i < s->size; i++) {
		int rank = (i + s->rank) % s->size;

		if (i != 0)
			mpi_sched_copy(s, side_block(all, rank),
				span_bytes(bytes + (size_t)i * block, block));
	}
}

void
mpi_gather_binomial(struct sched *s, const struct collective *k)
{
	bool root = s->rank == k->root;
	struct span mine = root ? side_block(&k->recv, s->rank) : side_block(&k->send, 0);
	size_t block = span_size(mine);
	int n = s->size, me = (s->rank - k->root + n) % n, bit;
	bool leaf = me % 2 != 0 || me + 1 >= n;
	char *bytes = leaf && !root ? NULL : mpi_sched_scratch(s, (size_t)n * block);

	if (bytes != NULL && !root)
		mpi_sched_copy(s, span_bytes(bytes, block), mine);
	if (root && !k->send.in_place)
		mpi_sched_copy(s, mine, side_block(&k->send, 0));
	for (bit = 1; bit < n && !(me & bit); bit *= 2) {
		int below = me + 2 * bit < n ? bit : n - me - bit;

		if (below > 0)
			mpi_sched_recv(s, span_bytes(bytes + (size_t)bit * block, (size_t)below *
				block), (me + bit + k->root) % n);
	}
	mpi_sched_round(s);
	if (root)
		unwrap(s, &k->recv, bytes, block);
	else if (leaf)
		mpi_sched_send(s, mine, (me - bit + k->root) % n);
	else
		mpi_sched_send(s, span_bytes(bytes, (size_t)(me + bit < n ? bit : n - me) * block),
			(me - bit + k->root) % n);
	mpi_sched_round(s);
}

static bool
gather_binomial_fits(const struct sched *s, const struct work *w)
{
	(void)s;
	return w->even;
}

static void
gather_binomial_write(struct sched *s, const struct work *w)
{
	mpi_gather_binomial(s, w->k);
}

const struct algorithm mpi_algorithm_gather_binomial =
	{.fits = gather_binomial_fits, .write = gather_binomial_write};
