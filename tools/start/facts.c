/* SPDX-License-Identifier: MIT
 *
 * Files and folders: as they were, or changed since.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "facts.h"

#define NS_PER_S 1000000000

static int64_t
ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

void
identity_of(const struct stat *st, char text[IDENTITY_BYTES])
{
	if (st == NULL)
		strcpy(text, "-");
	else
		snprintf(text, IDENTITY_BYTES, "%ju.%ju.%jd.%" PRId64 ".%" PRId64,
			(uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
			 (intmax_t)st->st_size, ns_of(st->st_mtim), ns_of(st->st_ctim));
}

bool
is_unchanged(const char *path, const char *identity)
{
	char now[IDENTITY_BYTES];
	struct stat st;

	identity_of(stat(path, &st) == 0 ? &st : NULL, now);
	return strcmp(now, identity) == 0;
}

bool
is_older(int folder, const char *path, int64_t limit)
{
	struct stat st;

	return fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && ns_of(st.st_mtim) <= limit;
}
