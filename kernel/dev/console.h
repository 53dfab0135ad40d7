/* SPDX-License-Identifier: MIT
 *
 * Console: lines of one writer stay whole. Cluster 0's home core prints; the others send complete lines to it. Home core.
 */
#ifndef KERNEL_DEV_CONSOLE_H
#define KERNEL_DEV_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/limits.abi.h>

struct cluster;

struct console {
	uint32_t len;		/* of the open line */
	int32_t owner;		/* tid that began it, 0: the kernel */
	uint32_t looked;	/* cluster 0: NoC activity when the other clusters' texts were last printed */
	char line[CONSOLE_WRITE_MAX + 1];	/* and the newline that ends an interrupted one */
};

/* Append text of one writer. 0, or -E_AGAIN: no room on the way to cluster 0, nothing was taken. */
int console_append(struct cluster *c, int32_t owner, const char *text, size_t len);

/* A message of the kernel: one whole line, without the newline. Unless the boot record wants quiet. */
void console_message(struct cluster *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print what other clusters have sent (cluster 0). False if there was nothing. */
bool console_drain(struct cluster *c);

/* Let out everything, also an unfinished line: before the machine halts. */
void console_flush(struct cluster *c);

#endif
