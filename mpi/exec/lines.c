/* SPDX-License-Identifier: MIT
 *
 * Whole lines.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi/exec/lines.h>
#include <mpi/exec/message.h>

#define FIRST_ROOM 8192

static void
write_all(struct sink *s, const char *data, size_t len)
{
	while (len > 0 && !s->broken) {
		ssize_t done = write(s->fd, data, len);
		struct pollfd wait = {.fd = s->fd, .events = POLLOUT};

		if (done >= 0) {
			data += done;
			len -= (size_t)done;
		} else if (errno == EAGAIN) {
			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			s->broken = true;
			s->lost = errno != EPIPE;
			if (s->lost)
				message("cannot write the output of the ranks: %s", strerror(errno));
		}
	}
}

/* The beginning of a line of `l`: end the line of another that stands open. */
static void
begin_line(struct lines *l)
{
	struct sink *s = l->sink;
	char tag[32];

	if (s->open == l)
		return;
	if (s->open != NULL)
		write_all(s, "\n", 1);
	s->open = NULL;
	if (l->tag >= 0)
		write_all(s, tag, (size_t)snprintf(tag, sizeof(tag), "[%d] ", l->tag));
}

static void
pass_on(struct lines *l, const char *data, size_t len)
{
	if (len == 0)
		return;
	begin_line(l);
	write_all(l->sink, data, len);
	l->sink->open = data[len - 1] == '\n' ? NULL : l;
}

/* All whole lines at once, unless each gets a tag. */
static void
pass_whole_lines(struct lines *l)
{
	const char *last = memrchr(l->buffer, '\n', l->used);
	size_t whole = last ? (size_t)(last - l->buffer) + 1 : l->used == LINE_MAX_BYTES ? l->used : 0;

	for (size_t from = 0, len; from < whole; from += len) {
		const char *end = l->tag >= 0 ? memchr(l->buffer + from, '\n', whole - from) : NULL;

		len = end ? (size_t)(end - l->buffer) + 1 - from : whole - from;
		pass_on(l, l->buffer + from, len);
	}
	l->used -= whole;
	memmove(l->buffer, l->buffer + whole, l->used);
}

static void
make_room(struct lines *l)
{
	size_t room = l->room ? 2 * l->room : FIRST_ROOM;
	char *larger = l->used == l->room && room <= LINE_MAX_BYTES ? realloc(l->buffer, room) : NULL;

	if (larger == NULL)
		return;
	l->buffer = larger;
	l->room = room;
}

static void
close_it(struct lines *l)
{
	close(l->fd);
	l->fd = -1;
	free(l->buffer);
	l->buffer = NULL;
	l->used = l->room = 0;
}

bool
lines_read(struct lines *l)
{
	ssize_t got;

	if (l->fd < 0)
		return false;
	make_room(l);
	got = l->room > l->used ? read(l->fd, l->buffer + l->used, l->room - l->used) : 0;
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (got > 0) {
		l->used += (size_t)got;
		pass_whole_lines(l);
	}
	if (got > 0 && !l->sink->broken)
		return true;
	pass_on(l, l->buffer, l->used);
	close_it(l);
	return false;
}

void
lines_finish(struct lines *l)
{
	while (l->fd >= 0) {
		struct pollfd wait = {.fd = l->fd, .events = POLLIN};

		if (poll(&wait, 1, 0) > 0) {
			lines_read(l);
			continue;
		}
		pass_on(l, l->buffer, l->used);
		close_it(l);
	}
}
