/* SPDX-License-Identifier: MIT
 *
 * Handlers of threads: see handler.h. Source: seed 000 III-A (runtime libraries).
 */
#include <base/tune.h>
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/move.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

#define KINDS_ALL (HANDLE_CALLS | HANDLE_FAULTS | HANDLE_UPCALLS)

/*
 * Home half of fetch. a[0]: does the thread want its handler if its process has none? The answer is
 * there and in `data`.
 */
static long
fetch_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct handler_place place[HANDLER_KINDS];
	bool any = args->a[0] != 0;

	for (int i = 0; i < HANDLER_KINDS; i++) {
		place[i] = t->proc->handler[i];
		place[i].stack -= t->index * place[i].stack_size;
		any |= place[i].entry != 0;
	}
	if (!any)
		return -E_NOSYS;
	if (handler_record(t) == NULL)
		return -E_NOMEM;
	args->a[0] = (unsigned long)&t->made->handler;
	__builtin_memcpy(args->data, place, sizeof(place));
	return 0;
}

/*
 * The calling thread has its handler then, which begins for `kinds` where its process says. 0;
 * -E_NOSYS: nowhere; -E_NOMEM.
 */
static __attribute__((noinline)) long
fetch(struct core *core, struct thread *t, uint32_t kinds, bool wanted)
{
	struct kcall_args *args = kcall_args(core);
	long e;

	args->caller = t;
	args->a[0] = wanted;
	e = am_call_kernel(core, fetch_serve, args,
		offsetof(struct kcall_args, data) + sizeof(t->handler->place));
	if (e != 0)
		return e;
	if (t->handler == NULL) {
		t->handler = (struct handler *)args->a[0];
		hal_acquire(t->handler, sizeof(*t->handler));
		t->handler->call = (struct hal_trap){.kind = TRAP_CALL,
			.addr = (uint32_t)t->handle};
		kinds = KINDS_ALL;
	}
	for (int i = 0; i < HANDLER_KINDS; i++)
		if (kinds & 1u << i)
			__builtin_memcpy(&t->handler->place[i],
				args->data + i * sizeof(t->handler->place[i]),
				sizeof(t->handler->place[i]));
	return 0;
}

static long
ask_home(struct core *core, kcall_serve_fn *fn, bool has_handler)
{
	struct kcall_args *args = kcall_args(core);

	args->caller = core->current;
	args->a[0] = has_handler;
	return am_call_kernel(core, fn, args,
		offsetof(struct kcall_args, a) + sizeof(args->a[0]));
}

void
handler_enter(struct core *core, int kind, const struct hal_trap *trap, enum handler_why why)
{
	struct thread *t = core->current;

	if (t->now != &t->frame || (t->handler == NULL && fetch(core, t, KINDS_ALL, false) != 0))
		return;
	if (core->doomed != NULL)
		core_leave(core);
	if (handler_serves(t, kind))
		handler_begin(t, kind, trap, why);
}

/*
 * Are these kinds, and could a thread begin there? A bad address that is not refused is a fault of
 * the handler.
 */
static bool
is_startable(uint32_t kinds, uint32_t known, uintptr_t entry, uintptr_t stack)
{
	struct context ctx;

	if ((kinds & ~known) != 0)
		return false;
	context_init(&ctx, entry, stack, 0, 0);
	return entry == 0 || hal_context_ok(&ctx);
}

static void
place_set(struct handler_place *place, uint32_t kinds, struct handler_place to)
{
	for (int i = 0; kinds != 0; i++, kinds >>= 1)
		if (kinds & 1)
			place[i] = to;
}

/*
 * kc_proc_handler: where the handler of `kinds` (HANDLE_*) begins, 0: nowhere, for the threads of a
 * process that use theirs for the first time from now on, and have none of their own. The thread
 * with index i inside the process has the stack [stack_top - (i + 1) * stack_size, stack_top - i *
 * stack_size). HANDLE_FIXUP is for the faults of all its threads. RIGHT_WRITE. Runs: home. Returns
 * 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL: kinds, or no thread could begin there.
 */
long
kc_proc_handler(struct thread *caller, int proc, uint32_t kinds, unsigned long entry,
	unsigned long stack_top, unsigned long stack_size)
{
	struct process *p;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (!is_startable(kinds, KINDS_ALL | HANDLE_FIXUP, entry, stack_top))
		return -E_INVAL;
	place_set(p->handler, kinds, (struct handler_place){entry, stack_top, stack_size});
	return 0;
}

/*
 * kc_thread_handler: where the calling thread's own handler of `kinds` (HANDLE_*) begins, with the
 * stack below stack_top; entry 0: where its process says. Runs: calling core. Returns 0; -E_INVAL:
 * kinds, or no thread could begin there; -E_NOMEM.
 */
