/* SPDX-License-Identifier: MIT
 *
 * How a process joins the job that mpiexec started it for: it connects to the launcher's socket,
 * whose name (in Linux' abstract namespace: no file) is in its environment, says which rank it is,
 * and gets the job segment. This works through shells, debuggers and interpreters, which may close
 * descriptors but pass the environment on.
 *
 * After that nobody sends anything on this connection. The kernel kills the rank when its other end
 * is closed: by the launcher's death.
 */
#ifndef MPI_TRANSPORT_PROCESS_JOIN_H
#define MPI_TRANSPORT_PROCESS_JOIN_H

#include <fcntl.h>
#include <stdint.h>

#define JOIN_VERSION 4

/* environment */
#define JOIN_SOCKET "ATOLL_JOB"		/* name of the socket, without the leading zero byte */
#define JOIN_RANK "ATOLL_RANK"
#define JOIN_RANKS "ATOLL_RANKS"
#define JOIN_APP "ATOLL_APP"		/* number of the rank's program among those of the job */

/*
 * Who trusts whom: launcher and ranks are one user, and each asks the kernel whether the other is.
 * The segment's size is sealed, and a rank looks whether its layout is the one that it would make
 * itself. Ranks trust what other ranks write there, as they could read one another's memory anyhow.
 */

/* the rank to the launcher; the kernel adds who it is */
struct join_request {
	uint32_t version;
	uint32_t rank;
};

/* nobody changes the segment's size */
#define JOIN_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum { JOIN_WELCOME, JOIN_TAKEN, JOIN_REFUSED };

/* the launcher to the rank, with the segment's descriptor if it is welcome */
struct join_answer {
	uint32_t version;
	uint32_t answer;
	int32_t pid;			/* JOIN_TAKEN: who has the rank */
	uint32_t reserved;
	uint64_t bytes;			/* of the segment */
};

struct join {
	int socket;
	int segment;			/* descriptor */
	uint64_t bytes;
	/* its process as our namespace counts, 0 if it is not seen there */
	int launcher;
};

/* Join as a rank. 0, or -1 after a message on stderr. */
int join_job(uint32_t rank, struct join *j);

/*
 * From now on the launcher's death is ours. `answered`: segment_rank.answered of this rank. As
 * above.
 */
int join_guard(uint32_t rank, const struct join *j, uint32_t *answered);

#endif
