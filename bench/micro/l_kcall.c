/* SPDX-License-Identifier: MIT
 *
 * L-Kcall: a kernel call that runs on the calling core, from user to user. usage: l_kcall [--calls
 * N] Source: seed 000 IV-A.
 */
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 100000);
	double start;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < WINDOWS; i++)
		kthread_self();
	hal_mark(LABEL);
	for (int i = 0; i < WINDOWS; i++) {
		hal_mark(MARK_BEGIN);
		kthread_self();
		hal_mark(MARK_END);
	}
	start = MPI_Wtime();
	for (long i = 0; i < calls; i++)
		kthread_self();
	row("l_kcall", (MPI_Wtime() - start) / (double)calls * 1e9, "ns", "");
	MPI_Finalize();
	return 0;
}
