/* SPDX-License-Identifier: MIT
 *
 * Points for k-means, with coordinates in fixed point: sums are exact, so that the result is the same for any number of ranks and on every
 * machine.
 */
#ifndef CAPBENCH_POINTS_H
#define CAPBENCH_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#define POINT_ONE 65536			/* 1.0 */
#define POINT_MAX 4096			/* largest coordinate, so that no sum of squares overflows */
#define DIMENSIONS_MAX 256

struct points {
	long count;
	int dimensions;
	int32_t *at;			/* [count][dimensions]; free it */
};

/* Read a text of COUNT DIMENSIONS and then the coordinates. False, with a message. */
bool points_read(const char *name, struct points *p);

/* Points around as many places as there will be centroids, always the same for a seed. */
void points_make(struct points *p, int places, uint64_t seed);

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
