/* SPDX-License-Identifier: MIT
 *
 * Groups: what sets of ranks are made into what, with random sets against naive answers. SEED
 * repeats a run.
 */
#include "check.h"

/* Each rank makes its own sets. */
static unsigned seed;

static int
dice(int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 8) % (unsigned)n);
}

static MPI_Group world;
static int size;

/* Some ranks in some order, each at most once. Returns how many. */
static int
draw(int ranks[])
{
	int n = dice(size + 1);

	for (int i = 0; i < size; i++)
		ranks[i] = i;
	for (int i = 0; i < n; i++) {
		int k = i + dice(size - i), t = ranks[i];

		ranks[i] = ranks[k];
		ranks[k] = t;
	}
	return n;
}

static int
is_among(int rank, const int ranks[], int n)
{
	for (int i = 0; i < n; i++)
		if (ranks[i] == rank)
			return i;
	return -1;
}

/* Has the group exactly these members of the world, in this order? Frees it. */
static int
is_group(MPI_Group g, const int ranks[], int n)
{
	int *mine = malloc((size_t)(n + 1) * sizeof(int)),
		*theirs = malloc((size_t)(n + 1) * sizeof(int)), count, good;

	MPI_Group_size(g, &count);
	good = count == n;
	for (int i = 0; i < n; i++)
		mine[i] = i;
	if (good)
		MPI_Group_translate_ranks(g, n, mine, world, theirs);
	for (int i = 0; good && i < n; i++)
		good = theirs[i] == ranks[i];
	good = good && (n > 0 || g == MPI_GROUP_EMPTY);
	MPI_Group_free(&g);
	free(mine);
	free(theirs);
	return good;
}

static void
sets(struct check *c)
{
	int *a = malloc((size_t)size * sizeof(int)), *b = malloc((size_t)size * sizeof(int)),
		*want = malloc((size_t)size * 2 * sizeof(int));
	int na = draw(a), nb = draw(b), n = 0;
	MPI_Group ga, gb, g;

	MPI_Group_incl(world, na, a, &ga);
	MPI_Group_incl(world, nb, b, &gb);
	for (int i = 0; i < na; i++)
		want[n++] = a[i];
	for (int i = 0; i < nb; i++)
		if (is_among(b[i], a, na) < 0)
			want[n++] = b[i];
	MPI_Group_union(ga, gb, &g);
	CHECK(c, is_group(g, want, n));
	n = 0;
	for (int i = 0; i < na; i++)
		if (is_among(a[i], b, nb) >= 0)
			want[n++] = a[i];
	MPI_Group_intersection(ga, gb, &g);
	CHECK(c, is_group(g, want, n));
	n = 0;
	for (int i = 0; i < na; i++)
		if (is_among(a[i], b, nb) < 0)
			want[n++] = a[i];
	MPI_Group_difference(ga, gb, &g);
	CHECK(c, is_group(g, want, n));
	n = 0;
	for (int i = 0; i < size; i++)
		if (is_among(i, a, na) < 0)
			want[n++] = i;
	MPI_Group_excl(world, na, a, &g);
	CHECK(c, is_group(g, want, n));
	for (int i = 0; i < na; i++)
		want[i] = is_among(a[i], b, nb) < 0 ? MPI_UNDEFINED : is_among(a[i], b, nb);
	for (int i = 0; i < na; i++) {
		int there;

		MPI_Group_translate_ranks(ga, 1, &i, gb, &there);
		CHECK(c, there == want[i]);
	}
	CHECK(c, is_group(ga, a, na) && is_group(gb, b, nb));
	free(a);
	free(b);
	free(want);
}

static void
ranges(struct check *c)
{
	int *want = malloc((size_t)size * sizeof(int)), n = 0,
		range[2][3] = {{0, 0, 0}, {size - 1, size / 2 + 1, -1}};
	MPI_Group g;

	range[0][1] = size / 2;
	range[0][2] = 1 + dice(3);
	for (int i = 0; i <= size / 2; i += range[0][2])
		want[n++] = i;
	for (int i = size - 1; i >= size / 2 + 1; i--)
		want[n++] = i;
	if (size < 3)
		return free(want);
	CHECK(c, MPI_Group_range_incl(world, 2, range, &g) == MPI_SUCCESS);
	CHECK(c, is_group(g, want, n));
	n = 0;
	for (int i = 0; i <= size / 2; i++)
		if (i % range[0][2] != 0)
			want[n++] = i;
	CHECK(c, MPI_Group_range_excl(world, 2, range, &g) == MPI_SUCCESS);
	CHECK(c, is_group(g, want, n));
	range[1][0] = 0;
	range[1][2] = 1;
	CHECK(c, MPI_Group_range_incl(world, 2, range, &g) == MPI_ERR_RANK);
	range[0][2] = 0;
	CHECK(c, MPI_Group_range_incl(world, 1, range, &g) == MPI_ERR_ARG);
	free(want);
}

static void
compare(struct check *c)
{
	int backwards[1][3] = {{size - 1, 0, -1}}, first = 0, null = MPI_PROC_NULL, there = 0,
		result;
	MPI_Group back, one, again;

	MPI_Group_range_incl(world, 1, backwards, &back);
	MPI_Group_incl(world, 1, &first, &one);
	MPI_Group_range_incl(back, 1, backwards, &again);
	MPI_Group_compare(world, back, &result);
	CHECK(c, result == (size > 1 ? MPI_SIMILAR : MPI_IDENT));
	MPI_Group_compare(world, again, &result);
	CHECK(c, result == MPI_IDENT);
	MPI_Group_compare(world, one, &result);
	CHECK(c, result == (size > 1 ? MPI_UNEQUAL : MPI_IDENT));
	MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &result);
	CHECK(c, result == MPI_IDENT);
	MPI_Group_translate_ranks(back, 1, &null, world, &there);
	CHECK(c, there == MPI_PROC_NULL);
	MPI_Group_free(&back);
	MPI_Group_free(&one);
	MPI_Group_free(&again);
}

static void
errors(struct check *c)
{
	int twice[2] = {0, 0}, wrong = size;
	MPI_Group g;

	CHECK(c, MPI_Group_incl(world, 2, twice, &g) == MPI_ERR_RANK);
	CHECK(c, MPI_Group_excl(world, 2, twice, &g) == MPI_ERR_RANK);
	CHECK(c, MPI_Group_incl(world, 1, &wrong, &g) == MPI_ERR_RANK);
	CHECK(c, MPI_Group_incl(world, -1, twice, &g) == MPI_ERR_ARG);
	CHECK(c, MPI_Group_incl(world, 1, NULL, &g) == MPI_ERR_ARG);
	CHECK(c, MPI_Group_union(MPI_GROUP_NULL, world, &g) == MPI_ERR_GROUP);
	CHECK(c, MPI_Group_union(world, world, NULL) == MPI_ERR_ARG);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	const char *text = getenv("SEED");
	unsigned start = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)(MPI_Wtime() * 1000);

	seed = start + (unsigned)c.rank;
	size = c.size;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = 0; i < 50; i++) {
		sets(&c);
		ranges(&c);
	}
	compare(&c);
	errors(&c);
	MPI_Group_free(&world);
	if (c.errors > 0)
		fprintf(stderr, "rank %d: SEED=%u\n", c.rank, start);
	return check_end(&c);
}
