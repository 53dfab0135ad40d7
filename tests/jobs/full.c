/* SPDX-License-Identifier: MIT
 *
 * A folder of the host whose disk is full: who writes there is told, what has been written stays,
 * files of the machine go on, and there is room again when something has been removed.
 * usage: full FOLDER
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "expect.h"

#define BLOCK 5000		/* several messages, and no multiple of the disk's blocks */
#define BLOCKS_MAX 4000

static char block[BLOCK], back[BLOCK];

/* How many bytes a file takes; each block has a byte of its own. The error that came then. */
static long
fill(int fd, int *error)
{
	long bytes = 0, n = 0;

	for (int i = 0; i < BLOCKS_MAX; i++) {
		memset(block, 'a' + i % 26, BLOCK);
		n = write(fd, block, BLOCK);
		if (n < BLOCK)
			break;
		bytes += n;
	}
	if (n > 0) {			/* a part had room: the rest has none */
		bytes += n;
		n = write(fd, block, BLOCK);
	}
	*error = n < 0 ? errno : 0;
	return bytes;
}

static void
read_all(int fd, long bytes)
{
	long at = 0, n;

	expect(lseek(fd, 0, SEEK_SET), 0, "seek");
	while ((n = read(fd, back, BLOCK)) > 0) {
		memset(block, 'a' + (int)(at / BLOCK % 26), BLOCK);
		expect(memcmp(back, block, (size_t)n), 0, "what was read");
		at += n;
	}
	expect(n, 0, "the end");
	expect(at, bytes, "bytes that were read");
}

int
main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/share";
	char name[64], second[64];
	long bytes, again;
	int fd, other, error = 0;
	struct stat s;

	snprintf(name, sizeof(name), "%s/fills", folder);
	snprintf(second, sizeof(second), "%s/second", folder);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	expect(fd >= 0, 1, "open");
	bytes = fill(fd, &error);
	expect(error, ENOSPC, "when the disk is full");
	expect(bytes > 0, 1, "bytes before that");
	expect(fstat(fd, &s), 0, "fstat");
	/* of a message that it refuses QEMU may have written a part */
	expect((long)s.st_size >= bytes && (long)s.st_size < bytes + BLOCK, 1, "its size");
	expect(ftruncate(fd, bytes), 0, "cut off what was refused");
	read_all(fd, bytes);
	lseek(fd, 0, SEEK_END);
	fill(fd, &error);
	expect(error, ENOSPC, "when it is full again");
	other = open("/here", O_RDWR | O_CREAT, 0600);
	expect(write(other, "word", 4), 4, "a file of the machine");
	close(other);
	other = open(second, O_RDWR | O_CREAT, 0600);
	if (other >= 0) {
		expect(write(other, block, BLOCK), -1, "a second file");
		expect(errno, ENOSPC, "why");
		close(other);
		unlink(second);
	}
	expect(ftruncate(fd, 0), 0, "cut it");
	expect(lseek(fd, 0, SEEK_SET), 0, "seek");
	again = fill(fd, &error);
	expect(again > bytes - BLOCK && error == ENOSPC, 1, "fill it once more");
	close(fd);
	expect(unlink(name), 0, "remove it");
	return verdict();
}
