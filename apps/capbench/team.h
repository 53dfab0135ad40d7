/* SPDX-License-Identifier: MIT
 *
 * Who works for whom in the CAP Bench programs: rank 0 is the global master; in each cluster one
 * rank is the local master, through which everything goes between the global master and the
 * cluster's other ranks (slaves). Local masters also work. A single rank is all of it. Source: seed
 * 002 6.1.
 */
#ifndef CAPBENCH_TEAM_H
#define CAPBENCH_TEAM_H

#include <mpi.h>
#include <stdbool.h>

struct team {
	int rank, ranks;		/* in MPI_COMM_WORLD */
	bool is_global_master;
	bool is_local_master;
	MPI_Comm local;			/* the cluster's workers; local master is rank 0 */
	int local_rank, local_ranks;
	/* global master only */
	int masters;			/* local masters */
	int *master;			/* [masters] ranks in MPI_COMM_WORLD */
	int *workers;			/* [masters] how many workers each has, with itself */
};

/* Collective over MPI_COMM_WORLD. A rank that cannot get memory aborts the job. */
void team_make(struct team *t);
void team_free(struct team *t);

/*
 * Part `index` of `parts` almost equal parts of `total` things: its first and, returned, how many.
 */
long team_part(long total, long parts, long index, long *first);

/* malloc that aborts the job. */
void *team_alloc(size_t bytes);

/*
 * A command line number: the value after `name`, or `otherwise`; what is not a number is reported,
 * and the job ends with status 2.
 */
long team_number(int argc, char **argv, const char *name, long otherwise);

/* The text after `name`, or NULL. */
const char *team_text(int argc, char **argv, const char *name);

/* Report a usage error from rank 0 and end the job with status 2. Collective. */
_Noreturn void team_usage(const struct team *t, const char *text);

#endif
