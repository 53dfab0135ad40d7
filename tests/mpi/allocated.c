/* SPDX-License-Identifier: MIT
 *
 * Messages from and into memory of MPI_Alloc_mem, which grows, is given back in another order, and
 * begins again: allocated [BYTES].
 */
#include "check.h"

#define BLOCKS 5

struct ring {
	struct check *check;
	int to;
	int from;
};

static unsigned char *
new_block(struct check *c, size_t bytes)
{
	unsigned char *p = NULL;

	CHECK(c, MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p) == MPI_SUCCESS);
	return p;
}

/* One message around the ring, out of and into such memory, the other way back, too. */
static void
pass(const struct ring *r, unsigned char *out, unsigned char *in, size_t bytes)
{
	check_fill(out, bytes, r->check->rank, (int)bytes);
	MPI_Sendrecv(out, (int)bytes, MPI_BYTE, r->to, 1, in, (int)bytes, MPI_BYTE, r->from, 1,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(r->check, check_same(in, bytes, r->from, (int)bytes));
	MPI_Sendrecv(out, (int)bytes, MPI_BYTE, r->from, 2, in, (int)bytes, MPI_BYTE, r->to, 2,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(r->check, check_same(in, bytes, r->to, (int)bytes));
}

/* Blocks of growing size, all at once, then given back from the middle outwards. */
static void
grow(const struct ring *r, size_t most)
{
	static const int order[BLOCKS] = {2, 1, 3, 0, 4};
	unsigned char *block[BLOCKS], *in = new_block(r->check, most);
	size_t bytes = most;

	for (int i = BLOCKS - 1; i >= 0; i--, bytes /= 4)
		block[i] = new_block(r->check, bytes);
	for (int i = 0; i < BLOCKS; i++) {
		bytes = most >> 2 * (BLOCKS - 1 - i);
		pass(r, block[i], in, bytes);
	}
	for (int i = 0; i < BLOCKS; i++)
		MPI_Free_mem(block[order[i]]);
	MPI_Free_mem(in);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct ring r = {&c, (c.rank + 1) % c.size, (c.rank + c.size - 1) % c.size};
	size_t most = argc > 1 ? (size_t)atol(argv[1]) : 40000;

	for (size_t bytes = most / 16; bytes <= most; bytes *= 2)
		grow(&r, bytes);
	grow(&r, most / 3);
	return check_end(&c);
}
