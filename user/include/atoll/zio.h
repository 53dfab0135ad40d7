/* SPDX-License-Identifier: MIT
 *
 * Input and output without copies. A buffer is memory that one process has at a time: who writes it
 * into a pipe has it no more, who reads it there has it, and gives it back or sends it on. What is
 * in it is not copied on its way. Buffers come from a pool of the process that asks for them, and
 * come back to it; it has ZIO_BUFFERS at most, and a pipe ZIO_IN_PIPE: who wants one more waits.
 *
 * Who reads and writes as usual has the same pipes and files, and the same bytes. What cannot go
 * without a copy (a pipe to another cluster, bytes that were written as usual, files that are not
 * in the memory of the cluster) is copied, and counted. Where the machine has no such buffers
 * (hosted) all is copied.
 *
 * All functions return negative errors of errno.h. Any thread may call them.
 */
#ifndef ATOLL_ZIO_H
#define ATOLL_ZIO_H

#include <stddef.h>
#include <stdint.h>

#define ZIO_MAX ((size_t)2 << 20)	/* bytes of a buffer */
#define ZIO_BUFFERS 16
#define ZIO_IN_PIPE 8

/* Bytes of a buffer, from any one on; or of a file, which may only be read. */
struct zio {
	void *data;
	size_t size;
};

/*
 * A buffer of that many bytes, which the process has: zeros, or what was in it when it came back.
 * 0; -EINVAL: 0 or more than ZIO_MAX; -ENOMEM: the process has all that it may have, or the memory
 * ends; -EINTR.
 */
int zioalloc(struct zio *io, size_t size);

/*
 * Read up to `count` bytes into up to `nio` of io[]; those that were not needed get size 0. Of a
 * pipe: waits until there is something, as read does. The bytes; 0: the end.
 */
long zioread(int fd, struct zio io[], int nio, size_t count);
long ziopread(int fd, struct zio io[], int nio, size_t count, int64_t offset);

/*
 * Write io[0] to io[nio - 1], of which each lies in a buffer that the process has: all of that is
 * gone then, and io[] is empty. Of a pipe: waits until there is room. The bytes, with fewer if one
 * of them could not be written: that one and all behind it the process still has; -EINVAL: it is in
 * no buffer; -EPIPE, after SIGPIPE, and what write says.
 */
long ziowrite(int fd, struct zio io[], int nio);
long ziopwrite(int fd, struct zio io[], int nio, int64_t offset);

/* Give back what the process has: the buffers that io[] lie in, and what was read of files. */
void ziofree(struct zio io[], int nio);

/* Bytes that this process has read and written by these functions, without and with a copy. */
struct zio_counts {
	uint64_t moved, copied;
};
void zio_counts(struct zio_counts *counts);

/*
 * The same of all pipes of the machine, as its file server counts; buffers: there are now. 0;
 * -ENOSYS: nobody counts that (hosted).
 */
struct zio_machine {
	uint64_t moved, copied;
	uint32_t buffers;
};
int zio_machine(struct zio_machine *machine);

#endif
