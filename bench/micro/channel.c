/* SPDX-License-Identifier: MIT
 *
 * Ping-pong of ranks 0 and 1, in two clusters, by a channel and by mailboxes: half of a round trip.
 * usage: channel [--size BYTES] [--rounds N]. Source: seed 000 III-B. Windows, on rank 0: label 16:
 * a send that finds nobody asleep; 17: a receive that finds a message; together what half a round
 * trip takes beside looking for it; 18: a send that wakes a sleeper.
 */
#include <abi/layout.h>
#include <atoll/channel.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WARM 50
#define WINDOWS 10
#define BIT 20
#define PAGES 2
#define NS 1e-9

static unsigned char message[4096];
static uint32_t size;
static int rank, in, out;
static struct channel ch;

static void
check_result(int result)
{
	if (result < 0)
		MPI_Abort(MPI_COMM_WORLD, -result);
}

/* The last port of each cluster is nobody's. */
static void
open_mailboxes(void)
{
	struct cluster_info info;
	int cluster[2];

	kcluster_info(&info);
	MPI_Allgather(&(int){(int)info.cluster}, 1, MPI_INT, cluster, 1, MPI_INT, MPI_COMM_WORLD);
	in = (int)kmailbox_create((int)info.mailbox_ports - 1);
	check_result(in);
	MPI_Barrier(MPI_COMM_WORLD);
	out = (int)kmailbox_open(cluster[1 - rank], (int)info.mailbox_ports - 1);
	check_result(out);
}

/* Rank 0 sends the number in a message. */
static void
open_channel(void)
{
	uint32_t letter[MAILBOX_MSG_SIZE / 4] = {0};
	struct mail_sender from;
	struct channel_offer offer = {.pages = PAGES, .message = size};

	if (rank == 0) {
		check_result(channel_make(&ch, out, PAGES, size, BIT, &letter[0]));
		check_result(mailbox_send(out, letter));
		return;
	}
	check_result((int)kmailbox_wait(in, ANY_SOURCE_CLUSTER, FOREVER));
	offer.cluster = (int)kmailbox_read(in, ANY_SOURCE_CLUSTER, letter, &from);
	check_result(offer.cluster);
	offer.number = letter[0];
	check_result(channel_take(&ch, in, &offer, BIT));
}

static void
by_channel(int send)
{
	check_result(send ? channel_send(&ch, message, size, FOREVER) :
		channel_receive(&ch, message, sizeof(message), FOREVER));
}

static void
by_mailbox(int send)
{
	check_result(send ? mailbox_send(out, message) :
		mailbox_receive(in, ANY_SOURCE_CLUSTER, message));
}

static double
half_round_trip(void (*move)(int send), long rounds)
{
	double start = 0;

	for (long n = -WARM; n < rounds; n++) {
		if (n == 0)
			start = MPI_Wtime();
		move(rank == 0);
		move(rank != 0);
	}
	return (MPI_Wtime() - start) / NS / (double)rounds / 2;
}

/* Long enough for the other rank to have answered, and to sleep. */
static void
settle(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(1, now + 2000000);
}

/* As many windows at a time as there are slots, for nobody receives meanwhile. */
static void
count_instructions(void)
{
	int windows = ch.slots < WINDOWS ? (int)ch.slots : WINDOWS;

	hal_mark(LABEL);
	for (int n = 0; n < windows && rank == 0; n++) {
		hal_mark(MARK_BEGIN);
		channel_try_send(&ch, message, size);
		hal_mark(MARK_END);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int n = 0; n < windows && rank == 1; n++) {
		by_channel(0);
		by_channel(1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	hal_mark(LABEL + 1);
	for (int n = 0; n < windows && rank == 0; n++) {
		hal_mark(MARK_BEGIN);
		channel_try_receive(&ch, message, sizeof(message));
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 2);
	for (int n = 0; n < windows && rank == 1; n++)
		by_channel(0);
	for (int n = 0; n < windows && rank == 0; n++) {
		settle();
		hal_mark(MARK_BEGIN);
		by_channel(1);
		hal_mark(MARK_END);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 100000);
	double channel, mailbox;
	int ranks;

	size = (uint32_t)number(argc, argv, "--size", 8);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 2 || size > sizeof(message))
		MPI_Abort(MPI_COMM_WORLD, 1);
	open_mailboxes();
	open_channel();
	count_instructions();
	MPI_Barrier(MPI_COMM_WORLD);
	channel = half_round_trip(by_channel, rounds);
	MPI_Barrier(MPI_COMM_WORLD);
	mailbox = half_round_trip(by_mailbox, rounds / 20);
	if (rank == 0) {
		row("channel", channel, "ns", "");
		row("mailbox", mailbox, "ns", "");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	channel_end(&ch);
	khandle_close(in);
	khandle_close(out);
	MPI_Finalize();
	return 0;
}
