/* SPDX-License-Identifier: MIT
 *
 * memcpy of programs on the hosted port. That of the compiler's library takes 16 bytes at a time,
 * so that few lines are on their way at once; where they come from another core's cache, which is
 * what a message or a collective does, it takes up to three times as long (ADR 0138).
 */
#include <stddef.h>
#include <string.h>
#include <base/copy.h>
#include <usercpu/copy.h>

#define MANY 1024		/* below, the instruction takes longer than the loop */
#define STEP 64

#define BLOCK(bytes) __builtin_memcpy(to, from, (bytes))

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
		copy_few(to, from, n, STEP);
	} else {
		for (; n > STEP; n -= STEP, to += STEP, from += STEP)
			BLOCK(STEP);
		/* from 1 to all bytes of a step are left; those before them may be copied again */
		__builtin_memcpy(to + n - STEP, from + n - STEP, STEP);
	}
	return out;
}
