/* SPDX-License-Identifier: MIT
 *
 * Output of a rank, passed on in whole lines, so that lines of ranks never mix. A line longer than
 * the buffer is passed on in pieces.
 */
#ifndef MPI_EXEC_LINES_H
#define MPI_EXEC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <mpi/exec/sink.h>

#define LINE_MAX_BYTES (1u << 20)

struct lines {
	int fd;				/* the rank's end; -1: closed */
	char *buffer;
	size_t used;
	size_t room;
	struct sink *sink;
	int tag;			/* rank to write before each line; -1: none */
};

/*
 * The rank's end is open: look at it with the others of its sink. `rank` comes back with the event.
 */
void lines_watch(const struct lines *l, int rank);

/* Take what there is. False: the rank has closed it, or nobody reads it: closed now. */
bool lines_read(struct lines *l);

/*
 * The rank has ended: take a piece of what is left, without waiting; if nothing is, pass on an
 * unfinished line and close.
 */
void lines_finish(struct lines *l);

#endif
