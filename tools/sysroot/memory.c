/* SPDX-License-Identifier: MIT
 *
 * Two functions that the C library expects of its compiler's.
 */
#include <stddef.h>

#define WORD sizeof(unsigned long)

void *
memcpy(void *restrict to, const void *restrict from, size_t count)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (((size_t)t | (size_t)f) % WORD == 0)
		for (; count >= WORD; count -= WORD, t += WORD, f += WORD)
			*(unsigned long *)(void *)t = *(const unsigned long *)(const void *)f;
	while (count-- > 0)
		*t++ = *f++;
	return to;
}

void *
memmove(void *to, const void *from, size_t count)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((size_t)t - (size_t)f >= count)
		return memcpy(to, from, count);
	while (count-- > 0)
		t[count] = f[count];
	return to;
}
