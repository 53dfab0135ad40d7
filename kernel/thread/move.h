/* SPDX-License-Identifier: MIT
 *
 * Threads move between cores. Home says where to (thread_cores, core_role) and sets UPCALL_MOVE;
 * the core that has the thread gives it up where it would go to the user, complete in its frame,
 * and home makes it ready on the other. So it does not matter whether it runs, waits or is about to
 * be woken.
 */
#ifndef KERNEL_THREAD_MOVE_H
#define KERNEL_THREAD_MOVE_H

#include <kernel/cluster.h>

/*
 * Home: a thread that has not ended is to leave its core for the one with this number, if that is
 * another, or, with MOVE_AWAY, for the best that there is then.
 */
#define MOVE_AWAY UINT32_MAX
void thread_send(struct thread *t, uint32_t to);

/*
 * Home: a thread that has not ended is to be on one of `count` cores from `first` on: if it is
 * not, it goes to that of these with the fewest threads. 0; -E_NOSYS: a thread of the host's;
 * -E_INVAL: none of these runs threads of its process.
 */
int thread_confine(struct thread *t, uint32_t first, uint32_t count);

/*
 * Home: where a thread goes that has to leave its core. Of those that its process may use: an AC
 * that has none, for a program's thread, else the TC, else the AC with the fewest; only a TC, if it
 * comes from a core that is an AC now. If there is none of these, any TC, where its core runs no
 * threads. NULL: none.
 */
struct core *core_elsewhere(const struct thread *t);

/*
 * The running thread, complete in its frame, has UPCALL_MOVE: it is nobody's current one any more
 * and goes on elsewhere. The process may have been killed meanwhile.
 */
void thread_moves(struct core *core);

/*
 * The running thread has used its quantum while others waited: if there is a core for it that has
 * none, it has UPCALL_MOVE now, and its quantum goes on until it has gone.
 */
void thread_spreads(struct core *core);

#endif
