/* SPDX-License-Identifier: MIT
 *
 * Programs that are not in the boot archive: who wants one started brings it, in memory that the
 * process server lends for that. It is taken back before the program is looked at.
 */
#ifndef SERVERS_PROC_BROUGHT_H
#define SERVERS_PROC_BROUGHT_H

#include <servers/proc/load.h>

/* Memory for a program. */
struct brought {
	int memory;			/* handles: of it, and the view that is lent */
	int view;
	uint32_t pages;			/* 0: none */
};

/*
 * Lend memory to a process (a handle), instead of what `b` was before: the handle by which it is
 * known there. -E_INVAL; -E_NOMEM: there are BROUGHT_PAGES_MAX, or no memory; or what the kernel
 * says.
 */
int brought_lend(struct brought *b, int proc, uint32_t pages);

/* What was lent is not needed any more. */
void brought_drop(struct brought *b);

/*
 * Take the memory back, and open the program in it: *image, until brought_close, before which no
 * other is opened. 0, or what image_open says.
 */
int brought_open(const struct brought *b, struct image **image);
void brought_close(const struct brought *b);

#endif
