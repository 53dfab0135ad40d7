/* SPDX-License-Identifier: MIT
 *
 * A driver of one device: what the server (main.c) asks of it. A process drives one device. No
 * function waits for the device: what that says later is looked for, and who reads waits.
 */
#ifndef SERVERS_DEVICE_DRIVER_H
#define SERVERS_DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/errors.h>

#define BIT_INTERRUPT 1		/* of the server's notification */

/* Where the device's registers are mapped, and its handle. */
struct registers {
	volatile unsigned char *at;
	int device;
};

struct driver {
	/*
	 * The device is made ready, whatever its last driver has left it at. 0 or -E_NAME: the
	 * server ends.
	 */
	int (*start)(const struct registers *r);
	/*
	 * Take what the device has by now; if it has interrupted, it may do so again. Is there
	 * anything for who reads?
	 */
	bool (*look)(bool has_interrupted);
	/* Bytes; -E_AGAIN: there are none, look again after an interrupt. */
	long (*read)(void *to, size_t len);
	/* Bytes; the client may change them meanwhile. */
	long (*write)(const void *from, size_t len);
};

extern const struct driver uart_driver, random_driver;

#endif
