/* SPDX-License-Identifier: MIT
 *
 * Communicators: made in all ways; messages of one never reach another; numbers are used again.
 */
#include "check.h"

/* The ranks of a communicator add up, and one tells all. */
static void
works(struct check *c, MPI_Comm comm)
{
	int rank, size, sum = -1, told, next = -1, from, to;
	MPI_Status s;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK(c, sum == size * (size - 1) / 2);
	told = rank == size - 1 ? 4711 : 0;
	MPI_Bcast(&told, 1, MPI_INT, size - 1, comm);
	CHECK(c, told == 4711);
	to = (rank + 1) % size;
	from = (rank - 1 + size) % size;
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 5, &next, 1, MPI_INT, from, 5, comm, &s);
	CHECK(c, next == from && s.MPI_SOURCE == from);
}

static void
duplicates(struct check *c)
{
	MPI_Comm a, b, d;
	int x = 1, y = 2, got = 0, result;
	MPI_Request r[2];

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_dup(a, &b);
	MPI_Comm_dup_with_info(b, MPI_INFO_NULL, &d);
	/* the same envelope in two communicators */
	MPI_Isend(&x, 1, MPI_INT, (c->rank + 1) % c->size, 0, a, &r[0]);
	MPI_Isend(&y, 1, MPI_INT, (c->rank + 1) % c->size, 0, b, &r[1]);
	MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE);
	CHECK(c, got == 2);
	MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE);
	CHECK(c, got == 1);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Comm_compare(a, b, &result);
	CHECK(c, result == MPI_CONGRUENT);
	MPI_Comm_compare(a, a, &result);
	CHECK(c, result == MPI_IDENT);
	works(c, d);
	MPI_Comm_free(&a);
	works(c, b);
	MPI_Comm_free(&b);
	MPI_Comm_disconnect(&d);
	CHECK(c, a == MPI_COMM_NULL && d == MPI_COMM_NULL);
}

/* A receive is pending while the program frees the communicator. */
static void
freed_early(struct check *c)
{
	MPI_Comm a, stale;
	MPI_Request r[2];
	int x = c->rank, y = -1, from = (c->rank - 1 + c->size) % c->size, size;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Irecv(&y, 1, MPI_INT, from, 1, a, &r[0]);
	MPI_Isend(&x, 1, MPI_INT, (c->rank + 1) % c->size, 1, a, &r[1]);
	stale = a;
	MPI_Comm_free(&a);
	CHECK(c, MPI_Comm_size(stale, &size) == MPI_ERR_COMM);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	CHECK(c, y == from);
}

static void
many(struct check *c, int count)
{
	MPI_Comm kept[40], a;

	for (int i = 0; i < 40; i++)
		MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &kept[i]);
	for (int i = 0; i < count; i++) {
		CHECK(c, MPI_Comm_dup(i % 3 ? MPI_COMM_WORLD : kept[i % 40], &a) == MPI_SUCCESS);
		MPI_Comm_free(&a);
	}
	for (int i = 0; i < 40; i++) {
		works(c, kept[i]);
		MPI_Comm_free(&kept[i]);
	}
}

static void
at_once(struct check *c)
{
	enum { N = 30 };
	MPI_Comm a[N], half;
	MPI_Request r[N];

	MPI_Comm_split(MPI_COMM_WORLD, c->rank % 2, -c->rank, &half);
	for (int i = 0; i < N; i++) {
		/* the two families are started in different orders on different ranks */
		int k = c->rank % 2 ? i : (i + N / 2) % N;

		MPI_Comm_idup(k < N / 2 ? MPI_COMM_WORLD : half, &a[k], &r[k]);
	}
	MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++)
		works(c, a[i]);
	for (int i = 0; i < N; i++)
		MPI_Comm_free(&a[i]);
	MPI_Comm_free(&half);
}

static void
splits(struct check *c)
{
	MPI_Comm a, b;
	int rank, size, result;
	MPI_Info info;

	MPI_Comm_split(MPI_COMM_WORLD, c->rank % 3, c->size - c->rank, &a);
	MPI_Comm_rank(a, &rank);
	MPI_Comm_size(a, &size);
	CHECK(c, size == (c->size - c->rank % 3 + 2) / 3 && rank == size - 1 - c->rank / 3);
	works(c, a);
	MPI_Comm_free(&a);
	MPI_Comm_split(MPI_COMM_WORLD, c->rank == 0 ? MPI_UNDEFINED : 7, 0, &a);
	CHECK(c, (a == MPI_COMM_NULL) == (c->rank == 0));
	if (a != MPI_COMM_NULL) {
		works(c, a);
		MPI_Comm_free(&a);
	}
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &a);
	works(c, a);
	MPI_Comm_split_type(a, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &b);
	CHECK(c, b == MPI_COMM_NULL);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &b);
	MPI_Comm_compare(a, b, &result);
	CHECK(c, result == MPI_CONGRUENT);
	MPI_Comm_free(&b);
	MPI_Info_set(info, "mpi_hw_resource_type", "nothing like that");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &b);
	CHECK(c, b == MPI_COMM_NULL);
	MPI_Info_free(&info);
	MPI_Comm_free(&a);
	CHECK(c, MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &a) == MPI_ERR_ARG);
	CHECK(c, MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &a) == MPI_ERR_ARG);
}

