/* SPDX-License-Identifier: MIT
 *
 * What a prepared start hangs on.
 */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define IDENTITY_BYTES 128

/*
 * A file as it is now, as text: device, inode, size, times of its last changes in nanoseconds. "-"
 * for none (`st` NULL).
 */
void identity_of(const struct stat *st, char text[IDENTITY_BYTES]);
/* Is the file behind a path, or that there is none, what `identity` says? */
bool is_unchanged(const char *path, const char *identity);
/* Is a file or folder below `folder` there, and was it not changed after `limit` (nanoseconds)? */
bool is_older(int folder, const char *path, int64_t limit);

#endif
