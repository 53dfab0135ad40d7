/* SPDX-License-Identifier: MIT
 *
 * Handlers of threads: see handler.h. Source: seed 000 III-A (runtime libraries).
 */
#include <base/tune.h>
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/object/quota.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

#define KINDS_ALL (HANDLE_CALLS | HANDLE_FAULTS)

/* The handler of a thread, made if it has none yet. NULL: no memory. */
static struct handler *
handler_of(struct thread *t)
{
	if (t->made != NULL)
		return t->made;
	t->made = quota_alloc(t->proc->quota, &t->cluster->slab, sizeof(*t->made));
	if (t->made != NULL)
		hal_publish(t->made, slab_size(&t->cluster->slab, sizeof(*t->made)));
	return t->made;
}

void
handler_free(struct thread *t)
{
	quota_free(t->proc->quota, &t->cluster->slab, t->made, sizeof(*t->made));
	t->made = NULL;
}

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
	args->a[0] = (unsigned long)handler_of(t);
	__builtin_memcpy(args->data, place, sizeof(place));
	return args->a[0] == 0 ? -E_NOMEM : 0;
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
		kinds = KINDS_ALL;
	}
	for (int i = 0; i < HANDLER_KINDS; i++)
		if (kinds & 1u << i)
			__builtin_memcpy(&t->handler->place[i],
				args->data + i * sizeof(t->handler->place[i]),
				sizeof(t->handler->place[i]));
	return 0;
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
is_startable(uint32_t kinds, uintptr_t entry, uintptr_t stack)
{
	struct context ctx;

	if ((kinds & ~(uint32_t)KINDS_ALL) != 0)
		return false;
	context_init(&ctx, entry, stack, 0, 0);
	return entry == 0 || hal_context_ok(&ctx);
}

static void
place_set(struct handler_place *place, uint32_t kinds, struct handler_place to)
{
	for (int i = 0; i < HANDLER_KINDS; i++)
		if (kinds & 1u << i)
			place[i] = to;
}

/*
 * kc_proc_handler: where the handler of `kinds` (HANDLE_*) begins, 0: nowhere, for the threads of a
 * process that use theirs for the first time from now on, and have none of their own. The thread
 * with index i inside the process has the stack [stack_top - (i + 1) * stack_size, stack_top - i *
 * stack_size). RIGHT_WRITE. Runs: home. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL: kinds, or
 * no thread could begin there.
 */
long
kc_proc_handler(struct thread *caller, int proc, uint32_t kinds, unsigned long entry,
	unsigned long stack_top, unsigned long stack_size)
{
	struct process *p;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (!is_startable(kinds, entry, stack_top))
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
	if (!is_startable(kinds, entry, stack_top))
		return -E_INVAL;
	if ((caller->handler == NULL || entry == 0) && fetch(core_self(), caller, kinds, true) != 0)
		return -E_NOMEM;
	if (entry != 0)
		place_set(caller->handler->place, kinds,
			(struct handler_place){entry, stack_top, 0});
	return 0;
}

long
handler_return(struct thread *t, unsigned long value)
{
	enum handler_why why;

	if (unlikely(t->now == &t->frame))
		return 0;
	t->now = &t->frame;
	why = t->handler->why;
	if (likely(why == HANDLES_CALL))
		hal_frame_set_result(&t->frame, (long)value);
	else if (value != 0)
		hal_frame_set_pc(&t->frame, value);
	else if (why == HANDLES_PROBE)
		return hal_call_again(&t->frame);
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
	return hal_frame_resume(&caller->frame);
}
