/* SPDX-License-Identifier: MIT
 *
 * Schedules in two tiers: inside each cluster, and between clusters, of which each has one rank
 * that speaks for it.
 */
#ifndef MPI_COLL_CLUSTERS_H
#define MPI_COLL_CLUSTERS_H

#include <mpi/coll/algorithm.h>
#include <mpi/coll/locality.h>

/*
 * What algorithms ask for: that there are two tiers; that operands of clusters, combined in their
 * order, lie in the order of the ranks, or that this does not matter; and that there are runs.
 */
bool mpi_clusters_fit(const struct sched *s, const struct work *w);
bool mpi_clusters_fit_in_order(const struct sched *s, const struct work *w);
bool mpi_clusters_fit_in_runs(const struct sched *s, const struct work *w);

/*
 * From now on: those of the own cluster; those that speak for the clusters, of which `root` is one
 * and the others are the first of theirs.
 */
void mpi_clusters_inside(struct sched *s);
void mpi_clusters_between(struct sched *s, int root);

/* Position in the own cluster of the rank that speaks for it. */
int mpi_clusters_leader(const struct sched *s, int root);

/*
 * May each rank of the largest cluster have so many bytes for copies? More of them than this
 * together would starve a small cluster.
 */
#define CLUSTERS_COPIES_MAX (1u << 20)
bool mpi_clusters_have_room(const struct sched *s, size_t bytes);

/* How many ranks a cluster has, and do they follow one another in the communicator? */
int mpi_clusters_ranks(const struct sched *s, int cluster);
bool mpi_clusters_follow(const struct sched *s, int cluster);

/* All ranks, cluster by cluster, in memory of the schedule. NULL: there is none. */
const int *mpi_clusters_order(struct sched *s);

/*
 * Blocks of all ranks that lie one after the other, also those that were packed; of `block` bytes
 * each.
 */
struct span mpi_clusters_whole(const struct side *side, int n, size_t block);

/*
 * Runs: ranks that follow one another and are in one cluster; with consecutive clusters, these.
 * What must stay in the order of the ranks is done inside runs and between them; the last rank of
 * each speaks for it.
 *
 * From now on: those of the own run; those that speak for runs. The number of the own run, < 0 if
 * memory is short.
 */
int mpi_clusters_inside_run(struct sched *s);
void mpi_clusters_between_runs(struct sched *s);

/*
 * A part that the tiers are made of, in a round of its own, written by the algorithm of choice:
 * among those who take part now, all in one cluster or each in its own; and inside the own cluster,
 * or between those that speak for clusters, where w->root is a rank of the communicator and, if it
 * is in another cluster, the one that speaks for this one is meant.
 */
void mpi_clusters_part(struct sched *s, enum coll_kind kind, const struct work *w, bool near);
void mpi_clusters_tier(struct sched *s, enum coll_kind kind, struct work w, bool near);

#endif
