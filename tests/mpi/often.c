/* SPDX-License-Identifier: MIT
 *
 * Ranks that send each other much, and then nothing more: messages stay in order when they begin to
 * travel another way (between clusters: through a channel), also of those that only send, and when
 * there are more than that way has room for. Who has sent its last ones may leave, and end, long
 * before they are received: it has a session of its own, so that nobody waits for all.
 */
#include <stdio.h>
#include <string.h>
#include <mpi.h>

#define WARM 20
#define BURST 300
#define LAST 5
#define ROOM 160
#define LATE_S 0.1

static int wrong;

/* Some fit into a packet, some do not. */
static int
bytes_of(int number)
{
	return number % 7 == 6 ? ROOM - number % 50 : number % 90;
}

static void
put(MPI_Comm comm, int to, int number)
{
	unsigned char data[ROOM];

	memset(data, number & 255, sizeof(data));
	MPI_Send(data, bytes_of(number), MPI_BYTE, to, number % 3, comm);
}

static void
take(MPI_Comm comm, int from, int number)
{
	unsigned char data[ROOM] = {0};
	MPI_Status status;
	int bytes = bytes_of(number), got;

	MPI_Recv(data, ROOM, MPI_BYTE, from, MPI_ANY_TAG, comm, &status);
	MPI_Get_count(&status, MPI_BYTE, &got);
	wrong += got != bytes || status.MPI_TAG != number % 3;
	for (int i = 0; i < bytes; i++)
		wrong += data[i] != (number & 255);
}

static void
talk(MPI_Comm comm, int peer, int is_first)
{
	for (int i = 0; i < WARM; i++) {
		if (is_first)
			put(comm, peer, i);
		take(comm, peer, i);
		if (!is_first)
			put(comm, peer, i);
	}
}

static void
burst(MPI_Comm comm, int peer, int sends)
{
	for (int i = 0; i < BURST; i++)
		if (sends)
			put(comm, peer, i);
		else
			take(comm, peer, i);
}

static void
last(MPI_Comm comm, int peer, int sends)
{
	double start = MPI_Wtime();

	while (!sends && MPI_Wtime() - start < LATE_S)
		;
	for (int i = 0; i < LAST; i++)
		if (sends)
			put(comm, peer, 7 * i);
		else
			take(comm, peer, 7 * i);
}

int
main(int argc, char **argv)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	int rank, size, half, is_first, peer;

	(void)argc;
	(void)argv;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "often", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	half = size / 2;
	is_first = rank < half;
	peer = is_first ? rank + half : rank - half;
	if (peer < size && half > 0) {
		burst(comm, peer, !is_first);
		talk(comm, peer, is_first);
		burst(comm, peer, is_first);
		burst(comm, peer, !is_first);
		last(comm, peer, is_first);
	}
	if (wrong != 0)
		printf("%d bytes are wrong at rank %d\n", wrong, rank);
	else if (rank == size - 1)
		printf("No errors\n");
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return wrong != 0;
}
