/* SPDX-License-Identifier: MIT
 *
 * 32-bit multiplication and division for a CPU without instructions for them, in place of the
 * compiler's library: the operands of a kernel are small, so every loop ends with the last bit of
 * the smaller one (TUNE_SOFT of base/tune.h). See also soft.c.
 */
#include <stdint.h>

uint32_t __mulsi3(uint32_t a, uint32_t b);
uint32_t __udivsi3(uint32_t n, uint32_t d);
uint32_t __umodsi3(uint32_t n, uint32_t d);
int32_t __divsi3(int32_t n, int32_t d);
int32_t __modsi3(int32_t n, int32_t d);

uint32_t
__mulsi3(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	if (a < b) {
		uint32_t c = a;

		a = b;
		b = c;
	}
	for (; b != 0; b >>= 1, a += a)
		if (b & 1)
			sum += a;
	return sum;
}

/* Quotient, and the remainder in *rest. Division by zero gives 0 and leaves the number. */
static inline uint32_t
divide32(uint32_t n, uint32_t d, uint32_t *rest)
{
	uint32_t quotient = 0, bit = 1;

	*rest = n;
	if (d == 0)
		return 0;
	while (d < n && (d & 0x80000000) == 0) {
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

uint32_t
__udivsi3(uint32_t n, uint32_t d)
{
	uint32_t rest;

	return divide32(n, d, &rest);
}

uint32_t
__umodsi3(uint32_t n, uint32_t d)
{
	uint32_t rest;

	divide32(n, d, &rest);
	return rest;
}

int32_t
__divsi3(int32_t n, int32_t d)
{
	uint32_t quotient = __udivsi3(n < 0 ? -(uint32_t)n : (uint32_t)n, d < 0 ? -(uint32_t)d :
		(uint32_t)d);

	return (int32_t)((n < 0) != (d < 0) ? -quotient : quotient);
}

int32_t
__modsi3(int32_t n, int32_t d)
{
	uint32_t rest = __umodsi3(n < 0 ? -(uint32_t)n : (uint32_t)n, d < 0 ? -(uint32_t)d :
		(uint32_t)d);

	return (int32_t)(n < 0 ? -rest : rest);
}
