/* SPDX-License-Identifier: MIT
 *
 * Console: lines of one writer stay whole. The home core of cluster 0 prints; the others send
 * complete lines to it. Home core.
 *
 * Nothing here waits. Cluster 0 keeps text in a ring until the device takes it; who finds it full
 * gets -E_AGAIN and comes again, messages of the kernel are lost then, and counted. Each step moves
 * a bounded number of bytes; text that is left is a chore with a deadline.
 */
#ifndef KERNEL_DEV_CONSOLE_H
#define KERNEL_DEV_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/limits.abi.h>

#define CONSOLE_RING 4096u	/* bytes, a power of two */

struct cluster;

struct console {
	uint32_t len;		/* of the open line */
	int32_t owner;		/* tid that began it, 0: the kernel */
	uint32_t lost;		/* messages of the kernel since the last that went out */
	/* cluster 0 */
	uint32_t looked;	/* NoC activity when the others were last to be looked at */
	uint32_t peers;		/* clusters still to be looked at for it */
	uint32_t peer;		/* the one that was looked at last */
	uint32_t left;		/* bytes of its text that are still to be taken */
	uint32_t put, got;	/* bytes that ever went into the ring, and out of it */
	bool is_chore;		/* there is something to do: counted in cluster->chores */
	bool inside_text;	/* the last byte in the ring is inside of that text */
	char *ring;		/* [CONSOLE_RING] */
	char line[CONSOLE_WRITE_MAX + 1];	/* and the newline that ends an interrupted one */
};

/* Bytes of cluster memory for the ring, and where they are. */
size_t console_bytes(uint32_t cluster);
void console_init(struct cluster *c, void *ring);

/* Append text of one writer. 0, or -E_AGAIN: no room now, nothing was taken. */
int console_append(struct cluster *c, int32_t owner, const char *text, size_t len);

/* A message of the kernel: one whole line, without the newline. Lost if there is no room. */
void console_message(struct cluster *c, const char *format,
	...) __attribute__((format(printf, 2, 3)));

/*
 * Cluster 0: take some of what other clusters have sent, and give the device some. False if nothing
 * could be done.
 */
bool console_poll(struct cluster *c);

/* When console_poll wants to run even if nothing arrives (hal_clock_ns), or HAL_FOREVER. */
uint64_t console_deadline(struct cluster *c);

/* Let out everything, also an unfinished line, before the machine halts. Waits for the device. */
void console_flush(struct cluster *c);

#endif
