/* SPDX-License-Identifier: MIT
 *
 * Jobs whose messages lie in pieces, in one cluster and between clusters, under the sanitizers.
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
#include <mpi/core/ranks_test.h>

#define LARGEST 40000
#define ROOM (2 * LARGEST)

/* ints: side by side; every other one; in blocks of 3 with a hole behind each */
enum kind { PLAIN, STRIDED, BLOCKS, KINDS };

static const int sizes[] = {0, 3, 24, 27, 1023, 1026, 39999};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static MPI_Datatype
type_of(enum kind kind, int n)
{
	MPI_Datatype t;

	if (kind == PLAIN)
		MPI_Type_contiguous(n, MPI_INT, &t);
	else if (kind == STRIDED)
		MPI_Type_vector(n, 1, 2, MPI_INT, &t);
	else
		MPI_Type_vector(n / 3, 3, 4, MPI_INT, &t);
	MPI_Type_commit(&t);
	return t;
}

static int
place(enum kind kind, int i)
{
	return kind == PLAIN ? i : kind == STRIDED ? 2 * i : i + i / 3;
}

static void
pass(int *out, int *in, int size, enum kind sent, enum kind wanted)
{
	struct mpi_rank *self = mpi_self();
	int ranks = self->world_size, me = self->world_rank, right = (me + 1) % ranks,
		left = (me + ranks - 1) % ranks, count = -1;
	MPI_Datatype t = type_of(sent, size), u = type_of(wanted, size);
	MPI_Request r;
	MPI_Status s;

	memset(in, 0, ROOM * sizeof(int));
	for (int i = 0; i < size; i++)
		out[place(sent, i)] = me * LARGEST + i + 1;
	MPI_Isend(out, 1, t, right, 0, MPI_COMM_WORLD, &r);
	MPI_Type_free(&t);
	MPI_Recv(in, 1, u, left, 0, MPI_COMM_WORLD, &s);
	MPI_Type_free(&u);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Get_count(&s, MPI_INT, &count);
	MUST(count == size);
	for (int i = 0, next = 0; i < ROOM; i++) {
		bool mine = next < size && place(wanted, next) == i;

		MUST(in[i] == (mine ? left * LARGEST + next + 1 : 0));
		next += mine;
	}
}

static void
all_kinds(void)
{
	int *out = calloc(ROOM, sizeof(int)), *in = calloc(ROOM, sizeof(int));

	MPI_Init(NULL, NULL);
	for (int i = 0; i < SIZES; i++)
		for (int k = 0; k < KINDS * KINDS; k++)
			pass(out, in, sizes[i], (enum kind)(k / KINDS), (enum kind)(k % KINDS));
	MPI_Finalize();
	library_close(mpi_self());
	free(in);
	free(out);
}

/* Named predefined types and types by precision are kept with the rank, and go with it. */
static void
kept(void)
{
	MPI_Datatype t, u;
	char name[MPI_MAX_OBJECT_NAME];
	int len;

	MPI_Init(NULL, NULL);
	MPI_Type_set_name(MPI_INT, "mine");
	MPI_Type_get_name(MPI_INT, name, &len);
	MUST(len == 4);
	MPI_Type_create_f90_real(6, MPI_UNDEFINED, &t);
	MPI_Type_create_f90_real(6, MPI_UNDEFINED, &u);
	MUST(t == u);
	MPI_Finalize();
	library_close(mpi_self());
}

static void
everywhere(unsigned ranks, unsigned per_cluster)
{
	job_errors = 0;
	test_os.cores = 3;
	job_run(ranks, per_cluster, 0, all_kinds);
	job_run(ranks, per_cluster, 0, kept);
	expect_eq(job_errors, 0);
}

TEST(to_itself)
{
	everywhere(1, 1);
}

TEST(in_a_cluster)
{
	everywhere(3, 3);
}

TEST(between_clusters)
{
	everywhere(3, 1);
}

TEST(both)
{
	everywhere(5, 2);
}

int
main(void)
{
	RUN(to_itself);
	RUN(in_a_cluster);
	RUN(between_clusters);
	RUN(both);
	return TEST_FAILED;
}
