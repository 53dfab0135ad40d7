/* SPDX-License-Identifier: MIT
 *
 * Schedules in two tiers send between clusters exactly what the heads of their files promise, for
 * any mapping of ranks to clusters.
 *
 * sanitize: thread address
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 */
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/locality.h>
#include <mpi/coll/sched.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/shared.h>

#define RANKS_MAX 16
/* elements of a block: small enough for binomial and pairwise parts */
#define COUNT 2
#define KINDS COLL_NEIGHBOR_ALLGATHER

/* between clusters: by mapping, does the operation commute */
static uint32_t sent[3][2][KINDS];
static unsigned per_cluster;

static const char all_of_them[] =
	"barrier=clusters!,bcast=clusters!,gather=clusters!,scatter=clusters!,"
	"allgather=clusters!,alltoall=clusters!,reduce=clusters!,allreduce=clusters!,"
	"reduce_scatter=clusters!,scan=clusters!,exscan=clusters!";

static void
add_ints(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((const int *)in)[i];
}

/* All ranks: as they are, cluster by cluster in reverse, and one of each cluster in turn. */
static MPI_Comm
mapped(int mapping)
{
	int rank = mpi_self()->world_rank, n = mpi_self()->world_size,
		cluster = rank / (int)per_cluster, position = rank % (int)per_cluster;
	int key = mapping == 0 ? rank : mapping == 1 ? -rank : position * n + cluster;
	MPI_Comm comm;
	MPI_Info info;

	MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
	MPI_Info_create(&info);
	MPI_Info_set(info, "atoll_coll", all_of_them);
	MPI_Comm_set_info(comm, info);
	MPI_Info_free(&info);
	return comm;
}

static uint32_t
messages_between(const struct sched *s)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < s->count; i++)
		if (s->steps[i].kind == STEP_SEND)
			count += !mpi_locality_together(s->self, s->c, s->c->rank,
				s->steps[i].peer);
	return count;
}

static struct side
side_of(int *at)
{
	return (struct side){.buffer = at, .count = COUNT, .datatype = MPI_INT,
		.type = mpi_type_find(MPI_INT)};
}

/* Write it, count, and run it. */
static void
look(struct comm *c, struct collective *k, uint32_t *total)
{
	int in[RANKS_MAX * COUNT] = {0}, out[RANKS_MAX * COUNT] = {0};
	struct sched *s = mpi_sched_new(mpi_self(), c);

	k->send = side_of(in);
	k->recv = side_of(out);
	k->even = k->kind != COLL_BARRIER && k->kind != COLL_BCAST;
	k->root = c->size / 2;
	mpi_coll_write(s, k);
	MUST(s->broken == MPI_SUCCESS);
	add_total(total, messages_between(s));
	MUST(mpi_sched_run(s) == MPI_SUCCESS);
}

static bool
is_in_turn(int mapping)
{
	return mapping == 2;
}

/*
 * What needs the order of the ranks has no such form where each is in another cluster than the one
 * before.
 */
static bool
is_possible(enum coll_kind kind, int mapping, bool commutes)
{
	if (kind == COLL_SCAN || kind == COLL_EXSCAN)
		return !is_in_turn(mapping);
	return commutes || !is_in_turn(mapping) || kind < COLL_REDUCE;
}

static void
count_all(void)
{
	MPI_Op op[2] = {MPI_OP_NULL, MPI_SUM};

	MPI_Init(NULL, NULL);
	MPI_Op_create(add_ints, 0, &op[0]);
	for (int mapping = 0; mapping < 3; mapping++) {
		MPI_Comm comm = mapped(mapping);
		struct comm *c = mpi_comm_find(mpi_self(), comm);

		for (int commutes = 0; commutes < 2; commutes++)
			for (enum coll_kind kind = COLL_BARRIER; kind < KINDS; kind++)
				if (is_possible(kind, mapping, commutes))
					look(c, &(struct collective){.kind = kind,
						.op = op[commutes]},
							&sent[mapping][commutes][kind]);
		MPI_Comm_free(&comm);
	}
	MPI_Op_free(&op[0]);
	MPI_Finalize();
	library_close(mpi_self());
}

static uint32_t
log2_up(uint32_t n)
{
	uint32_t log = 0;

	while (1u << log < n)
		log++;
	return log;
}

/*
 * Recursive doubling: those beyond a power of two hand theirs over first, and get the result last.
 */
static uint32_t
doubling(uint32_t c)
{
	uint32_t log = log2_up(c + 1) - 1;

	return 2 * (c - (1u << log)) + (1u << log) * log;
}

static uint32_t
exscan(uint32_t c)
{
	uint32_t count = c - 1;

	for (uint32_t d = 1; d < c; d *= 2)
		count += c - d;
	return count;
}

/* What the heads say, of c clusters. */
static uint32_t
promised(enum coll_kind kind, uint32_t c, bool commutes)
{
	switch (kind) {
	case COLL_BARRIER: return c * log2_up(c);
	case COLL_BCAST:
	case COLL_GATHER:
	case COLL_SCATTER:
		return c - 1;
	case COLL_ALLGATHER:
	case COLL_ALLTOALL:
		return c * (c - 1);
	case COLL_ALLREDUCE: return doubling(c);
	case COLL_REDUCE_SCATTER: return commutes ? c * (c - 1) : 2 * (c - 1);
	case COLL_SCAN:
	case COLL_EXSCAN:
		return exscan(c);
	default: return 0;
	}
}

/*
 * A reduction whose root is not the first of those between clusters sends once more if it does not
 * commute.
 */
static bool
is_promised(enum coll_kind kind, uint32_t c, bool commutes, uint32_t got)
{
	if (kind == COLL_REDUCE)
		return got == c - 1 || (!commutes && got == c);
	return got == promised(kind, c, commutes);
}

static void
counts(unsigned ranks, unsigned in_each)
{
	uint32_t clusters = (ranks + in_each - 1) / in_each;

	job_errors = 0;
	memset(sent, 0, sizeof(sent));
	per_cluster = in_each;
	test_os.cores = 4;
	job_run(ranks, in_each, 0, count_all);
	expect_eq(job_errors, 0);
	for (int mapping = 0; mapping < 3; mapping++)
		for (int commutes = 0; commutes < 2; commutes++)
			for (enum coll_kind kind = COLL_BARRIER; kind < KINDS; kind++)
				if (is_possible(kind, mapping, commutes) &&
						!is_promised(kind, clusters, commutes,
						sent[mapping][commutes][kind])) {
					fprintf(stderr, "%u ranks, %u in a cluster, mapping %d, "
						"kind %d: %u messages\n", ranks, in_each, mapping,
						(int)kind, sent[mapping][commutes][kind]);
					expect(false);
				}
}

TEST(two_even_clusters) { counts(8, 4); }
TEST(four_even_clusters) { counts(16, 4); }
TEST(three_clusters_and_one_rank_more) { counts(10, 3); }
TEST(five_clusters_of_which_one_is_smaller) { counts(9, 2); }

int
main(void)
{
	RUN(two_even_clusters);
	RUN(four_even_clusters);
	RUN(three_clusters_and_one_rank_more);
	RUN(five_clusters_of_which_one_is_smaller);
	return TEST_FAILED;
}
