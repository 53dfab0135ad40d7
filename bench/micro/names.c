/* SPDX-License-Identifier: MIT
 *
 * Names (servers/name/client.h), and what an MPI job pays that finds its ranks by them. Rank 1
 * looks up a name of rank 0, which is in the name server's cluster. Source: seed 002 5.6 and 8.
 * usage: names [--way table|daemon|two-steps|forward]. Windows, of one thing each: label 16: a
 * look-up that the table of the cluster answers, by a text; 17: by a key. When all that is asked
 * sleeps: 27: one that the daemon answers; 28: that the name server answers; 19: in two steps;
 * 20: forwarded; 21: a name is linked; 22: unlinked, which another daemon knows. 24: MPI_Init of
 * rank 1; 25: the first message to a rank and its answer; 26: a later one.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <hal/perf.h>
#include <mpi.h>
#include <servers/name/client.h>
#include "micro.h"

#define WINDOWS 8
#define BIT 20
#define OTHER 0			/* the rank in the name server's cluster */
#define ASKS 1
#define THEIRS "bench.0"		/* as a rank's name is */

static struct name_client names;
static struct name_place at;

static void
check_result(int result)
{
	if (result != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Long enough for all servers to sleep. */
static void
settle(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(1, now + 2000000);
}

static void
look_up(uint32_t flags)
{
	check_result(name_lookup(&names, THEIRS, flags, &at));
}

/* When all that is asked sleeps. */
static void
count_asleep(uint32_t flags)
{
	for (int n = 0; n < WINDOWS; n++) {
		settle();
		hal_mark(MARK_BEGIN);
		look_up(flags);
		hal_mark(MARK_END);
	}
}

/* What the table answers, by a text and by a key. */
static void
count_known(void)
{
	struct name_key key;
	bool is_known = true;

	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
		is_known &= name_is_known(&names, THEIRS, &at);
		hal_mark(MARK_END);
		is_known &= name_key_make(&key, THEIRS);
		hal_mark(LABEL + 1);
		hal_mark(MARK_BEGIN);
		is_known &= name_is_known_by(&names, &key, &at);
		hal_mark(MARK_END);
	}
	check_result(!is_known);
}

/* Without the table its daemon is asked. */
static void
count_lookups(void)
{
	const struct name_cache *cache = names.cache;

	look_up(0);
	count_known();
	names.cache = NULL;
	hal_mark(LABEL + 11);
	count_asleep(0);
	names.cache = cache;
	hal_mark(LABEL + 12);
	count_asleep(NAME_FRESH);
	hal_mark(LABEL + 3);
	count_asleep(NAME_TWO_STEPS);
	hal_mark(LABEL + 4);
	count_asleep(NAME_FORWARD);
}

/* A name of the asking rank that the other looks up. */
static void
count_links(int rank)
{
	for (int n = 0; n < WINDOWS; n++) {
		settle();
		hal_mark(LABEL + 5);
		if (rank == ASKS) {
			hal_mark(MARK_BEGIN);
			check_result(name_link(&names, "linked", 9, 0));
			hal_mark(MARK_END);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == OTHER)
			check_result(name_lookup(&names, "linked", 0, &at));
		MPI_Barrier(MPI_COMM_WORLD);
		settle();
		hal_mark(LABEL + 6);
		if (rank == ASKS) {
			hal_mark(MARK_BEGIN);
			check_result(name_unlink(&names, "linked"));
			hal_mark(MARK_END);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* To and from a rank with which nothing was exchanged yet, and once more. */
static void
count_messages(int rank)
{
	char byte = 0;

	for (int n = 0; n < 2; n++) {
		if (n == 0)
			hal_mark(LABEL + 9);
		else
			hal_mark(LABEL + 10);
		if (rank == ASKS) {
			settle();
			hal_mark(MARK_BEGIN);
			MPI_Send(&byte, 1, MPI_CHAR, OTHER, 1, MPI_COMM_WORLD);
			MPI_Recv(&byte, 1, MPI_CHAR, OTHER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			hal_mark(MARK_END);
		} else {
			MPI_Recv(&byte, 1, MPI_CHAR, ASKS, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&byte, 1, MPI_CHAR, ASKS, 1, MPI_COMM_WORLD);
		}
	}
}

static void
count_names(int rank)
{
	check_result(name_open(&names, BIT));
	if (rank == OTHER)
		check_result(name_link(&names, THEIRS, 9, 0));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == ASKS)
		count_lookups();
	MPI_Barrier(MPI_COMM_WORLD);
	count_links(rank);
	name_close(&names);
}

int
main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	double start;
	int rank;

	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--way") == 0)
			setenv("ATOLL_MPI_NAMES", argv[i + 1], 1);
	hal_mark(LABEL + 8);
	if (s->rank == ASKS)
		hal_mark(MARK_BEGIN);
	MPI_Init(&argc, &argv);
	if (s->rank == ASKS)
		hal_mark(MARK_END);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = MPI_Wtime();
	count_messages(rank);
	if (rank == ASKS)
		row("first_messages", (MPI_Wtime() - start) * 1e6, "us", "");
	count_names(rank);
	MPI_Finalize();
	return 0;
}
