/* SPDX-License-Identifier: MIT
 *
 * What a call has answered, in the same words here and on Linux: for programs whose output is
 * compared.
 */
#ifndef TESTS_JOBS_SAY_H
#define TESTS_JOBS_SAY_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A call's result, or the text of errno. */
static inline void
say(const char *what, long result)
{
	if (result < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, result);
}

/* The beginning of a file, or why it cannot be read. */
static inline void
say_text(const char *path)
{
	char text[100] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		say(path, -1);
	else
		printf("%s says %s\n", path, text);
	close(fd);
}

#endif
