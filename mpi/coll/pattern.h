/* SPDX-License-Identifier: MIT
 *
 * What collectives in shared memory are, as patterns: who gives, whether that is one block for all
 * or a block for each rank, who takes, and whether what was taken is copied or combined.
 */
#ifndef MPI_COLL_PATTERN_H
#define MPI_COLL_PATTERN_H

#include <mpi/coll/coll.h>

#include <mpi/coll/flags.h>
enum party { NOBODY, THE_ROOT, THE_OTHERS, EVERYBODY };

struct pattern {
	enum party gives;
	enum party takes;
	bool each;			/* a block for each rank */
	bool combines;
	bool prefix;			/* only what the ranks up to this one give */
};

static const struct pattern patterns[] = {
	[COLL_BARRIER] = {NOBODY, EVERYBODY, false, false, false},
	[COLL_BCAST] = {THE_ROOT, THE_OTHERS, false, false, false},
	[COLL_GATHER] = {THE_OTHERS, THE_ROOT, false, false, false},
	[COLL_SCATTER] = {THE_ROOT, THE_OTHERS, true, false, false},
	[COLL_ALLGATHER] = {EVERYBODY, EVERYBODY, false, false, false},
	[COLL_ALLTOALL] = {EVERYBODY, EVERYBODY, true, false, false},
	[COLL_REDUCE] = {THE_OTHERS, THE_ROOT, false, true, false},
	[COLL_ALLREDUCE] = {EVERYBODY, EVERYBODY, false, true, false},
	[COLL_REDUCE_SCATTER] = {EVERYBODY, EVERYBODY, true, true, false},
	[COLL_SCAN] = {EVERYBODY, EVERYBODY, false, true, true},
	[COLL_EXSCAN] = {EVERYBODY, EVERYBODY, false, true, true},
};

/* What is made once for each collective that has a pattern: by its name, and by its number. */
#define FOR_EACH_PATTERN(make) \
	make(barrier, COLL_BARRIER) make(bcast, COLL_BCAST) make(gather, COLL_GATHER) \
	make(scatter, COLL_SCATTER) make(allgather, COLL_ALLGATHER) make(alltoall, COLL_ALLTOALL) \
	make(reduce, COLL_REDUCE) make(allreduce, COLL_ALLREDUCE) \
	make(reduce_scatter, COLL_REDUCE_SCATTER) make(scan, COLL_SCAN) make(exscan, COLL_EXSCAN)

/* Is a rank one of them, which is the root or not? */
ALWAYS_INLINE bool
is_of(enum party party, bool root)
{
	return party == EVERYBODY || (party == THE_ROOT && root) || (party == THE_OTHERS && !root);
}

/* Is there a block that stays on its rank, when blocks are copied? */
ALWAYS_INLINE bool
keeps_block(enum coll_kind kind, bool root)
{
	if (patterns[kind].takes == EVERYBODY)
		return patterns[kind].gives == EVERYBODY;
	return root && kind != COLL_BCAST;
}

#endif
