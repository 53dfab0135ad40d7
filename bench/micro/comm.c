/* SPDX-License-Identifier: MIT
 *
 * Communication of clusters by the kernel's calls, one rank each: mailboxes, portals and sync
 * points in the patterns of the source's benchmark `comm`. usage: comm [--over mailbox|portal|sync]
 * [--bytes N] [--rounds N]. The clusters must be a power of two.
 *
 * ping-pong	ranks 0 and 1, there and back
 * broadcast	rank 0 sends to each other rank
 * gather	each other rank sends to rank 0
 * allgather	each sends to each (sync points: all signal rank 0, which signals all)
 *
 * A message is one of MAILBOX_MSG_SIZE bytes, as many as --bytes needs, or one transfer of a
 * portal. Windows, of rank 0, in this order, each all rounds of one pattern: label 16. Source: seed
 * 000 III-B, seed 002 4.1.1.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define BYTES_MAX (1 << 20)
#define GATHER 0			/* ports of sync points, of rank 0 */
#define RELEASE 1
#define PING 2				/* between ranks 0 and 1 */
#define PONG 3
#define NS 1e-9

/* How one rank sends to another, and receives from it. Errors end the benchmark. */
struct way {
	const char *name;
	void (*open)(void);
	void (*send)(int to);
	void (*receive)(int from);
};

static unsigned char data[BYTES_MAX], message[MAILBOX_MSG_SIZE];
static uint8_t list[CLUSTERS_MAX];
static int rank, ranks, in, port, out[CLUSTERS_MAX];
static int gather, release, ping, pong;
static long bytes, rounds;

static long
checked(long result)
{
	if (result < 0)
		MPI_Abort(MPI_COMM_WORLD, (int)-result);
	return result;
}

/* --- mailboxes --- */

static void
mailbox_ends_open(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	port = (int)info.mailbox_ports - 1;
	in = (int)checked(kmailbox_create(port));
	for (int i = 0; i < ranks; i++)
		out[i] = (int)checked(kmailbox_open(i, port));
}

static void
mailbox_put(int to)
{
	for (long at = 0; at < bytes; at += MAILBOX_MSG_SIZE) {
		memcpy(message, data + at, MAILBOX_MSG_SIZE);
		checked(mailbox_send(out[to], message));
	}
}

static void
mailbox_get(int from)
{
	for (long at = 0; at < bytes; at += MAILBOX_MSG_SIZE) {
		checked(mailbox_receive(in, from, message));
		memcpy(data + at, message, MAILBOX_MSG_SIZE);
	}
}

/* --- portals --- */

static void
portal_ends_open(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	port = (int)info.portal_ports - 1;
	in = (int)checked(kportal_create(port));
	for (int i = 0; i < ranks; i++)
		out[i] = (int)checked(kportal_open(i, port, port));
}

static void
portal_put(int to)
{
	checked(kportal_write(out[to], (unsigned long)data, (unsigned long)bytes, FOREVER));
}

static void
portal_get(int from)
{
	checked(kportal_allow(in, from, port));
	if (checked(kportal_read(in, (unsigned long)data, (unsigned long)bytes, FOREVER)) != bytes)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

/* --- sync points --- */

static int
point(int mode, int at, uint32_t members, int is_mine)
{
	return (int)checked(is_mine ? ksync_create(mode, at, list, members) :
		ksync_open(mode, at, list, members));
}

static void
sync_ends_open(void)
{
	for (int i = 0; i < ranks; i++)
		list[i] = (uint8_t)i;
	gather = point(SYNC_ALL_TO_ONE, GATHER, (uint32_t)ranks, rank == 0);
	release = point(SYNC_ONE_TO_ALL, RELEASE, (uint32_t)ranks, rank != 0);
	if (rank > 1)
		return;
	ping = point(SYNC_ONE_TO_ALL, PING, 2, rank == 1);
	pong = point(SYNC_ALL_TO_ONE, PONG, 2, rank == 0);
}

static void
signal_and_wait(int mine, int theirs, int first)
{
	if (first)
		checked(sync_give(mine));
	checked(ksync_wait(theirs, FOREVER));
	if (!first)
		checked(sync_give(mine));
}

/* --- patterns, of one round --- */

static void
ping_pong(const struct way *w)
{
	if (rank > 1)
		return;
	if (w->send == NULL) {
		signal_and_wait(rank == 0 ? ping : pong, rank == 0 ? pong : ping, rank == 0);
	} else if (rank == 0) {
		w->send(1);
		w->receive(1);
	} else {
		w->receive(0);
		w->send(0);
	}
}

static void
broadcast(const struct way *w)
{
	if (w->send == NULL)
		checked(rank == 0 ? sync_give(release) : ksync_wait(release, FOREVER));
	else if (rank > 0)
		w->receive(0);
	for (int i = 1; i < ranks && rank == 0 && w->send != NULL; i++)
		w->send(i);
}

static void
gathering(const struct way *w)
{
	if (w->send == NULL)
		checked(rank == 0 ? ksync_wait(gather, FOREVER) : sync_give(gather));
	else if (rank > 0)
		w->send(0);
	for (int i = 1; i < ranks && rank == 0 && w->send != NULL; i++)
		w->receive(i);
}

/* Step k: with the rank whose number differs in the bits of k; the lower one sends first. */
static void
allgather(const struct way *w)
{
	if (w->send == NULL)
		signal_and_wait(rank == 0 ? release : gather, rank == 0 ? gather : release,
			rank != 0);
	for (int k = 1; k < ranks && w->send != NULL; k++) {
		int peer = rank ^ k;

		if (rank < peer)
			w->send(peer);
		w->receive(peer);
		if (rank > peer)
			w->send(peer);
	}
}

static const struct pattern {
	const char *name;
	void (*round)(const struct way *w);
} patterns[] = {
	{"pingpong", ping_pong}, {"broadcast", broadcast}, {"gather", gathering},
	{"allgather", allgather},
};

static const struct way ways[] = {
	{"mailbox", mailbox_ends_open, mailbox_put, mailbox_get},
	{"portal", portal_ends_open, portal_put, portal_get},
	{"sync", sync_ends_open, NULL, NULL},
};

static void
measure(const struct way *w, const struct pattern *p)
{
	char params[64];
	double begun;

	p->round(w);
	MPI_Barrier(MPI_COMM_WORLD);
	begun = MPI_Wtime();
	if (rank == 0) {
		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
	}
	for (long n = 0; n < rounds; n++)
		p->round(w);
	if (rank == 0)
		hal_mark(MARK_END);
	snprintf(params, sizeof(params), "over=%s pattern=%s", w->name, p->name);
	if (rank == 0)
		row("comm", (MPI_Wtime() - begun) / NS / (double)rounds, "ns", params);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct way *
way_of(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++)
		for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
			if (strcmp(argv[i], "--over") == 0 &&
				strcmp(argv[i + 1], ways[k].name) == 0)
				return &ways[k];
	return &ways[0];
}

int
main(int argc, char **argv)
{
	const struct way *w = way_of(argc, argv);
	struct cluster_info info;

	bytes = number(argc, argv, "--bytes", MAILBOX_MSG_SIZE);
	rounds = number(argc, argv, "--rounds", 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	kcluster_info(&info);
	if ((int)info.cluster != rank || bytes < 1 || bytes > BYTES_MAX || ranks < 2 ||
			(ranks & (ranks - 1)) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	w->open();
	MPI_Barrier(MPI_COMM_WORLD);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		measure(w, &patterns[i]);
	MPI_Finalize();
	return 0;
}
