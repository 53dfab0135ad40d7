/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on threads. Source: seed 000 III-B.
 */
#include <base/tune.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* kc_thread_self: handle of the calling thread. Runs: calling core. */
long
kc_thread_self(struct thread *caller)
{
	return caller->handle;
}

/* kc_void_remote: nothing, at the home core. Returns 0. */
long
kc_void_remote(struct thread *caller)
{
	(void)caller;
	return 0;
}

/*
 * kc_thread_create: start a thread of the caller's process from a full register context, on a core
 * that the process may use. Runs: home. Returns its handle; -E_INVAL: context, or no such core;
 * -E_NOSPC; -E_NOMEM; -E_MFILE.
 */
long
kc_thread_create(struct thread *caller, const void *ctx, int core)
{
	return thread_new(caller->proc, ctx, core);
}

void
thread_end(struct thread *t, uint64_t value)
{
	struct process *p = t->proc;
	struct thread *joiner = thread_first(&t->joiners);

	if (unlikely(t->counts != NULL))
		counts_keep(t);
	if (unlikely(t->transfer != NULL))
		portal_abandon(t, 0);
	thread_unplace(t);
	p->live--;
	t->state = THREAD_ZOMBIE;
	t->value = value;
	if (unlikely(t->end.tid != 0)) {
		binding_signal(t->cluster, &t->end);
		t->end.tid = 0;
	}
	if (unlikely(joiner != NULL)) {
		joiner->wake_data[0] = value;
		thread_ready(joiner, 0);
	}
	if (unlikely(joiner != NULL) || unlikely(t->object.refs == 0))
		thread_release(t);
	if (p->live == 0)
		proc_end(p, 0, CRASH_NONE);
}

static long
exit_serve(struct kcall_args *args)
{
	uint64_t value;

	__builtin_memcpy(&value, args->data, sizeof(value));
	thread_end(args->caller, value);
	return 0;
}

/*
 * kc_thread_exit: end the calling thread; `value` goes to whoever joins it. The last thread ends
 * the process. Never returns.
 */
long
kc_thread_exit(struct thread *caller, unsigned long value)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	uint64_t wide = value;

	args->caller = caller;
	__builtin_memcpy(args->data, &wide, sizeof(wide));
	core_publish(caller);
	am_call_last(core, exit_serve, args, offsetof(struct kcall_args, data) + sizeof(wide));
	core->current = NULL;
	return -E_PARK;
}

/* Would the caller wait, through others, for itself? */
static bool
joins_back(const struct thread *target, const struct thread *caller)
{
	while (unlikely(target->wait.kind == WAIT_JOIN) && likely(target != caller))
		target = (const struct thread *)target->wait.on;
	return target == caller;
}

static long
join_serve(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct object *o = handle_get(&caller->proc->handles, (int)args->a[0], OBJECT_THREAD,
		RIGHT_WAIT);
	struct thread *t;

	if (unlikely(o == NULL))
		return handle_error(&caller->proc->handles, (int)args->a[0], OBJECT_THREAD);
	t = list_entry(o, struct thread, object);
	if (unlikely(t->state == THREAD_FREE))
		return -E_SRCH;
	if (likely(t->state == THREAD_ZOMBIE)) {
		__builtin_memcpy(args->data, &t->value, sizeof(t->value));
		thread_release(t);
		return 0;
	}
	if (unlikely(joins_back(t, caller)))
		return -E_DEADLK;
	if (unlikely(!list_is_empty(&t->joiners)))
		return -E_INVAL;
	caller->wait.kind = WAIT_JOIN;
	caller->wait.on = (uintptr_t)t;
	caller->wait.handle = (int)args->a[0];
	return thread_park(caller, &t->joiners);
}

/*
 * kc_thread_join: wait for the end of a thread (RIGHT_WAIT) and take its value; each value is taken
 * once, and with it the thread's own handle is closed. Runs: calling core. Returns 0; -E_BADF: also
 * if the handle is closed or revoked meanwhile; -E_ACCES; -E_SRCH: its value is taken; -E_DEADLK:
 * it waits for us; -E_INVAL: another waits for it.
 */
long
kc_thread_join(struct thread *caller, int thread, void *value)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)thread;
	result = am_call_kernel(core, join_serve, args, offsetof(struct kcall_args, data) + 8);
	if (result == 0)
		__builtin_memcpy(value, args->data, 8);
	return result;
}

/* kc_thread_yield: let the other threads of this core run. Runs: calling core. Returns 0. */
long
kc_thread_yield(struct thread *caller)
{
	hal_frame_set_result(caller->now, 0);
	core_yield(core_self());
	return 0;
}

/*
 * kc_thread_priority: of a thread (RIGHT_SIGNAL), 0 .. what its process may have. It counts at once
 * if the thread runs or waits; one that is ready runs once more as it was. Runs: home. Returns 0;
 * -E_BADF; -E_SRCH: it has ended; -E_INVAL: no such priority; -E_ACCES: no right, or higher than
 * its process may have.
 */
long
kc_thread_priority(struct thread *caller, int thread, int priority)
{
	struct thread *t;
	int e = thread_named(caller, thread, RIGHT_SIGNAL, &t);

	if (e != 0)
		return e;
	if (priority < 0 || priority >= PRIORITIES)
		return -E_INVAL;
	if ((uint32_t)priority > t->proc->priority)
		return -E_ACCES;
	hal_store32(&t->priority, (uint32_t)priority);
	return 0;
}
