/* SPDX-License-Identifier: MIT
 *
 * Calls of buffers (atoll/zio.h) that are the same on both ports; each port's zio.c includes this
 * once, and has the others.
 */
#ifndef USER_LIBC_ZIO_CALLS_H
#define USER_LIBC_ZIO_CALLS_H

#include <errno.h>
#include <unistd.h>
#include <atoll/zio.h>

static struct zio_counts counts;

/* The port's: one buffer, which is gone when it was written as a whole. As ziopwrite. */
static long write_one(int fd, struct zio *io, int64_t offset);

static void
count_bytes(uint64_t *of, uint64_t bytes)
{
	__atomic_fetch_add(of, bytes, __ATOMIC_RELAXED);
}

/* What is not written as a whole stays, and begins behind what was. */
static long
write_copy(int fd, struct zio *io, int64_t offset)
{
	size_t done = 0;
	long result = 1;

	while (done < io->size && result > 0) {
		const char *from = (const char *)io->data + done;

		result = offset < 0 ? write(fd, from, io->size - done) :
			pwrite(fd, from, io->size - done, offset + (int64_t)done);
		done += result > 0 ? (size_t)result : 0;
	}
	count_bytes(&counts.copied, done);
	if (done == 0)
		return result < 0 ? -errno : 0;
	if (done == io->size)
		ziofree(io, 1);
	else
		*io = (struct zio){(char *)io->data + done, io->size - done};
	return (long)done;
}

long
zioread(int fd, struct zio io[], int nio, size_t count)
{
	return ziopread(fd, io, nio, count, -1);
}

long
ziopwrite(int fd, struct zio io[], int nio, int64_t offset)
{
	size_t done = 0;
	long result = 0;

	if (nio <= 0 || offset < -1)
		return -EINVAL;
	for (int i = 0; i < nio && result >= 0 && (i == 0 || io[i - 1].size == 0); i++) {
		result = write_one(fd, &io[i], offset < 0 ? offset : offset + (int64_t)done);
		done += result > 0 ? (size_t)result : 0;
	}
	return done > 0 ? (long)done : result;
}

long
ziowrite(int fd, struct zio io[], int nio)
{
	return ziopwrite(fd, io, nio, -1);
}

void
zio_counts(struct zio_counts *to)
{
	to->moved = __atomic_load_n(&counts.moved, __ATOMIC_RELAXED);
	to->copied = __atomic_load_n(&counts.copied, __ATOMIC_RELAXED);
}

#endif
