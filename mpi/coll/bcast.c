/* SPDX-License-Identifier: MIT
 *
 * Broadcast by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- binomial tree ---
 *
 * Broadcast along a binomial tree: who has the data passes it on, to the farthest first.
 *
 * Cost: ceil(log2 n) (a + m b).
 */

void
mpi_bcast_binomial(struct sched *s, struct span data, int root)
{
	int me = (s->rank - root + s->size) % s->size, bit = 1;

	while (bit < s->size && !(me & bit))
		bit *= 2;
	if (me != 0) {
		mpi_sched_recv(s, data, (me - bit + root) % s->size);
		mpi_sched_round(s);
	}
	for (bit /= 2; bit > 0; bit /= 2)
		if (me + bit < s->size)
			mpi_sched_send(s, data, (me + bit + root) % s->size);
	mpi_sched_round(s);
}

static void
bcast_binomial_write(struct sched *s, const struct work *w)
{
	mpi_bcast_binomial(s, w->out, w->root);
}

const struct algorithm mpi_algorithm_bcast_binomial = {.write = bcast_binomial_write};

/* --- scatter, then a ring ---
 *
 * Broadcast of much data: the root deals it out in n parts along a binomial tree, and the parts
 * travel around a ring, as bytes: data that is not in one piece is packed first (which is one
 * rank's affair: types may differ between ranks).
 *
 * Cost: (ceil(log2 n) + n - 1) a + 2 m b, and a copy of data in several pieces.
 */

/* Part i, counted from the root, of `parts` of them; the last ones may be shorter or empty. */
static struct span
parts_of(struct span all, int n, int first, int parts)
{
	size_t part = ((size_t)all.count + (size_t)n - 1) / (size_t)n, total = (size_t)all.count;
	size_t begin = (size_t)first * part, end = (size_t)(first + parts) * part;

	if (begin > total)
		begin = total;
	if (end > total)
		end = total;
	return span_bytes((char *)all.at + begin, end - begin);
}

/* Position `me` gets its part and those of its subtree, and hands on the subtrees' below. */
static void
deal_parts(struct sched *s, struct span all, int me, int root)
{
	int n = s->size, bit = 1;

	while (bit < n && !(me & bit))
		bit *= 2;
	if (me != 0) {
		mpi_sched_recv(s, parts_of(all, n, me, me + bit < n ? bit : n - me),
			(me - bit + root) % n);
		mpi_sched_round(s);
	}
	for (bit /= 2; bit > 0; bit /= 2)
		if (me + bit < n)
			mpi_sched_send(s, parts_of(all, n, me + bit, me + 2 * bit < n ? bit
				: n - me - bit), (me + bit + root) % n);
	mpi_sched_round(s);
}

void
mpi_bcast_scatter_ring(struct sched *s, struct span data, int root)
{
	bool plain = span_is_plain(data);
	size_t bytes = span_size(data);
	struct span all = span_bytes(plain ? span_first(data) : mpi_sched_scratch(s, bytes), bytes);
	int n = s->size, me = (s->rank - root + n) % n;

	if (!plain && me == 0)
		mpi_sched_copy(s, all, data);
	mpi_sched_round(s);
	deal_parts(s, all, me, root);
	for (int i = 0; i < n - 1; i++) {
		int give = (me - i + n) % n, take = (me - i - 1 + n) % n;

		mpi_sched_recv(s, parts_of(all, n, take, 1), (s->rank - 1 + n) % n);
		mpi_sched_send(s, parts_of(all, n, give, 1), (s->rank + 1) % n);
		mpi_sched_round(s);
	}
	if (!plain && me != 0)
		mpi_sched_copy(s, data, all);
	mpi_sched_round(s);
}

static void
bcast_scatter_ring_write(struct sched *s, const struct work *w)
{
	mpi_bcast_scatter_ring(s, w->out, w->root);
}

const struct algorithm mpi_algorithm_bcast_scatter_ring = {.write = bcast_scatter_ring_write};
