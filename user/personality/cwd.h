/* SPDX-License-Identifier: MIT
 *
 * The working directory of each rank, and of a child that has no program yet. With the lock of
 * files.h held.
 */
#ifndef USER_PERSONALITY_CWD_H
#define USER_PERSONALITY_CWD_H

#include <stddef.h>
#include <user/personality/files.h>

/* The caller's working directory: a path from the root without dots and a slash at its end. */
const char *cwd_get(const struct handler_event *c);

/*
 * A path from the root, in `room` bytes at `to`, for one that may begin at the working directory.
 * Its bytes with the zero byte; -FILE_ENAMETOOLONG: they do not fit.
 */
int cwd_path(const struct handler_event *c, const char *path, char *to, size_t room);

/* The same for one that begins at the directory with the path `from`. */
int path_join(const char *from, const char *path, char *to, size_t room);

/* Take dots out of a path from the root, as if no link was in it, and slashes that say nothing. */
void cwd_make_plain(char *path);

/*
 * Go to a directory: FILE_PATH_MAX bytes with a path from the root, which are changed. 0;
 * -FILE_ENOTDIR; -E_NOMEM; or what files_ask says.
 */
int cwd_set(const struct handler_event *c, char *path);

/*
 * Begin there, as a child does where its parent is: no server is asked. 0 or -E_NOMEM. And every
 * rank of the process.
 */
int cwd_begin(const struct handler_event *c, const char *path);
void cwd_begin_all(const struct handler_event *c, const char *path);

#endif
