/* SPDX-License-Identifier: MIT
 *
 * Points: see points.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "input.h"
#include "points.h"
#include "team.h"

/* What is wrong with a text, or NULL; fills p. */
static const char *
parse(char *text, struct points *p)
{
	char *at = text, *end;
	long dimensions;

	p->count = strtol(at, &at, 10);
	dimensions = strtol(at, &at, 10);
	if (p->count < 1 || p->count > 100000000 || dimensions < 1 || dimensions > DIMENSIONS_MAX)
		return "bad number of points or dimensions";
	p->dimensions = (int)dimensions;
	p->at = team_alloc((size_t)(p->count * dimensions) * sizeof(*p->at));
	for (long i = 0; i < p->count * dimensions; i++, at = end) {
		double value = strtod(at, &end);

		if (end == at)
			return "fewer coordinates than the first line says";
		if (!(fabs(value) <= POINT_MAX))
			return "a coordinate is too large";
		p->at[i] = (int32_t)lround(value * POINT_ONE);
	}
	return NULL;
}

bool
points_read(const char *name, struct points *p)
{
	size_t bytes;
	char *text = input_read(name, &bytes);
	const char *wrong = text != NULL ? parse(text, p) : "no such file";

	free(text);
	if (wrong != NULL)
		fprintf(stderr, "%s: %s\n", name, wrong);
	return wrong == NULL;
}

static uint64_t
next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

void
points_make(struct points *p, int places, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;
	int32_t *place = team_alloc((size_t)(places * p->dimensions) * sizeof(*place));

	for (int i = 0; i < places * p->dimensions; i++)
		place[i] = (int32_t)(next(&state) % (1000 * POINT_ONE));
	p->at = team_alloc((size_t)p->count * (size_t)p->dimensions * sizeof(*p->at));
	for (long i = 0; i < p->count; i++) {
		const int32_t *center = place + (long)(next(&state) % (uint64_t)places) * p->dimensions;

		for (int d = 0; d < p->dimensions; d++)
			p->at[i * p->dimensions + d] = center[d] + (int32_t)(next(&state) % (40 * POINT_ONE)) - 20 * POINT_ONE;
	}
	free(place);
}
