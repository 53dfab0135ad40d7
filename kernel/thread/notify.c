/* SPDX-License-Identifier: MIT
 *
 * Notifications: each thread has a word of bits, which others and events of the kernel set and the
 * thread takes. A bit stays set until its thread has slept for it, so that nothing is missed,
 * whatever the thread does meanwhile; so a server sleeps for all its sources at once. Events are
 * bound to bits: see event_bind. Home core.
 */
#include <kernel/call/kcall_core.h>
#include <kernel/dev/device.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

void
thread_signal(struct thread *t, uint32_t bits)
{
	uint32_t all = t->bits | bits, taken = 0;

	if (t->wait.kind == WAIT_SLEEP)
		taken = all & (uint32_t)t->wait.on;
	t->bits = all & ~taken;
	if (taken != 0)
		thread_ready(t, (int32_t)taken);
	else if (unlikely((bits & t->upcalls) != 0))
		upcall_begin(t);
}

void
binding_signal(struct cluster *c, const struct binding *b)
{
	struct thread *t = thread_find(c, b->tid);

	if (t != NULL)
		thread_signal(t, BINDING_BIT(b));
}

void
binding_handle_gone(struct cluster *c, struct binding *b, const struct object *o)
{
	struct thread *t = thread_find(c, b->tid);

	if (t == NULL || &t->proc->object == o ||
		handle_get_far(&t->proc->handles, BINDING_HANDLE(b), o->type) == o)
		return;
	binding_signal(c, b);
	b->tid = 0;
}

static long
sleep_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	uint32_t mask = (uint32_t)args->a[0] & WAKE_ANY, taken = t->bits & mask;

	if (taken != 0) {
		t->bits &= ~taken;
		return (long)taken;
	}
	t->wait.kind = WAIT_SLEEP;
	t->wait.on = mask;
	return thread_park(t, NULL);
}

/*
 * kc_thread_sleep: wait until a bit of `mask` (WAKE_ANY: any) is set in the caller's notification,
 * and take those that are. Runs: calling core. Returns the bits.
 */
long
kc_thread_sleep(struct thread *caller, uint32_t mask)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);

	args->caller = caller;
	args->a[0] = mask;
	return am_call_kernel(core, sleep_serve, args,
		offsetof(struct kcall_args, a) + sizeof(args->a[0]));
}

/* The longer ways are apart, so that the short one needs no stack frame. */
static __attribute__((noinline)) long
wakeup_other(struct thread *t, uint32_t bits)
{
	if (bits == 0 || (bits & ~(uint32_t)WAKE_ANY) != 0)
		return -E_INVAL;
	if (t->state == THREAD_ZOMBIE || t->state == THREAD_FREE)
		return -E_SRCH;
	thread_signal(t, bits);
	return 0;
}

static long
wakeup(struct thread *t, uint32_t bits)
{
	if (t->state != THREAD_READY || unlikely((int32_t)bits <= 0) ||
		unlikely((bits & t->upcalls) != 0))
		return wakeup_other(t, bits);
	t->bits |= bits;
	return 0;
}

static __attribute__((noinline)) long
wakeup_far(const struct handles *handles, int thread, uint32_t bits)
{
	struct object *o = handle_get_far(handles, thread,
		HANDLE_KIND(OBJECT_THREAD, RIGHT_SIGNAL));

	return o != NULL ? wakeup(list_entry(o, struct thread, object), bits) :
		handle_error(handles, thread, OBJECT_THREAD);
}

/*
 * kc_thread_wakeup: set bits of a thread's notification (RIGHT_SIGNAL). Runs: home. Returns 0;
 * -E_BADF; -E_ACCES; -E_SRCH: it has ended; -E_INVAL: no bits, or others than WAKE_ANY has.
 */
long
kc_thread_wakeup(struct thread *caller, int thread, uint32_t bits)
{
	struct object *o = handle_get_near(&caller->proc->handles, thread, OBJECT_THREAD,
		RIGHT_SIGNAL);

	return likely(o != NULL) ? wakeup(list_entry(o, struct thread, object), bits) :
		wakeup_far(&caller->proc->handles, thread, bits);
}

