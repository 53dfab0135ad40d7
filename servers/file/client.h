/* SPDX-License-Identifier: MIT
 *
 * Files, read whole or in pieces. The back end is the machine's boot archive, which every cluster
 * reads in place; names are those of the archive ("etc/job", "bin/fn").
 */
#ifndef SERVERS_FILE_CLIENT_H
#define SERVERS_FILE_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct file {
	const void *data;	/* the contents, readable as long as the process lives */
	size_t bytes;
};

/*
 * Open a file. 0, -E_NOENT, -E_INVAL: the archive is damaged, or -E_NAME of karchive_map. One
 * thread of a process at a time.
 */
int file_open(const char *name, struct file *f);

/* Where its bytes begin in the boot archive. */
size_t file_offset(const struct file *f);

/* Copy up to len bytes at offset. Returns their number, 0 at the end. */
size_t file_read(const struct file *f, size_t offset, void *to, size_t len);

#endif
