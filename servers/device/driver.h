/* SPDX-License-Identifier: MIT
 *
 * A driver of one device: what the server (main.c) asks of it. A process drives one device.
 */
#ifndef SERVERS_DEVICE_DRIVER_H
#define SERVERS_DEVICE_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <abi/errors.h>

#define BIT_MAIL 0			/* a request has come */
#define BIT_ROOM 1			/* an output mailbox that was full may take one */
#define BIT_INTERRUPT 2
#define BIT_BULK 3			/* bulk data has left, or nobody wants it */

/* Where the device's registers are mapped, and its handle. */
struct registers {
	volatile unsigned char *at;
	int device;
};

struct driver {
	/* The device is made ready. 0 or -E_NAME: the server ends. */
	int (*start)(const struct registers *r);
	/* It has interrupted, and the server waits for what comes; NULL: it never does then. */
	void (*interrupt)(void);
	/* Bytes; -E_AGAIN: not yet, ask again after an interrupt. */
	long (*read)(void *to, size_t len);
	long (*write)(const void *from, size_t len);
};

extern const struct driver uart_driver, random_driver;

#endif
