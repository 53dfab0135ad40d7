/* SPDX-License-Identifier: MIT
 *
 * Handlers: a thread has a second frame for what it handles itself: calls that are not the
 * kernel's, its faults, and upcalls. Entering stops the thread where it is, in its first frame, and
 * goes on at the handler's entry with the second; frame_return goes on with the first. In its
 * handler a thread has no handler: a fault there ends its process, another's call is -E_NOSYS, an
 * address that cannot be reached -E_FAULT. Its own core's, but for the memory.
 */
#ifndef KERNEL_CALL_HANDLER_H
#define KERNEL_CALL_HANDLER_H

#include <base/tune.h>
#include <kernel/cluster.h>

/* Why the thread is in its handler: what frame_return has to do. */
#define HANDLER_CALLS 0		/* bits of HANDLE_* */
#define HANDLER_FAULTS 1
#define HANDLER_UPCALLS 2

enum handler_why {
	HANDLES_CALL,		/* a call of another number: has a result */
	HANDLES_FAULT,		/* it goes on where it stopped, or elsewhere */
	HANDLES_UPCALL,		/* the same */
	HANDLES_PROBE,		/* a kernel call, which has done nothing: starts again */
	HANDLES_MORE,		/* a bit: an upcall has come meanwhile */
};

struct handler {
	struct hal_frame frame;
	struct handler_place place[HANDLER_KINDS];
	uint32_t why;		/* enum handler_why */
	struct hal_trap call;	/* what it is told of each call: whose thread it is */
};

/*
 * Does this thread, outside of its handler, have one that has been made and serves this kind
 * (HANDLER_*)?
 */
hot_inline bool
handler_serves(const struct thread *t, int kind)
{
	return likely(t->handler != NULL) && likely(t->now == &t->frame) &&
		likely(t->handler->place[kind].entry != 0);
}

/* It does: the running thread, complete in its frame, goes on there. Never returns. */
hot_inline void
handler_begin(struct thread *t, int kind, const struct hal_trap *trap, enum handler_why why)
{
	struct handler *h = t->handler;

	h->why = why;
	t->now = &h->frame;
	hal_handler_enter(&t->frame, &h->frame, trap, h->place[kind].entry, h->place[kind].stack);
}

/*
 * The same wherever the thread is. Returns if it has no handler for this, or is in it. May wait for
 * home, if it needs it for the first time.
 */
void handler_enter(struct core *core, int kind, const struct hal_trap *trap, enum handler_why why);

/*
 * The handler of the running thread ends: see kc_frame_return. Returns 0 if it is in none, or not
 * at all.
 */
long handler_return(struct thread *t, unsigned long value);

/*
 * The running thread, complete in its frame, may have bits that start its handler
 * (kernel/thread/alarm.h), or another core. Returns if it has none, no handler for them, or is in
 * it, or if its process is being killed; and if it goes on elsewhere: it is nobody's current one
 * then.
 */
void handler_upcall(struct core *core);

#endif
