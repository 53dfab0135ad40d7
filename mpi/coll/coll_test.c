/* SPDX-License-Identifier: MIT
 *
 * Every algorithm by its name, also where it would not be chosen, and the central barriers; ranks
 * are threads, under the sanitizers.
 *
 * sanitize: thread address
 * needs: mpi/api/[a-z]*.c mpi/coll/[a-z]*.c mpi/core/[a-z]*.c -mpi/core/rank.c
 *	mpi/pt2pt/[a-z]*.c mpi/transport/[a-z]*.c mpi/transport/atoll/[a-z]*.c
 *	mpi/transport/linux/[a-z]*.c
 *	build/gen/mpi/[a-z]*.c
 * gate: no
 */
#include <base/test.h>
#include <mpi/api/library.h>
#include <mpi_coll_names.h>
#include <mpi/coll/coll.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

static const char *named = "";		/* the algorithm that communicators are to use */

static const int counts[] = {0, 1, 5, 64, 1001};
#define COUNTS ((int)(sizeof(counts) / sizeof(counts[0])))

/* What an algorithm works on, `count` ints per rank. */
struct work {
	int n;
	int rank;
	int count;
	int root;
	int *one;
	int *all;
};

static struct span
ints(int *at, int count)
{
	return (struct span){at, count, mpi_type_find(MPI_INT)};
}

static struct side
blocks(int *at, int count)
{
	return (struct side){.buffer = at, .count = count, .datatype = MPI_INT,
		.type = mpi_type_find(MPI_INT)};
}

/* Element i of what rank r gives. */
static int
element(int r, int i)
{
	return r * 10007 + i;
}

static int
sum_of(int n, int i)
{
	return 10007 * (n * (n - 1) / 2) + n * i;
}

static void
fill(struct work *w)
{
	for (int i = 0; i < w->count; i++)
		w->one[i] = element(w->rank, i);
	memset(w->all, -1, (size_t)w->count * (size_t)w->n * sizeof(int));
	memcpy(w->all + w->rank * w->count, w->one, (size_t)w->count * sizeof(int));
}

static struct sched *
begin(void)
{
	struct mpi_rank *self = mpi_self();
	struct sched *s = mpi_sched_new(self, &self->world);

	s->op = mpi_op_bind(self, MPI_SUM, MPI_INT);
	return s;
}

static void
end(struct sched *s)
{
	MUST(mpi_sched_run(s) == MPI_SUCCESS);
}

static void
check_all_blocks(const struct work *w)
{
	for (int i = 0; i < w->n * w->count; i++)
		MUST(w->all[i] == element(i / w->count, i % w->count));
}

static void
check_sum(const struct work *w, const int *got)
{
	for (int i = 0; i < w->count; i++)
		MUST(got[i] == sum_of(w->n, i));
}

static void
broadcasts(struct work *w)
{
	void (*const algorithm[])(struct sched *, struct span, int) =
		{mpi_bcast_binomial, mpi_bcast_scatter_ring};

	for (int a = 0; a < 2; a++) {
		struct sched *s = begin();

		fill(w);
		algorithm[a](s, ints(w->one, w->count), w->root);
		end(s);
		for (int i = 0; i < w->count; i++)
			MUST(w->one[i] == element(w->root, i));
	}
}

static void
doubling_in_place(struct sched *s, struct span out)
{
	mpi_allreduce_doubling(s, out, out);
}

static void
doubling(struct work *w)
{
	struct sched *s = begin();

	fill(w);
	mpi_allreduce_doubling(s, ints(w->all, w->count), ints(w->one, w->count));
	end(s);
	check_sum(w, w->all);
}

static void
reductions(struct work *w)
{
	void (*const algorithm[])(struct sched *, struct span, struct span, int) =
		{mpi_reduce_binomial, mpi_reduce_halving};
	void (*const to_all[])(struct sched *, struct span) = {doubling_in_place,
		mpi_allreduce_halving, mpi_allreduce_ring};

	for (int a = 0; a < 2; a++) {
		struct sched *s = begin();

		fill(w);
		algorithm[a](s, ints(w->all, w->count), ints(w->one, w->count), w->root);
		end(s);
		if (w->rank == w->root)
			check_sum(w, w->all);
	}
	for (int a = 0; a < 3; a++) {
		struct sched *s = begin();

		fill(w);
		to_all[a](s, ints(w->one, w->count));
		end(s);
		check_sum(w, w->one);
	}
	doubling(w);
}

