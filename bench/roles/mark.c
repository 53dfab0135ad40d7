/* SPDX-License-Identifier: MIT
 *
 * The window of what a shell starts: `mark begin` opens it, `mark end` closes it. Source: seed 003.
 */
#include <string.h>
#include <hal/perf.h>

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "begin") == 0)
		hal_mark(MARK_BEGIN);
	else
		hal_mark(MARK_END);
	return 0;
}
