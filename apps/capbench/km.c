/* SPDX-License-Identifier: MIT
 *
 * K-means: points are divided among centroids so that each belongs to the nearest, and each
 * centroid is the mean of its points.
 *
 * 	km --in FILE.txt [--centroids 128] [--iterations 1000]		points from a file: COUNT
 *									DIMENSIONS, then the
 *									coordinates
 *	km [--points N] [--dimensions 2] [--centroids 128] [--seed 1]	points made for the
 *									purpose; 13440 per
 *									cluster
 *
 * The first points are the first centroids. The global master gives the local masters of the
 * clusters their points once, and the centroids in each iteration; these pass both on to their
 * slaves and add up what comes back. It ends when no centroid moves. Output:
 *	centroid NUMBER COUNT: COORDINATE ...
 * and a last line with totals. Source: seed 002 6.1 (KM), Table 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "points.h"
#include "team.h"

#define PER_CLUSTER 13440
#define TAG_SIZES 1
#define TAG_POINTS 2
#define TAG_CENTROIDS 3
#define TAG_SUMS 4

/* What all ranks know. */
struct shape {
	int64_t points;			/* of the cluster, then of this rank */
	int64_t dimensions;
	int64_t centroids;
};

#define SHAPE_WORDS 3

struct work {
	struct shape shape;
	struct points mine;
	/* [centroids][dimensions]; none is left: the first one is STOP */
	int32_t *centroids;
	/*
	 * [centroids][dimensions + 1]: coordinates and how many; then the sum of squared distances
	 */
	int64_t *sums;
};

#define STOP INT32_MIN

static int
centroid_words(const struct shape *s)
{
	return (int)(s->centroids * s->dimensions);
}

static int
sum_words(const struct shape *s)
{
	return (int)(s->centroids * (s->dimensions + 1) + 1);
}

static int
nearest(const struct work *w, const int32_t *point, int64_t *distance)
{
	int dimensions = (int)w->shape.dimensions, best = 0;

	*distance = points_distance(point, w->centroids, dimensions);
	for (int i = 1; i < w->shape.centroids; i++) {
		int64_t d = points_distance(point, w->centroids + (long)i * dimensions, dimensions);

		if (d < *distance) {
			*distance = d;
			best = i;
		}
	}
	return best;
}

/* Add up this rank's points by centroid. */
static void
compute(struct work *w)
{
	int dimensions = (int)w->shape.dimensions;

	memset(w->sums, 0, (size_t)sum_words(&w->shape) * sizeof(*w->sums));
	for (long i = 0; i < w->mine.count; i++) {
		const int32_t *point = w->mine.at + i * dimensions;
		int64_t distance;
		int64_t *sum = w->sums + (long)nearest(w, point, &distance) * (dimensions + 1);

		for (int d = 0; d < dimensions; d++)
			sum[d] += point[d];
		sum[dimensions]++;
		w->sums[sum_words(&w->shape) - 1] += distance / POINT_ONE;
	}
}

static void
work_alloc(struct work *w)
{
	w->centroids = team_alloc((size_t)centroid_words(&w->shape) * sizeof(*w->centroids));
	w->sums = team_alloc((size_t)sum_words(&w->shape) * sizeof(*w->sums));
}

static void
work_free(struct work *w)
{
	free(w->centroids);
	free(w->sums);
	free(w->mine.at);
}

/* --- workers --- */

/* A local master divides the points of its cluster, which are in `all` there, among its workers. */
static void
divide(const struct team *t, struct work *w, const int32_t *all)
{
	int dimensions = (int)w->shape.dimensions;
	int *counts = team_alloc((size_t)t->local_ranks * sizeof(*counts)),
		*first = team_alloc((size_t)t->local_ranks * sizeof(*first));

	for (int i = 0; i < t->local_ranks; i++) {
		long from, count = team_part((long)w->shape.points, t->local_ranks, i, &from);

		counts[i] = (int)count * dimensions;
		first[i] = (int)from * dimensions;
	}
	w->mine.count = counts[t->local_rank] / dimensions;
	w->mine.dimensions = dimensions;
	w->mine.at = team_alloc((size_t)counts[t->local_rank] * sizeof(*w->mine.at));
	for (int i = 1; t->local_rank == 0 && i < t->local_ranks; i++)
		MPI_Send(all + first[i], counts[i], MPI_INT32_T, i, TAG_POINTS, t->local);
	if (t->local_rank > 0)
		MPI_Recv(w->mine.at, counts[t->local_rank], MPI_INT32_T, 0, TAG_POINTS, t->local,
			MPI_STATUS_IGNORE);
	else
		memcpy(w->mine.at, all, (size_t)counts[0] * sizeof(*all));
	free(counts);
	free(first);
}

