/* SPDX-License-Identifier: MIT
 *
 * Megabytes through a pipe from one process to another, in buffers (atoll/zio.h) and by write and
 * read: usage: ziopipe [--size BYTES of each]. Windows, from the first piece to the word of the
 * reader that it has all of them: label 16: 1 MB in buffers; 17: 1 MB by write and read; 18, 19: 16
 * MB. The writer writes the number of each piece to its begin and end, and the reader looks at
 * these. Rows: bytes that the file server copied in such a window, of which the last one is what
 * the reader says.
 */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atoll/zio.h>
#include <hal/perf.h>
#include "micro.h"

#define MIB ((size_t)1 << 20)
#define ROUNDS 2			/* the first one makes the buffers, and is not counted */

struct part {
	size_t size;
	uint32_t pieces;
};

static void
check(int holds)
{
	if (!holds)
		_exit(1);
}

static void
stamp(char *data, size_t bytes, uint32_t number)
{
	memcpy(data, &number, sizeof(number));
	memcpy(data + bytes - sizeof(number), &number, sizeof(number));
}

static void
look(const char *data, size_t bytes, uint32_t number)
{
	check(memcmp(data, &number, sizeof(number)) == 0);
	check(memcmp(data + bytes - sizeof(number), &number, sizeof(number)) == 0);
}

static void
read_buffers(int fd, size_t size, uint32_t pieces)
{
	for (uint32_t n = 0; n < pieces; n++) {
		struct zio io;

		check(zioread(fd, &io, 1, size) == (ssize_t)size);
		look(io.data, size, n);
		ziofree(&io, 1);
	}
}

static void
read_copies(int fd, char *to, size_t size, uint32_t pieces)
{
	for (uint32_t n = 0; n < pieces; n++) {
		for (size_t done = 0; done < size;) {
			ssize_t result = read(fd, to + done, size - done);

			check(result > 0);
			done += (size_t)result;
		}
		look(to, size, n);
	}
}

static void
write_buffers(int fd, size_t size, uint32_t pieces)
{
	for (uint32_t n = 0; n < pieces; n++) {
		struct zio io;

		check(zioalloc(&io, size) == 0);
		stamp(io.data, size, n);
		check(ziowrite(fd, &io, 1) == (ssize_t)size);
	}
}

static void
write_copies(int fd, char *from, size_t size, uint32_t pieces)
{
	for (uint32_t n = 0; n < pieces; n++) {
		stamp(from, size, n);
		check(write(fd, from, size) == (ssize_t)size);
	}
}

/* What the reader does: all rounds in buffers, then all by read. */
static void
read_all(const int *from, const int *back, char *memory, struct part part)
{
	char done = 0;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		if (i < ROUNDS)
			read_buffers(from[0], part.size, part.pieces);
		else
			read_copies(from[0], memory, part.size, part.pieces);
		check(write(back[1], &done, 1) == 1);
	}
}

/* The windows' labels are in the code. */
#define WINDOWS(label, write_them, name) \
	for (int i = 0; i < ROUNDS; i++) { \
		zio_machine(&m[0]); \
		hal_mark(label); \
		if (i > 0) \
			hal_mark(MARK_BEGIN); \
		write_them; \
		check(read(back[0], &done, 1) == 1); \
		if (i > 0) \
			hal_mark(MARK_END); \
		zio_machine(&m[1]); \
	} \
	row(name, (double)(m[1].copied - m[0].copied), "bytes", "")

static void
measure_1(const int *there, const int *back, char *memory, struct part part)
{
	struct zio_machine m[2];
	char done;

	WINDOWS(LABEL, write_buffers(there[1], part.size, part.pieces),
		"copied_of_1_mb_in_buffers");
	WINDOWS(LABEL + 1, write_copies(there[1], memory, part.size, part.pieces),
		"copied_of_1_mb");
}

static void
measure_16(const int *there, const int *back, char *memory, struct part part)
{
	struct zio_machine m[2];
	char done;

	WINDOWS(LABEL + 2, write_buffers(there[1], part.size, part.pieces),
		"copied_of_16_mb_in_buffers");
	WINDOWS(LABEL + 3, write_copies(there[1], memory, part.size, part.pieces),
		"copied_of_16_mb");
}

/* So many bytes from this process to a child. */
static void
measure(size_t bytes, size_t size)
{
	const struct part part = {size, (uint32_t)(bytes / size)};
	char *memory = malloc(size);
	int there[2], back[2], status = -1;

	check(memory != NULL && pipe(there) == 0 && pipe(back) == 0);
	memset(memory, 1, size);
	if (fork() == 0) {
		read_all(there, back, memory, part);
		_exit(0);
	}
	(bytes == MIB ? measure_1 : measure_16)(there, back, memory, part);
	check(wait(&status) > 0 && status == 0);
	for (int i = 0; i < 2; i++)
		check(close(there[i]) == 0 && close(back[i]) == 0);
	free(memory);
}

int
main(int argc, char **argv)
{
	size_t size = (size_t)number(argc, argv, "--size", 65536);

	if (size <= MIB)
		measure(MIB, size);
	measure(16 * MIB, size);
	return 0;
}
