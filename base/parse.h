/* SPDX-License-Identifier: MIT
 *
 * Taking texts apart: lines, words, numbers. A struct text is a piece of somebody else's memory,
 * not ended by a zero byte.
 */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *at;
	size_t len;
};

/*
 * Cut the first line off `rest`, without its end and without blanks around it. False when nothing
 * is left.
 */
bool text_line(struct text *rest, struct text *line);

/*
 * Cut the first word (no blanks, tabs) off `rest`. False when none is left; `rest` loses leading
 * blanks.
 */
bool text_word(struct text *rest, struct text *word);

bool text_is(struct text t, const char *s);

/*
 * The whole text as a number: decimal, or hexadecimal with 0x. False if it is anything else or does
 * not fit.
 */
bool text_number(struct text t, uint64_t *value);

#endif
