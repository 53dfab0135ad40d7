/* SPDX-License-Identifier: MIT
 *
 * Alltoall by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- pairwise exchange ---
 *
 * Alltoall: each rank sends to the i-th after it and receives from the i-th before it, some i at a
 * time. Any blocks.
 *
 * Cost: (n - 1) (a + m b).
 */

#define AT_ONCE 16

static void
alltoall_pairwise(struct sched *s, const struct work *w)
{
	const struct side *out = w->give, *in = w->get;
	int n = s->size;

	for (int i = 1; i < n; i++) {
		int to = (s->rank + i) % n, from = (s->rank - i + n) % n;

		mpi_sched_recv(s, side_block(in, from), from);
		mpi_sched_send(s, side_block(out, to), to);
		if (i % AT_ONCE == 0)
			mpi_sched_round(s);
	}
	mpi_sched_copy(s, side_block(in, s->rank), side_block(out, s->rank));
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_alltoall_pairwise = {.write = alltoall_pairwise};

/* --- Bruck ---
 *
 * Alltoall of small blocks (Bruck): the blocks are turned so that block i is for the i-th rank
 * after this one; in step k all whose number has bit k go 2^k ranks on. At the end block i is from
 * the i-th rank before this one. Equal blocks, as bytes.
 *
 * Cost: ceil(log2 n) (a + n/2 m b), and n/2 copies of m in each step.
 */

static struct span
block_at(char *blocks, int i, size_t block)
{
	return span_bytes(blocks + (size_t)i * block, block);
}

/* Step for one bit: what leaves is packed, what comes is unpacked into the same places. */
static void
bruck_step(struct sched *s, char *blocks, char *packed[2], int bit, size_t block)
{
	int n = s->size, moved = 0;

	for (int i = bit; i < n; i++)
		if (i & bit)
			mpi_sched_copy(s, block_at(packed[0], moved++, block),
				block_at(blocks, i, block));
	mpi_sched_round(s);
	mpi_sched_recv(s, span_bytes(packed[1], (size_t)moved * block), (s->rank - bit + n) % n);
	mpi_sched_send(s, span_bytes(packed[0], (size_t)moved * block), (s->rank + bit) % n);
	moved = 0;
	for (int i = bit; i < n; i++)
		if (i & bit)
			mpi_sched_copy(s, block_at(blocks, i, block),
				block_at(packed[1], moved++, block));
	mpi_sched_round(s);
}

static void
alltoall_bruck(struct sched *s, const struct work *w)
{
	const struct side *out = w->give, *in = w->get;
	int n = s->size;
	size_t block = span_size(side_block(in, 0));
	char *blocks = mpi_sched_scratch(s, (size_t)n * block);
	char *packed[2] = {mpi_sched_scratch(s, (size_t)n * block),
		mpi_sched_scratch(s, (size_t)n * block)};

	for (int i = 0; i < n; i++)
		mpi_sched_copy(s, block_at(blocks, i, block), side_block(out, (s->rank + i) % n));
	mpi_sched_round(s);
	for (int bit = 1; bit < n; bit *= 2)
		bruck_step(s, blocks, packed, bit, block);
	for (int i = 0; i < n; i++)
		mpi_sched_copy(s, side_block(in, (s->rank - i + n) % n),
			block_at(blocks, i, block));
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_alltoall_bruck =
	{.fits = mpi_work_is_even, .write = alltoall_bruck};
