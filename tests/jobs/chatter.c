/* SPDX-License-Identifier: MIT
 *
 * Every rank writes many numbered lines of different lengths, faster than any console takes them.
 * None may get lost or mixed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <atoll/startup.h>

int
main(int argc, char **argv)
{
	static const char filler[] = "--------------------------------------------------"
		"--------------------------------------------------";
	int lines = argc > 1 ? atoi(argv[1]) : 1000;

	for (int i = 0; i < lines; i++) {
		printf("line %d of rank %u %.*s.\n", i, atoll_startup()->rank, i * 7 % 100, filler);
		fflush(stdout);
	}
	return 0;
}
