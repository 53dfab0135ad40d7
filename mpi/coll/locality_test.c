/* SPDX-License-Identifier: MIT
 *
 * What a rank keeps of where the ranks of a communicator are: right for any mapping, and in bytes,
 * which are counted where memory is taken and given back.
 *
 * sanitize: none
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 */
#include <malloc.h>
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi/coll/locality.h>
#include <mpi/core/ranks_test.h>

#define CLUSTERS 16
#define BYTES_MAX 1024			/* of a rank, whatever the number of ranks */

enum mapping { COMPACT, IN_TURN, ALONE, MIXED, MAPPINGS };

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void __libc_free(void *at);

static __thread size_t held;		/* bytes that this thread has taken and not given back */

void *
malloc(size_t bytes)
{
	void *at = __libc_malloc(bytes);

	held += malloc_usable_size(at);
	return at;
}

void *
calloc(size_t n, size_t bytes)
{
	void *at = __libc_calloc(n, bytes);

	held += malloc_usable_size(at);
	return at;
}

void *
realloc(void *at, size_t bytes)
{
	held -= malloc_usable_size(at);
	at = __libc_realloc(at, bytes);
	held += malloc_usable_size(at);
	return at;
}

void
free(void *at)
{
	held -= malloc_usable_size(at);
	__libc_free(at);
}

static const int sizes[] = {1, 2, 17, 1024, 4064};
static int size;
static enum mapping mapping;
static size_t taken;

static uint32_t
cluster_of(int rank)
{
	int each = (size + CLUSTERS - 1) / CLUSTERS;

	switch (mapping) {
	case COMPACT: return (uint32_t)(rank / each);
	case IN_TURN: return (uint32_t)(rank % CLUSTERS);
	case ALONE: return 0;
	default: return (uint32_t)((unsigned)rank * 2654435761u >> 28);
	}
}

/* Clusters have the numbers in which they appear, and their ranks ascend. */
static void
check_locality(const struct locality *v, int rank)
{
	int at = 0;

	for (int k = 0; k < v->clusters; k++) {
		int i = 0;

		MUST(k == 0 || v->leaders[k] > v->leaders[k - 1]);
		MUST(v->first[k] == at);
		for (int r = 0; r < size; r++) {
			if (cluster_of(r) != cluster_of(v->leaders[k]))
				continue;
			MUST(mpi_locality_member(v, k, i++) == r);
			MUST(mpi_locality_ordered(v, at++) == r);
		}
		MUST(v->first[k + 1] == at);
	}
	MUST(at == size);
	MUST(v->leaders[v->cluster] <= rank &&
		cluster_of(v->leaders[v->cluster]) == cluster_of(rank));
	MUST(mpi_locality_member(v, v->cluster, v->rank) == rank);
}

/* The one rank that there is believes that it is one of many. */
static void
one_of_many(void)
{
	struct mpi_rank *self = mpi_self();
	struct comm c = {.size = size, .rank = size / 2};
	size_t before;

	MPI_Init(NULL, NULL);
	for (int i = 0; i < size; i++)
		test_os.placement[i].cluster = (uint8_t)cluster_of(i);
	c.group = mpi_group_range(self, 0, size);
	before = held;
	MUST(mpi_locality_survey(self, &c) != NULL);
	taken = held - before;
	if (c.locality != NULL)
		check_locality(c.locality, c.rank);
	mpi_locality_leave(self, c.locality);
	MUST(held == before);
	mpi_group_release(self, c.group);
	test_os.placement[0].cluster = 0;
	MPI_Finalize();
	library_close(self);
}

static void
many(enum mapping m, int n)
{
	mapping = m;
	size = n;
	job_errors = 0;
	test_os.cores = 2;
	job_run(1, 1, 0, one_of_many);
	expect_eq(job_errors, 0);
}

TEST(every_mapping_is_known)
{
	for (int m = 0; m < MAPPINGS; m++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			many((enum mapping)m, sizes[i]);
}

TEST(regular_mappings_take_the_same_memory_for_any_number_of_ranks)
{
	for (int m = 0; m < MIXED; m++) {
		many((enum mapping)m, 1024);
		expect(taken > 0 && taken <= BYTES_MAX);
		many((enum mapping)m, 4064);
		expect(taken > 0 && taken <= BYTES_MAX);
	}
}

TEST(other_mappings_take_a_word_for_each_rank)
{
	many(MIXED, 4064);
	expect(taken > 4064 * sizeof(int) && taken <= 4064 * sizeof(int) + BYTES_MAX);
}

/* Ranks of three clusters, in an order that has no stride: each cluster has one table. */
static void
share_a_table(void)
{
	static const int keys[] = {3, 7, 1, 0, 6, 2, 5, 4};
	struct mpi_rank *self = mpi_self();
	const int *tables[8];
	const struct locality *v;
	struct comm *c;
	MPI_Comm comm;
	int one = 1, sum = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_split(MPI_COMM_WORLD, 0, keys[self->world_rank], &comm);
	c = mpi_comm_find(self, comm);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	mpi_locality_of(self, c);
	v = c->locality;
	MUST(sum == 8 && v->segment != NULL && v->order != NULL && v->own_order == NULL);
	MPI_Allgather(&v->order, sizeof(v->order), MPI_BYTE, tables, sizeof(v->order), MPI_BYTE,
		comm);
	for (int i = 0; i < v->ranks; i++)
		MUST(tables[mpi_locality_member(v, v->cluster, i)] == v->order);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	library_close(self);
}

TEST(ranks_of_a_cluster_share_a_table)
{
	job_errors = 0;
	test_os.cores = 4;
	job_run(8, 3, 0, share_a_table);
	expect_eq(job_errors, 0);
}

int
main(void)
{
	RUN(every_mapping_is_known);
	RUN(regular_mappings_take_the_same_memory_for_any_number_of_ranks);
	RUN(other_mappings_take_a_word_for_each_rank);
	RUN(ranks_of_a_cluster_share_a_table);
	return TEST_FAILED;
}
