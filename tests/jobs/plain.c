/* SPDX-License-Identifier: MIT
 *
 * A program that knows nothing of Atoll; on riscv64 it also runs when it was linked without Atoll's
 * libraries.
 */
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void
at_end(void)
{
	printf("plain: %d calls, %g\n", calls, 2.5 * calls);
}

int
main(int argc, char **argv)
{
	atexit(at_end);
	for (int i = 0; i < argc; i++)
		calls++;
	return argc > 1 ? atoi(argv[1]) : 0;
}
