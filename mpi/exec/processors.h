/* SPDX-License-Identifier: MIT
 *
 * Which processors the job may use, and which it has for itself. A processor is claimed by a name
 * in Linux' abstract socket namespace, which only one process can hold and which is free again
 * however that process ends: two jobs of a host never bind to one core. That is an agreement among
 * jobs, not a wall: anybody can hold such a name, and then the ranks run unbound. Names are per
 * network namespace, so jobs of two containers do not see each other's.
 */
#ifndef MPI_EXEC_PROCESSORS_H
#define MPI_EXEC_PROCESSORS_H

#include <stdbool.h>
#include <mpi/exec/options.h>

#define PROCESSORS_MAX 1024

struct processors {
	/* that the job may use at the same time: cpuset and quota */
	int count;
	/* the allowed ones, in the order in which ranks take them */
	int cpu[PROCESSORS_MAX];
	int allowed;			/* entries of cpu */
	/* rank r runs on cpu[r % bound_count] and no other job is there */
	bool bound;
	int bound_count;
};

/* Find out; claim as many as the job wants to bind to, or none. */
void processors_find(struct processors *p, const struct options *o);

/* How many nodes, sockets or cores the processors that we may use are on. */
int processors_units(enum unit unit);

/* Say for each rank where it runs. */
void processors_report(const struct processors *p, int ranks);

#endif
