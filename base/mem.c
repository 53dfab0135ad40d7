/* SPDX-License-Identifier: MIT
 *
 * The four functions that a compiler may call in freestanding code. Words where both sides are
 * aligned, bytes elsewhere. The empty asm keeps the compiler from replacing a loop by a call of the
 * very function it is in.
 */
#include <stdint.h>
#include <base/str.h>
#include <base/tune.h>

struct word {
	unsigned long value;
} __attribute__((may_alias));

#define WORD sizeof(struct word)
#define KEEP_LOOP() __asm__ volatile("")

static inline int
words_fit(const void *a, const void *b)
{
	return (((uintptr_t)a | (uintptr_t)b) & (WORD - 1)) == 0;
}

void *
memcpy(void *restrict to, const void *restrict from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (words_fit(t, f)) {
		for (; len >= 8 * WORD; len -= 8 * WORD, t += 8 * WORD, f += 8 * WORD) {
			const struct word *a = (const void *)f;
			struct word *w = (void *)t;

			w[0] = a[0], w[1] = a[1], w[2] = a[2], w[3] = a[3];
			w[4] = a[4], w[5] = a[5], w[6] = a[6], w[7] = a[7];
			KEEP_LOOP();
		}
		for (; len >= WORD; len -= WORD, t += WORD, f += WORD) {
			((struct word *)(void *)t)->value =
				((const struct word *)(const void *)f)->value;
			KEEP_LOOP();
		}
	}
	for (; len > 0; len--) {
		*t++ = *f++;
		KEEP_LOOP();
	}
	return to;
}

void *
memmove(void *to, const void *from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= len)
		return memcpy(to, from, len);
	while (len > 0) {
		len--;
		t[len] = f[len];
		KEEP_LOOP();
	}
	return to;
}

void *
memset(void *to, int byte, size_t len)
{
	unsigned char *t = to;
	unsigned long pattern = (unsigned char)byte * (~0ul / 255);

	if (words_fit(t, t)) {
		for (; len >= 4 * WORD; len -= 4 * WORD, t += 4 * WORD) {
			struct word *w = (void *)t;

			w[0].value = w[1].value = w[2].value = w[3].value = pattern;
			KEEP_LOOP();
		}
		if (likely(len == 0))
			return to;
		for (; len >= WORD; len -= WORD, t += WORD) {
			((struct word *)(void *)t)->value = pattern;
			KEEP_LOOP();
		}
	}
	for (; len > 0; len--) {
		*t++ = (unsigned char)byte;
		KEEP_LOOP();
	}
	return to;
}

int
memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *x = a;
	const unsigned char *y = b;

	for (; len > 0; len--, x++, y++) {
		if (*x != *y)
			return *x - *y;
		KEEP_LOOP();
	}
	return 0;
}
