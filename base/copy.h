/* SPDX-License-Identifier: MIT
 *
 * Copies of few bytes, without a loop or a call.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>

/* The first and the last `half` bytes, which may overlap: a block of half to twice that many. */
#define COPY_ENDS(half) \
	do { \
		__builtin_memcpy(t, f, (half)); \
		__builtin_memcpy(t + len - (half), f + len - (half), (half)); \
	} while (0)

/*
 * len bytes, at most `most`, which is a constant of at most 64. They do not overlap. Nothing may
 * have no address.
 */
static inline __attribute__((always_inline)) void
copy_few(void *to, const void *from, size_t len, size_t most)
{
	char *t = to;
	const char *f = from;

	if (most > 32 && len > 32)
		COPY_ENDS(32);
	else if (most > 16 && len > 16)
		COPY_ENDS(16);
	else if (len >= 8)
		COPY_ENDS(8);
	else if (len >= 4)
		COPY_ENDS(4);
	else if (len >= 2)
		COPY_ENDS(2);
	else if (len == 1)
		*t = *f;
}

#undef COPY_ENDS

#endif
