/* SPDX-License-Identifier: MIT
 *
 * Locks of files: see locks.c.
 */
#ifndef SERVERS_FILE_LOCKS_H
#define SERVERS_FILE_LOCKS_H

#include <servers/file/serving.h>

/* FILE_LOCK. As the requests of serve.c. */
int lock_serve(struct serving *s, const struct description *d);

/* A client closes a handle of the description; that has none any more; a client is gone. */
void locks_close(struct tree *t, uint32_t client, const struct description *d);
void locks_end(struct tree *t, const struct description *d);
void locks_forget(struct tree *t, uint32_t client);

#endif
