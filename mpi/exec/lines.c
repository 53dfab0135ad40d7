/* SPDX-License-Identifier: MIT
 *
 * Whole lines.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <mpi/exec/lines.h>
#include <mpi/exec/message.h>

#define FIRST_ROOM 8192

/* The beginning of a line of `l`: end the line of another that stands open. */
static void
begin_line(struct lines *l)
{
	struct sink *s = l->sink;
	char tag[32];

	if (s->open == l)
		return;
	sink_end_line(s);
	if (l->tag >= 0)
		sink_put(s, tag, (size_t)snprintf(tag, sizeof(tag), "[%d] ", l->tag));
}

static void
pass_on(struct lines *l, const char *data, size_t len)
{
	if (len == 0)
		return;
	begin_line(l);
	sink_put(l->sink, data, len);
	l->sink->open = data[len - 1] == '\n' ? NULL : l;
}

/* All whole lines at once, unless each gets a tag. */
static void
pass_whole_lines(struct lines *l)
{
	const char *last = memrchr(l->buffer, '\n', l->used);
	size_t whole = last ? (size_t)(last - l->buffer) + 1 : l->used == LINE_MAX_BYTES ? l->used :
		0;

	for (size_t from = 0, len; from < whole; from += len) {
		const char *end = l->tag >= 0 ? memchr(l->buffer + from, '\n', whole - from) : NULL;

		len = end ? (size_t)(end - l->buffer) + 1 - from : whole - from;
		pass_on(l, l->buffer + from, len);
	}
	l->used -= whole;
	memmove(l->buffer, l->buffer + whole, l->used);
}

static void
lines_make_room(struct lines *l)
{
	size_t room = l->room ? 2 * l->room : FIRST_ROOM;
	char *larger = l->used == l->room && room <= LINE_MAX_BYTES ? realloc(l->buffer, room) :
		NULL;

	if (larger == NULL)
		return;
	l->buffer = larger;
	l->room = room;
}

void
lines_watch(const struct lines *l, int rank)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)rank};

	if (epoll_ctl(l->sink->sources, EPOLL_CTL_ADD, l->fd, &e) != 0)
		system_error("epoll_ctl");
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

/* What has no end yet will get none. */
static void
lines_end(struct lines *l)
{
	pass_on(l, l->buffer, l->used);
	sink_flush(l->sink);
	close_it(l);
}

bool
lines_read(struct lines *l)
{
	ssize_t got;

	if (l->fd < 0)
		return false;
	lines_make_room(l);
	got = l->room > l->used ? read(l->fd, l->buffer + l->used, l->room - l->used) : 0;
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (got > 0) {
		l->used += (size_t)got;
		pass_whole_lines(l);
		sink_flush(l->sink);
	}
	if (got > 0 && !l->sink->broken)
		return true;
	lines_end(l);
	return false;
}

void
lines_finish(struct lines *l)
{
	struct pollfd left = {.fd = l->fd, .events = POLLIN};

	if (poll(&left, 1, 0) > 0)
		lines_read(l);
	else
		lines_end(l);
}
