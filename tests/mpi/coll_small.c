/* SPDX-License-Identifier: MIT
 *
 * Small blocking collectives, which may take a straight way: every length up to more than what fits
 * on a cache line, every root, in place or not. Some ranks name the same data by a derived type, so
 * that they go the ordinary way while the others do not; in between, large ones use the same
 * memory. Ranks never wait for each other but in the collectives themselves.
 */
#include "check.h"

#define MOST 80
#define RANKS_MAX 64
#define LARGE 40000

/* and a byte that nobody writes */
static unsigned char in[RANKS_MAX * MOST], out[RANKS_MAX * MOST + 1];
static struct check c;
static MPI_Datatype derived;		/* a byte, but not the basic type */

/* Sometimes a rank does as if it were not simple. */
static MPI_Datatype
some_type(int turn)
{
	return (turn + c.rank) % 3 == 0 ? derived : MPI_BYTE;
}

static void
fill(int turn, int bytes)
{
	memset(out, 0xee, sizeof(out));
	check_fill(in, (size_t)bytes, c.rank, turn);
}

/* Did `bytes` from `at` on come from a rank that filled `all`, where they were from `from` on? */
static int
came(const unsigned char *at, int rank, int turn, int all, int from, int bytes)
{
	unsigned char want[RANKS_MAX * MOST];

	check_fill(want, (size_t)all, rank, turn);
	return memcmp(at, want + from, (size_t)bytes) == 0;
}

static void
rooted(int turn, int bytes, int root)
{
	int all = c.size * bytes, here = c.rank == root;
	MPI_Datatype t = some_type(turn);

	fill(turn, all);
	MPI_Bcast(in, bytes, t, root, MPI_COMM_WORLD);
	CHECK(&c, came(in, root, turn, all, 0, bytes));
	fill(turn, bytes);
	if (here)
		memcpy(out + root * bytes, in, (size_t)bytes);
	MPI_Gather(here && turn % 2 ? MPI_IN_PLACE : in, bytes, t, out, bytes, t, root,
		MPI_COMM_WORLD);
	for (int i = 0; here && i < c.size; i++)
		CHECK(&c, came(out + i * bytes, i, turn, bytes, 0, bytes));
	fill(turn, all);
	MPI_Scatter(in, bytes, t, here && turn % 2 ? MPI_IN_PLACE : out, bytes, t, root,
		MPI_COMM_WORLD);
	CHECK(&c, (here && turn % 2) || came(out, root, turn, all, c.rank * bytes, bytes));
	CHECK(&c, out[here && turn % 2 ? 0 : bytes] == 0xee);
}

static void
unrooted(int turn, int bytes)
{
	int all = c.size * bytes, in_place = turn % 2;
	MPI_Datatype t = some_type(turn);

	fill(turn, bytes);
	if (in_place)
		memcpy(out + c.rank * bytes, in, (size_t)bytes);
	MPI_Allgather(in_place ? MPI_IN_PLACE : in, bytes, t, out, bytes, t, MPI_COMM_WORLD);
	for (int i = 0; i < c.size; i++)
		CHECK(&c, came(out + i * bytes, i, turn, bytes, 0, bytes));
	CHECK(&c, out[all] == 0xee);
	fill(turn, all);
	if (in_place)
		memcpy(out, in, (size_t)all);
	MPI_Alltoall(in_place ? MPI_IN_PLACE : in, bytes, t, out, bytes, t, MPI_COMM_WORLD);
	for (int i = 0; i < c.size; i++)
		CHECK(&c, came(out + i * bytes, i, turn, all, c.rank * bytes, bytes));
	CHECK(&c, out[all] == 0xee);
}

/* What rank r gives as element i. */
static long
operand(int turn, int r, int i)
{
	return (turn * 7 + r) * 1000 + i;
}

static long
sum_of(int turn, int first, int last, int i)
{
	long sum = 0;

	for (int r = first; r <= last; r++)
		sum += operand(turn, r, i);
	return sum;
}

/* Elements of the result: sums over ranks first .. last, of elements `from` and after. */
static void
expect(const long *result, int turn, int first, int last, int from, int count)
{
	for (int i = 0; i < count; i++)
		CHECK(&c, result[i] == sum_of(turn, first, last, from + i));
}

static long *
fill_longs(int turn, long *result, int count, int in_place)
{
	long *data = in_place ? result : (long *)(void *)in;

	memset(result, 0, RANKS_MAX * MOST);
	for (int i = 0; i < count; i++)
		data[i] = operand(turn, c.rank, i);
	return in_place ? MPI_IN_PLACE : data;
}

static void
reductions(int turn, int count, int root)
{
	static long result[RANKS_MAX * MOST / sizeof(long)];
	int in_place = turn % 2, n = c.size;

	MPI_Allreduce(fill_longs(turn, result, count, in_place), result, count, MPI_LONG, MPI_SUM,
		MPI_COMM_WORLD);
	expect(result, turn, 0, n - 1, 0, count);
	MPI_Reduce(fill_longs(turn, result, count, in_place && c.rank == root), result, count,
		MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
	if (c.rank == root)
		expect(result, turn, 0, n - 1, 0, count);
	MPI_Scan(fill_longs(turn, result, count, in_place), result, count, MPI_LONG, MPI_SUM,
		MPI_COMM_WORLD);
	expect(result, turn, 0, c.rank, 0, count);
	MPI_Exscan(fill_longs(turn, result, count, in_place), result, count, MPI_LONG, MPI_SUM,
		MPI_COMM_WORLD);
	if (c.rank > 0)
		expect(result, turn, 0, c.rank - 1, 0, count);
	MPI_Reduce_scatter_block(fill_longs(turn, result, n * count, in_place), result, count,
		MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	expect(result, turn, 0, n - 1, c.rank * count, count);
}

/* Larger data between small: it goes through other memory, in the same rounds. */
static void
large(int turn)
{
	static unsigned char data[LARGE];

	check_fill(data, sizeof(data), c.rank, turn);
	MPI_Bcast(data, LARGE, MPI_BYTE, turn % c.size, MPI_COMM_WORLD);
	CHECK(&c, check_same(data, sizeof(data), turn % c.size, turn));
}

/* Many of which nobody waits: the ranks that only give are far ahead of the others. */
static void
streams(int turns)
{
	for (int i = 0; i < turns; i++) {
		int value = c.rank == 0 ? i : -1;

		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
		CHECK(&c, value == i);
	}
	for (int i = 0; i < turns; i++) {
		int value = i + c.rank, sum = -1;

		MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
		CHECK(&c, c.rank > 0 || sum == i + c.size - 1);
		MPI_Scan(&value, &sum, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		CHECK(&c, sum == i);
	}
}

int
main(int argc, char **argv)
{
	c = check_begin(&argc, &argv);
	MPI_Type_contiguous(1, MPI_BYTE, &derived);
	MPI_Type_commit(&derived);
	for (int bytes = 0, turn = 0; bytes <= MOST; bytes++, turn++) {
		rooted(turn, bytes, turn % c.size);
		unrooted(turn, bytes);
		reductions(turn, bytes / 8, turn % c.size);
		MPI_Barrier(MPI_COMM_WORLD);
		if (turn % 16 == 5)
			large(turn);
	}
	streams(1000);
	MPI_Type_free(&derived);
	return check_end(&c);
}
