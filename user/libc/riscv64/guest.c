/* SPDX-License-Identifier: MIT
 *
 * All threads of a program are the system's.
 */
#include <stddef.h>
#include <atoll/guest.h>
#include <atoll/startup.h>

#define STACK_PART 10			/* of a rank's memory */
#define STACK_LEAST (12 * 1024)
#define STACK_UNIT 4096

/*
 * The libc's: what threads get whose creator names no size. Only there if the program makes
 * threads.
 */
extern unsigned __default_stacksize __attribute__((weak));

/*
 * Stacks have memory from the start: in a small cluster the libc's own size would be more than a
 * rank has.
 */
static void
fit_stacks(void)
{
	uint64_t memory = (uint64_t)atoll_startup()->rank_kb * 1024,
		bytes = memory / STACK_PART / STACK_UNIT * STACK_UNIT;

	if (&__default_stacksize == NULL || memory == 0)
		return;
	bytes = bytes < STACK_LEAST ? STACK_LEAST : bytes;
	if (bytes < __default_stacksize)
		__default_stacksize = (unsigned)bytes;
}

bool
guests_admit(unsigned ranks)
{
	(void)ranks;
	fit_stacks();
	return true;
}

int
guest_enter(void)
{
	return 0;
}
