/* SPDX-License-Identifier: MIT
 *
 * Where output goes: our standard output or error. Writing never waits for whoever reads there:
 * what does not fit is kept in a queue, and while that is full the ranks' pipes are not read, so
 * that the ranks wait and nobody else does.
 */
#ifndef MPI_EXEC_SINK_H
#define MPI_EXEC_SINK_H

#include <stdbool.h>
#include <stddef.h>

/* then no more is read; at most one read of one rank comes on top */
#define SINK_FULL_BYTES (1u << 20)

struct sink {
	int fd;
	int sources;			/* epoll: the pipes whose lines go here */
	char *queue;			/* what waits to be written: `used` bytes from `from` on */
	size_t from;
	size_t used;
	size_t room;
	bool is_socket;
	bool blocks;			/* a write may wait: ask first */
	bool watched;			/* the loop waits for room in fd */
	bool stopped;			/* the loop does not look at the sources */
	bool broken;			/* nobody reads any more, or what is written is lost */
	bool lost;			/* the latter */
	/* whose line was passed on without its end; NULL: nobody's */
	const void *open;
};

/* Write to what `fd` leads to. */
void sink_open(struct sink *s, int fd);

/* Queue. */
void sink_put(struct sink *s, const char *data, size_t len);

/* Write of the queue what there is room for. */
void sink_flush(struct sink *s);

/* End the line that stands open, if another one is to begin. */
void sink_end_line(struct sink *s);

/* Once it is full, it counts as full until it is half empty. */
static inline bool
sink_is_full(const struct sink *s)
{
	return !s->broken && s->used >= (s->stopped ? SINK_FULL_BYTES / 2 : SINK_FULL_BYTES);
}

static inline bool
sink_is_empty(const struct sink *s)
{
	return s->used == 0 || s->broken;
}

#endif
