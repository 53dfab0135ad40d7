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
	/* A file of the device, to be named by its number: 0 .. HANDLES - 1. */
	int (*open)(uint32_t number, const char *path, uint32_t how, uint64_t *size);
	void (*close)(uint32_t number);
	/* Bytes; -E_AGAIN: not yet, ask again after an interrupt. */
	long (*read)(uint32_t number, uint64_t offset, void *to, size_t len);
	long (*write)(uint32_t number, uint64_t offset, const void *from, size_t len);
};

#define HANDLES 32			/* open files of a device */

extern const struct driver uart_driver, random_driver, files_driver;

/* For devices that are one stream: any path opens it, closing changes nothing. */
int stream_open(uint32_t number, const char *path, uint32_t how, uint64_t *size);
void stream_close(uint32_t number);

#endif
