/* SPDX-License-Identifier: MIT
 *
 * Friendly numbers: which numbers of a range have the same abundance, the sum of the divisors of n
 * divided by n?
 *
 *	fn [--from A] [--count N]		A .. A+N-1; 1000001 and 1536 per cluster
 *
 * The global master gives each cluster's local master a part of the range by its workers, that one
 * divides it among its slaves; abundances come back the same way, and the global master finds the
 * equal ones. Output, in order of the smallest member:
 *	friends NUMERATOR/DENOMINATOR: n1 n2 ...
 * and a last line with totals. Source: seed 002 6.1 (FN), Table 5.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "team.h"

#define TAG_RANGE 1
#define TAG_RESULT 2
#define PER_CLUSTER 1536
#define FROM_MAX 1000000000000L

struct range {
	int64_t first;
	int64_t count;
};

struct abundance {
	int64_t n;
	int64_t numerator;
	int64_t denominator;
};

#define WORDS(things) ((int)((things) * 3))	/* int64_t in so many abundances */

static int64_t
greatest_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int64_t
divisor_sum(int64_t n)
{
	int64_t sum = 0;

	for (int64_t d = 1; d * d <= n; d++)
		if (n % d == 0)
			sum += d * d == n ? d : d + n / d;
	return sum;
}

static struct abundance
abundance_of(int64_t n)
{
	int64_t sum = divisor_sum(n), common = greatest_divisor(sum, n);

	return (struct abundance){n, sum / common, n / common};
}

/* A worker's share of its cluster's range. */
static struct range
share(struct range all, int parts, int index)
{
	long first, count = team_part((long)all.count, parts, index, &first);

	return (struct range){all.first + first, count};
}

static void
work(struct range r, struct abundance *out)
{
	for (int64_t i = 0; i < r.count; i++)
		out[i] = abundance_of(r.first + i);
}

/* Local master: divide the range, do the own part, collect. */
static void
lead_cluster(const struct team *t, struct range all, struct abundance *out)
{
	for (int i = 1; i < t->local_ranks; i++) {
		struct range part = share(all, t->local_ranks, i);

		MPI_Send(&part, 2, MPI_INT64_T, i, TAG_RANGE, t->local);
	}
	work(share(all, t->local_ranks, 0), out);
	for (int i = 1; i < t->local_ranks; i++) {
		struct range part = share(all, t->local_ranks, i);

		MPI_Recv(out + (part.first - all.first), WORDS(part.count), MPI_INT64_T, i,
			TAG_RESULT, t->local, MPI_STATUS_IGNORE);
	}
}

static void
local_master(const struct team *t)
{
	struct range all;
	struct abundance *out;

	MPI_Recv(&all, 2, MPI_INT64_T, 0, TAG_RANGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	out = team_alloc((size_t)all.count * sizeof(*out));
	lead_cluster(t, all, out);
	MPI_Send(out, WORDS(all.count), MPI_INT64_T, 0, TAG_RESULT, MPI_COMM_WORLD);
	free(out);
}

static void
slave(const struct team *t)
{
	struct range part;
	struct abundance *out;

	MPI_Recv(&part, 2, MPI_INT64_T, 0, TAG_RANGE, t->local, MPI_STATUS_IGNORE);
	out = team_alloc((size_t)part.count * sizeof(*out));
	work(part, out);
	MPI_Send(out, WORDS(part.count), MPI_INT64_T, 0, TAG_RESULT, t->local);
	free(out);
}

static int
by_abundance(const void *a, const void *b)
{
	const struct abundance *x = a, *y = b;

	if (x->numerator != y->numerator)
		return x->numerator < y->numerator ? -1 : 1;
	if (x->denominator != y->denominator)
		return x->denominator < y->denominator ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static bool
are_friends(const struct abundance *a, const struct abundance *b)
{
	return a->numerator == b->numerator && a->denominator == b->denominator;
}

/* A group of friends in the sorted list. */
struct group {
	int64_t smallest;
	long at, members;
};

static int
by_smallest(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->smallest < y->smallest ? -1 : x->smallest > y->smallest;
}

static void
print_group(const struct abundance *a, const struct group *g)
{
	printf("friends %lld/%lld:", (long long)a[g->at].numerator,
		(long long)a[g->at].denominator);
	for (long i = 0; i < g->members; i++)
		printf(" %lld", (long long)a[g->at + i].n);
	putchar('\n');
}

static void
report(struct abundance *a, struct range r)
{
	struct group *group = team_alloc((size_t)r.count * sizeof(*group));
	long groups = 0, members = 0;

	qsort(a, (size_t)r.count, sizeof(*a), by_abundance);
	for (long i = 0, next; i < r.count; i = next) {
		for (next = i + 1; next < r.count && are_friends(&a[i], &a[next]); next++)
			;
		if (next - i > 1)
			group[groups++] = (struct group){a[i].n, i, next - i};
	}
	qsort(group, (size_t)groups, sizeof(*group), by_smallest);
	for (long i = 0; i < groups; i++) {
		print_group(a, &group[i]);
		members += group[i].members;
	}
	printf("fn: %ld groups with %ld members among %lld numbers from %lld\n", groups, members,
		(long long)r.count, (long long)r.first);
	free(group);
}

/* The part of the range that goes to local master m: by the workers before it. */
static struct range
part_of_master(const struct team *t, struct range all, int m)
{
	long before = 0, workers = 0;

	for (int i = 0; i < t->masters; i++) {
		workers += t->workers[i];
		before += i < m ? t->workers[i] : 0;
	}
	return (struct range){all.first + all.count * before / workers,
		all.count * (before + t->workers[m]) / workers - all.count * before / workers};
}

static void
global_master(const struct team *t, struct range all)
{
	struct abundance *a = team_alloc((size_t)all.count * sizeof(*a));
	double start = MPI_Wtime();

	for (int m = 0; m < t->masters && t->ranks > 1; m++) {
		struct range part = part_of_master(t, all, m);

		MPI_Send(&part, 2, MPI_INT64_T, t->master[m], TAG_RANGE, MPI_COMM_WORLD);
	}
	if (t->ranks == 1)
		work(all, a);
	for (int m = 0; m < t->masters && t->ranks > 1; m++) {
		struct range part = part_of_master(t, all, m);

		MPI_Recv(a + (part.first - all.first), WORDS(part.count), MPI_INT64_T, t->master[m],
			TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	start = MPI_Wtime() - start;
	report(a, all);
	fflush(stdout);
	fprintf(stderr, "fn: %.3f s on %d ranks in %d clusters\n", start, t->ranks, t->masters);
	free(a);
}

int
main(int argc, char **argv)
{
	struct team t;
	struct range all;

	MPI_Init(&argc, &argv);
	team_make(&t);
	all.first = team_number(argc, argv, "--from", 1000001);
	all.count = team_number(argc, argv, "--count",
		(long)PER_CLUSTER * (t.masters > 0 ? t.masters : 1));
	if (all.first < 1 || all.first > FROM_MAX || all.count < 1 || all.count > 100000000)
		team_usage(&t, "usage: fn [--from A] [--count N]\n  A: 1 .. 10^12, N: 1 .. 10^8\n");
	if (t.is_global_master)
		global_master(&t, all);
	else if (t.is_local_master)
		local_master(&t);
	else
		slave(&t);
	team_free(&t);
	MPI_Finalize();
	return 0;
}
