/* SPDX-License-Identifier: MIT
 *
 * A request to a service and its answer, by a channel (atoll/service.h): rank 1 serves, rank 0
 * asks, in one cluster or in two. usage: request [--size BYTES] [--rounds N]. Source: seed 000
 * III-A. Windows: label 16: rank 0 sends a request to a server that is awake; 17: rank 1 serves it,
 * for a client that is awake; 18: rank 0 takes the answer that is there: together what a request
 * takes of both cores, without looking in vain. Label 19: all of it when each sleeps until the
 * other wakes it.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define BIT 20
#define LONGEST 1900
#define NS 1e-9

static unsigned char text[LONGEST];
static uint32_t size;
static struct service_client places[4];
static bool is_over;
static struct channel ch;

static struct service_kind kind = {.magic = 1, .message = LONGEST, .pages = 1};

static void
check_result(long result)
{
	if (result < 0)
		MPI_Abort(MPI_COMM_WORLD, (int)-result);
}

/* The answer is the request; an empty one is the last. */
static uint32_t
serve(void *of, uint32_t client, struct service_part request, void *answer)
{
	(void)of;
	(void)client;
	is_over = request.bytes == 0;
	memcpy(answer, request.at, request.bytes);
	return request.bytes;
}

static void
gone(void *of, uint32_t client)
{
	(void)of;
	(void)client;
}

static struct service server = {.kind = &kind, .serve = serve, .gone = gone, .client = places,
	.clients = 4};

/* The last port of the server's cluster is nobody's. */
static void
open_service(int rank)
{
	struct cluster_info info;

	kcluster_info(&info);
	kind.port = (int)info.mailbox_ports - 1;
	kind.cluster = (int)info.cluster;
	MPI_Bcast(&kind.cluster, 1, MPI_INT, 1, MPI_COMM_WORLD);
	if (rank == 1) {
		server.in = (int)kmailbox_create(kind.port);
		check_result(server.in);
		check_result(service_begin(&server));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		check_result(service_open(&ch, &kind, BIT));
	while (rank == 1 && server.used == 0)
		service_step(&server);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct service_part *
message(uint32_t bytes)
{
	static struct service_part parts[2];

	parts[0] = (struct service_part){text, bytes};
	parts[1] = (struct service_part){text, 0};
	return parts;
}

/* One after the other, so that nobody looks in vain. */
static void
count_awake(int rank)
{
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(LABEL);
		if (rank == 0) {
			hal_mark(MARK_BEGIN);
			service_send(&ch, message(size));
			hal_mark(MARK_END);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		hal_mark(LABEL + 1);
		if (rank == 1) {
			hal_mark(MARK_BEGIN);
			service_step(&server);
			hal_mark(MARK_END);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		hal_mark(LABEL + 2);
		if (rank == 0) {
			hal_mark(MARK_BEGIN);
			check_result(service_receive(&ch, message(size)));
			hal_mark(MARK_END);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Long enough for the server to sleep. */
static void
settle(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(1, now + 2000000);
}

static void
count_asleep(void)
{
	ch.looks = 0;
	hal_mark(LABEL + 3);
	for (int n = 0; n < WINDOWS; n++) {
		settle();
		hal_mark(MARK_BEGIN);
		check_result(service_call(&ch, message(size), message(size)));
		hal_mark(MARK_END);
	}
	ch.looks = SERVICE_LOOKS;
}

static void
ask(long rounds)
{
	double start = MPI_Wtime();

	for (long n = 0; n < rounds; n++)
		check_result(service_call(&ch, message(size), message(size)));
	row("request", (MPI_Wtime() - start) / NS / (double)rounds, "ns", "");
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 100000);
	int rank, ranks;

	size = (uint32_t)number(argc, argv, "--size", 32);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 2 || size < 1 || size > LONGEST)
		MPI_Abort(MPI_COMM_WORLD, 1);
	open_service(rank);
	count_awake(rank);
	if (rank == 0) {
		count_asleep();
		check_result(service_call(&ch, message(0), message(0)));
	}
	while (rank == 1 && !is_over)
		service_step(&server);
	is_over = false;
	server.looks = SERVICE_LOOKS;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		ask(rounds);
		check_result(service_call(&ch, message(0), message(0)));
	}
	while (rank == 1 && !is_over)
		service_step(&server);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		channel_end(&ch);
	MPI_Finalize();
	return 0;
}
