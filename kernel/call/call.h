/* SPDX-License-Identifier: MIT
 *
 * Kernel entry: what is not a plain call.
 */
#ifndef KERNEL_CALL_CALL_H
#define KERNEL_CALL_CALL_H

struct thread;

/* Hand a call that is not ours to the personality of the thread's process. Returns -E_PARK: go on there; or -E_NOSYS if there is none. */
long personality_reflect(struct thread *t);

/* A thread faulted: its process dies. */
struct hal_trap;
void crash_report(struct thread *t, const struct hal_trap *trap);

#endif
