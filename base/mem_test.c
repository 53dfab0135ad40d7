/* SPDX-License-Identifier: MIT
 *
 * The memory functions, under other names beside the libc's, at every alignment.
 */
#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#define memcmp own_memcmp
#include <base/mem.c>
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#include <base/copy.h>
#include <base/test.h>

#define ROOM 96

static void
fill(unsigned char *p)
{
	for (int i = 0; i < ROOM; i++)
		p[i] = (unsigned char)(i * 7 + 1);
}

TEST(copying_and_setting_agree_with_the_libc_at_every_alignment)
{
	unsigned char have[ROOM], want[ROOM], from[ROOM];

	fill(from);
	for (size_t to = 0; to < 9; to++)
		for (size_t at = 0; at < 9; at++)
			for (size_t len = 0; len < 40; len++) {
				fill(have);
				fill(want);
				expect(own_memcpy(have + to, from + at, len) == have + to);
				memcpy(want + to, from + at, len);
				expect_eq(memcmp(have, want, ROOM), 0);
				expect(own_memmove(have + to, have + at, len) == have + to);
				memmove(want + to, want + at, len);
				expect_eq(memcmp(have, want, ROOM), 0);
				own_memset(have + to, (int)at - 1, len);
				memset(want + to, (int)at - 1, len);
				expect_eq(memcmp(have, want, ROOM), 0);
			}
}

TEST(comparing_orders_unsigned_bytes)
{
	expect(own_memcmp("a\x80", "a\x7f", 2) > 0);
	expect(own_memcmp("a\x7f", "a\x80", 2) < 0);
	expect_eq(own_memcmp("abc", "abd", 2), 0);
	expect_eq(own_memcmp("a", "b", 0), 0);
}

/* `most` is a constant where copies are made: each of those that are used. */
static void
copy_at_most(unsigned char *to, const unsigned char *from, size_t len, size_t most)
{
	if (most == 16)
		copy_few(to, from, len, 16);
	else
		copy_few(to, from, len, 64);
}

TEST(copying_few_bytes_agrees_with_the_libc_and_touches_no_others)
{
	unsigned char have[ROOM], want[ROOM], from[ROOM];

	fill(from);
	for (size_t most = 16; most <= 64; most += 48)
		for (size_t len = 0; len <= most; len++)
			for (size_t at = 0; at < 9; at++) {
				memset(have, 0, ROOM);
				memset(want, 0, ROOM);
				copy_at_most(have + at, from + 8 - at, len, most);
				memcpy(want + at, from + 8 - at, len);
				expect_eq(memcmp(have, want, ROOM), 0);
			}
	copy_few(NULL, NULL, 0, 16);
}

int
main(void)
{
	RUN(copying_and_setting_agree_with_the_libc_at_every_alignment);
	RUN(comparing_orders_unsigned_bytes);
	RUN(copying_few_bytes_agrees_with_the_libc_and_touches_no_others);
	return TEST_FAILED;
}