long
kc_thread_handler(struct thread *caller, uint32_t kinds, unsigned long entry,
	unsigned long stack_top)
{
	if (!is_startable(kinds, KINDS_ALL, entry, stack_top))
		return -E_INVAL;
	if ((caller->handler == NULL || entry == 0) && fetch(core_self(), caller, kinds, true) != 0)
		return -E_NOMEM;
	if (entry != 0)
		place_set(caller->handler->place, kinds,
			(struct handler_place){entry, stack_top, 0});
	if ((kinds & HANDLE_UPCALLS) != 0)
		ask_home(core_self(), upcall_look_serve, true);
	return 0;
}

void
handler_upcall(struct core *core)
{
	struct thread *t = core->current;
	struct hal_trap trap = {.kind = TRAP_DOORBELL, .cause = HANDLER_UPCALL};
	uint32_t why = thread_upcall(t);

	if ((why & UPCALL_MOVE) != 0) {
		thread_moves(core);
		return;
	}
	if ((why & UPCALL_COUNT) != 0)
		counts_begin(t);
	if ((why & UPCALL_BITS) == 0)
		return;
	if (t->now != &t->frame) {
		t->handler->why |= HANDLES_MORE;
		return;
	}
	if (t->handler == NULL)
		fetch(core, t, KINDS_ALL, false);
	if (core->doomed != NULL)
		return;
	if (!handler_serves(t, HANDLER_UPCALLS)) {
		ask_home(core, upcall_look_serve, false);
		return;
	}
	trap.addr = (uintptr_t)ask_home(core, upcall_serve, true);
	if (core->doomed == NULL && trap.addr != 0)
		handler_begin(t, HANDLER_UPCALLS, &trap, HANDLES_UPCALL);
}

/* The rarer ways back, which what ends the handler of a call or a fault need not look through. */
static __attribute__((noinline)) long
return_otherwise(struct thread *t, uint32_t why, unsigned long value)
{
	if ((why & HANDLES_MORE) != 0)
		hal_interrupt(core_self()->id);
	why &= ~(uint32_t)HANDLES_MORE;
	if (why == HANDLES_CALL)
		hal_frame_set_result(&t->frame, (long)value);
	else if (value != 0)
		hal_frame_set_pc(&t->frame, value);
	else if (why == HANDLES_PROBE)
		return hal_call_again(&t->frame);
	return hal_frame_resume(&t->frame);
}

long
handler_return(struct thread *t, unsigned long value)
{
	uint32_t why;

	if (unlikely(t->now == &t->frame))
		return 0;
	why = t->handler->why;
	t->now = &t->frame;
	if (likely(why == HANDLES_CALL)) {
		hal_frame_set_result(&t->frame, (long)value);
		return hal_frame_resume(&t->frame);
	}
	if (why != HANDLES_FAULT)
		return return_otherwise(t, why, value);
	if (value != 0)
		hal_frame_set_pc(&t->frame, value);
	return hal_frame_resume(&t->frame);
}

/*
 * kc_frame_return: the handler ends, and the thread goes on where it stopped: after a call with
 * `value` as its result; after a fault at the address `value`, or at 0 where it was, which starts a
 * kernel call again that could not reach its memory. Runs: calling core. Returns only outside of a
 * handler: -E_INVAL.
 */
long
kc_frame_return(struct thread *caller, unsigned long value)
{
	handler_return(caller, value);
	return -E_INVAL;
}

/*
 * kc_context_get: the registers of the thread that its handler stopped, as far as a struct context
 * holds them, to the address ctx. Runs: calling core. Returns 0; -E_INVAL: outside of a handler;
 * -E_FAULT.
 */
long
kc_context_get(struct thread *caller, unsigned long ctx)
{
	struct context c;

	if (caller->now == &caller->frame)
		return -E_INVAL;
	hal_frame_to_context(&caller->frame, &c);
	return hal_copy_out(ctx, &c, sizeof(c)) != 0 ? -E_PROBE : 0;
}

/*
 * kc_context_set: go on with another register context; floating-point registers stay. A handler
 * ends by it. Runs: calling core. Returns only on failure: -E_INVAL.
 */
long
kc_context_set(struct thread *caller, const void *ctx)
{
	if (!hal_context_ok(ctx))
		return -E_INVAL;
	hal_frame_from_context(&caller->frame, ctx);
	caller->now = &caller->frame;
	if ((thread_upcall(caller) & ~UPCALL_COUNT) != 0)
		hal_interrupt(core_self()->id);
	return hal_frame_resume(&caller->frame);
}
