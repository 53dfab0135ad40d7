/* SPDX-License-Identifier: MIT
 *
 * Upcalls and alarms. Bits of a thread's notification may start its handler (HANDLE_UPCALLS)
 * instead of waiting until it sleeps for them: it stops wherever it is, in its first frame, and
 * the handler takes the bits. An alarm is a time at which home sets such a bit, once or again and
 * again. So a core without a timer of its own is interrupted by home, and only because a thread of
 * its own process wants that.
 *
 * Home decides: while a thread has bits that it has unmasked, `upcall` says so to its core, which
 * looks there whenever it takes the thread up, when the thread leaves its handler, and when a
 * doorbell stops it; behind each wait for home, which may have taken the doorbell, the core rings
 * it again. The core asks home for the bits then. A wait of a call ends with -E_INTR, and one that
 * begins meanwhile does at once.
 */
#ifndef KERNEL_THREAD_ALARM_H
#define KERNEL_THREAD_ALARM_H

#include <kernel/call/handler.h>
#include <kernel/thread/counts.h>

struct alarm {
	struct deadline deadline;
	uint64_t period;	/* ns, 0: it comes once */
	uint32_t bit;
	struct thread *thread;
};

/* What a thread has that has asked for a handler or an alarm, or of which others ask for counts. */
struct handler_record {
	struct handler handler;
	struct alarm alarm;	/* home */
	struct run_counts counts;
};

/* All of it is home's. */

/* The thread's record, made if it has none yet. NULL: no memory. */
struct handler_record *handler_record(struct thread *t);

/* The thread is gone: its record, too. */
void handler_record_free(struct thread *t);

/* A bit of the thread has been set that starts its handler. */
void upcall_begin(struct thread *t);

/* It waits, and may have such bits: the wait ends then, if it is one that can. */
void upcall_cut(struct thread *t);

/* The bits that a thread's handler takes now. */
long upcall_serve(struct kcall_args *args);

/* The thread has a handler for them (a[0]), or none, so that its core need not look. */
long upcall_look_serve(struct kcall_args *args);

/* Their time has come: that of a wait, which ends, and of an alarm. */
void wait_rings(struct thread *t);
void alarm_rings(struct alarm *a, uint64_t now);

#endif
