/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses: the one that the user names
 * (ATOLL_MPI_COLL=allreduce=ring,bcast=binomial in the environment, or the same as hint
 * "atoll_coll" of a communicator, which comes first), if it can do it; or the one of
 * coll/table.tbl. With a ! after its name, a call that it cannot do is an error
 * (MPI_ERR_UNSUPPORTED_OPERATION).
 */
#ifndef MPI_COLL_CHOOSE_H
#define MPI_COLL_CHOOSE_H

#include <mpi/coll/algorithm.h>

/* What was worked out for a communicator; in place until it changes its hints or goes. */
struct plan;

/*
 * What the fast path (coll/flags_fast.h) needs of it, and what it begins with: by collective,
 * sizes below which it may be taken.
 */
struct plan_flags_fast {
	uint8_t below[COLL_NEIGHBOR_ALLGATHER];
	/* bytes up to which one goes by flags, also if started; of those that begin so */
	uint32_t by_flags[COLL_ALLREDUCE + 1];
};

/* May blocking calls with so many bytes of the operand, or of a block, take the fast path? */
static inline bool
mpi_choose_is_flags_fast(const struct comm *c, enum coll_kind kind, size_t bytes)
{
	const struct plan_flags_fast *p = (const struct plan_flags_fast *)(const void *)c->plan;

	return p != NULL && bytes < p->below[kind];
}

/*
 * Does one with so many bytes go by flags when it is started? At most an allreduce by its number;
 * all ranks find the same.
 */
static inline bool
mpi_choose_starts(const struct comm *c, enum coll_kind kind, size_t bytes)
{
	const struct plan_flags_fast *p = (const struct plan_flags_fast *)(const void *)c->plan;

	return p != NULL && bytes <= p->by_flags[kind];
}

/*
 * Bytes below which blocking calls take the fast path of central barriers (coll/central_fast.h), at
 * most so many; 0: none does. Once there was a call.
 */
size_t mpi_choose_central_fast(const struct comm *c, enum coll_kind kind, size_t most);

/*
 * For a blocking call; NULL: no memory. Only whether it has `run` matters: mpi_choose_write comes
 * to the same choice.
 */
const struct algorithm *mpi_choose(struct mpi_rank *self, struct comm *c,
	const struct collective *k);

/* Write what w says by the algorithm of choice, for all ranks of the communicator. */
void mpi_choose_write(struct sched *s, const struct work *w);

/*
 * The same for a part of it, among those who take part in the schedule now: all in one cluster, or
 * each in its own.
 */
void mpi_choose_write_part(struct sched *s, const struct work *w, bool near);

/*
 * Bytes by which the table is read: of the operand or of a block; the same on all ranks. Not of
 * blocks of which only some ranks know the sizes.
 */
size_t mpi_choose_bytes(const struct comm *c, const struct collective *k);

/* The types of a side with so many blocks live until the schedule is over. */
void mpi_side_hold(struct sched *s, const struct side *side, int blocks);

/* Neighbourhoods have one algorithm. */
void mpi_neighbor_write(struct sched *s, const struct collective *k);

#endif
