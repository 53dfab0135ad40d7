/* SPDX-License-Identifier: MIT
 *
 * Lines that the personality writes itself, put together piece by piece: it is in each process, and
 * formats would be more of it than all that it says.
 */
#ifndef USER_PERSONALITY_LINE_H
#define USER_PERSONALITY_LINE_H

#include <stdint.h>

#define LINE_BYTES 160

struct line {
	uint32_t len;
	char text[LINE_BYTES + 1];
};

/* What has no room is left out; a zero byte ends it. The length is 0 at first. */
void line_text(struct line *l, const char *text);
void line_number(struct line *l, uint64_t value, uint32_t base);

/* Write it to the console; and one that is a text. */
void line_say(const struct line *l);
void line_say_text(const char *text);

#endif
