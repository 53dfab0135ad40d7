/* SPDX-License-Identifier: MIT
 *
 * Messages of the name server. It listens on mailbox port NAME_PORT of cluster 0. A request names
 * the port of the sender's cluster at which the answer is read (NAME_NO_REPLY: none is wanted); the
 * sender's cluster itself comes from the kernel, so nobody registers for somebody else. A name
 * belongs to the cluster and the badge that registered it. When a job has ended in a cluster, that
 * one's process server has its names forgotten; when a cluster dies, cluster 0's.
 */
#ifndef SERVERS_NAME_PROTOCOL_H
#define SERVERS_NAME_PROTOCOL_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define NAME_CLUSTER 0
#define NAME_PORT 0
#define NAME_MAGIC 0x454d414eu		/* "NAME" */
#define NAME_LENGTH_MAX 63
#define NAME_NO_REPLY 0xffffffffu	/* as reply_port */

enum name_op {
	/* NOSPC, EXIST: the name belongs to another port; the same port may repeat it */
	NAME_REGISTER = 1,
	NAME_LOOKUP = 2,	/* NOENT */
	NAME_UNREGISTER = 3,	/* NOENT, ACCES: registered by another cluster or job */
	/* ACCES: not by a process server; of another cluster, unless cluster 0 asks */
	NAME_FORGET = 4,
	NAME_COUNT = 5,		/* only the reply's `names` */
};

struct name_request {
	uint32_t magic;
	uint32_t op;
	uint32_t id;		/* chosen by the client, comes back with the reply */
	uint32_t reply_port;
	uint32_t port;		/* NAME_REGISTER */
	uint32_t badge;		/* NAME_FORGET: names that this badge, 0: any, */
	uint32_t cluster;	/* of this cluster has registered */
	uint32_t reserved;
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
	uint32_t names;		/* that are registered now */
	uint8_t pad[100];
};

_Static_assert(sizeof(struct name_request) == MAILBOX_MSG_SIZE, "a request is one message");
_Static_assert(sizeof(struct name_reply) == MAILBOX_MSG_SIZE, "a reply is one message");

#endif
