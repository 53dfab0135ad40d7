/* SPDX-License-Identifier: MIT
 *
 * Requests to device servers and their answers, by a channel (atoll/service.h): one process for
 * each device that the machine was given, in cluster 0, each at the port of its class. A channel is
 * an open device: it is read and written by the same requests, whatever it is, and ends with its
 * client.
 *
 * A request is a struct device_request, and of DEVICE_WRITE the bytes follow it. An answer is a
 * struct device_reply; of DEVICE_READ as many bytes follow as it says.
 */
#ifndef SERVERS_DEVICE_PROTOCOL_H
#define SERVERS_DEVICE_PROTOCOL_H

#include <stdint.h>

#define DEVICE_CLUSTER 0
#define DEVICE_PORT(class) (4 + (class))
#define DEVICE_MAGIC 0x49564544u		/* "DEVI" */
#define DEVICE_PAGES 1				/* of a channel */
#define DEVICE_MESSAGE 1912			/* what has room in half a page */
/* bytes of one request or answer, at most */
#define DEVICE_DATA (DEVICE_MESSAGE - (uint32_t)sizeof(struct device_request))
/* a struct service_kind */
#define DEVICE_SERVICE(class) {.magic = DEVICE_MAGIC, .message = DEVICE_MESSAGE, \
	.cluster = DEVICE_CLUSTER, .port = (int)DEVICE_PORT(class), .pages = DEVICE_PAGES}
#define DEVICE_SERVER "bin/device"		/* in the boot archive */

#define DEVICE_ENXIO 6			/* Linux's: the machine was not given one of that class */

enum device_class {
	DEVICE_CONSOLE,		/* what is typed, and the console's text; one stream */
	DEVICE_RANDOM,		/* random bytes of the host */
	DEVICE_CLASSES
};

enum device_op {
	/* count -> bytes: at least one, if any were asked for; it may wait for them */
	DEVICE_READ = 1,
	DEVICE_WRITE = 2,	/* bytes -> how many of them */
};

struct device_request {
	uint32_t op;
	uint32_t count;		/* DEVICE_READ: bytes, at most */
};

struct device_reply {
	int32_t result;		/* bytes, or a negative number of Linux's */
};

#endif
