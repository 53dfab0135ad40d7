/* SPDX-License-Identifier: MIT
 *
 * Ranks that talk for ever, until something happens: `hold` nothing, `hold segv R` rank R dies of a
 * wild pointer, `hold exit R` it leaves without MPI_Finalize, `hold late R` it exits with status 5
 * after MPI_Finalize, as does `hold deaf`, which also ignores interruptions.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 50

static void
happen(const char *what)
{
	volatile int *nowhere = NULL;

	if (strcmp(what, "segv") == 0)
		*nowhere = 1;
	if (strcmp(what, "exit") == 0)
		exit(0);
	if (strcmp(what, "late") == 0) {
		MPI_Finalize();
		exit(5);
	}
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "hold";
	int rank, size, who = argc > 2 ? atoi(argv[2]) : -1, out[64] = {0}, in[64];
	int late = strcmp(what, "late") == 0;

	if (strcmp(what, "deaf") == 0)
		signal(SIGINT, SIG_IGN);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; late ? i < ROUNDS : 1; i++) {
		MPI_Sendrecv(out, 64, MPI_INT, (rank + 1) % size, 0, in, 64, MPI_INT,
			(rank + size - 1) % size, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == who && i == ROUNDS - 1)
			happen(what);
	}
	MPI_Finalize();
	return 0;
}
