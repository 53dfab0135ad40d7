/* SPDX-License-Identifier: MIT
 *
 * A core runs threads: its ready ring, its run queue, its loop. Everything here runs on that core.
 *
 * On a TC the current thread's quantum ends only if others are ready here, so the tick is armed
 * only then, and on a home core for what home has promised to do at a time. No other core arms it.
 */
#ifndef KERNEL_THREAD_RUN_H
#define KERNEL_THREAD_RUN_H

#include <kernel/cluster.h>

/* Move the threads that home made ready to the run queue. */
void ready_drain(struct core *core);

/* The thread waits in a call: home ends that at t->until at the latest. */
void core_park(struct core *core, const struct thread *t);

/*
 * The core knows none of the addresses of its current thread until it enters that again, or with
 * core_enter_space.
 */
void core_leave_space(struct core *core);
void core_enter_space(struct core *core);

/* The running thread does not go on here: leave to another. */
_Noreturn void core_leave(struct core *core);

/* Run threads, serve messages, wait: for ever. The running thread must have been put somewhere. */
_Noreturn void core_loop(struct core *core);

/* At boot, and for a core that is used again: no thread waits to run here. */
void run_queue_init(struct core *core);

/*
 * The running thread, whose frame says already what its call returns, runs again after those of
 * its priority that wait here. Returns if none waits, or if its process is being killed.
 */
void core_yield(struct core *core);

/*
 * A doorbell or, with `tick`, the timer interrupted the current thread: look around. It goes on
 * unless the core is a TC and another thread's turn has come: one of a higher priority at once, one
 * of its own when its quantum is over. Returns only if it goes on.
 */
void core_interrupted(struct core *core, bool tick);

/*
 * Serve what reached this core: messages, ready threads, on home also the NoC, sweeps and the
 * console, a bounded number of each. Home that leaves messages behind has rung itself.
 */
void core_work(struct core *core);

/*
 * Write back what this core wrote of a thread that it may not see again: home will give the entry
 * to another thread, perhaps on another core, and nothing of ours may reach the memory after that.
 */
void core_publish(const struct thread *t);

/*
 * The current thread will not go on: acknowledge the kill that wanted it, if any, and leave its
 * space.
 */
void core_drop_current(struct core *core);

/*
 * The running thread, which this core took from the run queue, goes on otherwise than by the result
 * of its call: its quantum begins, and an upcall that came meanwhile interrupts it.
 */
void core_takes_up(struct core *core);

/* No thread runs, or none is interrupted: nothing shall disturb it. */
void tick_stop(struct core *core);

/* What a core does for the kill of a process: no thread of it stays here (am_post_fn). */
void core_evict(struct core *core, const void *data);

#endif
