/* SPDX-License-Identifier: MIT
 *
 * Messages of mpiexec, each written at once.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi/exec/message.h>
#include <mpi/exec/sink.h>

#define LINE 1024

static struct sink *errors;		/* NULL: not yet open */

void
message_through(struct sink *s)
{
	errors = s;
}

static void
message_say(const char *format, va_list list)
{
	char line[LINE] = "mpiexec: ";
	size_t len = strlen(line);
	ssize_t done;

	vsnprintf(line + len, sizeof(line) - len - 1, format, list);
	len = strlen(line);
	line[len] = '\n';
	if (errors == NULL) {
		done = write(STDERR_FILENO, line, len + 1);
		(void)done;
		return;
	}
	sink_end_line(errors);
	sink_put(errors, line, len + 1);
	sink_flush(errors);
}

void
message(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_say(format, list);
	va_end(list);
}

void
usage_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_say(format, list);
	va_end(list);
	exit(2);
}

void
system_error(const char *what)
{
	message("%s: %s", what, strerror(errno));
	exit(1);
}
