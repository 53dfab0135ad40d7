/* SPDX-License-Identifier: MIT
 *
 * Scatter by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- linear ---
 *
 * Scatter: the root sends to all at once. Any blocks.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */

void
mpi_scatter_linear(struct sched *s, const struct collective *k)
{
	if (s->rank != k->root) {
		mpi_sched_recv(s, side_block(&k->recv, 0), k->root);
		mpi_sched_round(s);
		return;
	}
	for (int i = 1; i < s->size; i++) {
		int to = (s->rank + i) % s->size;

		mpi_sched_send(s, side_block(&k->send, to), to);
	}
	if (!k->recv.in_place)
		mpi_sched_copy(s, side_block(&k->recv, 0), side_block(&k->send, s->rank));
	mpi_sched_round(s);
}

static void
scatter_linear_write(struct sched *s, const struct work *w)
{
	mpi_scatter_linear(s, w->k);
}

const struct algorithm mpi_algorithm_scatter_linear = {.write = scatter_linear_write};

/* --- binomial tree ---
 *
 * Scatter of equal blocks along a binomial tree: each position gets those of the positions below it
 * as well, as bytes, and hands them on.
 *
 * Cost: ceil(log2 n) a + (n - 1) m b.
 */

/* All blocks in the order of the positions. */
static void
wrap(struct sched *s, const struct side *all, char *bytes, size_t block)
{
	for (int i = 1; i < s->size; i++)
		mpi_sched_copy(s, span_bytes(bytes + (size_t)i * block, block),
			side_block(all, (i + s->rank) % s->size));
	mpi_sched_round(s);
}

void
mpi_scatter_binomial(struct sched *s, const struct collective *k)
{
	bool root = s->rank == k->root;
	struct span mine = root ? side_block(&k->send, s->rank) : side_block(&k->recv, 0);
	size_t block = span_size(mine);
	int n = s->size, me = (s->rank - k->root + n) % n, bit = 1;
	bool leaf = me % 2 != 0 || me + 1 >= n;
	char *bytes = leaf && !root ? NULL : mpi_sched_scratch(s, (size_t)n * block);

	while (bit < n && !(me & bit))
		bit *= 2;
	if (root)
		wrap(s, &k->send, bytes, block);
	else if (leaf)
		mpi_sched_recv(s, mine, (me - bit + k->root) % n);
	else
		mpi_sched_recv(s, span_bytes(bytes, (size_t)(me + bit < n ? bit : n - me) * block),
			(me - bit + k->root) % n);
	mpi_sched_round(s);
	if (leaf && !root)
		return;
	for (bit /= 2; bit > 0; bit /= 2) {
		int below = me + 2 * bit < n ? bit : n - me - bit;

		if (below > 0)
			mpi_sched_send(s, span_bytes(bytes + (size_t)bit * block, (size_t)below *
				block), (me + bit + k->root) % n);
	}
	if (!root)
		mpi_sched_copy(s, mine, span_bytes(bytes, block));
	else if (!k->recv.in_place)
		mpi_sched_copy(s, side_block(&k->recv, 0), mine);
	mpi_sched_round(s);
}

static bool
scatter_binomial_fits(const struct sched *s, const struct work *w)
{
	(void)s;
	return w->even;
}

static void
scatter_binomial_write(struct sched *s, const struct work *w)
{
	mpi_scatter_binomial(s, w->k);
}

const struct algorithm mpi_algorithm_scatter_binomial = {.fits = scatter_binomial_fits,
	.write = scatter_binomial_write};
