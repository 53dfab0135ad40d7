/* SPDX-License-Identifier: MIT
 *
 * The names that are registered, and what the server answers. No kernel calls: tested on its own.
 */
#ifndef SERVERS_NAME_TABLE_H
#define SERVERS_NAME_TABLE_H

#include <stdint.h>
#include <abi/layout.h>
#include <servers/name/protocol.h>

#define NAMES_MAX 256

struct name_entry {
	char name[NAME_LENGTH_MAX + 1];	/* empty: free */
	struct mail_sender owner;
	uint32_t port;
};

struct name_table {
	struct name_entry entry[NAMES_MAX];
	uint32_t names;
};

/*
 * Answer one request. Whatever the message contains, `reply` is filled and nothing else happens on
 * an error.
 */
void name_serve(struct name_table *t, const struct mail_sender *from,
	const struct name_request *request, struct name_reply *reply);

#endif
