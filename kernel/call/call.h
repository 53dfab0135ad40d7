/* SPDX-License-Identifier: MIT
 *
 * Kernel entry: results that never reach a user.
 */
#ifndef KERNEL_CALL_CALL_H
#define KERNEL_CALL_CALL_H

#define E_PARK 4000	/* the thread waits: its result comes through its core's ready ring */
#define E_FRAME 4001	/* its frame was replaced: there is no result */
#define E_GONE 4002	/* it ended or lies in the run queue: this core has nothing more to do with it now */
#define E_INTERNAL_FIRST E_PARK

struct thread;

/* Hand a call that is not ours to the personality of the thread's process. Returns -E_FRAME, or -E_NOSYS if there is none. */
long personality_reflect(struct thread *t);

/* A thread faulted: its process dies. Returns -E_GONE. */
struct hal_trap;
long crash_report(struct thread *t, const struct hal_trap *trap);

#endif
