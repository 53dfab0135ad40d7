/* SPDX-License-Identifier: MIT
 *
 * Upcalls and alarms: see alarm.h. Home core. Source: seed 000 III-B (software alarms).
 */
#include <hal/timer.h>
#include <kernel/call/kcall_core.h>
#include <kernel/object/quota.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

struct handler_record *
handler_record(struct thread *t)
{
	if (t->made != NULL)
		return t->made;
	t->made = quota_alloc(t->proc->quota, &t->cluster->slab, sizeof(*t->made));
	if (t->made == NULL)
		return NULL;
	t->made->alarm.deadline.is_alarm = true;
	t->made->alarm.thread = t;
	hal_publish(t->made, slab_size(&t->cluster->slab, sizeof(*t->made)));
	return t->made;
}

static void
alarm_stop(struct alarm *a)
{
	if (a->deadline.place != 0)
		deadline_clear(a->thread->cluster, &a->deadline);
}

void
handler_record_free(struct thread *t)
{
	alarm_stop(&t->made->alarm);
	quota_free(t->proc->quota, &t->cluster->slab, t->made, sizeof(*t->made));
	t->made = NULL;
}

/* --- upcalls --- */

static uint32_t
pending(const struct thread *t)
{
	return t->bits & t->upcalls;
}

/*
 * A wait that others know of (`undo`) ends in home's loop, as if its time had come: what that takes
 * may set bits of further threads.
 */
void
upcall_cut(struct thread *t)
{
	if (pending(t) == 0 || t->wait.kind >= WAIT_MEMORY)
		return;
	if (t->wait.undo == NULL) {
		thread_ready(t, -E_INTR);
		return;
	}
	if (t->wait.deadline.place != 0)
		deadline_clear(t->cluster, &t->wait.deadline);
	deadline_set(t->cluster, &t->wait.deadline, 0);
}

void
wait_rings(struct thread *t)
{
	if (t->wait.undo != NULL)
		t->wait.undo(t);
	thread_ready(t, pending(t) != 0 ? -E_INTR : -E_TIMEDOUT);
}

void
upcall_change(struct thread *t, uint32_t set, uint32_t clear)
{
	hal_store32(&t->upcall, (hal_load32(&t->upcall) & ~clear) | set);
}

void
upcall_begin(struct thread *t)
{
	uint32_t known = hal_load32(&t->upcall) & UPCALL_BITS;

	if (!thread_is_alive(t))
		return;
	upcall_change(t, UPCALL_BITS, 0);
	/* the core may know of another bit, which its thread has taken in a handler that waits */
	if (t->state == THREAD_WAITING)
		upcall_cut(t);
	else if (t->state == THREAD_READY && known == 0)
		core_interrupt(t->core);
}

long
upcall_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	uint32_t bits = pending(t);

	t->bits &= ~bits;
	upcall_change(t, 0, UPCALL_BITS);
	return (long)bits;
}

long
upcall_look_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	upcall_change(t, args->a[0] != 0 && pending(t) != 0 ? UPCALL_BITS : 0, UPCALL_BITS);
	return 0;
}

/*
 * kc_thread_upcalls: from now on the bits in `mask` (WAKE_ANY: all) of the caller's notification
 * start its handler of HANDLE_UPCALLS, wherever it is, and end a call in which it waits with
 * -E_INTR. Bits of the mask that are set already do so at once. Without a handler they stay until
 * the thread sleeps for them or has one (thread_handler). In a handler a thread goes on, and
 * one starts when that ends; but its waits end with -E_INTR there, too. Who sleeps for a bit
 * (thread_sleep) takes it there. Runs: home. Returns 0; -E_INVAL: other bits than WAKE_ANY has;
 * -E_NOSYS: a thread of the host's, which nobody can stop.
 */
long
kc_thread_upcalls(struct thread *caller, uint32_t mask)
{
	if ((mask & ~(uint32_t)WAKE_ANY) != 0)
		return -E_INVAL;
	if (caller->core->id >= caller->cluster->cores)
		return -E_NOSYS;
	caller->upcalls = mask;
	if (pending(caller) != 0)
		upcall_begin(caller);
	else
		upcall_change(caller, 0, UPCALL_BITS);
	return 0;
}

/* --- alarms --- */

/*
 * The next one is a period later, or where that is over already: a period from now. Who has ended,
 * or is about to, has no alarm any more.
 */
void
alarm_rings(struct alarm *a, uint64_t now)
{
	struct thread *t = a->thread;
	uint64_t next = a->deadline.until + a->period;

	deadline_clear(t->cluster, &a->deadline);
	if (t->state == THREAD_ZOMBIE || !thread_is_alive(t))
		return;
	if (a->period != 0)
		deadline_set(t->cluster, &a->deadline, next > now ? next : now + a->period);
	thread_signal(t, a->bit);
}

/*
 * kc_alarm_set: set a bit of the caller's notification at a time, and from then on each period
 * (struct alarm_times). Alarms whose bit is still set are one; a thread has one alarm, and this
 * replaces it. Runs: home. Returns 0; -E_INVAL: no such bit, or a period between 0 and
 * ALARM_PERIOD_MIN; -E_NOMEM.
 */
long
kc_alarm_set(struct thread *caller, int bit, const void *times)
{
	struct alarm_times when;
	struct handler_record *made;

	__builtin_memcpy(&when, times, sizeof(when));
	if (bit < 0 || bit >= WAKE_BITS || (when.period != 0 && when.period < ALARM_PERIOD_MIN))
		return -E_INVAL;
	made = handler_record(caller);
	if (made == NULL)
		return -E_NOMEM;
	alarm_stop(&made->alarm);
	made->alarm.bit = (uint32_t)1 << bit;
	made->alarm.period = when.period;
	if (when.first < DEADLINE_NEVER)
		deadline_set(caller->cluster, &made->alarm.deadline, when.first);
	/* home goes on with the caller, and arms its tick for the alarm when it is interrupted */
	if (core_is_home(caller->core))
		hal_interrupt(caller->core->id);
	return 0;
}
