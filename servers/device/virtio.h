/* SPDX-License-Identifier: MIT
 *
 * A virtio device with registers in memory and one queue, of which one request at a time is on its
 * way. Source: Virtual I/O Device (VIRTIO) Version 1.1, sections 2.6 and 4.2.
 */
#ifndef SERVERS_DEVICE_VIRTIO_H
#define SERVERS_DEVICE_VIRTIO_H

#include <stdbool.h>
#include <servers/device/driver.h>

/* Memory that the device reads or writes: a part of the arena behind the queue. */
struct virtio_part {
	const void *at;
	uint32_t bytes;
	bool is_written;		/* by the device */
};

/*
 * Reset the device and begin anew, with an arena of some pages. 0; -E_NOENT: it does not speak this
 * version; -E_NAME of a kernel call. *arena: what the driver may use of it.
 */
int virtio_start(const struct registers *r, uint32_t pages, unsigned char **arena);

/*
 * Give the device a request and wait until it is served. Returns how many bytes the device wrote.
 */
uint32_t virtio_request(const struct virtio_part *part, unsigned parts);

#endif
