/* SPDX-License-Identifier: MIT
 *
 * Output that never waits. Whether a write waits belongs to the opening that we share with whoever
 * started us, so it is not changed: a pipe or terminal is opened once more.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <mpi/exec/message.h>
#include <mpi/exec/sink.h>

#define FIRST_ROOM 65536

void
sink_open(struct sink *s, int fd)
{
	char path[64];
	struct stat what;
	int again = -1;

	*s = (struct sink){.fd = fd, .sources = epoll_create1(EPOLL_CLOEXEC)};
	if (s->sources < 0)
		system_error("epoll_create1");
	if (fstat(fd, &what) != 0)
		return;
	s->is_socket = S_ISSOCK(what.st_mode);
	if (!S_ISFIFO(what.st_mode) && !S_ISCHR(what.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again >= 0)
		s->fd = again;
	else
		s->blocks = true;
}

/* As write(2), but EAGAIN if it would wait. Of a pipe that has room, PIPE_BUF bytes fit. */
static ssize_t
write_some(const struct sink *s, const char *data, size_t len)
{
	struct pollfd room = {.fd = s->fd, .events = POLLOUT};

	if (s->is_socket)
		return send(s->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!s->blocks)
		return write(s->fd, data, len);
	if (poll(&room, 1, 0) > 0)
		return write(s->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
	errno = EAGAIN;
	return -1;
}

static void
sink_break(struct sink *s, int error)
{
	s->broken = true;
	s->used = 0;
	s->lost = error != EPIPE;
	if (s->lost)
		message("cannot write the output of the ranks: %s", strerror(error));
}

void
sink_flush(struct sink *s)
{
	while (!sink_is_empty(s)) {
		ssize_t done = write_some(s, s->queue + s->from, s->used);

		if (done >= 0) {
			s->from += (size_t)done;
			s->used -= (size_t)done;
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			sink_break(s, errno);
		}
	}
	s->from = 0;
}

/* Room for `len` bytes behind those that wait. */
static bool
sink_make_room(struct sink *s, size_t len)
{
	size_t room = s->room ? s->room : FIRST_ROOM;
	char *larger;

	if (s->from > 0)
		memmove(s->queue, s->queue + s->from, s->used);
	s->from = 0;
	while (room < s->used + len)
		room *= 2;
	larger = room > s->room ? realloc(s->queue, room) : s->queue;
	if (larger == NULL)
		return false;
	s->queue = larger;
	s->room = room;
	return true;
}

void
sink_put(struct sink *s, const char *data, size_t len)
{
	if (s->broken)
		return;
	if (s->from + s->used + len > s->room && !sink_make_room(s, len)) {
		sink_break(s, ENOMEM);
		return;
	}
	memcpy(s->queue + s->from + s->used, data, len);
	s->used += len;
}

void
sink_end_line(struct sink *s)
{
	if (s->open != NULL)
		sink_put(s, "\n", 1);
	s->open = NULL;
}
