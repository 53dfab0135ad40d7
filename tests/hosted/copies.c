/* SPDX-License-Identifier: MIT
 *
 * memcpy of programs (user/libc/hosted/memcpy.c) at all sizes around its limits and at all places
 * of a line: it copies what it should, nothing beside it, and returns where it copied to.
 */
#include <stdio.h>
#include <string.h>

#define LINE 64
#define MOST 2304
#define ROOM (MOST + 3 * LINE)

static unsigned char in[ROOM], out[ROOM], expected[ROOM];
static int failures;

/* A call by its address, so that the compiler does not copy by itself. */
static void *(*volatile copy)(void *to, const void *from, size_t bytes) = memcpy;

static void
try_one(size_t to, size_t from, size_t bytes)
{
	for (size_t i = 0; i < ROOM; i++)
		out[i] = expected[i] = (unsigned char)(0x80 | i % 101);
	for (size_t i = 0; i < bytes; i++)
		expected[to + i] = in[from + i];
	if (copy(out + to, in + from, bytes) == out + to && memcmp(out, expected, ROOM) == 0)
		return;
	printf("FAIL %zu bytes from %zu to %zu\n", bytes, from, to);
	failures++;
}

int
main(void)
{
	for (size_t i = 0; i < ROOM; i++)
		in[i] = (unsigned char)(i * 7 % 127);
	for (size_t bytes = 0; bytes <= MOST; bytes += bytes < 160 || bytes > MOST - 40 ? 1 : 31)
		for (size_t place = 0; place < LINE; place += bytes < 160 ? 3 : 13) {
			try_one(LINE, LINE + place, bytes);
			try_one(LINE + place, LINE, bytes);
		}
	for (size_t bytes = 1000; bytes < 1050; bytes++)
		try_one(LINE + 1, LINE + 5, bytes);
	return failures != 0;
}
