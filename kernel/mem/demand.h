/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched, and pages that are copied when they are written to.
 *
 * mem_alloc with PAGE_LAZY claims addresses; the first access
 * to one of their pages, by a thread or by a kernel call of it, takes a frame, which is charged
 * then. The core of the thread asks home for it, fills it with zeros and has home map it; then the
 * access, or the call, is made again. Where there is none left, it is a fault like any other: the
 * thread's handler has it, or whoever is bound to EVENT_FAULT, or the process ends.
 *
 * In a private area (page_map with PAGE_PRIVATE, page_copy) a page may be mapped without the right
 * to write that the area gives. Who writes then gets a frame of his own: the one that is there, if
 * nobody else has it, or a copy, which its core makes. Other cores of the process may know the old
 * frame: the thread goes on when they have forgotten it.
 */
#ifndef KERNEL_MEM_DEMAND_H
#define KERNEL_MEM_DEMAND_H

#include <base/tune.h>
#include <kernel/call/handler.h>
#include <kernel/cluster.h>

/* Does the thread's process have such memory? All others pay this look at a fault, and no more. */
hot_inline bool
has_demand(const struct thread *t)
{
	return hal_load32(&t->proc->demand) != 0;
}

/*
 * The running thread, complete in its frame, whose process has such memory, could not reach some
 * (HANDLES_FAULT), or a kernel call could not for it and has done nothing (HANDLES_PROBE): will
 * another try do? The process may have been killed meanwhile. Where the thread has to wait, it
 * tries again afterwards, and this does not return.
 */
bool demand_bring(struct core *core, const struct hal_trap *trap, enum handler_why why);

/*
 * In the middle of a call, after hal_copy_in, hal_copy_out, or what uses them, has failed: the
 * same, but nothing is copied, for which the thread would have to wait.
 */
bool demand_reach(struct core *core);

/* hal_frame_keep of the running thread, for which memory below its stack may have to come first. */
hot_inline bool
demand_keep(struct core *core)
{
	while (unlikely(!hal_frame_keep(core->current->now)))
		if (!demand_reach(core))
			return false;
	return true;
}

#endif
