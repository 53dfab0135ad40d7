/* SPDX-License-Identifier: MIT
 *
 * Messages of the name server. It listens on mailbox port NAME_PORT of cluster 0. A request names the port of the sender's cluster at
 * which the answer is read; the sender's cluster itself comes from the kernel, so nobody registers for somebody else.
 */
#ifndef SERVERS_NAME_PROTOCOL_H
#define SERVERS_NAME_PROTOCOL_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define NAME_CLUSTER 0
#define NAME_PORT 0
#define NAME_MAGIC 0x454d414eu		/* "NAME" */
#define NAME_LENGTH_MAX 63

enum name_op {
	NAME_REGISTER = 1,	/* NOSPC, EXIST: the name belongs to another port; the same port may repeat it */
	NAME_LOOKUP = 2,	/* NOENT */
	NAME_UNREGISTER = 3,	/* NOENT, ACCES: registered by another cluster */
};

struct name_request {
	uint32_t magic;
	uint32_t op;
	uint32_t id;		/* chosen by the client, comes back with the reply */
	uint32_t reply_port;
	uint32_t port;		/* NAME_REGISTER: the port to register */
	uint32_t reserved[3];
	char name[NAME_LENGTH_MAX + 1];
	uint8_t pad[32];
};

struct name_reply {
	uint32_t magic;
	uint32_t op;
	uint32_t id;
	int32_t error;		/* 0 or -E_NAME; INVAL: the request made no sense */
	uint32_t cluster;	/* NAME_LOOKUP */
	uint32_t port;
	uint8_t pad[104];
};

_Static_assert(sizeof(struct name_request) == MAILBOX_MSG_SIZE, "a request is one message");
_Static_assert(sizeof(struct name_reply) == MAILBOX_MSG_SIZE, "a reply is one message");

#endif
