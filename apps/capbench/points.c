/* SPDX-License-Identifier: MIT
 *
 * Points: see points.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "points.h"
#include "team.h"

/* What is wrong with a text, or NULL; fills s. */
static const char *
parse(char *text, struct points_source *s)
{
	char *at = text, *end;
	long dimensions;

	s->count = strtol(at, &at, 10);
	dimensions = strtol(at, &at, 10);
	if (s->count < 1 || s->count > 100000000 || dimensions < 1 || dimensions > DIMENSIONS_MAX)
		return "bad number of points or dimensions";
	s->dimensions = (int)dimensions;
	s->memory = s->next = team_alloc((size_t)(s->count * dimensions) * sizeof(*s->memory));
	for (long i = 0; i < s->count * dimensions; i++, at = end) {
		double value = strtod(at, &end);

		if (end == at)
			return "fewer coordinates than the first line says";
		if (!(fabs(value) <= POINT_MAX))
			return "a coordinate is too large";
		s->memory[i] = (int32_t)lround(value * POINT_ONE);
	}
	return NULL;
}

bool
points_read(const char *name, struct points_source *s)
{
	size_t bytes;
	char *text = input_read(name, &bytes);
	const char *wrong = text != NULL ? parse(text, s) : "no such file";

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
points_make(struct points_source *s, int places, uint64_t seed)
{
	s->next = NULL;
	s->places = places;
	s->state = seed * 2 + 1;
	s->memory = team_alloc((size_t)(places * s->dimensions) * sizeof(*s->memory));
	for (int i = 0; i < places * s->dimensions; i++)
		s->memory[i] = (int32_t)(next(&s->state) % (1000 * POINT_ONE));
}

void
points_take(struct points_source *s, long count, int32_t *to)
{
	long words = count * s->dimensions;

	if (s->next != NULL) {
		memcpy(to, s->next, (size_t)words * sizeof(*to));
		s->next += words;
		return;
	}
	for (long i = 0; i < count; i++) {
		const int32_t *center = s->memory + (long)(next(&s->state) % (uint64_t)s->places) *
			s->dimensions;

		for (int d = 0; d < s->dimensions; d++)
			*to++ = center[d] + (int32_t)(next(&s->state) % (40 * POINT_ONE)) - 20 *
				POINT_ONE;
	}
}

void
points_close(struct points_source *s)
{
	free(s->memory);
}
