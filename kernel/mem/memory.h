/* SPDX-License-Identifier: MIT
 *
 * Memory that processes name by handles: a run of page frames, filled with zeros when it was made.
 * The object refers to each of its frames; so does each mapping, which therefore lives on when the
 * object is gone. What was mapped through a view ends when that is revoked (mapping.h). A device is
 * memory, too, and so is a channel: pages at a place, without frames (kernel/dev/device.h,
 * kernel/ikc/channel.h). Home core.
 */
#ifndef KERNEL_MEM_MEMORY_H
#define KERNEL_MEM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/list.h>
#include <kernel/object/object.h>

struct cluster;
struct frames;
struct process;
struct quota;
struct thread;

#define RIGHTS_OF_PAGES (PAGE_READ | PAGE_WRITE | PAGE_EXEC)	/* of memory: what may be mapped */

enum memory_kind { MEMORY_FRAMES, MEMORY_DEVICE, MEMORY_CHANNEL };

struct memory {
	struct object object;
	struct quota *quota;	/* that it is charged to */
	union {
		/* through views (mapping.h): the one that was looked at first */
		struct list mappings;
		struct list link;	/* in cluster->memory_gone, when nothing names it */
	};
	uint32_t first;
	uint32_t count;		/* frames from `first` on that it refers to */
	uint32_t looks;		/* revocations of its views that looked at its mappings */
	/* enum memory_kind; but for MEMORY_FRAMES a part of a struct placed */
	uint8_t kind;
};

/* Pages at a place that is none of the cluster's frames. */
struct placed {
	struct memory memory;
	uint64_t base;		/* physical address */
};

/*
 * A memory object without frames, at the start of `bytes` that are zero, and a handle of it for a
 * process. The handle and *made; -E_NOMEM, -E_MFILE.
 */
long memory_new(struct process *p, size_t bytes, unsigned rights, struct memory **made);

/*
 * The same of `count` pages at a place, named through a view, so that it exists as long as a handle
 * or a mapping does; without RIGHT_EXEC. `place`: its kind, count and base. If it fails, the memory
 * is unreferenced with no pages.
 */
long placed_new(struct process *p, size_t bytes, struct placed place, struct placed **made);

/* Physical address of a page of a memory. */
uint64_t memory_paddr(const struct frames *f, const struct memory *m, uint32_t page);

/*
 * The next `count` frames behind those that it has, zeroed and charged to a process, are its own.
 */
void memory_grow(struct process *p, struct memory *m, uint32_t count);

/* What a handle names, if it allows mappings with this protection. 0 and *m; -E_BADF; -E_ACCES. */
int memory_find(struct thread *caller, int handle, int prot, struct memory **m);

/* Nothing names it any more: its frames come back, many of them later. */
void memory_unreferenced(struct cluster *c, struct object *o);

/* Its record is given back, and its frames before that, in steps of home. */
void memory_gone(struct cluster *c, struct memory *m);

/* A handle of it is gone: whoever bound an event of a device or a channel by that is told. */
void memory_handle_gone(struct cluster *c, struct memory *m);

/* One name less of memory that is frames; NULL: of none. */
void memory_put(struct cluster *c, struct memory *m);

/* Home's loop: some frames of memory that nothing names. False if there is none. */
bool memory_drop_some(struct cluster *c);

#endif
