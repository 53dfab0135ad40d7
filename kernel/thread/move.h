/* SPDX-License-Identifier: MIT
 *
 * Threads move between cores. Home says where to (thread_cores) and sets UPCALL_MOVE; the core that
 * has the thread gives it up where it would go to the user, complete in its frame, and home makes
 * it ready on the other. So it does not matter whether it runs, waits or is about to be woken.
 */
#ifndef KERNEL_THREAD_MOVE_H
#define KERNEL_THREAD_MOVE_H

#include <kernel/cluster.h>

/*
 * The running thread, complete in its frame, has UPCALL_MOVE: it is nobody's current one any more
 * and goes on elsewhere. The process may have been killed meanwhile.
 */
void thread_moves(struct core *core);

#endif
