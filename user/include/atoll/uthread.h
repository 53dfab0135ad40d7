/* SPDX-License-Identifier: MIT
 *
 * User threads: many threads of a program on one kernel thread, which knows nothing of them. They
 * take turns by an alarm of that (kalarm_set), so that one that computes keeps no other waiting,
 * also on an application core, which has no timer and runs its thread until that waits. Several
 * kernel threads may each have such a set. Where a thread is stopped its registers are put on its
 * own stack; on or1k, whose flags no program can put back, threads take turns in these calls only.
 *
 * A kernel call in which a user thread waits keeps all of its set waiting, and ends with -E_INTR
 * when the alarm rings: call it again then.
 */
#ifndef ATOLL_UTHREAD_H
#define ATOLL_UTHREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTHREAD_STACK_BYTES 32768	/* of each, of which these functions need some */
#define UTHREAD_KEYS 8

struct uthread;

/*
 * The calling kernel thread runs user threads, first main(arg), until all have ended: `max` at a
 * time at most, each for quantum_ns (at least ALARM_PERIOD_MIN; 0: until it lets others run). It
 * uses the bit `bit` of its notification, its alarm and its handler of upcalls. 0; -E_INVAL;
 * -E_NOMEM.
 */
int uthreads_run(void (*main)(void *arg), void *arg, unsigned max, uint64_t quantum_ns, int bit);

/* All that follows is for user threads. */

/* Start one at fn(arg). 0 and *made; -E_NOSPC: there are `max`. It has to be joined. */
int uthread_start(void (*fn)(void *arg), void *arg, struct uthread **made);

/* Wait for its end. 0; -E_INVAL: another waits for it; -E_DEADLK: it waits for us, or is us. */
int uthread_join(struct uthread *t);

struct uthread *uthread_self(void);

/* Let the others run. */
void uthread_yield(void);

/* End the calling one, as the return from its function does. */
_Noreturn void uthread_exit(void);

/*
 * Data of each thread by keys, NULL at first. When a thread ends, destroy (NULL: nothing) is called
 * for each value that is not NULL, and again for what that has set, a few times. Keys belong to the
 * set. A key, or -E_NOSPC; uthread_key_delete destroys nothing.
 */
int uthread_key_create(void (*destroy)(void *value));
void uthread_key_delete(int key);
void uthread_key_set(int key, void *value);
void *uthread_key_get(int key);

/*
 * For what lets user threads wait for something from outside of their set: look(arg, waits) is
 * called, by any of them, when they take turns, and with `waits` when none can run: then it sleeps
 * until there is something, or for as long as it likes. It wakes those whose wait is over. One for
 * a set; NULL: none.
 */
void uthreads_source(void (*look)(void *arg, bool waits), void *arg);

/* From here on no other thread of the set runs, but for waits. */
void uthreads_hold(void);
void uthreads_release(void);

/* In between: wait until somebody, also in between or a source, wakes the calling one. */
void uthread_block(void);
void uthread_wake(struct uthread *t);

/* Turns that an alarm has ended, of the calling thread's set. */
uint32_t uthreads_stopped(void);

#endif
