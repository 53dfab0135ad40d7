/* SPDX-License-Identifier: MIT
 *
 * Memory that processes name by handles: a run of page frames, filled with zeros when it was made.
 * The object refers to each of its frames; so does each mapping, which therefore lives on when the
 * object is gone. What was mapped through a view ends when that is revoked (mapping.h). Home core.
 */
#ifndef KERNEL_MEM_MEMORY_H
#define KERNEL_MEM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <base/list.h>
#include <kernel/object/object.h>

struct cluster;
struct process;
struct quota;
struct thread;

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
};

/*
 * A memory object without frames, and a handle of it for a process. The handle and *made; -E_NOMEM,
 * -E_MFILE.
 */
long memory_new(struct process *p, struct memory **made);

/*
 * The next `count` frames behind those that it has, zeroed and charged to a process, are its own.
 */
void memory_grow(struct process *p, struct memory *m, uint32_t count);

/* What a handle names, if it allows mappings with this protection. 0 and *m; -E_BADF; -E_ACCES. */
int memory_find(struct thread *caller, int handle, int prot, struct memory **m);

/* Nothing names it any more: its frames come back, many of them later. */
void memory_unreferenced(struct cluster *c, struct object *o);

/* Home's loop: some frames of memory that nothing names. False if there is none. */
bool memory_drop_some(struct cluster *c);

#endif
