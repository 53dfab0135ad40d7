/* SPDX-License-Identifier: MIT
 *
 * Memory of other clusters through its cache: a word that is there, a page that is fetched, one
 * that is fetched for one that has to be stored, and both without a cache. The last rank uses
 * the memory of cluster 0. Windows: label 16: read a word that is in the cache; 17: read a word
 * of a page that is not; 18: the same, and the page that goes was written; 19: write a word
 * without a cache.
 */
#include <stdint.h>
#include <unistd.h>
#include <atoll/rmem.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define BIT 9
#define WINDOWS 10
#define FRAMES 8
#define PAGES 64

static struct rmem far;
static uint64_t region;

static void
done(int result)
{
	if (result != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
begin(enum rmem_policy policy)
{
	done(rmem_open(&far, &(struct rmem_setup){.bit = BIT, .policy = policy,
		.frames = FRAMES}));
	done(rmem_alloc(&far, PAGES, &region));
}

static uint64_t
word_of(int page)
{
	return region + (uint64_t)page * RMEM_PAGE;
}

/* The cache is full of pages that were read, or of such that were written. */
static void
fill(bool is_written)
{
	uint64_t word = 0;

	for (int p = 0; p < FRAMES; p++)
		done(is_written ? rmem_write(&far, word_of(p), &word, sizeof(word)) :
			rmem_read(&far, word_of(p), &word, sizeof(word)));
}

/* What comes is written behind the window, if what goes is to be stored. */
static void
windows(int first, bool is_written)
{
	uint64_t word = 0;

	for (int n = 0; n < WINDOWS; n++) {
		int page = first == 0 ? n % FRAMES : first + n;

		hal_mark(MARK_BEGIN);
		done(rmem_read(&far, word_of(page), &word, sizeof(word)));
		hal_mark(MARK_END);
		if (is_written)
			done(rmem_write(&far, word_of(page), &word, sizeof(word)));
	}
}

static void
windows_without(void)
{
	uint64_t word = 0;

	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		done(rmem_write(&far, word_of(n), &word, sizeof(word)));
		hal_mark(MARK_END);
	}
}

int
main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank < ranks - 1) {
		sleep(1);	/* the others execute nothing meanwhile */
	} else {
		begin(RMEM_LRU);
		fill(false);
		hal_mark(LABEL);
		windows(0, false);
		hal_mark(LABEL + 1);
		windows(FRAMES, false);
		rmem_close(&far);
		begin(RMEM_LRU);
		fill(true);
		hal_mark(LABEL + 2);
		windows(FRAMES, true);
		rmem_close(&far);
		begin(RMEM_BYPASS);
		hal_mark(LABEL + 3);
		windows_without();
		rmem_close(&far);
	}
	MPI_Finalize();
	return 0;
}
