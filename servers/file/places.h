/* SPDX-License-Identifier: MIT
 *
 * Parts of the tree that servers of other clusters have: they begin at places, directories that the
 * leader's server and the one that has what is below both know (etc/trees). Paths are those of the
 * machine everywhere. A server answers what a path leads to in its own part; else it says who is to
 * be asked, and by which path if that is not what was asked (FILE_ELSEWHERE).
 */
#ifndef SERVERS_FILE_PLACES_H
#define SERVERS_FILE_PLACES_H

#include <servers/file/serving.h>

/* Which number a server has in a cluster. */
uint32_t places_number(uint32_t cluster);

/* Make the places; the number is set. Problems are the caller's to say: 0 or a negative error. */
int places_begin(struct tree *t);

/* The server that has what this plain path names; the slash at its begin may be missing. */
uint32_t places_find(const struct tree *t, const char *path);

/*
 * A request that names paths, whole ones, which may be others than those that the client has named
 * (s->is_moved): 0: they lead to what this server has. -FILE_ELSEWHERE, with the rest of the
 * answer; -FILE_EXDEV: of two one does not lead to where the other does; -E_NOMEM;
 * -FILE_ENAMETOOLONG.
 */
int places_refer(struct serving *s);

#endif