static void
gathers(struct work *w)
{
	void (*const algorithm[])(struct sched *, const struct collective *) =
		{mpi_gather_linear, mpi_gather_binomial};
	void (*const back[])(struct sched *, const struct collective *) =
		{mpi_scatter_linear, mpi_scatter_binomial};

	for (int a = 0; a < 2; a++) {
		struct collective k = {.send = blocks(w->one, w->count),
			.recv = blocks(w->all, w->count), .root = w->root};
		struct sched *s = begin();

		fill(w);
		algorithm[a](s, &k);
		end(s);
		if (w->rank == w->root)
			check_all_blocks(w);
		k = (struct collective){.send = blocks(w->all, w->count),
			.recv = blocks(w->one, w->count), .root = w->root};
		memset(w->one, -1, (size_t)w->count * sizeof(int));
		s = begin();
		back[a](s, &k);
		end(s);
		for (int i = 0; i < w->count; i++)
			MUST(w->one[i] == element(w->rank, i));
	}
}

static void
allgathers(struct work *w)
{
	void (*const algorithm[])(struct sched *, struct span) =
		{mpi_allgather_bruck, mpi_allgather_doubling};
	struct side all = blocks(w->all, w->count);
	struct sched *s = begin();

	fill(w);
	mpi_allgather_ring(s, &all);
	end(s);
	check_all_blocks(w);
	for (int a = 0; a < ((w->n & (w->n - 1)) == 0 ? 2 : 1); a++) {
		s = begin();
		fill(w);
		algorithm[a](s, ints(w->all, w->n * w->count));
		end(s);
		check_all_blocks(w);
	}
}

static void
alltoalls(struct work *w)
{
	void (*const algorithm[])(struct sched *, const struct side *, const struct side *) =
		{mpi_alltoall_pairwise, mpi_alltoall_bruck};
	int *out = calloc((size_t)w->n * (size_t)w->count + 1, sizeof(int));
	struct side from = blocks(out, w->count), to = blocks(w->all, w->count);

	for (int i = 0; i < w->n * w->count; i++)
		out[i] = element(w->rank, i);
	for (int a = 0; a < 2; a++) {
		struct sched *s = begin();

		fill(w);
		algorithm[a](s, &from, &to);
		end(s);
		for (int i = 0; i < w->n * w->count; i++)
			MUST(w->all[i] == element(i / w->count, w->rank * w->count + i % w->count));
	}
	free(out);
}

static void
prefixes(struct work *w)
{
	MPI_Count parts[16];
	struct sched *s = begin();

	fill(w);
	mpi_scan_doubling(s, ints(w->one, w->count));
	end(s);
	for (int i = 0; i < w->count; i++)
		MUST(w->one[i] == sum_of(w->rank + 1, i));
	for (int a = 0; a < 2; a++) {
		s = begin();
		for (int i = 0; i < w->n; i++)
			parts[i] = w->count;
		for (int i = 0; i < w->n * w->count; i++)
			w->all[i] = element(w->rank, i);
		(a == 0 ? mpi_reduce_scatter_pairwise : mpi_reduce_scatter_at_root)(
			s, ints(w->one, w->count), ints(w->all, w->n * w->count), parts);
		end(s);
		for (int i = 0; i < w->count; i++)
			MUST(w->one[i] == sum_of(w->n, w->rank * w->count + i));
	}
}

static void
algorithms(void)
{
	struct work w;

	MPI_Init(NULL, NULL);
	w.n = mpi_self()->world_size;
	w.rank = mpi_self()->world_rank;
	for (int i = 0; i < COUNTS; i++) {
		w.count = counts[i];
		w.one = calloc((size_t)w.count + 1, sizeof(int));
		w.all = calloc((size_t)w.count * (size_t)w.n + 1, sizeof(int));
		for (w.root = 0; w.root < w.n; w.root += 1 + w.n / 3) {
			broadcasts(&w);
			reductions(&w);
			gathers(&w);
		}
		allgathers(&w);
		alltoalls(&w);
		prefixes(&w);
		free(w.all);
		free(w.one);
	}
	MPI_Finalize();
	library_close(mpi_self());
}

static MPI_Comm
communicator(void)
{
	MPI_Comm comm;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "atoll_coll", named);
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
	MPI_Info_free(&info);
	return comm;
}

/*
 * Nobody leaves a barrier before everybody has come; slots and results of one central barrier are
 * not touched by the next ones.
 */
static void
central_barriers(void)
{
	enum { ROUNDS = 200, MANY = 20 };
	static uint32_t come[ROUNDS];
	struct mpi_rank *self = mpi_self();
	int rank, size, all[MANY], rounds = *named ? ROUNDS / 8 : ROUNDS;
	MPI_Comm comm;

	MPI_Init(NULL, NULL);
	rank = self->world_rank;
	size = self->world_size;
	if (rank == 0)
		memset(come, 0, sizeof(come));
	comm = communicator();
	MPI_Barrier(comm);
	for (int i = 0; i < rounds; i++) {
		int mine = rank + i, sum = -1, first = rank == i % size ? i : -1;

		add_total(&come[i], 1);
		MPI_Barrier(i % 2 ? comm : MPI_COMM_WORLD);
		MUST(load_total(&come[i]) == (uint32_t)size);
		MPI_Bcast(&first, 1, MPI_INT, i % size, comm);
		MUST(first == i);
		MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
		mine = -1;
		for (int r = 0; r < size; r++)
			MUST(all[r] == r + i);
		mine = rank + i;
		MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
		MUST(sum == size * (size - 1) / 2 + size * i);
		/* now and then one comes when all others wait */
		while (i % 50 == rank && i + 1 < rounds &&
			load_total(&come[i + 1]) + 1 < (uint32_t)size)
			sched_yield();
	}
	MPI_Comm_free(&comm);
	MPI_Finalize();
	library_close(mpi_self());
}

