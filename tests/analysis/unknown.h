/* SPDX-License-Identifier: MIT
 *
 * Values that the analyser takes to be anything.
 */
#ifndef TESTS_ANALYSIS_UNKNOWN_H
#define TESTS_ANALYSIS_UNKNOWN_H

#include <stddef.h>
#include <__fc_builtin.h>

/* Any number from low to high. */
static inline size_t
unknown(size_t low, size_t high)
{
	return Frama_C_unsigned_long_interval(low, high);
}

static inline long
unknown_long(void)
{
	return Frama_C_long_interval((long)-0x7fffffffffffffff - 1, 0x7fffffffffffffff);
}

/* Somebody reads n bytes. */
/*@ requires \valid_read((const unsigned char *)at + (0 .. n - 1));
    requires \initialized((const unsigned char *)at + (0 .. n - 1));
    assigns \nothing; */
void read_all(const void *at, size_t n);

/* n bytes of any value. */
static inline void
unknown_bytes(void *at, size_t n)
{
	Frama_C_make_unknown(at, n);
}

#endif
