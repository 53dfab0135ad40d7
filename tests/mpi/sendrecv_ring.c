/* SPDX-License-Identifier: MIT
 *
 * All ranks pass data around a ring at the same time, small and large, and exchange with each
 * other: nobody stops anybody.
 */
#include "check.h"

#define LARGEST 200000

static const int sizes[] = {0, 16, 96, 4096, 10000, LARGEST};

static void
ring(struct check *c, unsigned char *out, unsigned char *in, int len)
{
	int next = (c->rank + 1) % c->size, previous = (c->rank - 1 + c->size) % c->size;

	check_fill(out, (size_t)len, c->rank, len);
	for (int i = 1; i <= c->size; i++) {
		MPI_Status status;

		MPI_Sendrecv(out, len, MPI_BYTE, next, 9, in, LARGEST, MPI_BYTE, previous, 9,
			MPI_COMM_WORLD, &status);
		CHECK(c, status.MPI_SOURCE == previous);
		memcpy(out, in, (size_t)len);
		CHECK(c, check_same(out, (size_t)len, (c->rank - i + c->size) % c->size, len));
	}
}

/* With a partner that does not exist, a Sendrecv does the half that is left. */
static void
open_chain(struct check *c)
{
	int left = c->rank > 0 ? c->rank - 1 : MPI_PROC_NULL, right = c->rank + 1 < c->size ?
		c->rank + 1 : MPI_PROC_NULL;
	int got = -5;
	MPI_Status status;

	MPI_Sendrecv(&c->rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
		&status);
	CHECK(c, got == (left == MPI_PROC_NULL ? -5 : left));
	CHECK(c, status.MPI_SOURCE == left);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ring(&c, out, in, sizes[i]);
	open_chain(&c);
	free(in);
	free(out);
	return check_end(&c);
}
