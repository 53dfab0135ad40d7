/* SPDX-License-Identifier: MIT
 *
 * Queued calls: a thread writes down calls, goes on, and takes their replies later; other threads
 * of the process, the workers, make them. So a program on an application core, where a kernel call
 * is a message to the kernel's core and back, pays for two entries of rings instead. Manual:
 * docs/man/call_queue.3. Source: seed 004 7.
 *
 * A queue has one user, who submits and takes replies: a kernel thread, or the user threads of one
 * (atoll/uthread.h), each of which waits for its call while others run.
 */
#ifndef ATOLL_CALL_QUEUE_H
#define ATOLL_CALL_QUEUE_H

#include <stdbool.h>
#include <atoll/number_ring.h>
#include <atoll/sem.h>

#define CALL_QUEUE_MAX 32000		/* calls that are under way at a time */
#define CALL_WORDS 6

struct uthread;
struct call_queue_state;

/* Who submits it keeps it until it is replied. */
struct queued_call {
	/* makes the call; its value is the result. queued_kernel_call, or the program's own */
	long (*make)(struct queued_call *c);
	unsigned long number;		/* of a kernel call (abi/kcalls.h) */
	unsigned long word[CALL_WORDS];	/* its arguments, as words */
	long result;
	/* these functions' */
	struct uthread *waiter;
	struct queued_call *after;
};

/* These functions' alone. */
struct call_queue {
	struct call_queue_state *at;
	struct number_ring submitted, replied;
	struct queued_call **call;	/* by number */
	uint32_t *next;			/* number that is free, too */
	uint32_t free;			/* the first; 0: none */
	struct queued_call *full;	/* of user threads that wait for a place */
	struct segment words;		/* of which `looks` may be changed, as in a segment */
};

/* Bytes of memory for a queue of so many calls. */
size_t call_queue_bytes(unsigned calls);

/*
 * Begin a queue of at most `calls` calls under way, in memory aligned to 64 bytes that stays until
 * the end. 0; -E_INVAL.
 */
int call_queue_begin(struct call_queue *q, unsigned calls, void *memory, size_t bytes);

/*
 * Be a worker until call_queue_end: any number of threads, on other cores than the user. It looks
 * for calls words.looks times, as that is now, before it sleeps. A call that waits keeps its
 * worker. 0; -E_IO: the memory has been spoilt.
 */
int call_queue_serve(struct call_queue *q);

/* Is no call under way? */
bool call_queue_is_idle(const struct call_queue *q);

/* The workers return. 0; -E_BUSY: calls are under way. */
int call_queue_end(struct call_queue *q);

/* --- for its user --- */

/* Submit a call. 0; -E_AGAIN: as many are under way as may be: take a reply first. Never waits. */
int call_submit(struct call_queue *q, struct queued_call *c);

/*
 * Take a reply: *c is a call that was made, in whatever order. 0; or as downsem: -E_AGAIN: there is
 * none yet, and `until` is 0; -E_TIMEDOUT; -E_INTR. -E_NOENT: no call is under way.
 */
int call_reply(struct call_queue *q, struct queued_call **c, uint64_t until);

/*
 * A user thread makes a call: others run until it is replied, also while the queue is full. Before
 * that a thread of the set calls call_queue_uthreads, and none of them call_reply. The result of
 * the call; -E_IO: the memory has been spoilt.
 */
void call_queue_uthreads(struct call_queue *q);
long call_queued(struct call_queue *q, struct queued_call *c);

/*
 * The kernel call `number` with those words. It is the worker who makes it, as far as it concerns
 * its caller; what would end the worker, or change where it goes on, is -E_NOSYS.
 */
long queued_kernel_call(struct queued_call *c);

#endif
