/* SPDX-License-Identifier: MIT
 *
 * Whole jobs in one process: ranks are threads, in one cluster or in several, under the sanitizers.
 *
 * sanitize: thread address
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 */
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/sync.h>
#include <mpi/transport/transport.h>

#define LARGEST 20000

static const int sizes[] = {0, 8, 96, 97, 4096, 4097, LARGEST};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

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

/* Everybody sends everything to everybody at once. */
static void
storm(void)
{
	MPI_Request r[2 * SIZES];
	unsigned char *out = malloc(SIZES * LARGEST), *in = malloc(SIZES * LARGEST);
	int rank, size;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int d = 0; d < size; d++) {
		int to = (rank + d) % size, from = (rank - d + size) % size;

		for (int i = 0; i < SIZES; i++) {
			fill(out + i * LARGEST, sizes[i], rank + i);
			MPI_Isend(out + i * LARGEST, sizes[i], MPI_BYTE, to, i, MPI_COMM_WORLD,
				&r[i]);
			MPI_Irecv(in + i * LARGEST, LARGEST, MPI_BYTE, from, i, MPI_COMM_WORLD,
				&r[SIZES + i]);
		}
		MPI_Waitall(2 * SIZES, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < SIZES; i++)
			MUST(is_filled(in + i * LARGEST, sizes[i], from + i));
	}
	MPI_Finalize();
	library_close(mpi_self());
	free(in);
	free(out);
}

/* Rank 0 takes, long after it was sent, what all others send as fast as they can. */
static void
flood(void)
{
	enum { MESSAGES = 500 };
	unsigned char buffer[300];
	int rank, size;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; rank > 0 && i < MESSAGES; i++) {
		fill(buffer, 1 + i % 300, rank + i);
		MPI_Send(buffer, 1 + i % 300, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
	for (int from = size - 1; rank == 0 && from > 0; from--)
		for (int i = 0; i < MESSAGES; i++) {
			MPI_Recv(buffer, 300, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MUST(is_filled(buffer, 1 + i % 300, from + i));
		}
	MPI_Finalize();
	library_close(mpi_self());
}

/* Requests that the program gives away before they are done. */
static void
detached(void)
{
	int rank, size, value[50], got;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 50; i++) {
		MPI_Request r;

		value[i] = rank * 100 + i;
		MPI_Issend(&value[i], 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &r);
		MPI_Request_free(&r);
	}
	for (int i = 0; i < 50; i++) {
		MPI_Recv(&got, 1, MPI_INT, (rank - 1 + size) % size, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		MUST(got == (rank - 1 + size) % size * 100 + i);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	library_close(mpi_self());
}

extern void __lsan_disable(void) __attribute__((weak));

/* Rank 2, alone in its cluster, dies while the others wait for it in every way. */
static void
bereaved(void)
{
	enum { LARGE = 5000 };
	int rank, x = 0, err;
	char *large = calloc(1, LARGE);
	MPI_Request r;

	/* nobody can finalize */
	if (__lsan_disable != NULL)
		__lsan_disable();
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 2) {
		test_wait_for_sleep(0);
		test_wait_for_sleep(1);
		test_kill_cluster(2);
		free(large);
		return;
	}
	MPI_Irecv(&x, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &r);
	MUST(MPI_Send(large, LARGE, MPI_BYTE, 2, 0, MPI_COMM_WORLD) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_ERR_PROC_ABORTED);
	MUST(MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD) == MPI_ERR_PROC_ABORTED);
	err = MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 5, &x, 1, MPI_INT, 1 - rank, 5,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MUST(err == MPI_SUCCESS && x == 1 - rank);
	free(large);
}

static void
everything(unsigned ranks, unsigned per_cluster, size_t area_bytes)
{
	job_errors = 0;
	test_os.cores = 3;
	job_run(ranks, per_cluster, area_bytes, storm);
	job_run(ranks, per_cluster, area_bytes, flood);
	job_run(ranks, per_cluster, area_bytes, detached);
	expect_eq(job_errors, 0);
}

TEST(one_rank_talks_to_itself)
{
	everything(1, 1, 0);
}

TEST(two_ranks_in_a_cluster)
{
	everything(2, 2, 0);
}

TEST(more_ranks_than_cores)
{
	everything(9, 9, 0);
}

TEST(each_rank_in_its_own_cluster)
{
	everything(4, 1, 0);
}

TEST(three_clusters_not_all_full)
{
	everything(7, 3, 0);
}

TEST(the_ranks_of_a_cluster_share_its_mailboxes_to_other_ranks)
{
	test_os.cores = 3;
	job_run(7, 3, 0, storm);
	/* a rank that opens one at the same time as another rank has one too many for a moment */
	expect(test_os.mailboxes[0].most <= 4 + 3);
	expect_eq(test_os.mailboxes[0].open, 4);
	expect(test_os.mailboxes[2].most <= 6 + 1);
	expect_eq(test_os.mailboxes[2].open, 6);
}

TEST(the_death_of_a_cluster_ends_every_wait_for_it_with_an_error)
{
	job_errors = 0;
	test_os.cores = 3;
	job_run(3, 1, 0, bereaved);
	expect_eq(job_errors, 0);
}

TEST(inboxes_of_the_smallest_size)
{
	/* room for 8 cells per rank, and no more */
	everything(5, 5, 5 * (192 + 8 * 128 + 64 + 128) + sizeof(struct sync) + CACHE_LINE);
}

int
main(void)
{
	RUN(one_rank_talks_to_itself);
	RUN(two_ranks_in_a_cluster);
	RUN(more_ranks_than_cores);
	RUN(each_rank_in_its_own_cluster);
	RUN(three_clusters_not_all_full);
	RUN(the_ranks_of_a_cluster_share_its_mailboxes_to_other_ranks);
	RUN(the_death_of_a_cluster_ends_every_wait_for_it_with_an_error);
	RUN(inboxes_of_the_smallest_size);
	return TEST_FAILED;
}
