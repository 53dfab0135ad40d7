/* SPDX-License-Identifier: MIT
 *
 * Channels between ranks of two clusters: ranks are threads, under the sanitizers.
 *
 * sanitize: thread address
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	-mpi/transport/atoll/no_channel.c mpi/transport/atoll/channel/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 */
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

/* Instead of user/channel_words.h: the sanitizer knows no fences. */
#define USER_CHANNEL_WORDS_H
#define CHANNEL_LOOKS 20
static __thread uint32_t fence_word;
#define word_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_put(word, value) __atomic_store_n((word), (value), __ATOMIC_SEQ_CST)
#define words_fence() ((void)__atomic_fetch_add(&fence_word, 0, __ATOMIC_SEQ_CST))
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))
#include <user/channel.c>

#define LONGEST 300			/* more than a packet takes */

static void
fill(unsigned char *b, int len, int seed)
{
	for (int i = 0; i < len; i++)
		b[i] = (unsigned char)(seed * 31 + i * 7);
}

static bool
is_filled(const unsigned char *b, int len, int seed)
{
	for (int i = 0; i < len; i++)
		if (b[i] != (unsigned char)(seed * 31 + i * 7))
			return false;
	return true;
}

/* Each rank with all others, again and again. */
static void
talk(int rank, int size, int rounds)
{
	unsigned char out[LONGEST], in[LONGEST];

	for (int i = 0; i < rounds; i++)
		for (int d = 1; d < size; d++) {
			int to = (rank + d) % size, from = (rank - d + size) % size,
				len = 1 + (i * 7) % LONGEST;

			fill(out, len, rank + i);
			MPI_Sendrecv(out, len, MPI_BYTE, to, i, in, LONGEST, MPI_BYTE, from, i,
				MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MUST(is_filled(in, len, from + i));
		}
}

/* Packets of this rank that have gone through channels. */
static uint64_t
through_channels(void)
{
	return __atomic_load_n(&mpi_self()->transport->counts.channels, __ATOMIC_RELAXED);
}

static void
all_talk(void)
{
	int rank, size;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	talk(rank, size, 60);
	MUST(through_channels() > 0);
	MPI_Finalize();
	library_close(mpi_self());
}

/* The first rank sends more than a ring holds, long before the others take it, and leaves. */
static void
the_first_runs_ahead(void)
{
	enum { MESSAGES = 500 };
	int rank, size, got = -1;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	talk(rank, size, 20);
	for (int i = 0; rank == 0 && i < MESSAGES; i++)
		for (int to = 1; to < size; to++)
			MPI_Send(&i, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
	for (int i = 0; rank > 0 && i < MESSAGES; i++) {
		MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MUST(got == i);
	}
	MUST(rank > 0 || through_channels() > MESSAGES / 2);
	MPI_Finalize();
	library_close(mpi_self());
}

extern void __lsan_disable(void) __attribute__((weak));

/* Whose death this rank knows already. */
static void
asks_the_dead(int dead)
{
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Message m;
	MPI_Request r;
	int x = 0, flag;

	MUST(MPI_Recv(&x, 1, MPI_INT, dead, 2, world, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Irecv(&x, 1, MPI_INT, dead, 2, world, &r) == MPI_SUCCESS);
	MUST(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Probe(dead, 2, world, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Mprobe(dead, 2, world, &m, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Iprobe(dead, 2, world, &flag, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED && !flag);
	MUST(MPI_Improbe(dead, 2, world, &flag, &m, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED &&
		!flag);
}

/* The last rank dies, alone in its cluster, while the others wait for it. */
static void
bereaved(void)
{
	int rank, size, x = 0;

	/* nobody can finalize */
	if (__lsan_disable != NULL)
		__lsan_disable();
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	talk(rank, size, 20);
	MUST(through_channels() > 0);
	if (rank == size - 1) {
		for (int i = 0; i < size - 1; i++)
			test_wait_for_sleep(i);
		test_kill_cluster((unsigned)rank);
		return;
	}
	MUST(MPI_Recv(&x, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
		MPI_ERR_PROC_ABORTED);
	MUST(MPI_Send(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD) == MPI_ERR_PROC_ABORTED);
	asks_the_dead(size - 1);
}

static void
in_clusters(unsigned ranks, unsigned per_cluster, void (*body)(void))
{
	job_errors = 0;
	test_os.cores = 3;
	job_run(ranks, per_cluster, 0, body);
	expect_eq(job_errors, 0);
}

TEST(ranks_of_two_clusters_talk_over_channels)
{
	in_clusters(2, 1, all_talk);
	in_clusters(4, 2, all_talk);
}

TEST(ranks_of_three_clusters_talk_over_channels) { in_clusters(7, 3, all_talk); }

TEST(whoever_leaves_waits_until_all_is_read)
{
	in_clusters(2, 1, the_first_runs_ahead);
	in_clusters(3, 1, the_first_runs_ahead);
}

TEST(the_death_of_a_cluster_ends_every_wait_for_it) { in_clusters(3, 1, bereaved); }

int
main(void)
{
	RUN(ranks_of_two_clusters_talk_over_channels);
	RUN(ranks_of_three_clusters_talk_over_channels);
	RUN(whoever_leaves_waits_until_all_is_read);
	RUN(the_death_of_a_cluster_ends_every_wait_for_it);
	return TEST_FAILED;
}
