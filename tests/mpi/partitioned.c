/* SPDX-License-Identifier: MIT
 *
 * Partitioned communication: both sides cut as they like, partitions become ready in any order,
 * pairs are matched in the order in which they are made, whoever is first. Every rank talks to its
 * neighbours in a ring (with one rank: to itself).
 */
#include <stdint.h>
#include "check.h"

#define ROUNDS 3
#define ALL 720				/* elements, which many numbers divide */

struct ring {
	struct check *c;
	int next;
	int before;
	uint32_t random;
};

static uint32_t
draw(struct ring *r, uint32_t n)
{
	r->random = r->random * 1664525u + 1013904223u;
	return (r->random >> 8) % n;
}

static void
shuffled(struct ring *r, int *list, int n)
{
	for (int i = 0; i < n; i++) {
		int k = (int)draw(r, (uint32_t)i + 1);

		list[i] = list[k];
		list[k] = i;
	}
}

/* All become ready, one by one, as ranges, or as lists. */
static void
make_ready(struct ring *r, int partitions, int how, MPI_Request request)
{
	int *list = malloc((size_t)(partitions + 1) * sizeof(int)), half = partitions / 2;

	shuffled(r, list, partitions);
	if (how == 0) {
		for (int i = 0; i < partitions; i++)
			CHECK(r->c, MPI_Pready(list[i], request) == MPI_SUCCESS);
	} else if (how == 1) {
		MPI_Pready_list(partitions - half, list + half, request);
		MPI_Pready_list(0, NULL, request);
		MPI_Pready_list(half, list, request);
	} else {
		MPI_Pready_range(half, partitions - 1, request);
		if (half > 0)
			MPI_Pready_range(0, half - 1, request);
	}
	free(list);
}

static void
await_all(struct ring *r, int partitions, MPI_Request request)
{
	for (int i = partitions - 1; i >= 0; i--) {
		int flag = 0;

		while (!flag)
			MPI_Parrived(request, i, &flag);
		MPI_Parrived(request, i, &flag);
		CHECK(r->c, flag);
	}
}

