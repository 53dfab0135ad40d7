/* SPDX-License-Identifier: MIT
 *
 * Nobody leaves a barrier before everybody has come, also with many ranks on few cores; and
 * messages of one round never reach the next.
 */
#include "check.h"

#define ROUNDS 50

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	for (int i = 0; i < ROUNDS; i++) {
		int sum = 0, late = (c.rank + i) % c.size, token = 0;

		MPI_Barrier(MPI_COMM_WORLD);
		/*
		 * who is late sends a token to everybody after the first barrier: nobody may have
		 * it before
		 */
		if (late == 0)
			for (int to = 0; to < c.size; to++)
				MPI_Send(&i, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(&c, token == i);
		MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(&c, sum == i * c.size);
	}
	return check_end(&c);
}
