/* SPDX-License-Identifier: MIT
 *
 * Software arithmetic against the host's, on borders and at random.
 *
 * needs:
 */
#define __mulsi3 soft_mul32
#define __udivsi3 soft_udiv32
#define __umodsi3 soft_umod32
#define __divsi3 soft_div32
#define __modsi3 soft_mod32
#define __muldi3 soft_mul64
#define __udivdi3 soft_udiv64
#define __umoddi3 soft_umod64
#define __udivmoddi4 soft_udivmod64
#define __divdi3 soft_div64
#define __moddi3 soft_mod64
#include "soft.c"
#include "soft32.c"
#include <base/test.h>

#define ROUNDS 20000

static const uint64_t borders[] = {0, 1, 2, 3, 7, 10, 0x7fff, 0xffff, 0x10000, 0x7fffffff,
	0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
	0x8000000000000000, 0xffffffffffffffff};

#define BORDERS (sizeof(borders) / sizeof(borders[0]))

static uint64_t seed = 1;

/* Numbers of all sizes. */
static uint64_t
draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed ^ seed >> 29) >> (seed >> 58);
}

static void
try_32(uint32_t a, uint32_t b)
{
	expect_eq(soft_mul32(a, b), (uint32_t)(a * (uint64_t)b));
	if (b == 0)
		return;
	expect_eq(soft_udiv32(a, b), a / b);
	expect_eq(soft_umod32(a, b), a % b);
	if (b == 0xffffffff)
		return;
	expect_eq(soft_div32((int32_t)a, (int32_t)b), (int32_t)a / (int32_t)b);
	expect_eq(soft_mod32((int32_t)a, (int32_t)b), (int32_t)a % (int32_t)b);
}

static void
try_64(uint64_t a, uint64_t b)
{
	uint64_t rest;

	expect(soft_mul64(a, b) == a * b);
	if (b == 0)
		return;
	expect(soft_udivmod64(a, b, &rest) == a / b && rest == a % b);
	expect(soft_udiv64(a, b) == a / b && soft_umod64(a, b) == a % b);
	if (b == ~(uint64_t)0)
		return;
	expect(soft_div64((int64_t)a, (int64_t)b) == (int64_t)a / (int64_t)b);
	expect(soft_mod64((int64_t)a, (int64_t)b) == (int64_t)a % (int64_t)b);
}

TEST(borders_are_right)
{
	for (size_t i = 0; i < BORDERS; i++)
		for (size_t j = 0; j < BORDERS; j++) {
			try_32((uint32_t)borders[i], (uint32_t)borders[j]);
			try_64(borders[i], borders[j]);
		}
}

TEST(random_numbers_of_all_sizes_are_right)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = draw(), b = draw();

		try_32((uint32_t)a, (uint32_t)b);
		try_64(a, b);
	}
}

TEST(division_by_zero_ends)
{
	uint64_t rest;

	expect_eq(soft_udiv32(7, 0), 0);
	expect_eq(soft_umod32(7, 0), 7);
	expect(soft_udivmod64(7, 0, &rest) == 0 && rest == 7);
}

int
main(void)
{
	RUN(borders_are_right);
	RUN(random_numbers_of_all_sizes_are_right);
	RUN(division_by_zero_ends);
	return TEST_FAILED;
}
