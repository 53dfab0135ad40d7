/* SPDX-License-Identifier: MIT
 *
 * A virtio device with registers in memory and one queue, of which several requests may be on their
 * way, each in a slot of its own. Source: Virtual I/O Device (VIRTIO) Version 1.1, sections 2.6 and
 * 4.2.
 *
 * The device lies outside of the machine's walls: what it says about a request is which one was
 * served, and how many bytes it has written. Slots that have no request are not believed, and the
 * bytes are for the user to check.
 */
#ifndef ATOLL_VIRTIO_H
#define ATOLL_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTIO_SLOTS 8

struct virtio_queue;

struct virtio {
	volatile unsigned char *at;	/* its registers */
	int device;			/* handle */
	struct virtio_queue *queue;
	uint64_t address;		/* where the device finds it */
	uint16_t served;		/* how many requests it has, as far as we have looked */
	uint32_t busy;			/* slots that have a request, a bit for each */
};

/* A request: what the device reads, and where it writes; parts of the arena. */
struct virtio_request {
	const void *from;
	uint32_t bytes;			/* 0: it reads nothing */
	void *to;
	uint32_t room;
};

/*
 * Map the registers of a device, of any kind, and bind its interrupt to a bit of the calling
 * thread. 0 or -E_NAME.
 */
int registers_map(int device, int bit, volatile unsigned char **at);

/*
 * Reset the device and begin anew, with an arena of some pages; `features`: the first word of those
 * that are wanted. 0; -E_NOENT: it does not speak this version; -E_NAME of a kernel call. *arena:
 * what may be used.
 */
struct virtio_setup {
	int device;
	volatile unsigned char *at;
	uint32_t pages, features;
};
int virtio_begin(struct virtio *v, const struct virtio_setup *setup, unsigned char **arena);

/* Bytes of the device's own configuration. */
void virtio_configuration(const struct virtio *v, unsigned offset, void *to, unsigned bytes);

/* Give the device a request in a slot that has none. */
void virtio_put(struct virtio *v, unsigned slot, const struct virtio_request *q);

/* The slot of a request that was served, and the bytes that it says it wrote; -1: there is none. */
int virtio_take(struct virtio *v, uint32_t *bytes);

/* The bit was set: let the device interrupt again. Then virtio_take finds what it was for. */
void virtio_acknowledge(const struct virtio *v);

#endif
