/* SPDX-License-Identifier: MIT
 *
 * The Gaussian mask: see mask.h. Integer arithmetic, so that every machine computes the same.
 */
#include <math.h>
#include "mask.h"

static double
gauss(int x, int y, double sd)
{
	return exp(-(double)(x * x + y * y) / (2 * sd * sd));
}

static double
mask_sum(int reach, double sd)
{
	double sum = 0;

	for (int y = -reach; y <= reach; y++)
		for (int x = -reach; x <= reach; x++)
			sum += gauss(x, y, sd);
	return sum;
}

bool
mask_make(struct mask *m, long size, double sd)
{
	int32_t rest = MASK_ONE;
	double sum;
	int n = 0;

	if (size < 1 || size > MASK_MAX || size % 2 == 0 || !(sd > 0) || sd > 1000)
		return false;
	m->size = (int)size;
	m->reach = (int)size / 2;
	sum = mask_sum(m->reach, sd);
	for (int y = -m->reach; y <= m->reach; y++)
		for (int x = -m->reach; x <= m->reach; x++) {
			m->weight[n] = (int32_t)(gauss(x, y, sd) / sum * MASK_ONE + 0.5);
			rest -= m->weight[n++];
		}
	m->weight[n / 2] += rest;
	return true;
}

static int
inside(int at, int limit)
{
	return at < 0 ? 0 : at >= limit ? limit - 1 : at;
}

/* Any pixel: neighbours outside are taken from the border. */
static int32_t
pixel_at_border(const struct mask *m, const struct view *v, int x, int y)
{
	const int32_t *weight = m->weight;
	int32_t sum = 0;

	for (int j = -m->reach; j <= m->reach; j++) {
		const unsigned char *row = v->pixels + (long)inside(y + j, v->height) * v->width;

		for (int i = -m->reach; i <= m->reach; i++)
			sum += *weight++ * row[inside(x + i, v->width)];
	}
	return sum;
}

/* All neighbours are inside. */
static int32_t
pixel_inside(const struct mask *m, const struct view *v, int x, int y)
{
	const unsigned char *row = v->pixels + (long)(y - m->reach) * v->width + x - m->reach;
	const int32_t *weight = m->weight;
	int32_t sum = 0;

	for (int j = 0; j < m->size; j++, row += v->width, weight += m->size)
		for (int i = 0; i < m->size; i++)
			sum += weight[i] * row[i];
	return sum;
}

void
mask_row(const struct mask *m, const struct view *v, int y, unsigned char *out)
{
	bool rows_inside = y >= m->reach && y < v->height - m->reach;

	for (int x = 0; x < v->width; x++) {
		bool is_inside = rows_inside && x >= m->reach && x < v->width - m->reach;
		int32_t sum = is_inside ? pixel_inside(m, v, x, y) : pixel_at_border(m, v, x, y);

		out[x] = (unsigned char)((sum + MASK_ONE / 2) / MASK_ONE);
	}
}
