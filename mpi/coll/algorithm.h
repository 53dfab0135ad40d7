/* SPDX-License-Identifier: MIT
 *
 * What an algorithm of a collective is. One that sends messages is added to coll/tree.c or
 * coll/<collective>.c, one in shared memory to the file of its mechanism,
 * coll/<mechanism>_coll.c. It is
 *
 *	const struct algorithm mpi_algorithm_<collective>_<algorithm> = {...};
 *
 * A comment between it and the one before it says its cost, or the head of the file that of all.
 * Lists of them are made from the files (mpi/tools/colltable.py); mpi/coll/table.tbl says where
 * each is used.
 */
#ifndef MPI_COLL_ALGORITHM_H
#define MPI_COLL_ALGORITHM_H

#include <mpi/coll/coll.h>

/*
 * A collective whose parts in place are resolved, for those that take part in the schedule: `in` is
 * what this rank gives, `out` where its result goes; they are the same memory or do not overlap.
 */
struct work {
	const struct collective *k;
	/* operands; of a broadcast: the data; of a reduction to a root significant only there */
	struct span out;
	/* reductions: the own operand; with scan it lies in `out` already */
	struct span in;
	const MPI_Count *counts;	/* reduce-scatter: elements of `in` that go to each rank */
	/* blocks; the own one of an allgather lies in its place already */
	const struct side *give;
	const struct side *get;
	int root;
	bool even;			/* equal blocks, one after the other, on both sides */
};

struct algorithm {
	/*
	 * Can it do this? The same answer on all ranks. NULL: it can do anything; each collective
	 * has one such.
	 */
	bool (*fits)(const struct sched *s, const struct work *w);
	void (*write)(struct sched *s, const struct work *w);
	/*
	 * Instead of both: do it at once, for blocking calls. False, on all ranks: it cannot do
	 * this; else *err is what came out.
	 */
	bool (*run)(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err);
	/* with it: non-blocking calls can be started (coll/started_coll.c) */
	uint8_t starts;
	/* coll/flags_fast.h does the same of small data in fewer steps */
	bool flags_fast;
	/* central barriers, which may be fast (coll/central_fast.h) */
	bool central_fast;
};

/* What algorithms ask for: equal blocks, one after the other, on both sides; */
bool mpi_work_is_even(const struct sched *s, const struct work *w);

/* operands that may be cut in blocks, which are combined in any order; */
bool mpi_work_may_be_cut(const struct sched *s, const struct work *w);

/* an operation that commutes. */
bool mpi_work_commutes(const struct sched *s, const struct work *w);

#include <mpi_coll_algorithms.h>

#endif
