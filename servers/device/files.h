/* SPDX-License-Identifier: MIT
 *
 * The names of a path.
 */
#ifndef SERVERS_DEVICE_FILES_H
#define SERVERS_DEVICE_FILES_H

#include <stdint.h>

#define PATH_NAMES 16			/* what one request of 9P takes */

struct path_names {
	uint32_t count;
	uint32_t bytes[PATH_NAMES];
	const char *name[PATH_NAMES];	/* in the path; the last one ends with it */
};

/*
 * Names between slashes; empty ones do not count. 0; -E_INVAL: too many, or one that leads up or
 * nowhere ("..", ".").
 */
int path_split(const char *path, struct path_names *names);

#endif
