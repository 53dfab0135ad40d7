/* SPDX-License-Identifier: MIT
 *
 * memcpy of programs on the hosted port. That of the compiler's library takes 16 bytes at a time,
 * so that few lines are on their way at once; where they come from another core's cache, which is
 * what a message or a collective does, it takes up to three times as long (ADR 0138).
 */
#include <stddef.h>
#include <string.h>
#include <usercpu/copy.h>

#define MANY 1024		/* below, the instruction takes longer than the loop */
#define STEP 64

#define BLOCK(bytes) __builtin_memcpy(to, from, (bytes))
#define LAST_BLOCK(bytes) __builtin_memcpy(to + n - (bytes), from + n - (bytes), (bytes))

/* The first and the last bytes, which may overlap: one block to two. */
#define ENDS(bytes) \
	do { \
		BLOCK(bytes); \
		LAST_BLOCK(bytes); \
	} while (0)

static void
copy_few(char *to, const char *from, size_t n)
{
	if (n >= 32)
		ENDS(32);
	else if (n >= 16)
		ENDS(16);
	else if (n >= 8)
		ENDS(8);
	else if (n >= 4)
		ENDS(4);
	else if (n >= 2)
		ENDS(2);
	else if (n == 1)
		*to = *from;
}

/* The loop must not become a call of memcpy. */
__attribute__((no_builtin("memcpy"))) void *
memcpy(void *restrict out, const void *restrict in, size_t bytes)
{
	char *to = out;
	const char *from = in;
	size_t n = bytes;

	if (bytes >= MANY) {
		copy_by_instruction(to, from, bytes);
	} else if (bytes < STEP) {
		copy_few(to, from, n);
	} else {
		for (; n > STEP; n -= STEP, to += STEP, from += STEP)
			BLOCK(STEP);
		/* from 1 to all bytes of a step are left; those before them may be copied again */
		__builtin_memcpy(to + n - STEP, from + n - STEP, STEP);
	}
	return out;
}
