/* SPDX-License-Identifier: MIT
 *
 * Client of the device servers: the console's input and random bytes are read and written alike.
 * One thread uses a client at a time.
 *
 * A server that has ended is followed by another one. Of what was asked just then nobody knows
 * whether it was done, or what it has taken: it is -E_IO, also for who waits. What is asked next,
 * the successor is asked.
 */
#ifndef SERVERS_DEVICE_CLIENT_H
#define SERVERS_DEVICE_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <atoll/channel.h>
#include <servers/device/protocol.h>

enum device_line { DEVICE_CLOSED, DEVICE_IS_OPEN, DEVICE_LOST };

struct device_client {
	struct channel ch;		/* unless it is closed; lost: its server has ended */
	enum device_line line;
	uint32_t class;
	int bit;
};

/*
 * Open the device of a class. `bit` of the notification of whichever thread uses the client is its
 * own, and may be set at any time. Waits for the server while it is started. 0; -DEVICE_ENXIO: the
 * machine was not given one; or what service_open says.
 */
int device_open(struct device_client *c, uint32_t class, int bit);
void device_close(struct device_client *c);

/*
 * Read bytes, as many as there are now, at most `len` and DEVICE_DATA; waits for the first one.
 * How many; -E_IO; what the device or service_open says.
 */
long device_read(struct device_client *c, void *to, size_t len);

/* Write as many of these bytes as the device takes at a time. The same. */
long device_write(struct device_client *c, const void *from, size_t len);

#endif
