/* SPDX-License-Identifier: MIT
 *
 * Bytes and texts. The mem functions (base/mem.c) are those that every compiler expects from a
 * freestanding environment; programs with a libc use the libc's.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

/* Length of a text. */
size_t str_len(const char *s);

/* Length of a text in a buffer of `max` bytes; max if it does not end there. */
size_t str_len_max(const char *s, size_t max);

bool str_is_equal(const char *a, const char *b);

/*
 * Copy a text into a buffer of `size` bytes (not 0): always ends with a zero byte, cuts what does
 * not fit. Length of the copy.
 */
size_t str_copy(char *to, size_t size, const char *from);

#endif
