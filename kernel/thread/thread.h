/* SPDX-License-Identifier: MIT
 *
 * Threads: life, waiting and waking. Everything here runs on the home core unless it says
 * otherwise.
 *
 * A call that waits: its local half calls the home core (am_call_kernel), the home half either
 * returns the result or registers the thread by thread_park() and returns what that returned,
 * -E_PARK. Later thread_ready() hands the thread its result. A wait ends once: by what it is for,
 * by its deadline, by an upcall, because what it is for is taken away (all four by thread_ready()),
 * or by the death of its process.
 */
#ifndef KERNEL_THREAD_THREAD_H
#define KERNEL_THREAD_THREAD_H

#include <kernel/cluster.h>

struct context;

/* its handle stays in its process: no RIGHT_GRANT */
#define THREAD_RIGHTS (RIGHT_READ | RIGHT_SIGNAL | RIGHT_WAIT)

/* The thread with this number, if it exists (also as a zombie), else NULL. */
struct thread *thread_find(struct cluster *c, int tid);

/*
 * Create a thread of `p` from a register context and make it ready. Returns its handle, in the
 * table of `p`; -E_INVAL: bad context, or no core of `p`; -E_NOSPC: there are as many as may be;
 * -E_NOMEM: no memory for it or its handle; -E_MFILE: no handle.
 */
long thread_new(struct process *p, const struct context *ctx, int core);

/*
 * A new thread of `p` on a core, in no state yet, with its handle. 0 and *thread; -E_NOSPC;
 * -E_NOMEM; -E_MFILE.
 */
long thread_make(struct process *p, struct core *at, struct thread **thread);

/* It has begun and has not ended: a core has room for it. */
static inline bool
thread_lives(const struct thread *t)
{
	return t->state == THREAD_READY || t->state == THREAD_WAITING;
}

/*
 * A thread of the own process that the handle with these rights names. 0 and *thread; -E_BADF;
 * -E_ACCES; -E_SRCH: it has ended.
 */
int thread_named(struct thread *caller, int handle, unsigned rights, struct thread **thread);

/* No handle names it any more: nobody can take its value. */
void thread_unreferenced(struct thread *t);

/* A thread will not run again: its core has room for another. */
void thread_unplace(struct thread *t);

/* It will run on another core. */
void thread_replace(struct thread *t, struct core *to);

/* Home: do threads run on this core? */
bool core_runs_users(const struct core *core);

/*
 * Where cores have an order: the domain of the first, for the domain that the process has, of those
 * that have the fewest threads and on which its threads may run. Else 0.
 */
uint32_t domain_near(struct cluster *c, const struct process *p);

/* The core that threads of the process look at as the n-th. */
struct core *core_by_order(const struct cluster *c, const struct process *p, uint32_t n);

/* A core among these on which threads of the process may run, or NULL: there is none. */
struct core *core_among(struct process *p, uint32_t first, uint32_t count);

/*
 * A thread that is in no queue and on no core is gone: its own handle is closed; with the last one
 * its record is gone, too.
 */
void thread_release(struct thread *t);

/*
 * The thread waits, in `queue` (NULL: in none; whoever knows it wakes it). thread_ready() takes it
 * out again, as does the death of its process. Returns -E_PARK.
 */
long thread_park(struct thread *t, struct list *queue);

/* The first time that it is made ready; its frame must be filled. */
void thread_launch(struct thread *t);

/* It waits no more: it leaves the queue and the deadlines. */
void thread_wait_end(struct thread *t);

/*
 * End a thread's wait: `result` becomes the result of its call. Bytes for its `out` argument go
 * into t->wake_data before.
 */
void thread_ready(struct thread *t, long result);

/* A core shall look at what there is for it, also if it runs a user thread. */
void core_interrupt(const struct core *core);

/* First waiting thread of a queue, NULL if it is empty. */
struct thread *thread_first(const struct list *queue);

/*
 * The same of a queue in which at most one thread waits; if its process has ended it waits no more.
 */
struct thread *thread_waiter(struct list *queue);

/* --- notifications: notify.c --- */

/* An event that can be bound: whom it tells, and whether it has come already. */
struct event {
	struct binding *binding;
	bool is_there;
};

void thread_signal(struct thread *t, uint32_t bits);
void binding_signal(struct cluster *c, const struct binding *b);

/*
 * A handle of an object is gone: if the binding to its event was made by that, its thread is told
 * so by the bit, and of nothing more.
 */
void binding_handle_gone(struct cluster *c, struct binding *b, const struct object *o);

/* --- deadlines: deadline.c --- */

/* what is later never comes; clocks count no further */
#define DEADLINE_NEVER (HAL_FOREVER >> 1)

/* What is not among the deadlines comes at `until`; what is does not come any more. */
void deadline_set(struct cluster *c, struct deadline *at, uint64_t until);
void deadline_clear(struct cluster *c, struct deadline *at);

/* The earliest, or HAL_FOREVER. */
uint64_t deadlines_first(const struct cluster *c);

/* End waits and ring alarms whose time has come, a bounded number. False if there was none. */
bool deadlines_poll(struct cluster *c);

/* Does this thread still count? False when its process is dying. */
static inline bool
thread_is_alive(const struct thread *t)
{
	return t->proc->state == PROC_LIVE;
}

/*
 * Its own core: what is there to look after before it goes on (UPCALL_*)? Home rings the core
 * behind what it wrote, so whoever looks before it goes to the user, and when a doorbell comes,
 * misses nothing.
 */
hot_inline uint32_t
thread_upcall(const struct thread *t)
{
	return hal_peek32(&t->upcall);
}

/* Home: begin or end some of that. */
void upcall_change(struct thread *t, uint32_t set, uint32_t clear);

/* Home half of thread_exit. */
void thread_end(struct thread *t, uint64_t value);

#endif
