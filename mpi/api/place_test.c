/* SPDX-License-Identifier: MIT
 *
 * Placing graphs on several clusters: every member gets one node, each cluster as many as it has
 * members, and random graphs are never cut more than in the own order; partitioned messages between
 * clusters.
 *
 * sanitize: thread address
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 */
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi/api/place.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/shared.h>

#define NODES 12
#define EDGES_MAX (NODES * 4)

static unsigned per_cluster;

static uint32_t
draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

static long
cut(const struct place_edges *e, const int *member_of)
{
	long sum = 0;

	for (int i = 0; i < e->count; i++) {
		int from = member_of ? member_of[e->of[i].from] : e->of[i].from, to = member_of
			? member_of[e->of[i].to] : e->of[i].to;

		sum += from / (int)per_cluster != to / (int)per_cluster ? e->of[i].weight : 0;
	}
	return sum;
}

/* Of so many nodes, on the first members. */
static void
place_one(uint32_t *state, int nodes, int edges)
{
	struct place_edge of[EDGES_MAX];
	struct place_edges e = {of, edges};
	int member_of[NODES], seen[NODES] = {0};

	for (int i = 0; i < edges; i++)
		of[i] = (struct place_edge){(int32_t)draw(state, (uint32_t)nodes),
			(int32_t)draw(state, (uint32_t)nodes), (int32_t)draw(state, 4)};
	MUST(place_graph(mpi_self(), &mpi_self()->world, nodes, &e, member_of));
	for (int i = 0; i < nodes; i++)
		MUST(member_of[i] >= 0 && member_of[i] < nodes && !seen[member_of[i]]++);
	MUST(cut(&e, member_of) <= cut(&e, NULL));
}

static void
place_many(void)
{
	uint32_t state = 1;

	MPI_Init(NULL, NULL);
	for (int i = 0; i < 200; i++)
		place_one(&state, 1 + i % NODES, i * 7 % EDGES_MAX);
	MPI_Finalize();
	library_close(mpi_self());
}

/*
 * Each rank tells of its own edges, in an order of its own: whoever gets the node has them in that
 * order.
 */
static void
neighbours_follow_their_node(void)
{
	int me, n, given[2], got[4], weights[2], in, out, weighted;
	MPI_Comm comm;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	given[0] = (me + 5) % n;
	given[1] = (me + n - 5) % n;
	weights[0] = me + 1;
	weights[1] = me + 100;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, given, weights, 2, given, weights,
		MPI_INFO_NULL, 1, &comm);
	MPI_Comm_rank(comm, &me);
	MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	MUST(in == 2 && out == 2 && weighted);
	MPI_Dist_graph_neighbors(comm, 2, got, weights, 2, got + 2, weights);
	MUST(got[0] == (me + 5) % n && got[1] == (me + n - 5) % n && got[2] == got[0] &&
		got[3] == got[1]);
	MUST(weights[0] == me + 1 && weights[1] == me + 100);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	library_close(mpi_self());
}

/* To the rank half way around, in eight and in two partitions. */
static void
partitions_cross(void)
{
	int me, n, out[8], in[8];
	MPI_Request request[2];

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Precv_init(in, 2, 4, MPI_INT, (me + n - n / 2) % n, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Psend_init(out, 8, 1, MPI_INT, (me + n / 2) % n, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	for (int round = 0; round < 5; round++) {
		int flag = 0;

		MPI_Startall(2, request);
		for (int i = 7; i >= 0; i--) {
			out[i] = me * 100 + round * 10 + i;
			MPI_Pready(i, request[1]);
		}
		while (!flag)
			MPI_Parrived(request[0], 1, &flag);
		MUST(in[7] == (me + n - n / 2) % n * 100 + round * 10 + 7);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		MUST(in[0] == (me + n - n / 2) % n * 100 + round * 10);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	MPI_Finalize();
	library_close(mpi_self());
}

static void
on_clusters_of(unsigned ranks)
{
	per_cluster = ranks;
	test_os.cores = 4;
	job_errors = 0;
	job_run(NODES, ranks, 0, place_many);
	job_run(NODES, ranks, 0, neighbours_follow_their_node);
	job_run(NODES, ranks, 0, partitions_cross);
	expect_eq(job_errors, 0);
}

TEST(three_even_clusters) { on_clusters_of(4); }
TEST(three_clusters_of_which_one_is_smaller) { on_clusters_of(5); }
TEST(many_small_clusters) { on_clusters_of(2); }
TEST(one_cluster) { on_clusters_of(12); }

int
main(void)
{
	RUN(three_even_clusters);
	RUN(three_clusters_of_which_one_is_smaller);
	RUN(many_small_clusters);
	RUN(one_cluster);
	return TEST_FAILED;
}
