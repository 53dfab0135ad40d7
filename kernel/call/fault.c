/* SPDX-License-Identifier: MIT
 *
 * Faults that another process handles: see fault.h. Source: seed 000 III-B (exceptions).
 */
#include <kernel/call/fault.h>
#include <kernel/call/kcall_core.h>
#include <kernel/mem/demand.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* --- the thread's core --- */

/* Go on after a fault: see fault_answer for what comes with it. */
static long
fault_go(struct hal_frame *f, long result, const void *data)
{
	struct core *core = core_self();
	const uint64_t *answer = data;

	if (result != 0)
		return result;
	core_takes_up(core);
	hal_acquire(f, sizeof(*f));
	if (answer[0] != 0)
		hal_frame_set_pc(f, (uintptr_t)answer[0]);
	else if (answer[1] == HANDLES_PROBE)
		return hal_call_again(f);
	return hal_frame_resume(f);
}

/*
 * Home half of deliver. a[0]: the thread has not asked yet whether its process gives it a handler.
 * a[1]: it can stop. a[2] to a[5]: its frame, the address, cause and access, why. -E_EXIST: it goes
 * on at a[0].
 */
static long fault_serve(struct kcall_args *args);

static long
deliver(struct core *core, const struct hal_trap *trap, enum handler_why why, bool asks)
{
	struct thread *t = core->current;
	struct kcall_args *args = kcall_args(core);
	bool kept = demand_keep(core);
	long e;

	t->resume = RESUME_FINISH;
	t->finish = fault_go;
	args->caller = t;
	args->a[0] = asks;
	args->a[1] = kept;
	args->a[2] = (unsigned long)t->now;
	args->a[3] = trap->addr;
	args->a[4] = trap->cause << 8 | trap->write;
	args->a[5] = why;
	core_publish(t);
	e = am_call_kernel(core, fault_serve, args, offsetof(struct kcall_args, data));
	if (e != -E_PARK)
		t->resume = RESUME_RESULT;
	if (e == -E_EXIST) {
		hal_frame_set_pc(t->now, args->a[0]);
		hal_frame_resume(t->now);
	}
	return e;
}

void
fault_deliver(struct core *core, const struct hal_trap *trap, enum handler_why why)
{
	struct thread *t = core->current;
	long e;

	if (t->handler != NULL)
		handler_enter(core, HANDLER_FAULTS, trap, why);
	e = deliver(core, trap, why, t->handler == NULL && t->now == &t->frame);
	if (e == -E_AGAIN) {
		handler_enter(core, HANDLER_FAULTS, trap, why);
		e = deliver(core, trap, why, false);
	}
	if (e != -E_PARK)
		return;
	core->current = NULL;
	core_leave(core);
}

/* --- home --- */

/* What is known of a stopped thread. */
static void
describe(const struct thread *t, struct crash_info *info)
{
	*info = (struct crash_info){
		.cause = t->fault.cause,
		.core = t->core->id,
		.tid = t->tid,
		.write = t->fault.write,
		.pc = hal_frame_pc(t->fault.frame),
		.addr = t->fault.addr,
		.sp = hal_frame_sp(t->fault.frame),
	};
}

/* Nobody handles the fault: the process ends. */
static void
crash(struct thread *t)
{
	struct process *p = t->proc;


	if (p->state == PROC_LIVE)
		describe(t, &p->crash);
	proc_end(p, -(int)t->fault.cause, t->fault.cause);
}

/*
 * Where the thread goes on if its process has a fixup (HANDLE_FIXUP) for such a fault. Else the
 * process ends, and it is 0.
 */
static uintptr_t
fixup_or_crash(struct thread *t)
{
	const struct handler_place *fixup = &t->proc->handler[HANDLER_FIXUP];

	if (hal_frame_pc(t->fault.frame) - fixup->stack < fixup->stack_size)
		return fixup->entry;
	crash(t);
	return 0;
}

