/* SPDX-License-Identifier: MIT
 *
 * Frames that are filled with zeros before they are needed, by a kernel core beside home: who
 * touches lazy memory, and home for a page table, finds them ready. Without such a core each fills
 * his own. Home core.
 */
#ifndef KERNEL_MEM_CLEAR_H
#define KERNEL_MEM_CLEAR_H

#include <base/tune.h>
#include <kernel/cluster.h>
#include <kernel/proc/proc.h>

/*
 * A core has another role: the first kernel core behind home clears from now on, or none does. What
 * is under way ends where it is.
 */
void clear_choose(struct cluster *c);

/*
 * Take back frames that have been filled. False: there are none. Home looks when it has other
 * chores, and when somebody needs a frame: nobody waits for it alone.
 */
bool clear_poll(struct cluster *c);

/* A frame of a process, charged to it, that holds zeros; FRAME_NONE: none is ready. */
uint32_t clear_take_ready(struct process *p);

static inline uint32_t
clear_take(struct process *p)
{
	return likely(proc_cluster(p)->clearing.core == NULL) ? FRAME_NONE : clear_take_ready(p);
}

#endif
