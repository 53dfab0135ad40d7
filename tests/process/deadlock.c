/* SPDX-License-Identifier: MIT
 *
 * Ranks that wait for one another: `deadlock WAY`. The first ways never end by themselves. In the
 * others rank 0 is busy outside MPI until its standard input has a line, or for a while; then all
 * go on and end well. For ranks that are processes and for those that are threads.
 */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG 300000
#define OFTEN 20000

static char out[LONG], in[LONG];
static int rank, size;

static void
in_a_ring(void)
{
	MPI_Recv(in, 1, MPI_CHAR, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
by_wrong_tags(void)
{
	MPI_Send(out, 1, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD);
	MPI_Recv(in, 1, MPI_CHAR, (rank + size - 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
in_ssend(void)
{
	MPI_Ssend(out, 1, MPI_CHAR, (rank + 1) % size, 6, MPI_COMM_WORLD);
}

static void
in_long_sends(void)
{
	MPI_Comm named;

	MPI_Comm_dup(MPI_COMM_WORLD, &named);
	MPI_Comm_set_name(named, "halo");
	MPI_Send(out, LONG, MPI_CHAR, (rank + 1) % size, 9, named);
}

static void
in_waitall(void)
{
	MPI_Request r[2];

	MPI_Irecv(in, 1, MPI_CHAR, (rank + 1) % size, 3, MPI_COMM_WORLD, &r[0]);
	MPI_Issend(out, 1, MPI_CHAR, (rank + 1) % size, 4, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void
in_probe(void)
{
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* one rank misses a collective operation */
static void
in_barrier(void)
{
	if (rank == 0)
		MPI_Recv(in, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
in_a_long_allreduce(void)
{
	if (rank == 0)
		MPI_Recv(in, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(out, in, LONG, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void
in_finalize(void)
{
	if (rank == 0)
		MPI_Recv(in, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	exit(0);
}

static void
wait_for_line(void)
{
	char line[10];

	if (fgets(line, sizeof(line), stdin) == NULL)
		exit(9);
}

/* the last one comes when it is told */
static void
in_a_ring_later(void)
{
	if (rank == 0)
		puts("ready");
	else
		printf("rank %d is %d\n", rank, (int)getpid());
	fflush(stdout);
	if (rank == 0)
		wait_for_line();
	in_a_ring();
}

static void
in_a_read(void)
{
	wait_for_line();
}

static int
line_is_there(void)
{
	struct pollfd in0 = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in0, 1, 0) != 0;
}

static void
while_it_computes(void)
{
	while (!line_is_there())
		;
}

static void
while_it_tests(void)
{
	MPI_Request r;
	int flag = 0;

	MPI_Irecv(in, 1, MPI_CHAR, 1, 99, MPI_COMM_WORLD, &r);
	while (!line_is_there())
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	MPI_Cancel(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* ranks that share a core with this one have all gone to sleep when it is done */
static void
while_it_tests_often(void)
{
	MPI_Request r;
	int flag = 0;

	MPI_Irecv(in, 1, MPI_CHAR, 1, 99, MPI_COMM_WORLD, &r);
	for (int i = 0; i < OFTEN; i++)
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	MPI_Cancel(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*run)(void);
	int ends;			/* when rank 0 is told */
} ways[] = {
	{"ring", in_a_ring, 0}, {"tags", by_wrong_tags, 0}, {"ssend", in_ssend, 0},
	{"long", in_long_sends, 0}, {"waitall", in_waitall, 0}, {"probe", in_probe, 0},
	{"barrier", in_barrier, 0}, {"allreduce", in_a_long_allreduce, 0},
	{"finalize", in_finalize, 0}, {"late", in_a_ring_later, 0}, {"reads", in_a_read, 1},
	{"computes", while_it_computes, 1}, {"tests", while_it_tests, 1},
	{"tests_often", while_it_tests_often, 1},
};

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (ways[i].ends && rank == 0) {
			puts("ready");
			fflush(stdout);
		}
		if (!ways[i].ends || rank == 0)
			ways[i].run();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
