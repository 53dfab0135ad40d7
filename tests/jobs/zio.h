/* SPDX-License-Identifier: MIT
 *
 * What the jobs about buffers (atoll/zio.h) have in common: streams of known bytes.
 */
#ifndef TESTS_JOBS_ZIO_H
#define TESTS_JOBS_ZIO_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atoll/zio.h>
#include "draw.h"
#include "expect.h"

#define KB 1024
#define PAGE 4096
#define MIB (1024 * KB)

static bool has_buffers;		/* the machine has some */

/* What stands at a place of a stream. */
static inline unsigned char
byte_at(uint64_t at)
{
	return (unsigned char)(at * 7 + at / 251 + at / 65521);
}

static inline void
fill(void *to, uint64_t at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)to)[i] = byte_at(at + i);
}

static inline bool
is_right(const void *from, uint64_t at, size_t bytes)
{
	const unsigned char *b = from;
	size_t i = 0;

	while (i < bytes && b[i] == byte_at(at + i))
		i++;
	return i == bytes;
}

/* --- megabytes, of which none is copied --- */

static inline int
read_stream(int fd, uint64_t bytes, size_t most)
{
	uint64_t at = 0;

	for (ssize_t n = 1; n > 0;) {
		struct zio io;

		n = zioread(fd, &io, 1, most);
		if (n < 0 || (size_t)n != io.size || !is_right(io.data, at, io.size))
			return 1;
		at += (uint64_t)n;
		ziofree(&io, 1);
	}
	return at == bytes ? 0 : 2;
}

/* A child that reads a pipe to its end, in buffers. */
static inline pid_t
begin_reader(const int *ends, uint64_t bytes)
{
	pid_t pid = fork();

	if (pid < 0)
		expect(errno, 0, "fork");
	if (pid != 0)
		return pid;
	close(ends[1]);
	_exit(read_stream(ends[0], bytes, ZIO_MAX));
}

static inline void
write_stream(int fd, uint64_t bytes, size_t piece)
{
	for (uint64_t at = 0; at < bytes && failures == 0; at += piece) {
		struct zio io;

		expect(zioalloc(&io, piece), 0, "zioalloc");
		fill(io.data, at, piece);
		expect(ziowrite(fd, &io, 1), (long)piece, "ziowrite");
		expect(io.size == 0 && io.data == NULL, true, "a buffer that was written");
	}
}

static inline void
await_child(pid_t pid, const char *what)
{
	int status = -1;

	expect(waitpid(pid, &status, 0) == pid, true, what);
	expect(status, 0, what);
}

static inline void
move(size_t piece, uint64_t bytes)
{
	struct zio_machine before, after;
	struct zio_counts mine[2];
	int ends[2];
	pid_t pid;

	expect(pipe(ends), 0, "pipe");
	pid = begin_reader(ends, bytes);
	close(ends[0]);
	zio_machine(&before);
	zio_counts(&mine[0]);
	write_stream(ends[1], bytes, piece);
	close(ends[1]);
	await_child(pid, "who reads buffers");
	zio_counts(&mine[1]);
	zio_machine(&after);
	if (!has_buffers)
		return;
	expect((long)(after.moved - before.moved), (long)bytes, "bytes that the server moved");
	expect((long)(after.copied - before.copied), 0, "bytes that the server copied");
	expect((long)(mine[1].moved - mine[0].moved), (long)bytes, "bytes that were moved");
	expect((long)(mine[1].copied - mine[0].copied), 0, "bytes that were copied");
}

/* At the start of main. */
static inline void
begin(const char *seed)
{
	struct zio_machine m;

	signal(SIGPIPE, SIG_IGN);
	has_buffers = zio_machine(&m) == 0;
	state = strtoull(seed, NULL, 0);
	printf("seed %llu\n", (unsigned long long)state);
}

#endif
