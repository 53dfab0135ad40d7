/* SPDX-License-Identifier: MIT
 *
 * Collectives as the standard defines them, made of nothing but sends and receives: every rank gets
 * the inputs of all its peers (between two groups: of the other group) and computes by itself what
 * it must get. The oracle of randomised tests.
 */
#ifndef TESTS_GOLDEN_COLLECTIVES_H
#define TESTS_GOLDEN_COLLECTIVES_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_TAG 77

/* Inputs of the peers: `bytes` each, in the order of their ranks. */
struct golden_inputs {
	char *all;
	size_t bytes;
	int peers;
};

static inline const char *
golden_input(const struct golden_inputs *in, int peer)
{
	return in->all + (size_t)peer * in->bytes;
}

/* Give mine to each peer and get each peer's, one after the other. */
static inline struct golden_inputs
golden_exchange(MPI_Comm comm, const void *mine, size_t bytes)
{
	struct golden_inputs in = {.bytes = bytes};
	MPI_Request *sent;
	int inter;

	MPI_Comm_test_inter(comm, &inter);
	if (inter)
		MPI_Comm_remote_size(comm, &in.peers);
	else
		MPI_Comm_size(comm, &in.peers);
	in.all = malloc((size_t)in.peers * bytes + 1);
	sent = malloc((size_t)in.peers * sizeof(*sent));
	for (int i = 0; i < in.peers; i++)
		MPI_Isend(mine, (int)bytes, MPI_BYTE, i, GOLDEN_TAG, comm, &sent[i]);
	for (int i = 0; i < in.peers; i++)
		MPI_Recv(in.all + (size_t)i * bytes, (int)bytes, MPI_BYTE, i, GOLDEN_TAG, comm,
			MPI_STATUS_IGNORE);
	MPI_Waitall(in.peers, sent, MPI_STATUSES_IGNORE);
	free(sent);
	return in;
}

struct golden_operand {
	int count;
	MPI_Datatype type;
	size_t extent;
	MPI_Op op;
};

/* result = inputs first .. last, in this order, combined. first <= last */
static inline void
golden_fold(const struct golden_inputs *in, int first, int last, void *result,
	const struct golden_operand *o)
{
	memcpy(result, golden_input(in, last), (size_t)o->count * o->extent);
	for (int i = last - 1; i >= first; i--)
		MPI_Reduce_local(golden_input(in, i), result, o->count, o->type, o->op);
}

#endif
