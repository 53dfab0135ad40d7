/* SPDX-License-Identifier: MIT
 *
 * What a program has mapped, in pages, and what a child of fork gets of it: a copy, or the same
 * frames. What is in no area a child does not get: so it is with the personality's own memory. No
 * kernel calls: tested on its own.
 */
#ifndef USER_PERSONALITY_SPACE_H
#define USER_PERSONALITY_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#define SPACE_AREAS 120

#define SPACE_FILES 7

/* Pages [first, end). Two that touch each other differ. */
struct space_area {
	uint32_t first;
	uint32_t end : 28;
	uint32_t is_shared : 1;
	uint32_t behind : 3;	/* the end of a file, which one of SPACE_FILES, from 1; 0: none */
};

struct space {
	uint32_t count;
	uint32_t is_lost;	/* there were too many: it is not known what there is */
	struct space_area area[SPACE_AREAS];
};

/* Pages that nothing was in. */
void space_add(struct space *s, struct space_area a);

/* They are gone, if they were there. */
void space_remove(struct space *s, uint32_t first, uint32_t end);

/* A number for a file behind whose end an area lies, that no other has; 0: all have one. */
uint32_t space_free_file(const struct space *s);

/* The area in which a page lies; one without pages: in none. */
struct space_area space_find(const struct space *s, uint32_t page);

#endif
