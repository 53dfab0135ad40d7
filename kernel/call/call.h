/* SPDX-License-Identifier: MIT
 *
 * Kernel entry: what is not a plain call.
 */
#ifndef KERNEL_CALL_CALL_H
#define KERNEL_CALL_CALL_H

struct thread;

/* A thread faulted: its process dies. */
struct hal_trap;
void crash_report(struct thread *t, const struct hal_trap *trap);

#endif
