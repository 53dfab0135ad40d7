/* SPDX-License-Identifier: MIT
 *
 * The Gaussian mask with fixed-point weights, and one row of a picture through it. Pixels outside
 * are those of the border.
 */
#ifndef CAPBENCH_MASK_H
#define CAPBENCH_MASK_H

#include <stdbool.h>
#include <stdint.h>

#define MASK_MAX 31
#define MASK_ONE 65536			/* sum of the weights */

struct mask {
	int size;			/* odd */
	int reach;			/* size / 2 */
	int32_t weight[MASK_MAX * MASK_MAX];
};

/* Rows of a picture. */
struct view {
	const unsigned char *pixels;
	int width;
	int height;
};

/*
 * Make a mask of size x size weights for standard deviation sd: rounded, and what rounding left
 * over added to the middle. False if size is not odd or not in 1 .. MASK_MAX, or sd is not above 0.
 */
bool mask_make(struct mask *m, long size, double sd);

/* Row y of a picture, filtered and rounded, to out[width]. */
void mask_row(const struct mask *m, const struct view *v, int y, unsigned char *out);

#endif
