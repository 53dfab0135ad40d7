/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched. mem_alloc with PAGE_LAZY claims addresses; the first access
 * to one of their pages, by a thread or by a kernel call of it, takes a frame, which is charged
 * then. The core of the thread asks home for it, fills it with zeros and has home map it; then the
 * access, or the call, is made again. Where there is none left, it is a fault like any other: the
 * thread's handler has it, or whoever is bound to EVENT_FAULT, or the process ends.
 */
#ifndef KERNEL_MEM_DEMAND_H
#define KERNEL_MEM_DEMAND_H

#include <base/tune.h>
#include <kernel/cluster.h>

/* Does the thread's process have such memory? All others pay this look at a fault, and no more. */
hot_inline bool
has_demand(const struct thread *t)
{
	return hal_load32(&t->proc->demand) != 0;
}

/*
 * The running thread, whose process has such memory, could not reach some, or the kernel could not
 * for it: will another try do? The process may have been killed meanwhile.
 */
bool demand_bring(struct core *core, const struct hal_trap *trap);

/* The same for any thread, after hal_copy_in, hal_copy_out, or what uses them, has failed. */
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
