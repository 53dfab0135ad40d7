/* SPDX-License-Identifier: MIT
 *
 * Output of a rank, passed on in whole lines, so that lines of ranks never mix. A line longer than the buffer is passed on in pieces.
 */
#ifndef MPI_EXEC_LINES_H
#define MPI_EXEC_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define LINE_MAX_BYTES (1u << 20)

/* Where lines go: our standard output or error. */
struct sink {
	int fd;
	bool broken;			/* nobody reads any more, or what is written is lost */
	bool lost;			/* the latter */
	const void *open;		/* whose line was passed on without its end; NULL: nobody's */
};

struct lines {
	int fd;				/* the rank's end; -1: closed */
	char *buffer;
	size_t used;
	size_t room;
	struct sink *sink;
	int tag;			/* rank to write before each line; -1: none */
};

/* Take what there is. False: the rank has closed it, or nobody reads it: closed now. */
bool lines_read(struct lines *l);

/* Take what is left, without waiting, pass on an unfinished line, and close. */
void lines_finish(struct lines *l);

#endif
