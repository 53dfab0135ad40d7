/* SPDX-License-Identifier: MIT
 *
 * Barriers and allreduces of few bytes, also of many ranks on few cores, against what a loop over
 * all ranks finds: types and operations of many sizes, in place or not, operands that must be
 * combined in the order of the ranks, on communicators of some ranks in another order, whose hints
 * change. Some ranks are late, and some look for messages in between. usage: brief [ROUNDS]
 */
#include "check.h"

#define COMMS 3
#define MOST 6			/* elements */

static struct check c;
static MPI_Op in_order;

struct side {
	MPI_Comm comm;
	int rank;
	int size;
};

/* (a0, a1) then (b0, b1): x -> b0 (a0 x + a1) + b1; does not commute. */
static void
compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
	const int *a = in;
	int *b = inout;

	(void)type;
	for (int i = 0; i + 1 < *len; i += 2) {
		b[i + 1] = (int)((unsigned)b[i] * (unsigned)a[i + 1] + (unsigned)b[i + 1]);
		b[i] = (int)((unsigned)b[i] * (unsigned)a[i]);
	}
}

static int
given(int turn, int rank, int i)
{
	return turn * 131 + rank * 17 + i * 5 + 1;
}

/* Let others run, or not, in another way each time. */
static void
dawdle(int turn)
{
	int flag;

	for (int i = (turn + c.rank) % 5; i > 0; i--)
		MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void
ints(const struct side *s, int turn, int count)
{
	int in[MOST], out[MOST + 1], most[MOST], in_place = turn % 2;

	for (int i = 0; i < count; i++)
		in[i] = given(turn, s->rank, i);
	memset(out, 0x55, sizeof(out));
	if (in_place)
		memcpy(out, in, sizeof(in));
	MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, s->comm);
	dawdle(turn);
	MPI_Allreduce(in, most, count, MPI_INT, MPI_MAX, s->comm);
	for (int i = 0; i < count; i++) {
		long sum = 0;

		for (int r = 0; r < s->size; r++)
			sum += given(turn, r, i);
		CHECK(&c, out[i] == (int)sum);
		CHECK(&c, most[i] == given(turn, s->size - 1, i));
	}
	CHECK(&c, in_place || count == MOST || out[count] == 0x55555555);
}

/* One byte of each, and long doubles: the smallest and the widest elements. */
static void
widths(const struct side *s, int turn)
{
	unsigned char bit = (unsigned char)(1 << (s->rank + turn) % 8), all = 0, want = 0;
	long double in[2] = {given(turn, s->rank, 0), -given(turn, s->rank, 1)}, out[2];

	MPI_Allreduce(&bit, &all, 1, MPI_BYTE, MPI_BOR, s->comm);
	for (int r = 0; r < s->size; r++)
		want |= (unsigned char)(1 << (r + turn) % 8);
	CHECK(&c, all == want);
	MPI_Allreduce(in, out, 2, MPI_LONG_DOUBLE, MPI_MIN, s->comm);
	CHECK(&c, out[0] == given(turn, 0, 0) && out[1] == -given(turn, s->size - 1, 1));
}

/*
 * Floating-point sums depend on the order: bit by bit what a loop from the last rank down finds, in
 * one cluster unless hints name another way.
 */
static void
doubles(const struct side *s, int turn)
{
	double mine = 1.0 / given(turn, s->rank, 0), sum, want = 1.0 / given(turn, s->size - 1, 0);

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, s->comm);
	for (int r = s->size - 2; r >= 0; r--)
		want = 1.0 / given(turn, r, 0) + want;
	CHECK(&c, sum == want);
}

static void
ordered(const struct side *s, int turn)
{
	int in[2] = {given(turn, s->rank, 0), given(turn, s->rank, 1)}, out[2], want[2] = {0, 0},
		two = 2;
	struct { double value; int place; } low, lowest;

	MPI_Allreduce(in, out, 2, MPI_INT, in_order, s->comm);
	for (int r = s->size - 1; r >= 0; r--) {
		int next[2] = {given(turn, r, 0), given(turn, r, 1)};

		if (r == s->size - 1)
			memcpy(want, next, sizeof(want));
		else
			compose(next, want, &two, NULL);
	}
	CHECK(&c, out[0] == want[0] && out[1] == want[1]);
	low.value = (s->rank + turn) % s->size == 0 ? -1 : given(turn, s->rank, 0);
	low.place = s->rank;
	MPI_Allreduce(&low, &lowest, 1, MPI_DOUBLE_INT, MPI_MINLOC, s->comm);
	CHECK(&c, lowest.value == -1 && (lowest.place + turn) % s->size == 0);
}

/* Nobody is past a barrier before all have come: a token for everybody comes after it. */
static void
barriers(const struct side *s, int turn)
{
	int late = turn % s->size, token = -1;

	if (s->rank == late)
		dawdle(turn + 3);
	MPI_Barrier(s->comm);
	if (s->rank == late)
		token = turn;
	MPI_Bcast(&token, 1, MPI_INT, late, s->comm);
	CHECK(&c, token == turn);
	MPI_Barrier(s->comm);
}

/* The way they go changes, on all ranks at the same time, and back. */
static void
change_hints(const struct side *s, int turn)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "atoll_coll", turn % 2 ? "allreduce=doubling,barrier=dissemination" :
		"allreduce=central,barrier=central");
	MPI_Comm_set_info(s->comm, info);
	MPI_Info_free(&info);
}

int
main(int argc, char **argv)
{
	struct side sides[COMMS] = {{.comm = MPI_COMM_WORLD}};
	MPI_Comm near;
	int rounds, near_size, one_cluster;

	c = check_begin(&argc, &argv);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	MPI_Comm_size(near, &near_size);
	one_cluster = near_size == c.size;
	MPI_Comm_free(&near);
	rounds = argc > 1 ? atoi(argv[1]) : 6;
	MPI_Op_create(compose, 0, &in_order);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -c.rank, &sides[1].comm);
	MPI_Comm_split(MPI_COMM_WORLD, c.rank % 3 == 0, c.rank * 7 % 11, &sides[2].comm);
	for (int turn = 0; turn < rounds; turn++)
		for (int i = 0; i < COMMS; i++) {
			struct side *s = &sides[i];

			MPI_Comm_rank(s->comm, &s->rank);
			MPI_Comm_size(s->comm, &s->size);
			barriers(s, turn);
			for (int count = 1; count <= MOST; count++)
				ints(s, turn * 10 + count, count);
			widths(s, turn);
			if (one_cluster && (i == 0 || turn < 2))
				doubles(s, turn);
			ordered(s, turn);
			if (i > 0 && turn % 2)
				change_hints(s, turn / 2);
		}
	MPI_Comm_free(&sides[1].comm);
	MPI_Comm_free(&sides[2].comm);
	MPI_Op_free(&in_order);
	return check_end(&c);
}
