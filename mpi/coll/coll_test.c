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
#include <mpi_coll_table.h>
#include <mpi/coll/locality.h>
#include <mpi/core/ranks_test.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

static const char *named = "";		/* the algorithm that communicators are to use */

static const int counts[] = {0, 1, 5, 64, 1001};
#define COUNTS ((int)(sizeof(counts) / sizeof(counts[0])))

/* What algorithms work on, `count` ints per rank. */
struct trial {
	int n;
	int rank;
	int count;
	int root;
	int *one;
	int *all;
	int *more;			/* as long as `all` */
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
fill(struct trial *t)
{
	for (int i = 0; i < t->count; i++)
		t->one[i] = element(t->rank, i);
	memset(t->all, -1, (size_t)t->count * (size_t)t->n * sizeof(int));
	memcpy(t->all + t->rank * t->count, t->one, (size_t)t->count * sizeof(int));
	for (int i = 0; i < t->n * t->count; i++)
		t->more[i] = element(t->rank, i);
}

/* `got`, if it is there: `count` ints, of which element i is what `rule` says. */
struct expected {
	const int *got;
	int count;
	int (*rule)(const struct trial *t, int i);
};

static int
root_gave(const struct trial *t, int i)
{
	return element(t->root, i);
}

static int
root_dealt(const struct trial *t, int i)
{
	return element(t->root, t->rank * t->count + i);
}

static int
all_gave(const struct trial *t, int i)
{
	return element(i / t->count, i % t->count);
}

static int
all_dealt(const struct trial *t, int i)
{
	return element(i / t->count, t->rank * t->count + i % t->count);
}

static int
all_summed(const struct trial *t, int i)
{
	return sum_of(t->n, i);
}

static int
own_part_summed(const struct trial *t, int i)
{
	return sum_of(t->n, t->rank * t->count + i);
}

static int
these_summed(const struct trial *t, int i)
{
	return sum_of(t->rank + 1, i);
}

static int
those_before_summed(const struct trial *t, int i)
{
	return sum_of(t->rank, i);
}

/* Every algorithm of the collective that writes schedules and can do this. */
static void
try_all(struct trial *t, struct collective *k, struct work *w, const struct expected *e)
{
	struct mpi_rank *self = mpi_self();
	const char *name = coll_algorithm_names[k->kind];

	w->k = k;
	w->root = k->root = t->root;
	w->even = k->even = true;
	for (int a = 0; *name != '\0'; a++, name += strlen(name) + 1) {
		const struct algorithm *algorithm = coll_algorithms[k->kind][a];
		struct sched *s = mpi_sched_new(self, &self->world);

		s->op = mpi_op_bind(self, MPI_SUM, MPI_INT);
		if (algorithm->write == NULL || (algorithm->fits && !algorithm->fits(s, w))) {
			mpi_sched_free(s);
			continue;
		}
		fill(t);
		algorithm->write(s, w);
		MUST(mpi_sched_run(s) == MPI_SUCCESS);
		for (int i = 0; e->got != NULL && i < e->count; i++)
			MUST(e->got[i] == e->rule(t, i));
	}
}

static void
copies(struct trial *t, struct side one, struct side all, struct side more)
{
	bool root = t->rank == t->root;
	int *everything = root ? t->all : NULL, n = t->n * t->count;
	struct expected block = {t->one, t->count, root_gave}, own = {t->one, t->count, root_dealt},
		gathered = {everything, n, all_gave};

	try_all(t, &(struct collective){.kind = COLL_BCAST},
		&(struct work){.out = ints(t->one, t->count)}, &block);
	try_all(t, &(struct collective){.kind = COLL_GATHER, .send = one, .recv = all},
		&(struct work){.root = 0}, &gathered);
	try_all(t, &(struct collective){.kind = COLL_SCATTER, .send = more, .recv = one},
		&(struct work){.root = 0}, &own);
	gathered.got = t->all;
	try_all(t, &(struct collective){.kind = COLL_ALLGATHER}, &(struct work){.get = &all},
		&gathered);
	gathered.rule = all_dealt;
	try_all(t, &(struct collective){.kind = COLL_ALLTOALL},
		&(struct work){.give = &more, .get = &all}, &gathered);
}

static void
reductions(struct trial *t)
{
	MPI_Count parts[16];
	struct span one = ints(t->one, t->count), out = ints(t->all, t->count);
	struct expected sum = {t->all, t->count, all_summed};
	int kinds[] = {COLL_REDUCE, COLL_ALLREDUCE, COLL_SCAN, COLL_EXSCAN};

	for (int i = 0; i < t->n; i++)
		parts[i] = t->count;
	for (int i = 0; i < 4; i++) {
		bool scan = kinds[i] == COLL_SCAN;

		sum.rule = i < 2 ? all_summed : scan ? these_summed : those_before_summed;
		sum.got = scan ? t->one : t->all;
		if ((i == 0 && t->rank != t->root) || (kinds[i] == COLL_EXSCAN && t->rank == 0))
			sum.got = NULL;
		try_all(t, &(struct collective){.kind = (enum coll_kind)kinds[i]},
			&(struct work){.out = scan ? one : out, .in = one}, &sum);
	}
	sum = (struct expected){t->one, t->count, all_summed};
	try_all(t, &(struct collective){.kind = COLL_ALLREDUCE},
		&(struct work){.out = one, .in = one}, &sum);
	sum.rule = own_part_summed;
	try_all(t, &(struct collective){.kind = COLL_REDUCE_SCATTER},
		&(struct work){.out = one, .in = ints(t->more, t->n * t->count), .counts = parts},
		&sum);
}

static void
algorithms(void)
{
	struct trial t;

	MPI_Init(NULL, NULL);
	t.n = mpi_self()->world_size;
	t.rank = mpi_self()->world_rank;
	mpi_locality_survey(mpi_self(), &mpi_self()->world);
	for (int i = 0; i < COUNTS; i++) {
		t.count = counts[i];
		t.one = calloc((size_t)t.count + 1, sizeof(int));
		t.all = calloc((size_t)t.count * (size_t)t.n + 1, sizeof(int));
		t.more = calloc((size_t)t.count * (size_t)t.n + 1, sizeof(int));
		for (t.root = 0; t.root < t.n; t.root += 1 + t.n / 3) {
			copies(&t, blocks(t.one, t.count), blocks(t.all, t.count),
				blocks(t.more, t.count));
			reductions(&t);
		}
		free(t.more);
		free(t.all);
		free(t.one);
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

/* The same where blocking ones go by central barriers, or read what lies with the others. */
static void
started_beside_central_ones(void)
{
	enum { COUNT = 300, MOST = 8 };
	static const int sizes[] = {1, 12, COUNT};
	int mine[MOST * COUNT] = {0}, sum[COUNT], other[MOST * COUNT];
	struct comm *world = &mpi_self()->world;
	uint32_t before;

	MPI_Init(NULL, NULL);
	MPI_Allreduce(mine, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Alltoall(mine, COUNT, MPI_INT, other, COUNT, MPI_INT, MPI_COMM_WORLD);
	before = world->collectives;
	for (int i = 0; i < 3; i++) {
		int n = sizes[i];
		MPI_Request r[2];

		for (int k = 0; k < world->size * n; k++)
			mine[k] = element(world->rank, k);
		MPI_Iallreduce(mine, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
		MPI_Ialltoall(mine, n, MPI_INT, other, n, MPI_INT, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < n; k++)
			MUST(sum[k] == sum_of(world->size, k));
		for (int k = 0; k < world->size * n; k++)
			MUST(other[k] == element(k / n, world->rank * n + k % n));
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
	job_run(8, 8, 0, started_beside_central_ones);
	test_os.cores = 9;
	job_run(8, 8, 0, started_beside_central_ones);
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
