/* SPDX-License-Identifier: MIT
 *
 * One random call of a collective: every rank draws the same from the seed.
 */
#ifndef TESTS_MPI_COLL_TRIAL_H
#define TESTS_MPI_COLL_TRIAL_H

#include <stdint.h>
#include "check.h"

enum kind {
	BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL,
	ALLTOALLV, ALLTOALLW, REDUCE, ALLREDUCE,
	REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS
};
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

struct trial {
	enum kind kind;
	enum form form;
	MPI_Comm comm;
	int inter;
	int rank;
	int size;
	int peers;			/* of the other group, or all */
	int root;			/* as this rank names it */
	int root_rank;			/* as the others name it */
	int at_root;
	int in_place;
	MPI_Datatype type;
	size_t extent;
	MPI_Op op;
	int count;
	int total;			/* of the operand of a reduction */
	/* the vectors of this rank: what it sends to, and gets from, each peer */
	int *send_counts;
	int *send_at;
	int *recv_counts;
	int *recv_at;
	MPI_Datatype *types;
	size_t bytes;			/* of each buffer */
	char *send;
	char *recv;
	char *expect;
	MPI_Request request;
};

/* A number from the seed and some others, the same on every rank. */
static inline uint32_t
draw(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u + b *
		0x94d049bb133111ebu + c * 0xd6e8feb86659fd93u;

	x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(x >> 32);
}

/* Start what the trial says (and finish it, if it is blocking). */
void trial_start(struct trial *t);

/* Compute what must come out, and compare. False: they differ. */
int trial_is_right(struct trial *t);

#endif
