/* SPDX-License-Identifier: MIT
 *
 * HAL contract: devices that processes drive. One cluster of a machine has them (on `virt`: cluster
 * 0), and of that the home core calls these functions. A device is a range of registers, in whole
 * pages, and an interrupt, which comes to core 0 of the cluster and to no other core.
 *
 * An interrupt is not taken again before hal_device_done: a device that interrupts all the time
 * costs nothing more than the first time. One that comes meanwhile is taken afterwards.
 */
#ifndef HAL_DEVICE_H
#define HAL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct hal_device {
	uint64_t base;			/* physical, of the first page */
	uint32_t pages;
	/* DEVICE_* of abi/limits.abi.h; DEVICE_NONE: nothing is there */
	uint32_t kind;
	uint32_t id;			/* DEVICE_VIRTIO: what it is */
};

/* The device with this number. False: the cluster has no such number. */
bool hal_device_find(unsigned number, struct hal_device *d);

/* From now on its interrupts are taken. Those of a device are not before this is called once. */
void hal_device_start(unsigned number);

/* An interrupt that was taken is served: the next one may be taken. */
void hal_device_done(unsigned number);

/*
 * The device interrupts no more, and neither reads nor writes memory any more when this returns. An
 * interrupt that was taken counts as served, one that was not is forgotten.
 */
void hal_device_stop(unsigned number);

/*
 * What the HAL calls in the kernel (kernel/dev/device.c): an interrupt of a device was taken. On
 * core 0, on the kernel stack: before hal_wait or hal_wait_cancel returns, or before kernel_trap
 * with a TRAP_DOORBELL. So the home core is between two things that it does.
 */
void kernel_interrupt(unsigned number);

#endif
