/* SPDX-License-Identifier: MIT
 *
 * Balanced dimensions: of all ways to write a number as a product of k factors in descending order,
 * the one with the smallest difference between the first and the last; among these the one with the
 * largest first factor, then with the largest last one, last but one and so on: small factors are
 * the ones that hurt. Found by search: factors come from the divisors, and a branch ends when what
 * is left, even if it were split evenly, would differ more than the best.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <mpi/core/topology.h>

#define DIVISORS_MAX 1600		/* no int has more */
#define FACTORS_MAX 31			/* more cannot all be larger than 1 */

struct search {
	int divisor[DIVISORS_MAX];	/* ascending */
	int divisors;
	int now[FACTORS_MAX];
	int best[FACTORS_MAX];
	int best_difference;
	int count;			/* factors wanted */
};

static void
find_divisors(struct search *s, int n)
{
	int small = 0;

	for (int d = 1; d <= n / d; d++)
		if (n % d == 0)
			s->divisor[small++] = d;
	s->divisors = small;
	for (int i = small - 1; i >= 0; i--)
		if (n / s->divisor[i] != s->divisor[i])
			s->divisor[s->divisors++] = n / s->divisor[i];
}

/* Is base to the power k at least n? */
static bool
reaches(int base, int k, int n)
{
	int64_t power = 1;

	for (int i = 0; i < k && power < n; i++)
		power *= base;
	return power >= n;
}

/* The largest number whose power k is at most n: the smallest of k factors of n is no larger. */
static int
root(int n, int k)
{
	int low = 1, high = k > 1 ? 46341 : n;

	while (low < high) {
		int middle = low + (high - low + 1) / 2;
		int64_t power = 1;

		for (int i = 0; i < k && power <= n; i++)
			power *= middle;
		if (power <= n)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static void
keep(struct search *s)
{
	s->best_difference = s->now[0] - s->now[s->count - 1];
	for (int i = 0; i < s->count; i++)
		s->best[i] = s->now[i];
}

/* Than the best so far? */
static bool
is_better(const struct search *s)
{
	int difference = s->now[0] - s->now[s->count - 1], at = s->count - 1;

	if (difference != s->best_difference)
		return difference < s->best_difference;
	if (s->now[0] != s->best[0])
		return s->now[0] > s->best[0];
	while (at > 0 && s->now[at] == s->best[at])
		at--;
	return s->now[at] > s->best[at];
}

/*
 * Factor number `at` and the ones after it: their product is `left`, none is larger than `limit`.
 */
static void
search(struct search *s, int at, int left, int limit)
{
	int k = s->count - at;

	if (k == 1) {
		s->now[at] = left;
		if (left <= limit && is_better(s))
			keep(s);
		return;
	}
	for (int i = 0; i < s->divisors && s->divisor[i] <= limit; i++) {
		int d = s->divisor[i];

		if (left % d != 0 || !reaches(d, k, left))
			continue;
		s->now[at] = d;
		if (s->now[0] - root(left / d, k - 1) > s->best_difference)
			return;		/* larger ones leave even less for the last */
		search(s, at + 1, left / d, d);
	}
}

/* Spread n over the dims that are 0. */
static void
spread(struct search *s, int n, int ndims, int dims[])
{
	int at = 0;

	find_divisors(s, n);
	s->best_difference = INT_MAX;
	search(s, 0, n, n);
	for (int i = 0; i < ndims; i++)
		if (dims[i] == 0)
			dims[i] = at < s->count ? s->best[at++] : 1;
}

int
mpi_dims_create(int nnodes, int ndims, int dims[])
{
	int64_t given = 1;
	int free_dims = 0;
	struct search *s;

	for (int i = 0; i < ndims; i++) {
		if (dims[i] < 0 || (dims[i] > 0 && nnodes % dims[i] != 0))
			return MPI_ERR_DIMS;
		given *= dims[i] > 0 ? dims[i] : 1;
		free_dims += dims[i] == 0;
		if (given > nnodes)
			return MPI_ERR_DIMS;
	}
	if (nnodes % given != 0 || (free_dims == 0 && given != nnodes))
		return MPI_ERR_DIMS;
	if (free_dims == 0)
		return MPI_SUCCESS;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	s->count = free_dims < FACTORS_MAX ? free_dims : FACTORS_MAX;
	spread(s, nnodes / (int)given, ndims, dims);
	free(s);
	return MPI_SUCCESS;
}
