/* SPDX-License-Identifier: MIT
 *
 * What a program has mapped: see space.h. The areas have no order.
 */
#include <user/personality/space.h>

static void
area_put(struct space *s, struct space_area a)
{
	if (s->count == SPACE_AREAS)
		s->is_lost = true;
	else
		s->area[s->count++] = a;
}

/* The last one takes its place. */
static struct space_area
area_take(struct space *s, uint32_t i)
{
	struct space_area a = s->area[i];

	s->area[i] = s->area[--s->count];
	return a;
}

void
space_add(struct space *s, struct space_area a)
{
	for (uint32_t i = s->count; i-- > 0;) {
		const struct space_area *b = &s->area[i];

		if (b->is_shared != a.is_shared || b->behind != a.behind)
			continue;
		if (b->end == a.first)
			a.first = area_take(s, i).first;
		else if (b->first == a.end)
			a.end = area_take(s, i).end;
	}
	area_put(s, a);
}

void
space_remove(struct space *s, uint32_t first, uint32_t end)
{
	for (uint32_t i = s->count; i-- > 0;) {
		struct space_area a, rest;

		if (s->area[i].end <= first || s->area[i].first >= end)
			continue;
		rest = a = area_take(s, i);
		a.end = first;
		rest.first = end;
		if (a.first < a.end)
			area_put(s, a);
		if (rest.first < rest.end)
			area_put(s, rest);
	}
}

struct space_area
space_find(const struct space *s, uint32_t page)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->area[i].first <= page && page < s->area[i].end)
			return s->area[i];
	return (struct space_area){0};
}

uint32_t
space_free_file(const struct space *s)
{
	uint32_t used = 0, n = 1;

	for (uint32_t i = 0; i < s->count; i++)
		used |= 1u << s->area[i].behind;
	while (n <= SPACE_FILES && (used >> n & 1) != 0)
		n++;
	return n <= SPACE_FILES ? n : 0;
}
