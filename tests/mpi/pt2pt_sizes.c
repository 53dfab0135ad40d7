/* SPDX-License-Identifier: MIT
 *
 * Messages of every size around the limits of the protocols, in both directions between neighbours,
 * in every blocking mode.
 */
#include "check.h"

#define LARGEST (1024 * 1024)

static const int sizes[] = {0, 1, 7, 8, 31, 32, 33, 63, 64, 95, 96, 97, 127, 128, 129, 1000, 1024,
	4095, 4096, 4097, 8192, 65535, 65536,
	65537, 262144, LARGEST};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

enum mode { SEND, SSEND, RSEND, ISEND, MODES };

static void
send_by(enum mode mode, const void *buffer, int len, int to, int tag)
{
	MPI_Request r;

	if (mode == SEND)
		MPI_Send(buffer, len, MPI_BYTE, to, tag, MPI_COMM_WORLD);
	else if (mode == SSEND)
		MPI_Ssend(buffer, len, MPI_BYTE, to, tag, MPI_COMM_WORLD);
	else if (mode == RSEND)
		MPI_Rsend(buffer, len, MPI_BYTE, to, tag, MPI_COMM_WORLD);
	else {
		MPI_Isend(buffer, len, MPI_BYTE, to, tag, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
}

static void
receive(struct check *c, void *buffer, int len, int from, int tag)
{
	MPI_Status status;
	int count = -1;

	memset(buffer, 0xee, LARGEST + 1);
	MPI_Recv(buffer, LARGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	CHECK(c, count == len && status.MPI_SOURCE == from && status.MPI_TAG == tag);
	CHECK(c, check_same(buffer, (size_t)len, from, tag));
	CHECK(c, ((unsigned char *)buffer)[len] == 0xee);
}

/* One message there, one back. */
static void
round_trip(struct check *c, unsigned char *buffer, int i, int peer, int first)
{
	for (int mode = SEND; mode < MODES; mode++) {
		int tag = i * MODES + mode;

		/*
		 * a ready send needs its receive: the peer waits in it, or has buffered the message
		 */
		if (!first)
			receive(c, buffer, sizes[i], peer, tag);
		check_fill(buffer, (size_t)sizes[i], c->rank, tag);
		send_by((enum mode)mode, buffer, sizes[i], peer, tag);
		if (first)
			receive(c, buffer, sizes[i], peer, tag);
	}
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	unsigned char *buffer = malloc(LARGEST + 1);
	int peer = c.rank ^ 1;

	for (int i = 0; i < SIZES && peer < c.size; i++)
		round_trip(&c, buffer, i, peer, c.rank < peer);
	free(buffer);
	return check_end(&c);
}
