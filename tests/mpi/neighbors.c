/* SPDX-License-Identifier: MIT
 *
 * Neighbourhood collectives in their three forms: grids whose dimensions have one, two or more
 * ranks, with and without ends, and graphs in which the same edge is there twice.
 */
#include "check.h"

#define DIMS 2
#define PLACES (2 * DIMS)

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

#define CALL(form, name, iname, comm, request, ...) \
	do { \
		if ((form) == BLOCKING) { \
			MPI_##name(__VA_ARGS__, comm); \
		} else if ((form) == NONBLOCKING) { \
			MPI_I##iname(__VA_ARGS__, comm, request); \
		} else { \
			MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request); \
			MPI_Start(request); \
		} \
	} while (0)

static void
finish(int form, MPI_Request *request)
{
	if (form == BLOCKING)
		return;
	MPI_Wait(request, MPI_STATUS_IGNORE);
	if (form == PERSISTENT)
		MPI_Request_free(request);
}

/* What a rank sends to the neighbour of one of its places. */
static int
value(int rank, int place, int i)
{
	return rank * 1000 + place * 100 + i;
}

struct edges {
	int in;
	int out;
	int source[PLACES];
	int theirs[PLACES];		/* the source's place that this one's data comes from */
};

static void
alltoalls(struct check *c, MPI_Comm comm, const struct edges *e, int form)
{
	int rank, send[PLACES][2], recv[PLACES][2], counts[PLACES] = {2, 2, 2, 2},
		at[PLACES] = {0, 2, 4, 6};
	MPI_Aint bytes[PLACES] = {0, 8, 16, 24};
	MPI_Datatype types[PLACES] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	MPI_Request r;

	MPI_Comm_rank(comm, &rank);
	for (int i = 0; i < PLACES; i++)
		for (int j = 0; j < 2; j++)
			send[i][j] = value(rank, i, j);
	for (int which = 0; which < 3; which++) {
		memset(recv, -1, sizeof(recv));
		if (which == 0)
			CALL(form, Neighbor_alltoall, neighbor_alltoall, comm, &r, send, 2, MPI_INT,
				recv, 2, MPI_INT);
		else if (which == 1)
			CALL(form, Neighbor_alltoallv, neighbor_alltoallv, comm, &r, send, counts,
				at, MPI_INT, recv, counts, at, MPI_INT);
		else
			CALL(form, Neighbor_alltoallw, neighbor_alltoallw, comm, &r, send, counts,
				bytes, types, recv, counts, bytes, types);
		finish(form, &r);
		for (int i = 0; i < e->in; i++)
			for (int j = 0; j < 2; j++)
				CHECK(c, recv[i][j] == (e->source[i] == MPI_PROC_NULL ? -1 :
					value(e->source[i], e->theirs[i], j)));
	}
}

static void
allgathers(struct check *c, MPI_Comm comm, const struct edges *e, int form)
{
	int rank, send[2], recv[PLACES][2], counts[PLACES] = {2, 2, 2, 2},
		at[PLACES] = {0, 2, 4, 6};
	MPI_Request r;

	MPI_Comm_rank(comm, &rank);
	send[0] = value(rank, 0, 0);
	send[1] = value(rank, 0, 1);
	for (int which = 0; which < 2; which++) {
		memset(recv, -1, sizeof(recv));
		if (which == 0)
			CALL(form, Neighbor_allgather, neighbor_allgather, comm, &r, send, 2,
				MPI_INT, recv, 2, MPI_INT);
		else
			CALL(form, Neighbor_allgatherv, neighbor_allgatherv, comm, &r, send, 2,
				MPI_INT, recv, counts, at, MPI_INT);
		finish(form, &r);
		for (int i = 0; i < e->in; i++)
			for (int j = 0; j < 2; j++)
				CHECK(c, recv[i][j] == (e->source[i] == MPI_PROC_NULL ? -1 :
					value(e->source[i], 0, j)));
	}
}

static void
both(struct check *c, MPI_Comm comm, const struct edges *e)
{
	for (int form = 0; form < FORMS; form++) {
		alltoalls(c, comm, e, form);
		allgathers(c, comm, e, form);
	}
}

static void
grid(struct check *c, int first, int wraps)
{
	int dims[DIMS] = {first, c->size / first}, periods[DIMS] = {wraps, 1};
	struct edges e = {.in = PLACES, .out = PLACES};
	MPI_Comm comm;

	if (c->size % first != 0)
		return;
	MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, periods, 0, &comm);
	for (int d = 0; d < DIMS; d++)
		MPI_Cart_shift(comm, d, 1, &e.source[2 * d], &e.source[2 * d + 1]);
	for (int i = 0; i < PLACES; i++)
		e.theirs[i] = i ^ 1;
	both(c, comm, &e);
	MPI_Comm_free(&comm);
}

/* Two edges to the next rank, one to itself. */
static void
doubled(struct check *c)
{
	int next = (c->rank + 1) % c->size, previous = (c->rank - 1 + c->size) % c->size;
	int sources[] = {previous, previous, c->rank}, destinations[] = {next, next, c->rank};
	struct edges e = {.in = 3, .out = 3, .source = {previous, previous, c->rank},
		.theirs = {0, 1, 2}};
	MPI_Comm comm;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, MPI_UNWEIGHTED, 3, destinations,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	both(c, comm, &e);
	MPI_Comm_free(&comm);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	for (int first = 1; first <= 3; first++) {
		grid(&c, first, 0);
		grid(&c, first, 1);
	}
	doubled(&c);
	return check_end(&c);
}
