/* SPDX-License-Identifier: MIT
 *
 * Images that stay open: what programs that are started again and again share is in memory already.
 * Some are kept of those that were asked for last; they are given up where memory is short.
 */
#ifndef SERVERS_PROC_IMAGES_H
#define SERVERS_PROC_IMAGES_H

#include <servers/proc/load.h>

/*
 * A program's image, which stays valid until the next call. 0 and *image, or what image_open says;
 * nothing goes to the console.
 */
int images_get(const char *name, struct image **image);

/* Give all of them up. False: there were none. */
bool images_drop(void);

#endif
