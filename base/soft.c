/* SPDX-License-Identifier: MIT
 *
 * What a compiler calls for 64-bit arithmetic on a 32-bit CPU. Its own library is built with
 * multiply and divide instructions, which a narrow core lacks: only additions, shifts and
 * comparisons here.
 */
#include <stdint.h>

uint64_t __muldi3(uint64_t a, uint64_t b);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);

uint64_t
__muldi3(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	if (a < b) {
		uint64_t c = a;

		a = b;
		b = c;
	}
	for (; b != 0; b >>= 1, a += a)
		if (b & 1)
			sum += a;
	return sum;
}

uint64_t
__udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
	uint64_t quotient = 0, bit = 1;

	if (d == 0) {
		*rest = n;
		return 0;
	}
	while (d < n && (int64_t)d >= 0) {
		d += d;
		bit += bit;
	}
	for (; bit != 0; bit >>= 1, d >>= 1)
		if (n >= d) {
			n -= d;
			quotient |= bit;
		}
	*rest = n;
	return quotient;
}

uint64_t
__udivdi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	return __udivmoddi4(n, d, &rest);
}

uint64_t
__umoddi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	__udivmoddi4(n, d, &rest);
	return rest;
}

int64_t
__divdi3(int64_t n, int64_t d)
{
	uint64_t quotient = __udivdi3(n < 0 ? -(uint64_t)n : (uint64_t)n, d < 0 ? -(uint64_t)d :
		(uint64_t)d);

	return (int64_t)((n < 0) != (d < 0) ? -quotient : quotient);
}

int64_t
__moddi3(int64_t n, int64_t d)
{
	uint64_t rest = __umoddi3(n < 0 ? -(uint64_t)n : (uint64_t)n, d < 0 ? -(uint64_t)d :
		(uint64_t)d);

	return (int64_t)(n < 0 ? -rest : rest);
}
