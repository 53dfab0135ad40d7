/* SPDX-License-Identifier: MIT
 *
 * What an MPI library makes of random groups, grids and graphs, as text: the same under every
 * library. Argument: the seed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 60000

static unsigned seed;
static char text[TEXT];
static size_t used;

static int
dice(int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 8) % (unsigned)n);
}

static void
say(const char *what, const int *values, int n)
{
	used += (size_t)snprintf(text + used, TEXT - used, "%s", what);
	for (int i = 0; i < n && used < TEXT; i++)
		used += (size_t)snprintf(text + used, TEXT - used, " %d",
			values[i] == MPI_UNDEFINED ? -99 : values[i]);
	if (used < TEXT)
		used += (size_t)snprintf(text + used, TEXT - used, "\n");
}

static void
members(const char *what, MPI_Group g, MPI_Group world)
{
	int n, mine[64], theirs[64];

	MPI_Group_size(g, &n);
	for (int i = 0; i < n; i++)
		mine[i] = i;
	if (n > 0)
		MPI_Group_translate_ranks(g, n, mine, world, theirs);
	say(what, theirs, n);
	if (g != MPI_GROUP_EMPTY)
		MPI_Group_free(&g);
}

static MPI_Group
drawn(MPI_Group world, int size)
{
	int ranks[64], n = dice(size + 1);
	MPI_Group g;

	for (int i = 0; i < size; i++)
		ranks[i] = i;
	for (int i = 0; i < n; i++) {
		int k = i + dice(size - i), t = ranks[i];

		ranks[i] = ranks[k];
		ranks[k] = t;
	}
	MPI_Group_incl(world, n, ranks, &g);
	return g;
}

static void
groups(int size)
{
	MPI_Group world, a, b, g;
	int range[1][3] = {{dice(size), dice(size), 0}}, result;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	a = drawn(world, size);
	b = drawn(world, size);
	MPI_Group_union(a, b, &g);
	members("union", g, world);
	MPI_Group_intersection(a, b, &g);
	members("intersection", g, world);
	MPI_Group_difference(a, b, &g);
	members("difference", g, world);
	range[0][2] = (range[0][0] <= range[0][1] ? 1 : -1) * (1 + dice(3));
	MPI_Group_range_incl(world, 1, range, &g);
	members("range", g, world);
	MPI_Group_range_excl(world, 1, range, &g);
	members("without range", g, world);
	MPI_Group_compare(a, b, &result);
	say("compare", &result, 1);
	members("a", a, world);
	members("b", b, world);
	MPI_Group_free(&world);
}

static void
grid(int size)
{
	int dims[3] = {0, 0, 0}, n = 1 + dice(3), periods[3] = {dice(2), dice(2), dice(2)}, at[3],
		two[2], remain[3] = {dice(2), dice(2), dice(2)};
	MPI_Comm cart, sub;

	MPI_Dims_create(size, n, dims);
	say("dims", dims, n);
	MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &cart);
	MPI_Cart_get(cart, n, dims, periods, at);
	say("coords", at, n);
	for (int d = 0; d < n; d++) {
		MPI_Cart_shift(cart, d, 1 + dice(3), &two[0], &two[1]);
		for (int i = 0; i < 2; i++)
			two[i] = two[i] == MPI_PROC_NULL ? -1 : two[i];
		say("shift", two, 2);
	}
	MPI_Cart_sub(cart, remain, &sub);
	MPI_Comm_rank(sub, &two[0]);
	MPI_Comm_size(sub, &two[1]);
	say("sub", two, 2);
	MPI_Comm_free(&sub);
	MPI_Comm_free(&cart);
}

static void
graph(int size)
{
	int index[64], edges[512], n = 0, count, near[64], nodes = 1 + dice(size), rank;
	MPI_Comm g;

	for (int i = 0; i < nodes; i++) {
		for (int k = dice(4); k > 0; k--)
			edges[n++] = dice(nodes);
		index[i] = n;
	}
	MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &g);
	if (g == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(g, &rank);
	MPI_Graph_neighbors_count(g, rank, &count);
	MPI_Graph_neighbors(g, rank, 64, near);
	say("graph", near, count);
	MPI_Comm_free(&g);
}

int
main(int argc, char **argv)
{
	int rank, size;
	char *all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	for (int i = 0; i < 40; i++) {
		groups(size);
		grid(size);
		graph(size);
	}
	for (int i = 1; i < 300; i++) {
		int dims[6] = {0}, nodes = 1 + dice(100000), n = 1 + dice(6);

		MPI_Dims_create(nodes, n, dims);
		say("product", dims, n);
	}
	all = malloc((size_t)size * TEXT);
	MPI_Gather(text, TEXT, MPI_CHAR, all, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (int r = 0; rank == 0 && r < size; r++)
		printf("rank %d\n%s", r, all + (size_t)r * TEXT);
	free(all);
	MPI_Finalize();
	return 0;
}
