/* SPDX-License-Identifier: MIT
 *
 * Devices that processes drive. An open device is memory (kernel/mem/memory.h) whose pages are its
 * registers, named through a view from the first handle on: so it exists as long as a handle or a
 * mapping does, and nobody opens it a second time before all of them are gone. Then it is stopped.
 *
 * An interrupt is taken by home and stays taken until the driver says that it has served it: a
 * device without a driver interrupts once at most. It is remembered until somebody has bound it.
 *
 * Memory that a device reads and writes itself stays as long as the device may: whoever drives one
 * can reach all memory of the machine with it. Home core.
 */
#ifndef KERNEL_DEV_DEVICE_H
#define KERNEL_DEV_DEVICE_H

#include <kernel/cluster.h>

struct event;

struct device {
	struct placed placed;		/* its registers */
	struct list link;		/* in cluster->devices */
	struct memory *shared;		/* that it may read and write; NULL: none */
	struct binding interrupt;	/* EVENT_INTERRUPT */
	uint32_t number;
	bool is_raised;			/* an interrupt was taken, and is not served */
};

/* What event_bind needs to know. 0 and *e; -E_BADF; -E_ACCES. */
long device_event(struct thread *caller, int handle, struct event *e);

/* A handle of a device is gone: whoever bound its interrupt by that is told. */
void device_handle_gone(struct cluster *c, struct memory *m);

/* Nothing names it any more; without pages: it was never opened. */
void device_close(struct cluster *c, struct memory *m);

#endif
