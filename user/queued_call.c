/* SPDX-License-Identifier: MIT
 *
 * Queued calls of the kernel, and of user threads: see atoll/call_queue.h.
 */
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/limits.abi.h>
#include <atoll/call_queue.h>
#include <atoll/uthread.h>
#include <usercpu/kcall.h>

long
queued_kernel_call(struct queued_call *c)
{
	const unsigned long *w = c->word;

	switch (c->number) {
	case KC_THREAD_EXIT:
	case KC_CONTEXT_SET:
	case KC_FRAME_RETURN:
	case KC_THREAD_HANDLER:
		return -E_NOSYS;
	default:
		return kcall6(c->number, w[0], w[1], w[2], w[3], w[4], w[5]);
	}
}

/* Whose replies are there go on; `waits`: there is nobody else to run. */
static void
wake_replied(void *queue, bool waits)
{
	struct call_queue *q = queue;
	struct queued_call *c;

	while (call_reply(q, &c, waits ? FOREVER : 0) == 0) {
		uthread_wake(c->waiter);
		if ((c = q->full) != NULL) {
			q->full = c->after;
			uthread_wake(c->waiter);
		}
		waits = false;
	}
}

void
call_queue_uthreads(struct call_queue *q)
{
	uthreads_source(wake_replied, q);
}

static void
wait_for_place(struct call_queue *q, struct queued_call *c)
{
	struct queued_call **at = &q->full;

	while (*at != NULL)
		at = &(*at)->after;
	*at = c;
	c->after = NULL;
	uthread_block();
}

long
call_queued(struct call_queue *q, struct queued_call *c)
{
	int e;

	c->waiter = uthread_self();
	uthreads_hold();
	while ((e = call_submit(q, c)) == -E_AGAIN)
		wait_for_place(q, c);
	if (e == 0)
		uthread_block();
	uthreads_release();
	return e != 0 ? e : c->result;
}
