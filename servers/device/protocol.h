/* SPDX-License-Identifier: MIT
 *
 * Messages of device servers: one process for each device that the machine was given, in cluster 0,
 * each at the port of its class. All of them are opened, read, written and closed by the same
 * requests. An answer goes to `reply_port` of the asking cluster, which the kernel tells. A handle
 * belongs to the cluster and the badge that opened it; when a job is over, cluster 0's process
 * server has its handles forgotten.
 *
 * Up to DEVICE_DATA bytes travel in the message. A read of more goes through a portal: the asker
 * has allowed `bulk_port` of its cluster to the server's port, and takes what the answer counts.
 */
#ifndef SERVERS_DEVICE_PROTOCOL_H
#define SERVERS_DEVICE_PROTOCOL_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define DEVICE_CLUSTER 0
#define DEVICE_PORT(class) (4 + (class))	/* of mailboxes, and of portals */
#define DEVICE_MAGIC 0x49564544u		/* "DEVI" */
#define DEVICE_DATA 88
#define DEVICE_BULK 16384			/* bytes of one request through a portal, at most */
#define DEVICE_NO_BULK 0xffffffffu		/* as bulk_port */
#define DEVICE_SERVER "bin/device"		/* in the boot archive */

enum device_class {
	DEVICE_CONSOLE,		/* what is typed, and the console's text; one stream */
	DEVICE_RANDOM,		/* random bytes of the host */
	DEVICE_CLASSES
};

enum device_op {
	DEVICE_OPEN = 1,	/* -> handle */
	DEVICE_CLOSE = 2,	/* handle */
	DEVICE_READ = 3,	/* handle, count -> value: bytes, 0 at the end */
	DEVICE_WRITE = 4,	/* handle, count, data -> value: bytes */
	/* handle: a badge whose job is over; by cluster 0's process server. No answer */
	DEVICE_FORGET = 5,
};

struct device_request {
	uint32_t magic;
	uint32_t op;
	uint32_t id;		/* chosen by the client, comes back */
	uint32_t reply_port;
	uint32_t handle;
	uint32_t count;
	uint32_t bulk_port;	/* DEVICE_READ */
	uint32_t reserved[3];
	char data[DEVICE_DATA];
};

struct device_reply {
	uint32_t magic;
	uint32_t id;
	int32_t error;		/* 0 or a negative number of Linux's */
	uint32_t handle;
	uint64_t value;
	uint64_t reserved[2];
	char data[DEVICE_DATA];
};

_Static_assert(sizeof(struct device_request) == MAILBOX_MSG_SIZE, "a request is one message");
_Static_assert(sizeof(struct device_reply) == MAILBOX_MSG_SIZE, "a reply is one message");

#endif
