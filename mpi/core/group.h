/* SPDX-License-Identifier: MIT
 *
 * Groups: an ordered set of ranks of the job. Never changed after they are made; shared by
 * reference counting. Members at equal distances (the ranks of the job, every k-th of them, the
 * same backwards) need no table; others have one, and an index once somebody searches.
 */
#ifndef MPI_CORE_GROUP_H
#define MPI_CORE_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi.h>

struct mpi_rank;
struct session;

struct group {
	int references;
	int size;
	int rank;			/* of the caller, or MPI_UNDEFINED */
	int first;
	int stride;
	/* rank in the job of each member; NULL: member i is rank first + i * stride */
	int32_t *world;
	int32_t *index;			/* hash table: member + 1, or 0; NULL: not there (yet) */
	uint32_t index_mask;
	bool indexed;			/* it was tried */
	struct locality *tables_in;	/* whose segment has both of them; NULL: they are its own */
	struct session *session;	/* that it comes from, or NULL */
};

/* Rank in the job of member i. */
static inline int
mpi_group_world(const struct group *g, int i)
{
	return g->world ? g->world[i] : g->first + i * g->stride;
}

/* Ranks first .. first+size-1 of the job. NULL: no memory. */
struct group *mpi_group_range(struct mpi_rank *self, int first, int size);

/*
 * The ranks of the job in world[size], which the group takes over (it is freed with the group, also
 * on failure). NULL: no memory.
 */
struct group *mpi_group_of(struct mpi_rank *self, int32_t *world, int size);

/* Member number of a rank of the job, or MPI_UNDEFINED. Constant time. */
int mpi_group_find(const struct group *g, int world);

/* MPI_IDENT, MPI_SIMILAR (same members) or MPI_UNEQUAL. */
int mpi_group_compare(const struct group *a, const struct group *b);

/* Are all members of a in b? Have they a member in common? */
bool mpi_group_is_subset(const struct group *a, const struct group *b);
bool mpi_group_overlaps(const struct group *a, const struct group *b);

/*
 * Both tables in memory of a communicator's segment: its first rank writes them, and all ranks use
 * them from then on, until the group goes. The bytes they take (0: the group needs none), the same
 * on all its members. `holder` has been held for the group.
 */
size_t mpi_group_tables_bytes(const struct group *g);
void mpi_group_tables_write(const struct group *g, void *tables);
void mpi_group_tables_use(struct group *g, void *tables, struct locality *holder);

struct group *mpi_group_hold(struct group *g);
void mpi_group_release(struct mpi_rank *self, struct group *g);

/* The group of a handle: error class, and *g on MPI_SUCCESS. */
int mpi_group_get(struct mpi_rank *self, MPI_Group handle, struct group **g);

/* A handle for the program; it holds one reference. MPI_GROUP_NULL: no memory. */
MPI_Group mpi_group_handle(struct mpi_rank *self, struct group *g);

#endif
