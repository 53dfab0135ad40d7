/* SPDX-License-Identifier: MIT
 *
 * Reader for cpio archives in the "newc" format, in memory. Every length is checked against the
 * archive. A symbolic link is read as the file that it names, which it gives by its full name
 * behind a "/"; one that names none, or another link, makes the archive malformed.
 */
#ifndef BASE_CPIO_H
#define BASE_CPIO_H

#include <stddef.h>
#include <stdint.h>

struct cpio_file {
	/* lies in the archive, ended by a zero byte, without a leading "./" */
	const char *name;
	const void *data;	/* lies in the archive, aligned to 4 bytes at least */
	size_t bytes;
	uint32_t mode;
};

/*
 * The entry at offset *at (0: the first); *at moves on to the next one. 1: found; 0: end of the
 * archive; -E_INVAL: malformed.
 */
int cpio_next(const void *archive, size_t len, size_t *at, struct cpio_file *file);

/*
 * Look a file up by its full name. 0, -E_NOENT, or -E_INVAL if the archive is malformed before it.
 */
int cpio_find(const void *archive, size_t len, const char *name, struct cpio_file *file);

#endif
