/* SPDX-License-Identifier: MIT
 *
 * Files, read whole or in pieces. The back end is the machine's boot archive, which every cluster
 * reads in place; names are those of the archive ("etc/job", "bin/fn").
 */
#ifndef SERVERS_FILE_CLIENT_H
#define SERVERS_FILE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <servers/file/protocol.h>

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

/* Which part of the tree the server of a cluster has: a record of FILE_TREES. */
struct file_place {
	uint32_t cluster;
	uint32_t bytes;			/* of the path, behind which are zero bytes */
	char path[FILE_PLACE_PATH];
};

/* A record by its number, from 0; NULL: there is none. */
const struct file_place *file_place(uint32_t number);

/* Does a path begin so? */
bool file_place_has(const struct file_place *p, const char *path);

/* Copy up to len bytes at offset. Returns their number, 0 at the end. */
size_t file_read(const struct file *f, size_t offset, void *to, size_t len);

#endif