/* `out` and `in` partitions of ALL ints in all. */
static void
exchange(struct ring *r, int out, int in, int how)
{
	int give[ALL] = {0}, got[ALL];
	MPI_Request request[2];
	MPI_Status status[2];

	MPI_Psend_init(give, out, ALL / out, MPI_INT, r->next, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Precv_init(got, in, ALL / in, MPI_INT, r->before, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	for (int k = 0; k < ROUNDS; k++) {
		int flag = 1, count;

		for (int i = 0; i < ALL; i++)
			give[i] = r->c->rank * 100000 + k * 1000 + i;
		memset(got, -1, sizeof(got));
		MPI_Startall(2, request);
		make_ready(r, out, how, request[0]);
		if (k % 2 == 0)
			await_all(r, in, request[1]);
		for (int i = 0; k % 2 == 0 && i < ALL; i++)
			CHECK(r->c, got[i] == r->before * 100000 + k * 1000 + i);
		MPI_Waitall(2, request, status);
		MPI_Get_count(&status[1], MPI_INT, &count);
		CHECK(r->c, status[1].MPI_SOURCE == r->before && status[1].MPI_TAG == 3 &&
			count == ALL);
		for (int i = 0; i < ALL; i++)
			CHECK(r->c, got[i] == r->before * 100000 + k * 1000 + i);
		/* one that is not active */
		CHECK(r->c, MPI_Parrived(request[1], 0, &flag) == MPI_SUCCESS && flag);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

static void
test_both_sides_cut_as_they_like(struct ring *r)
{
	static const int parts[] = {1, 2, 3, 8, 45, 144, ALL};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			exchange(r, parts[i], parts[k], (int)(i + k) % 3);
}

/* A partition of the sender ends inside of an element of the receiver's. */
static void
test_types_differ(struct ring *r)
{
	int give[30] = {0}, got[48];
	MPI_Datatype apart;
	MPI_Request request[2];

	/* three ints and a hole */
	MPI_Type_vector(3, 1, 1, MPI_INT, &apart);
	MPI_Type_create_resized(apart, 0, 4 * sizeof(int), &apart);
	MPI_Type_commit(&apart);
	for (int i = 0; i < 30; i++)
		give[i] = r->c->rank * 100 + i;
	memset(got, -1, sizeof(got));
	MPI_Precv_init(got, 2, 5, apart, r->before, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Psend_init(give, 15, 2, MPI_INT, r->next, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	MPI_Type_free(&apart);
	MPI_Startall(2, request);
	make_ready(r, 15, 0, request[1]);
	await_all(r, 2, request[0]);
	for (int i = 0; i < 40; i++)
		CHECK(r->c, got[i] == (i % 4 == 3 ? -1 : r->before * 100 + i / 4 * 3 + i % 4));
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

/* Not before its partition is ready, as long as it has a piece of its own. */
static void
test_nothing_arrives_before_it_is_ready(struct ring *r)
{
	char give[8], got[8];
	MPI_Request request[2];
	int flag;

	memset(give, r->c->rank, sizeof(give));
	MPI_Precv_init(got, 4, 2, MPI_CHAR, r->before, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Start(&request[0]);
	MPI_Parrived(request[0], 2, &flag);
	CHECK(r->c, !flag);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Psend_init(give, 4, 2, MPI_CHAR, r->next, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	MPI_Start(&request[1]);
	MPI_Pready(2, request[1]);
	for (flag = 0; !flag;)
		MPI_Parrived(request[0], 2, &flag);
	CHECK(r->c, got[4] == (char)r->before && got[5] == (char)r->before);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 4; i++) {
		MPI_Parrived(request[0], i, &flag);
		CHECK(r->c, flag == (i == 2));
	}
	MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
	CHECK(r->c, !flag);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Pready_list(3, (int[]){3, 0, 1}, request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	CHECK(r->c, got[0] == (char)r->before && got[7] == (char)r->before);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

/*
 * In the order in which they are made, whatever is started first; other messages with the same tag
 * are no business of theirs.
 */
static void
test_pairs_are_matched_in_order(struct ring *r)
{
	enum { PAIRS = 5 };
	int give[PAIRS] = {0}, got[PAIRS], plain = -1;
	MPI_Request out[PAIRS], in[PAIRS], any;

	MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
	for (int i = 0; i < PAIRS; i++) {
		give[i] = r->c->rank * 10 + i;
		MPI_Psend_init(&give[i], 1, 1, MPI_INT, r->next, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
			&out[i]);
		MPI_Precv_init(&got[i], 1, 1, MPI_INT, r->before, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
			&in[i]);
	}
	for (int i = PAIRS - 1; i >= 0; i--) {
		MPI_Start(&out[i]);
		MPI_Pready(0, out[i]);
		MPI_Start(&in[PAIRS - 1 - i]);
	}
	MPI_Send(&r->c->rank, 1, MPI_INT, r->next, 6, MPI_COMM_WORLD);
	MPI_Waitall(PAIRS, in, MPI_STATUSES_IGNORE);
	MPI_Waitall(PAIRS, out, MPI_STATUSES_IGNORE);
	MPI_Wait(&any, MPI_STATUS_IGNORE);
	CHECK(r->c, plain == r->before);
	for (int i = 0; i < PAIRS; i++) {
		CHECK(r->c, got[i] == r->before * 10 + i);
		MPI_Request_free(&in[i]);
		MPI_Request_free(&out[i]);
	}
}

/* Long partitions, and a request that is freed while it is active. */
static void
test_long_partitions(struct ring *r)
{
	enum { EACH = 100000, PARTS = 4 };
	unsigned char *give = malloc(EACH * PARTS), *got = malloc(EACH * PARTS);
	MPI_Request request[2];

	check_fill(give, EACH * PARTS, r->c->rank, 1);
	MPI_Psend_init(give, PARTS, EACH, MPI_BYTE, r->next, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Precv_init(got, PARTS / 2, EACH * 2, MPI_BYTE, r->before, 7, MPI_COMM_WORLD,
		MPI_INFO_NULL, &request[1]);
	for (int k = 0; k < ROUNDS; k++) {
		MPI_Start(&request[0]);
		make_ready(r, PARTS, 0, request[0]);
		MPI_Start(&request[1]);
		await_all(r, PARTS / 2, request[1]);
		CHECK(r->c, check_same(got, EACH * PARTS, r->before, 1));
		memset(got, 0, EACH * PARTS);
		MPI_Wait(&request[1], MPI_STATUS_IGNORE);
		if (k + 1 < ROUNDS)
			MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	free(give);
	free(got);
}

static void
test_nothing_and_nobody(struct ring *r)
{
	int x = 1, flag;
	MPI_Request request[4];
	MPI_Status status;

	MPI_Psend_init(NULL, 3, 0, MPI_INT, r->next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(NULL, 2, 0, MPI_INT, r->before, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	MPI_Psend_init(NULL, 0, 0, MPI_INT, r->next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &request[2]);
	MPI_Precv_init(NULL, 0, 0, MPI_INT, r->before, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[3]);
	MPI_Startall(4, request);
	make_ready(r, 3, 2, request[0]);
	await_all(r, 2, request[1]);
	MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&request[i]);
	MPI_Psend_init(&x, 2, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Precv_init(&x, 2, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	MPI_Startall(2, request);
	make_ready(r, 2, 0, request[0]);
	CHECK(r->c, MPI_Parrived(request[1], 1, &flag) == MPI_SUCCESS && flag);
	MPI_Wait(&request[1], &status);
	CHECK(r->c, status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	CHECK(r->c, MPI_Parrived(MPI_REQUEST_NULL, 0, &flag) == MPI_SUCCESS && flag);
	/* made, never started, and never matched */
	MPI_Precv_init(&x, 1, 1, MPI_INT, r->before, 88, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[0]);
	MPI_Request_free(&request[0]);
}

/* More than there is room for: what fits is there. */
static void
test_too_much_is_truncated(struct ring *r)
{
	int give[6] = {r->c->rank, 1, 2, 3, 4, 5}, got[4] = {-1, -1, -1, -1};
	MPI_Request request[2];

	MPI_Psend_init(give, 6, 1, MPI_INT, r->next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(got, 3, 1, MPI_INT, r->before, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
		&request[1]);
	MPI_Startall(2, request);
	make_ready(r, 6, 0, request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	CHECK(r->c, check_class(MPI_Wait(&request[1], MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
	CHECK(r->c, got[0] == r->before && got[1] == 1 && got[2] == 2 && got[3] == -1);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

static void
test_wrong_partitions_and_requests_are_told(struct ring *r)
{
	int x[2] = {0}, flag;
	MPI_Request out, in, plain;

	MPI_Psend_init(x, 2, 1, MPI_INT, r->next, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &out);
	MPI_Precv_init(x, 2, 1, MPI_INT, r->before, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &in);
	MPI_Recv_init(x, 1, MPI_INT, r->before, 10, MPI_COMM_WORLD, &plain);
	CHECK(r->c, check_class(MPI_Pready(0, out)) == MPI_ERR_REQUEST);	/* not started */
	MPI_Start(&out);
	MPI_Start(&in);
	CHECK(r->c, check_class(MPI_Pready(0, in)) == MPI_ERR_REQUEST);
	CHECK(r->c, check_class(MPI_Pready(0, plain)) == MPI_ERR_REQUEST);
	CHECK(r->c, check_class(MPI_Parrived(out, 0, &flag)) == MPI_ERR_REQUEST);
	CHECK(r->c, check_class(MPI_Parrived(plain, 0, &flag)) == MPI_ERR_REQUEST);
	CHECK(r->c, check_class(MPI_Parrived(in, 2, &flag)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Parrived(in, -1, &flag)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready(2, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_range(0, 2, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_range(1, 0, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_list(2, (int[]){0, 0}, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_list(2, (int[]){1, -1}, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_list(-1, (int[]){0}, out)) == MPI_ERR_ARG);
	CHECK(r->c, check_class(MPI_Pready_list(1, NULL, out)) == MPI_ERR_ARG);
	CHECK(r->c, MPI_Pready(1, out) == MPI_SUCCESS);
	CHECK(r->c, check_class(MPI_Pready(1, out)) == MPI_ERR_ARG);		/* twice */
	CHECK(r->c, check_class(MPI_Pready_range(0, 1, out)) == MPI_ERR_ARG);
	CHECK(r->c, MPI_Pready(0, out) == MPI_SUCCESS);
	MPI_Wait(&out, MPI_STATUS_IGNORE);
	MPI_Wait(&in, MPI_STATUS_IGNORE);
	MPI_Request_free(&out);
	MPI_Request_free(&in);
	MPI_Request_free(&plain);
}

/* Halves of the ranks. */
static void
test_between_two_groups(struct ring *r)
{
	int rank = r->c->rank, size = r->c->size, peers, mine, give[3] = {0}, got[3];
	MPI_Comm half, inter;
	MPI_Request request[2];

	if (size < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
	MPI_Comm_rank(inter, &mine);
	MPI_Comm_remote_size(inter, &peers);
	if (mine < peers) {
		give[0] = give[1] = give[2] = rank;
		MPI_Psend_init(give, 3, 1, MPI_INT, mine, 0, inter, MPI_INFO_NULL, &request[0]);
		MPI_Precv_init(got, 1, 3, MPI_INT, mine, 0, inter, MPI_INFO_NULL, &request[1]);
		MPI_Startall(2, request);
		make_ready(r, 3, 1, request[0]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		CHECK(r->c, got[0] == (rank ^ 1) && got[2] == (rank ^ 1));
		MPI_Request_free(&request[0]);
		MPI_Request_free(&request[1]);
	}
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	struct ring r = {&c, (c.rank + 1) % c.size, (c.rank + c.size - 1) % c.size,
		(uint32_t)c.rank};

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	test_both_sides_cut_as_they_like(&r);
	test_types_differ(&r);
	test_nothing_arrives_before_it_is_ready(&r);
	test_pairs_are_matched_in_order(&r);
	test_long_partitions(&r);
	test_nothing_and_nobody(&r);
	test_too_much_is_truncated(&r);
	test_wrong_partitions_and_requests_are_told(&r);
	test_between_two_groups(&r);
	return check_end(&c);
}