/* The thread that is bound to the faults of a process and has not ended; NULL: there is none. */
static struct thread *
bound(struct cluster *c, const struct process *p)
{
	struct thread *t = thread_find(c, p->fault.tid);

	return t != NULL && t->state != THREAD_ZOMBIE && thread_is_alive(t) ? t : NULL;
}

/* Whoever handles a thread's faults has it or is told; the result for the thread. */
static long
stop(struct thread *t)
{
	struct process *p = t->proc;
	struct thread *handler = thread_waiter(&p->handlers);

	if (likely(handler != NULL)) {
		t->wait.kind = WAIT_FAULT;
		describe(t, (struct crash_info *)handler->wake_data);
		thread_ready(handler, 0);
		return thread_park(t, &p->taken);
	}
	handler = bound(t->cluster, p);
	if (handler == NULL || handler == t)
		return 0;
	t->wait.kind = WAIT_FAULT;
	binding_signal(t->cluster, &p->fault);
	return thread_park(t, &p->faulted);
}

static long
fault_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct process *p = t->proc;
	long e;

	if (args->a[0] && (p->handler[HANDLER_CALLS].entry | p->handler[HANDLER_FAULTS].entry) != 0)
		return -E_AGAIN;
	t->fault = (struct fault){(struct hal_frame *)args->a[2], args->a[3],
		(uint32_t)args->a[4] >> 8, args->a[4] & 0xff, (uint32_t)args->a[5]};
	hal_acquire(t->fault.frame, sizeof(*t->fault.frame));
	counts_home(t, RUN_FAULTS);
	e = args->a[1] ? stop(t) : 0;
	if (e == 0 && t->fault.why == HANDLES_FAULT) {
		args->a[0] = fixup_or_crash(t);
		e = args->a[0] != 0 ? -E_EXIST : 0;
	}
	return e;
}

void
fault_handle_gone(struct cluster *c, struct process *p)
{
	struct thread *t = thread_first(list_is_empty(&p->taken) ? &p->faulted : &p->taken);

	if (t != NULL && bound(c, p) == NULL)
		crash(t);
}

/* A thread of a process that has stopped at a fault, by its number; NULL: there is none. */
static struct thread *
stopped(struct cluster *c, const struct process *p, uint32_t thread)
{
	struct thread *t = thread_find(c, (int)thread);

	return t != NULL && t->proc == p && t->wait.kind == WAIT_FAULT ? t : NULL;
}

/* It goes on at `pc`, 0: where it was, FAULT_REFUSED: it does not. */
static void
fault_answer(struct thread *t, unsigned long pc)
{
	if (pc == FAULT_REFUSED && t->fault.why == HANDLES_FAULT) {
		pc = fixup_or_crash(t);
		if (pc == 0)
			return;
	}
	t->wake_data[0] = pc;
	t->wake_data[1] = t->fault.why;
	thread_ready(t, pc == FAULT_REFUSED ? -E_FAULT : 0);
}

/* proc_find with RIGHT_WRITE, short for the usual handle. */
static int
find(struct thread *caller, int handle, struct process **process)
{
	struct object *o = handle_get_near(&caller->proc->handles, handle, OBJECT_PROCESS,
		RIGHT_WRITE);

	if (unlikely(o == NULL))
		return proc_find(caller, handle, RIGHT_WRITE, process);
	*process = list_entry(o, struct process, object);
	return likely((*process)->state == PROC_LIVE) ? 0 : -E_SRCH;
}

/*
 * Home half of fault_next. a[0]: the process, a[1]: the thread that goes on, a[2]: where. The next
 * one is in `data`.
 */
static long
next_serve(struct kcall_args *args)
{
	struct thread *caller = args->caller, *t;
	struct process *p;
	int e = find(caller, (int)args->a[0], &p);

	if (e != 0)
		return e;
	if (thread_waiter(&p->handlers) != NULL)
		return -E_BUSY;
	if (args->a[1] != 0) {
		t = stopped(caller->cluster, p, (uint32_t)args->a[1]);
		if (t == NULL)
			return -E_INVAL;
		fault_answer(t, args->a[2]);
		if (p->state != PROC_LIVE)
			return -E_SRCH;
	}
	t = thread_first(&p->faulted);
	if (t == NULL) {
		caller->wait.handle = (int)args->a[0];
		return thread_park(caller, &p->handlers);
	}
	list_remove(&t->wait.link);
	list_push_back(&p->taken, &t->wait.link);
	describe(t, (struct crash_info *)args->data);
	return 0;
}

