/* SPDX-License-Identifier: MIT
 *
 * How far a core's timer is set, for the ticks of the boards.
 */
#include <stdio.h>
#include "ticks.h"

#define NEVER_LATE_NS 1000u		/* the ticks that are added, and one that is not complete */

static int failures;

#define expect(condition) \
	do { \
		if (!(condition)) \
			failures++, printf("FAIL line %d: %s\n", __LINE__, #condition); \
	} while (0)

/*
 * The timer rings at the time or before it, and later than at once; half its range is enough for
 * all times.
 */
static void
check(uint64_t left_ns, uint32_t tick_ns)
{
	uint32_t ticks = timer_ticks(left_ns, tick_ns);

	expect(ticks >= TIMER_SOON);
	expect(ticks <= TIMER_MASK / 2 + TIMER_SOON + 1);
	expect((uint64_t)ticks * tick_ns <= left_ns + NEVER_LATE_NS);
	if (left_ns <= TIMER_FAR_NS)
		expect((uint64_t)ticks * tick_ns + tick_ns > left_ns);
	else
		expect((uint64_t)ticks * tick_ns + tick_ns > TIMER_FAR_NS);
}

int
main(void)
{
	static const uint32_t tick_ns[] = {1, 10, 20, 50, 100};

	for (unsigned i = 0; i < sizeof(tick_ns) / sizeof(tick_ns[0]); i++) {
		for (uint64_t left = 1; left != 0; left <<= 1) {
			check(left - 1, tick_ns[i]);
			check(left, tick_ns[i]);
		}
		for (uint64_t left = 0; left < 20000000000u; left += 9999991)
			check(left, tick_ns[i]);
		check(UINT64_MAX / 2, tick_ns[i]);
	}
	printf(failures == 0 ? "ok a_timer_is_set_to_its_time_or_before_it\n" :
		"FAIL a_timer_is_set_to_its_time_or_before_it\n");
	return failures != 0;
}
