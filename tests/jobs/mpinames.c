/* SPDX-License-Identifier: MIT
 *
 * An MPI job whose ranks find each other by names (--mpi-names): each exchanges a short and a long
 * message with each, and rank 0 looks up all of them by the names that they have linked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
#include <atoll/startup.h>
#include <servers/name/client.h>
#include "expect.h"

#define LONG 20000
#define BIT 4

static int rank, ranks;

static void
exchange(int peer, int bytes)
{
	static char out[LONG], in[LONG];

	memset(out, rank + 1, sizeof(out));
	memset(in, 0, sizeof(in));
	MPI_Sendrecv(out, bytes, MPI_CHAR, peer, 1, in, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	for (int i = 0; i < bytes; i++)
		if (in[i] != peer + 1) {
			expect(in[i], peer + 1, "a byte of a message");
			break;
		}
}

static void
look_all_up(void)
{
	const struct startup *s = atoll_startup();
	const struct placement *place = (const struct placement *)(uintptr_t)s->placement;
	const struct job_part *parts = (const struct job_part *)(uintptr_t)s->parts;
	struct name_client names;
	struct name_place at = {0};
	char name[32];

	expect(name_open(&names, BIT), 0, "open the client");
	for (int r = 0; r < ranks; r++) {
		snprintf(name, sizeof(name), "mpi%u.%d", s->job, r);
		expect(name_lookup(&names, name, 0, &at), 0, name);
		expect(at.cluster, place[r].cluster, "its cluster");
		expect(at.port, parts[at.cluster].base_port + place[r].local_rank, "its port");
	}
	name_close(&names);
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < ranks; i++) {
		int peer = (i - rank + ranks) % ranks;

		exchange(peer, 8);
		exchange(peer, LONG);
	}
	/* `blind`: the cluster has no pages for one more client */
	if (rank == 0 && argc < 2)
		look_all_up();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return verdict();
}