static void
add_ints(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((const int *)in)[i];
}

/*
 * Communicators and operations go while collectives with them are on their way; nothing is left
 * (the address sanitizer looks).
 */
static void
freed_while_pending(void)
{
	int rank = 0, size, got = -1, sum = -1, rounds = *named ? 3 : 20;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		MPI_Request r[3];
		MPI_Comm comm = communicator();
		MPI_Op op;
		int mine = i, other = rank == 0 ? i : -1;

		MPI_Op_create(add_ints, 0, &op);
		MPI_Iallreduce(&mine, &got, 1, MPI_INT, MPI_MAX, comm, &r[0]);
		MPI_Ibcast(&other, 1, MPI_INT, 0, comm, &r[1]);
		MPI_Iallreduce(&mine, &sum, 1, MPI_INT, op, comm, &r[2]);
		MPI_Op_free(&op);
		MPI_Comm_free(&comm);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		MUST(got == i && other == i && sum == size * i);
	}
	MPI_Finalize();
	library_close(mpi_self());
}

/*
 * Non-blocking collectives of few ranks in one cluster need no messages once blocking ones have
 * made room for them: those in messages are counted.
 */
static void
started_without_messages(void)
{
	enum { COUNT = 300 };
	static const int sizes[] = {1, 12, COUNT};
	int mine[COUNT] = {0}, other[16 * COUNT], size;
	struct comm *world = &mpi_self()->world;
	uint32_t before;

	MPI_Init(NULL, NULL);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(mine, other, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	before = world->collectives;
	for (int i = 0; i < 3; i++) {
		MPI_Request r[4];

		MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
		MPI_Iallreduce(mine, other, sizes[i], MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
		MPI_Ibcast(mine, sizes[i], MPI_INT, size - 1, MPI_COMM_WORLD, &r[2]);
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Iallgather(mine, sizes[i], MPI_INT, other, sizes[i], MPI_INT, MPI_COMM_WORLD,
			&r[1]);
		MPI_Wait(&r[2], MPI_STATUS_IGNORE);
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	MUST(world->collectives == before);
	MPI_Finalize();
	library_close(mpi_self());
}

static void
everything(unsigned ranks, unsigned per_cluster)
{
	job_errors = 0;
	test_os.cores = ranks <= 4 ? ranks + 1 : 3;
	job_run(ranks, per_cluster, 0, algorithms);
	job_run(ranks, per_cluster, 0, central_barriers);
	job_run(ranks, per_cluster, 0, freed_while_pending);
	expect_eq(job_errors, 0);
}

/* What is used when it is named, for blocking calls and others, as far as it can do them. */
TEST(every_name)
{
	job_errors = 0;
	for (size_t i = 0; i < sizeof(coll_names) / sizeof(coll_names[0]); i++) {
		named = coll_names[i];
		test_os.cores = 4;
		job_run(3, 3, 0, central_barriers);
		job_run(5, 2, 0, central_barriers);
		job_run(5, 2, 0, freed_while_pending);
		expect_eq(job_errors, 0);
	}
	named = "";
}

TEST(started_ones_need_no_messages)
{
	job_errors = 0;
	test_os.cores = 4;
	job_run(2, 2, 0, started_without_messages);
	job_run(3, 3, 0, started_without_messages);
	expect_eq(job_errors, 0);
}

/* Ranks with a core each, whose central barriers have lanes with a word each. */
TEST(twenty_ranks_on_many_cores)
{
	job_errors = 0;
	test_os.cores = 33;
	job_run(20, 20, 0, central_barriers);
	expect_eq(job_errors, 0);
}

TEST(every_algorithm_alone) { everything(1, 1); }
TEST(every_algorithm_of_two) { everything(2, 2); }
TEST(every_algorithm_of_three) { everything(3, 3); }
TEST(every_algorithm_of_eight_in_three_clusters) { everything(8, 3); }
TEST(every_algorithm_of_nine_more_than_cores) { everything(9, 9); }

int
main(void)
{
	RUN(every_name);
	RUN(started_ones_need_no_messages);
	RUN(twenty_ranks_on_many_cores);
	RUN(every_algorithm_alone);
	RUN(every_algorithm_of_two);
	RUN(every_algorithm_of_three);
	RUN(every_algorithm_of_eight_in_three_clusters);
	RUN(every_algorithm_of_nine_more_than_cores);
	return TEST_FAILED;
}