static void
from_groups(struct check *c)
{
	MPI_Group world, upper, g;
	MPI_Comm a, b;
	int range[1][3] = {{c->size / 2, c->size - 1, 1}}, result;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_range_incl(world, 1, range, &upper);
	MPI_Comm_create(MPI_COMM_WORLD, upper, &a);
	CHECK(c, (a != MPI_COMM_NULL) == (c->rank >= c->size / 2));
	if (a != MPI_COMM_NULL) {
		/* only its members call this */
		MPI_Comm_create_group(MPI_COMM_WORLD, upper, 3, &b);
		MPI_Comm_compare(a, b, &result);
		CHECK(c, result == MPI_CONGRUENT);
		works(c, a);
		works(c, b);
		MPI_Comm_group(b, &g);
		MPI_Group_compare(g, upper, &result);
		CHECK(c, result == MPI_IDENT);
		MPI_Group_free(&g);
		MPI_Comm_free(&a);
		MPI_Comm_free(&b);
	}
	CHECK(c, MPI_Comm_create(MPI_COMM_SELF, world, &a) == (c->size > 1 ? MPI_ERR_GROUP :
		MPI_SUCCESS));
	if (c->size == 1)
		MPI_Comm_free(&a);
	CHECK(c, MPI_Comm_create_group(MPI_COMM_WORLD, upper, -1, &a) == MPI_ERR_TAG);
	MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &a);
	CHECK(c, a == MPI_COMM_NULL);
	MPI_Group_free(&upper);
	MPI_Group_free(&world);
}

static void
names(struct check *c)
{
	char name[MPI_MAX_OBJECT_NAME], longest[300], want[16];
	MPI_Comm a, parent;
	MPI_Info info;
	int len, flag;

	MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
	CHECK(c, strcmp(name, "MPI_COMM_WORLD") == 0 && len == 14);
	MPI_Comm_get_name(MPI_COMM_NULL, name, &len);
	CHECK(c, strcmp(name, "MPI_COMM_NULL") == 0);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
	MPI_Info_set(info, "unknown", "x");
	MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &a);
	MPI_Info_free(&info);
	MPI_Comm_get_info(a, &info);
	MPI_Info_get(info, "mpi_assert_no_any_tag", 15, want, &flag);
	CHECK(c, flag && strcmp(want, "true") == 0);
	MPI_Info_get(info, "unknown", 15, want, &flag);
	CHECK(c, !flag);
	MPI_Info_free(&info);
	MPI_Comm_get_name(a, name, &len);
	CHECK(c, len == 0 && name[0] == '\0');
	memset(longest, 'x', sizeof(longest));
	longest[299] = '\0';
	MPI_Comm_set_name(a, longest);
	MPI_Comm_get_name(a, name, &len);
	CHECK(c, len == MPI_MAX_OBJECT_NAME - 1 && name[0] == 'x');
	MPI_Comm_get_parent(&parent);
	CHECK(c, parent == MPI_COMM_NULL);
	MPI_Comm_free(&a);
	a = MPI_COMM_WORLD;
	CHECK(c, MPI_Comm_free(&a) == MPI_ERR_COMM);
}

/* A number for each rank; sorted by them, ranks stand at no equal distances. */
static int
place_of(int rank, int turn)
{
	return (rank + 1) * 7919 % 10007 * (turn + 3) % 10007;
}

/* Where each rank stands among the others. */
static void
disordered(int *order, int turn, int size)
{
	for (int i = 0; i < size; i++) {
		int before = 0;

		for (int j = 0; j < size; j++)
			before += place_of(j, turn) < place_of(i, turn);
		order[before] = i;
	}
}

/* The group has the ranks of the job in this order. */
static void
check_order(struct check *c, MPI_Group group, const int *order)
{
	MPI_Group world;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = 0; i < c->size; i++) {
		int there = -1, back = -1;

		MPI_Group_translate_ranks(group, 1, &i, world, &there);
		MPI_Group_translate_ranks(world, 1, &there, group, &back);
		CHECK(c, there == order[i] && back == i);
	}
	MPI_Group_free(&world);
}

static void
check_ring(struct check *c, MPI_Comm comm, const int *order)
{
	int rank, sum = 0, one = 1, from = -1;
	MPI_Status status;

	MPI_Comm_rank(comm, &rank);
	CHECK(c, order[rank] == c->rank);
	MPI_Barrier(comm);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK(c, sum == c->size);
	MPI_Sendrecv(&c->rank, 1, MPI_INT, (rank + 1) % c->size, 3, &from, 1, MPI_INT,
		MPI_ANY_SOURCE, 3, comm, &status);
	CHECK(c, from == order[status.MPI_SOURCE]);
	CHECK(c, status.MPI_SOURCE == (rank + c->size - 1) % c->size);
}

/* Ranks in disorder; their group and a copy live longer than the communicator, or than the copy. */
static void
in_disorder(struct check *c)
{
	int *order = malloc((size_t)c->size * 2 * sizeof(*order)), *other = order + c->size;

	for (int turn = 0; turn < 4; turn++) {
		MPI_Comm comm, copy, next;
		MPI_Group group;

		disordered(order, turn, c->size);
		disordered(other, turn + 1, c->size);
		MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(c->rank, turn), &comm);
		if (turn % 2 == 0)
			check_ring(c, comm, order);
		MPI_Comm_dup(comm, &copy);
		MPI_Comm_group(comm, &group);
		check_ring(c, copy, order);
		MPI_Comm_free(turn < 2 ? &comm : &copy);
		MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(c->rank, turn + 1), &next);
		check_ring(c, next, other);
		check_ring(c, turn < 2 ? copy : comm, order);
		MPI_Comm_free(turn < 2 ? &copy : &comm);
		check_ring(c, next, other);
		check_order(c, group, order);
		MPI_Group_free(&group);
		check_ring(c, next, other);
		MPI_Comm_free(&next);
	}
	free(order);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	duplicates(&c);
	freed_early(&c);
	many(&c, argc > 1 ? atoi(argv[1]) : 600);
	at_once(&c);
	splits(&c);
	from_groups(&c);
	in_disorder(&c);
	names(&c);
	return check_end(&c);
}
