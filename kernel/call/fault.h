/* SPDX-License-Identifier: MIT
 *
 * Faults that another process handles. A thread faults, or a kernel call of it meets memory that
 * cannot be reached, and it has no handler for that (kernel/call/handler.h), or is in it: if a
 * thread is bound to EVENT_FAULT of its process, it stops, and that thread is told. Whoever may
 * write to the process takes the fault, looks at the stopped thread and changes it, and lets it go
 * on (fault_next). Otherwise a fault ends the process, and the call is -E_FAULT.
 */
#ifndef KERNEL_CALL_FAULT_H
#define KERNEL_CALL_FAULT_H

#include <kernel/call/handler.h>

/*
 * The running thread, complete in its frame, has faulted (HANDLES_FAULT), or its kernel call could
 * not reach memory and has done nothing (HANDLES_PROBE). Returns if nobody handles that; after a
 * fault the process ends then.
 */
void fault_deliver(struct core *core, const struct hal_trap *trap, enum handler_why why);

/* Home: a handle of the process is gone. Without its handler nobody lets stopped threads go on. */
void fault_handle_gone(struct cluster *c, struct process *p);

#endif
