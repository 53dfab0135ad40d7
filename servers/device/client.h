/* SPDX-License-Identifier: MIT
 *
 * Client of the device servers: the console's input and random bytes are read and written alike. A
 * client owns the input mailbox and the input portal at which it gets answers; one thread uses it
 * at a time. Results: >= 0, -E_NAME, or another negative number of Linux's.
 */
#ifndef SERVERS_DEVICE_CLIENT_H
#define SERVERS_DEVICE_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <servers/device/protocol.h>

struct device_client {
	int out;		/* mailbox to the server */
	int in;			/* own input mailbox, and its port */
	int portal;		/* own input portal at the same port; 0: none, reads are short */
	uint32_t port;
	uint32_t class;
	uint32_t next_id;
};

/* 0 or -E_NAME of kmailbox_open. Without a server of this class all requests wait for ever. */
int device_connect(struct device_client *c, uint32_t class, int in, int portal, uint32_t port);
void device_disconnect(struct device_client *c);

/* A handle. */
long device_open(struct device_client *c);
long device_close(struct device_client *c, long handle);

/*
 * Bytes that were read: as many as there were, 0 at the end. A read of the console waits for input.
 */
long device_read(struct device_client *c, long handle, void *to, size_t len);

/* Bytes that were written: less than len only if the device takes no more. */
long device_write(struct device_client *c, long handle, const void *from, size_t len);

#endif
