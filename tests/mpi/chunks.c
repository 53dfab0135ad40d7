/* SPDX-License-Identifier: MIT
 *
 * A long message in pieces gets through although messages before it, which are received after it,
 * fill what the sender has for copies.
 */
#include "check.h"

#define MEDIUM 12000
#define BEFORE 40
#define LONG 600000

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int to = (c.rank + 1) % c.size, from = (c.rank + c.size - 1) % c.size;
	unsigned char *medium = malloc(MEDIUM), *out = malloc(2 * LONG), *in = calloc(2, LONG),
		*want = malloc(2 * LONG);
	MPI_Request r[BEFORE + 1];
	MPI_Datatype halves;

	MPI_Type_vector(LONG / 8, 8, 16, MPI_BYTE, &halves);
	MPI_Type_commit(&halves);
	check_fill(medium, MEDIUM, c.rank, 1);
	check_fill(out, 2 * LONG, c.rank, 2);
	for (int i = 0; i < BEFORE; i++)
		MPI_Isend(medium, MEDIUM, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r[i]);
	MPI_Isend(out, 1, halves, to, 2, MPI_COMM_WORLD, &r[BEFORE]);
	MPI_Recv(in, 1, halves, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	check_fill(want, 2 * LONG, from, 2);
	for (size_t i = 0; i < 2 * LONG; i += 16)
		CHECK(&c, memcmp(in + i, want + i, 8) == 0 && in[i + 8] == 0);
	for (int i = 0; i < BEFORE; i++) {
		MPI_Recv(in, MEDIUM, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(&c, check_same(in, MEDIUM, from, 1));
	}
	MPI_Waitall(BEFORE + 1, r, MPI_STATUSES_IGNORE);
	MPI_Type_free(&halves);
	free(medium);
	free(out);
	free(in);
	free(want);
	return check_end(&c);
}
