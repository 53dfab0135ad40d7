/* SPDX-License-Identifier: MIT
 *
 * Ranks, each on a core of its own, touch pages of lazy memory at once, and work a little between
 * two of them. usage: touches [--pages N] [--work N]: pages in all, and instructions behind each.
 * Window: label 16, of rank 0: until all pages have been touched.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

static char *
lazy_pages(size_t bytes)
{
	uint64_t at = 0;

	if (kmem_alloc(SELF, bytes, PAGE_READ | PAGE_WRITE | PAGE_LAZY, &at) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return (char *)(uintptr_t)at;
}

static void
touch(volatile char *pages, long count, unsigned long page_bytes, long work)
{
	for (long i = 0; i < count; i++) {
		pages[(unsigned long)i * page_bytes] = 1;
		for (long n = 0; n < work / 2; n++)
			__asm__ volatile("" : "+r"(n));
	}
}

int
main(int argc, char **argv)
{
	long pages = number(argc, argv, "--pages", 240), work = number(argc, argv, "--work", 0);
	struct cluster_info here;
	int rank, ranks;
	char *at;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	kcluster_info(&here);
	pages /= ranks;
	at = lazy_pages((size_t)(pages + 1) * here.page_bytes);
	touch(at, 1, here.page_bytes, 0);	/* its table comes, too */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
	}
	touch(at + here.page_bytes, pages, here.page_bytes, work);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		hal_mark(MARK_END);
	MPI_Finalize();
	return 0;
}
