/* SPDX-License-Identifier: MIT
 *
 * Who writes to a pipe that nobody can read ends as by SIGPIPE.
 */
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	int fd[2];

	if (pipe(fd) != 0 || close(fd[0]) != 0)
		return 1;
	puts("writes");
	fflush(stdout);
	write(fd[1], "x", 1);
	puts("goes on");
	return 0;
}