/*
 * kc_fault_next: the thread of a process (RIGHT_WRITE) that has stopped at a fault and has the
 * number `thread` (0: none) goes on: at the address pc; at 0 where it was, so that a kernel call
 * that could not reach memory starts again; at FAULT_REFUSED as if nobody handled its faults: a
 * fault ends the process, a call returns -E_FAULT. Then wait for the next thread that stops, unless
 * one has that nobody has taken, and take it: *info says in `tid` its number, and what happened.
 * Between two of these calls its process lives on after a fault only if a thread is bound to
 * EVENT_FAULT. Runs: calling core. Returns 0; -E_BADF: also if the handle is closed or revoked
 * meanwhile; -E_ACCES; -E_SRCH: the process has ended; -E_BUSY: somebody waits already, and
 * -E_INVAL: no thread of this number has stopped; nothing has happened then.
 */
long
kc_fault_next(struct thread *caller, int proc, uint32_t thread, unsigned long pc, void *info)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	args->a[1] = thread;
	args->a[2] = pc;
	result = am_call_kernel(core, next_serve, args,
		offsetof(struct kcall_args, data) + CRASH_INFO_SIZE);
	if (result == 0)
		__builtin_memcpy(info, args->data, CRASH_INFO_SIZE);
	return result;
}

static long
find_stopped(struct thread *caller, int proc, uint32_t thread, struct thread **found)
{
	struct process *p;
	int e = find(caller, proc, &p);

	if (e != 0)
		return e;
	*found = stopped(caller->cluster, p, thread);
	return *found != NULL ? 0 : -E_INVAL;
}

static long
context_serve(struct kcall_args *args)
{
	struct context *ctx = kcall_staging(args->caller->core);
	struct thread *t;
	long e = find_stopped(args->caller, (int)args->a[0], (uint32_t)args->a[1], &t);

	if (e != 0)
		return e;
	hal_frame_to_context(t->fault.frame, ctx);
	hal_publish(ctx, sizeof(*ctx));
	return 0;
}

/*
 * kc_fault_context_get: the registers of the thread of a process (RIGHT_WRITE) that has stopped at
 * a fault and has the number `thread`, as far as a struct context holds them, to the address ctx.
 * Runs: calling core. Returns 0; -E_BADF; -E_ACCES; -E_SRCH: the process has ended; -E_INVAL: no
 * thread of this number has stopped; -E_FAULT.
 */
long
kc_fault_context_get(struct thread *caller, int proc, uint32_t thread, unsigned long ctx)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long e;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	args->a[1] = thread;
	e = am_call_kernel(core, context_serve, args,
		offsetof(struct kcall_args, a) + 2 * sizeof(args->a[0]));
	if (e != 0)
		return e;
	hal_acquire(kcall_staging(core), sizeof(struct context));
	return hal_copy_out(ctx, kcall_staging(core), sizeof(struct context)) != 0 ? -E_PROBE : 0;
}

/*
 * kc_fault_context_set: such a thread will go on with another register context; floating-point
 * registers stay. A kernel call in which it has stopped is forgotten. Runs: home. Returns as
 * fault_context_get; -E_INVAL also: a context with which no thread may run.
 */
long
kc_fault_context_set(struct thread *caller, int proc, uint32_t thread, const void *ctx)
{
	struct thread *t;
	long e = find_stopped(caller, proc, thread, &t);

	if (e == 0 && !hal_context_ok(ctx))
		e = -E_INVAL;
	if (e != 0)
		return e;
	hal_frame_from_context(t->fault.frame, ctx);
	hal_publish(t->fault.frame, sizeof(*t->fault.frame));
	t->fault.why = HANDLES_FAULT;
	return 0;
}