/* The end of a process (RIGHT_WAIT), or its faults (RIGHT_WRITE). */
static long
find_of_process(struct thread *caller, int event, int object, struct event *e)
{
	struct process *p;
	int wrong;

	if (event == EVENT_FAULT) {
		wrong = proc_find(caller, object, RIGHT_WRITE, &p);
		if (wrong == 0)
			*e = (struct event){&p->fault, !list_is_empty(&p->faulted)};
		return wrong;
	}
	wrong = proc_named(caller, object, RIGHT_WAIT, &p);
	if (wrong != 0)
		return wrong;
	*e = (struct event){&p->end, p->state == PROC_ZOMBIE};
	return p->state == PROC_FREE ? -E_SRCH : 0;
}

/* The end of a thread (RIGHT_WAIT). */
static long
find_end(struct thread *caller, int object, struct event *e)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *o;
	struct thread *t;

	o = handle_get(handles, object, OBJECT_THREAD, RIGHT_WAIT);
	if (o == NULL)
		return handle_error(handles, object, OBJECT_THREAD);
	t = list_entry(o, struct thread, object);
	*e = (struct event){&t->end, t->state == THREAD_ZOMBIE};
	return t->state == THREAD_FREE ? -E_SRCH : 0;
}

/*
 * kc_event_bind: from now on an event of an object sets a bit for the caller, instead of for
 * whoever bound it before; at once if what it tells of is there already. Bit -1: for nobody. When
 * the handle is closed or revoked the bit is set once more, and then the event tells the caller
 * nothing any more.
 *
 *   EVENT_MAILBOX  input mailbox (handle): a message is there, or a cluster died
 *   EVENT_ROOM     any output mailbox that a write of the caller found full (object: 0): it may be
 *                  tried again
 *   EVENT_PORTAL   portal (handle): input: a block is there, or the sender has ended it; output:
 *                  the receiver allows a transfer, or a write that was started goes on, or is over
 *   EVENT_THREAD   thread (handle): it has ended
 *   EVENT_PROC     process (handle): it has ended
 *   EVENT_CLUSTER  cluster: it is dead
 *   EVENT_SYNC     end of a sync point (handle): the round is complete, or the next signal may be
 *                  given, or it never will
 *   EVENT_CHANNEL  channel (handle): the other side wakes us, or is not there any more
 *   EVENT_FAULT    process (handle, RIGHT_WRITE): a thread of it has stopped at a fault that it has
 *                  no handler for: see fault_next. Without anybody bound such a fault ends it
 *   EVENT_INTERRUPT  device (handle): it has interrupted; no other interrupt of it comes before
 *                  device_done
 *
 * Runs: home. Returns 0; -E_INVAL: no such event, bit or cluster; -E_BADF, -E_ACCES: no such
 * object, or no RIGHT_WAIT; -E_SRCH: its value or status is taken, or of
 * EVENT_FAULT: it has ended; -E_BUSY: of this cluster's death
 * another process is told; -E_PIPE, -E_HOSTDOWN: the other side of the channel is gone.
 */
long
kc_event_bind(struct thread *caller, int event, int object, int bit)
{
	struct event e = {NULL, false};
	long wrong;

	if (bit < -1 || bit >= WAKE_BITS)
		return -E_INVAL;
	if (event == EVENT_PROC || event == EVENT_FAULT)
		wrong = find_of_process(caller, event, object, &e);
	else if (event == EVENT_THREAD)
		wrong = find_end(caller, object, &e);
	else if (event == EVENT_INTERRUPT)
		wrong = device_event(caller, object, &e);
	else
		wrong = ikc_event(caller, event, object, &e);
	if (wrong != 0)
		return wrong;
	e.binding->how = BINDING(object, bit);
	e.binding->tid = bit < 0 ? 0 : caller->tid;
	if (e.is_there)
		binding_signal(caller->cluster, e.binding);
	return 0;
}