/* One iteration inside a cluster; the local master has the centroids, and the sums afterwards. */
static void
iterate_cluster(const struct team *t, struct work *w)
{
	const void *out;

	MPI_Bcast(w->centroids, centroid_words(&w->shape), MPI_INT32_T, 0, t->local);
	if (w->centroids[0] == STOP)
		return;
	compute(w);
	out = t->local_rank == 0 ? MPI_IN_PLACE : w->sums;
	MPI_Reduce(out, w->sums, sum_words(&w->shape), MPI_INT64_T, MPI_SUM, 0, t->local);
}

static void
slave(const struct team *t)
{
	struct work w;

	MPI_Bcast(&w.shape, SHAPE_WORDS, MPI_INT64_T, 0, t->local);
	work_alloc(&w);
	divide(t, &w, NULL);
	do
		iterate_cluster(t, &w);
	while (w.centroids[0] != STOP);
	work_free(&w);
}

static void
local_master(const struct team *t)
{
	struct work w;
	int32_t *all;
	int words;

	MPI_Recv(&w.shape, SHAPE_WORDS, MPI_INT64_T, 0, TAG_SIZES, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	words = (int)(w.shape.points * w.shape.dimensions);
	all = team_alloc((size_t)words * sizeof(*all));
	MPI_Recv(all, words, MPI_INT32_T, 0, TAG_POINTS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Bcast(&w.shape, SHAPE_WORDS, MPI_INT64_T, 0, t->local);
	work_alloc(&w);
	divide(t, &w, all);
	free(all);
	do {
		MPI_Recv(w.centroids, centroid_words(&w.shape), MPI_INT32_T, 0, TAG_CENTROIDS,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		iterate_cluster(t, &w);
		if (w.centroids[0] != STOP)
			MPI_Send(w.sums, sum_words(&w.shape), MPI_INT64_T, 0, TAG_SUMS,
				MPI_COMM_WORLD);
	} while (w.centroids[0] != STOP);
	work_free(&w);
}

/* --- global master --- */

/* Points are read or made for one cluster after the other: no rank needs memory for all. */
static void
hand_out(const struct team *t, const struct work *w, struct points_source *all)
{
	long workers = t->ranks - 1;

	for (int m = 0, before = 0; m < t->masters; before += t->workers[m++]) {
		struct shape s = w->shape;
		long from, to = all->count, words;
		int32_t *part;

		team_part(all->count, workers, before, &from);
		if (before + t->workers[m] < workers)
			team_part(all->count, workers, before + t->workers[m], &to);
		s.points = to - from;
		words = s.points * all->dimensions;
		part = team_alloc((size_t)words * sizeof(*part));
		points_take(all, s.points, part);
		MPI_Send(&s, SHAPE_WORDS, MPI_INT64_T, t->master[m], TAG_SIZES, MPI_COMM_WORLD);
		MPI_Send(part, (int)words, MPI_INT32_T, t->master[m], TAG_POINTS, MPI_COMM_WORLD);
		free(part);
	}
}

/* A single rank computes with all points itself. */
static void
keep(struct work *w, struct points_source *all)
{
	w->mine = (struct points){.count = all->count, .dimensions = all->dimensions};
	w->mine.at = team_alloc((size_t)(all->count * all->dimensions) * sizeof(*w->mine.at));
	points_take(all, all->count, w->mine.at);
}

/* Everybody's sums for these centroids. */
static void
gather_sums(const struct team *t, struct work *w, int64_t *part)
{
	int words = sum_words(&w->shape);

	memset(w->sums, 0, (size_t)words * sizeof(*w->sums));
	for (int m = 0; m < t->masters; m++)
		MPI_Send(w->centroids, centroid_words(&w->shape), MPI_INT32_T, t->master[m],
			TAG_CENTROIDS, MPI_COMM_WORLD);
	for (int m = 0; m < t->masters; m++) {
		MPI_Recv(part, words, MPI_INT64_T, t->master[m], TAG_SUMS, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		for (int i = 0; i < words; i++)
			w->sums[i] += part[i];
	}
}

/* Quotient rounded to the nearest, halves away from zero. */
static int64_t
mean(int64_t sum, int64_t count)
{
	return (sum >= 0 ? sum + count / 2 : sum - count / 2) / count;
}

/* Each centroid becomes the mean of its points; one without points stays. True if any moved. */
static bool
move_centroids(struct work *w)
{
	int dimensions = (int)w->shape.dimensions;
	bool moved = false;

	for (int i = 0; i < w->shape.centroids; i++) {
		const int64_t *sum = w->sums + (long)i * (dimensions + 1);

		for (int d = 0; sum[dimensions] > 0 && d < dimensions; d++) {
			int32_t *at = &w->centroids[(long)i * dimensions + d],
				to = (int32_t)mean(sum[d], sum[dimensions]);

			moved |= *at != to;
			*at = to;
		}
	}
	return moved;
}

static void
print_result(const struct work *w, long points, long iterations)
{
	int dimensions = (int)w->shape.dimensions;

	for (int i = 0; i < w->shape.centroids; i++) {
		printf("centroid %d %lld:", i,
			(long long)w->sums[(long)i * (dimensions + 1) + dimensions]);
		for (int d = 0; d < dimensions; d++)
			printf(" %.5f", (double)w->centroids[(long)i * dimensions + d] / POINT_ONE);
		printf("\n");
	}
	printf("km: %ld points, %d centroids, %ld iterations, inertia %.1f\n", points,
		(int)w->shape.centroids, iterations,
		(double)w->sums[sum_words(&w->shape) - 1] / POINT_ONE);
}

static void
global_master(const struct team *t, struct points_source *all, struct work *w, long limit)
{
	struct points_source first = *all;
	int64_t *part;
	long iterations = 0;
	bool moved = true;

	work_alloc(w);
	part = team_alloc((size_t)sum_words(&w->shape) * sizeof(*part));
	points_take(&first, (long)w->shape.centroids, w->centroids);
	if (t->ranks > 1)
		hand_out(t, w, all);
	else
		keep(w, all);
	while (moved && iterations < limit) {
		if (t->ranks > 1)
			gather_sums(t, w, part);
		else
			compute(w);
		iterations++;
		moved = move_centroids(w);
	}
	print_result(w, all->count, iterations);
	w->centroids[0] = STOP;
	for (int m = 0; t->ranks > 1 && m < t->masters; m++)
		MPI_Send(w->centroids, centroid_words(&w->shape), MPI_INT32_T, t->master[m],
			TAG_CENTROIDS, MPI_COMM_WORLD);
	free(part);
}

/* The global master's points; a failure ends the job. */
static struct points_source
get_points(int argc, char **argv, long count, long dimensions, long centroids)
{
	struct points_source p = {.count = count, .dimensions = (int)dimensions};
	const char *name = team_text(argc, argv, "--in");

	if (name == NULL)
		points_make(&p, (int)centroids, (uint64_t)team_number(argc, argv, "--seed", 1));
	else if (!points_read(name, &p))
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (p.count < centroids) {
		fprintf(stderr, "km: there are fewer points than centroids\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

int
main(int argc, char **argv)
{
	struct team t;
	struct work w = {.mine = {.at = NULL}};
	long centroids, count, dimensions, limit;

	MPI_Init(&argc, &argv);
	team_make(&t);
	centroids = team_number(argc, argv, "--centroids", 128);
	dimensions = team_number(argc, argv, "--dimensions", 2);
	count = team_number(argc, argv, "--points", PER_CLUSTER * (t.is_global_master &&
		t.masters > 1 ? t.masters : 1));
	limit = team_number(argc, argv, "--iterations", 1000);
	if (centroids < 1 || centroids > 100000 || dimensions < 1 || dimensions > DIMENSIONS_MAX ||
			count < 1 || limit < 1)
		team_usage(&t, "usage: km [--in FILE | --points N --dimensions D --seed S] "
			"[--centroids K] [--iterations N]");
	if (t.is_global_master) {
		struct points_source all = get_points(argc, argv, count, dimensions, centroids);

		w.shape = (struct shape){0, all.dimensions, centroids};
		global_master(&t, &all, &w, limit);
		work_free(&w);
		points_close(&all);
	} else if (t.is_local_master) {
		local_master(&t);
	} else {
		slave(&t);
	}
	team_free(&t);
	MPI_Finalize();
	return 0;
}
