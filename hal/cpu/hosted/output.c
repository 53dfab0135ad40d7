/* SPDX-License-Identifier: MIT
 *
 * The console of cluster 0 is the standard output of its Linux process, which programs write to as
 * well. The kernel hands over a line in pieces; it is put together here and written at once, so
 * that no program's text comes between them. What is kept here has no newline: the piece that ends
 * it is taken only when all of it could be written, so there is always something to come.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>
#include <base/str.h>
#include <hal/console.h>
#include "hosted.h"

#define LINE_MAX 512		/* what a pipe or terminal with room takes without waiting */

static struct {
	char text[LINE_MAX];
	size_t len;
} line;

/*
 * Write what is kept, as far as that can be done without waiting. What reads a terminal may stop at
 * any time, so it gets little at once.
 */
static void
line_write(void)
{
	struct pollfd room = {.fd = 1, .events = POLLOUT};
	long n;

	if (host_call3(SYS_poll, &room, 1, 0) != 1)
		return;
	n = host_call3(SYS_write, 1, line.text, line.len);
	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n <= 0)
		n = (long)line.len;		/* nobody will read it */
	line.len -= (size_t)n;
	memmove(line.text, line.text + n, line.len);
}

/* Bytes up to and with the first newline, or all. */
static size_t
first_line(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] != '\n')
		n++;
	return n < len ? n + 1 : len;
}

/* Take bytes of one line, the end of it only with all that is kept. */
static size_t
line_take(const char *text, size_t len)
{
	size_t n = first_line(text, len), room = LINE_MAX - line.len;
	bool is_end = text[n - 1] == '\n' || n >= room;

	if (n > room)
		n = room;
	memcpy(line.text + line.len, text, n);
	line.len += n;
	if (!is_end)
		return n;
	line_write();
	if (line.len == 0)
		return n;
	/* all but the last byte stays here, and the kernel comes again with that one */
	line.len--;
	return n - 1;
}

size_t
hal_console_put(const char *text, size_t len)
{
	size_t taken = 0;

	while (taken < len) {
		size_t n = line_take(text + taken, len - taken);

		if (n == 0)
			break;
		taken += n;
	}
	return taken;
}

void
hal_console_write(const char *text, size_t len)
{
	size_t kept = line.len;

	line.len = 0;
	host_write(1, line.text, kept);
	host_write(1, text, len);
}
