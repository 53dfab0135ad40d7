/* SPDX-License-Identifier: MIT
 *
 * What is in lists of descriptions (event.c): one table for all.
 */
#ifndef SERVERS_FILE_LISTED_H
#define SERVERS_FILE_LISTED_H

#include <stdbool.h>
#include <stdint.h>
#include <servers/file/protocol.h>

#define LISTED_MAX 512			/* in all lists */
#define LISTED_OF_CLIENT_MAX 128

/* A description in a list. */
struct listed {
	struct file_ready wanted;
	uint32_t number;		/* that the client has for it */
	uint16_t description;
	uint16_t list;			/* number of its pipe + 1; 0: free */
	uint16_t owner;			/* whose place it is: client, or NOBODY */
	uint16_t seen;			/* changes that were there when it was taken last */
	bool is_taken;			/* and nothing was to be seen since */
	bool is_off;			/* FILE_READY_ONCE: it was */
};

#endif
