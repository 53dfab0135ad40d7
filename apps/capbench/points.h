/* SPDX-License-Identifier: MIT
 *
 * Points for k-means, with coordinates in fixed point: sums are exact, so that the result is the
 * same for any number of ranks and on every machine.
 */
#ifndef CAPBENCH_POINTS_H
#define CAPBENCH_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#define POINT_ONE 65536			/* 1.0 */
/* largest coordinate, so that no sum of squares overflows */
#define POINT_MAX 4096
#define DIMENSIONS_MAX 256

struct points {
	long count;
	int dimensions;
	int32_t *at;			/* [count][dimensions]; free it */
};

/*
 * Where points come from, one after the other: made points need no memory, those of a file are all
 * in it.
 */
struct points_source {
	long count;			/* in all */
	int dimensions;
	int32_t *next;			/* of a file: the next one; NULL: made */
	/* of a file: all points; made: the places around which they lie */
	int32_t *memory;
	int places;
	uint64_t state;
};

/* A text of COUNT DIMENSIONS and then the coordinates. False, with a message. */
bool points_read(const char *name, struct points_source *s);

/* Points around as many places as there will be centroids, always the same for a seed. */
void points_make(struct points_source *s, int places, uint64_t seed);

/* The next `count` points go to `to`; no more than are left. */
void points_take(struct points_source *s, long count, int32_t *to);
void points_close(struct points_source *s);

/* Square of the distance of two points. */
static inline int64_t
points_distance(const int32_t *a, const int32_t *b, int dimensions)
{
	int64_t sum = 0;

	for (int i = 0; i < dimensions; i++) {
		int64_t d = (int64_t)a[i] - b[i];

		sum += d * d;
	}
	return sum;
}

#endif
