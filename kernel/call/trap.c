/* SPDX-License-Identifier: MIT
 *
 * Kernel entry from user threads: calls, faults, doorbells. Source: seed 000 III-B (local and
 * remote kernel calls).
 */
#include <base/tune.h>
#include <kernel/call/fault.h>
#include <kernel/mem/demand.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* The deadline among a call's arguments. */
static uint64_t
deadline_of(const struct hal_frame *f, const struct kcall_entry *e)
{
	uint64_t until;

	if (e->until == 0)
		return HAL_FOREVER;
	until = hal_frame_arg(f, e->until - 1);
	return sizeof(long) == sizeof(until) ? until :
		until | (uint64_t)hal_frame_arg(f, e->until) << 32;
}

/* A call has no result now: the core leaves to another thread. */
static _Noreturn void
no_result(struct core *core, const struct hal_frame *f, const struct kcall_entry *e)
{
	struct thread *t = core->current;

	if (t == NULL)
		core_leave(core);
	if (e->finish != NULL) {
		t->resume = RESUME_FINISH;
		t->finish = e->finish;
	}
	t->until = deadline_of(f, e);
	core_park(core, t);
	core_leave(core);
}

/*
 * A call could not reach memory of the user and has done nothing: the memory may come now, or a
 * handler may change that.
 */
static __attribute__((noinline)) long
probe_failed(struct core *core)
{
	struct hal_trap fault;

	hal_user_fault(&fault);
	if (has_demand(core->current) && demand_bring(core, &fault, HANDLES_PROBE) &&
		core->doomed == NULL)
		hal_call_again(core->current->now);
	fault_deliver(core, &fault, HANDLES_PROBE);
	return -E_FAULT;
}

static __attribute__((noinline)) void
known_call(struct core *core, struct thread *caller, struct hal_frame *f,
	const struct kcall_entry *e)
{
	long result = e->enter(core, caller, f, e);

	if (unlikely(result == -E_PARK))
		no_result(core, f, e);
	if (unlikely(result == -E_PROBE))
		result = probe_failed(core);
	hal_frame_set_result(f, result);
	if (unlikely(core->doomed != NULL))
		core_leave(core);
}

/*
 * A number that is no kernel call's, and that the thread cannot handle yet, or not at all. Whose
 * thread it is, is not told there.
 */
static __attribute__((noinline)) void
other_call(struct core *core, struct hal_frame *f, unsigned long nr)
{
	static const struct hal_trap first_call = {.kind = TRAP_CALL};

	if (nr >= (unsigned long)-KC_FIRST)
		handler_enter(core, HANDLER_CALLS, &first_call, HANDLES_CALL);
	hal_frame_set_result(f, -E_NOSYS);
	if (unlikely(core->doomed != NULL))
		core_leave(core);
}

void
kernel_call(struct hal_frame *f)
{
	struct core *core = core_self();
	unsigned long nr = hal_frame_number(f) - KC_FIRST;

	if (likely(nr < KC_COUNT))
		known_call(core, core->current, f, &kcall_table[nr]);
	else if (likely(nr >= (unsigned long)-KC_FIRST) &&
		handler_serves(core->current, HANDLER_CALLS))
		handler_begin(core->current, HANDLER_CALLS, &core->current->handler->call,
			HANDLES_CALL);
	else
		other_call(core, f, nr);
}

/* Is there anything that a yield of this core's thread would let run? */
static bool
is_idle_but_for_caller(struct core *core)
{
	return !core_is_home(core) && !am_is_pending(core) &&
		hal_load32(&core->ready.put) == core->ready.got &&
		core->run_queue.levels == 0;
}

static bool
yield_call(struct core *core, struct hal_frame *f)
{
	if (!is_idle_but_for_caller(core))
		return false;
	hal_frame_set_result(f, 0);
	return true;
}

static __attribute__((noinline)) long
remote_call(struct core *core, struct thread *caller, struct hal_frame *f,
	const struct kcall_entry *e)
{
	long result = e->enter(core, caller, f, e);

	if (unlikely(result == -E_PROBE))
		return false;
	hal_frame_set_result(f, result);
	if (unlikely(core->doomed != NULL))
		core_leave(core);
	return true;
}

/*
 * Calls that never park the thread need no complete frame: all remote ones, those local ones that
 * are answered by a look at the core, and the return to a thread's first frame, which is complete.
 * No stack frame here, so that these cost little.
 */
long
kernel_call_fast(struct hal_frame *f, unsigned long nr)
{
	struct core *core = core_self();

	if (nr < KC_COUNT && (kcall_table[nr].flags & KCALL_REMOTE))
		return remote_call(core, core->current, f, &kcall_table[nr]);
	if (nr == KC_THREAD_YIELD - KC_FIRST)
		return yield_call(core, f);
	if (nr == KC_THREAD_SELF - KC_FIRST) {
		hal_frame_set_result(f, core->current->handle);
		return true;
	}
	if (nr == KC_FRAME_RETURN - KC_FIRST)
		return handler_return(core->current, hal_frame_arg(f, 0));
	return false;
}

static __attribute__((noinline)) void
crash(struct core *core, const struct hal_trap *t)
{
	core_counts(core, CORE_FAULTS);
	fault_deliver(core, t, HANDLES_FAULT);
	core_leave(core);
}

static __attribute__((noinline)) void
interrupted(struct core *core, bool tick)
{
	core_interrupted(core, tick);
	if (unlikely(thread_upcall(core->current) != 0) && core->doomed == NULL)
		handler_upcall(core);
	if (unlikely(core->doomed != NULL) || unlikely(core->current == NULL))
		core_leave(core);
}

hot_inline void
fault(struct core *core, struct thread *current, const struct hal_trap *t)
{
	if (handler_serves(current, HANDLER_FAULTS))
		handler_begin(current, HANDLER_FAULTS, t, HANDLES_FAULT);
	else
		crash(core, t);
}

/* If the memory is there now, the access is tried again; others may run before. */
static __attribute__((noinline)) void
demand_fault(struct core *core, const struct hal_trap *t)
{
	bool came;

	core_counts(core, CORE_FAULTS);
	came = demand_bring(core, t, HANDLES_FAULT) && demand_keep(core);
	if (unlikely(core->doomed != NULL))
		core_leave(core);
	if (!came)
		fault(core, core->current, t);
}

void
kernel_fault(struct hal_frame *f, const struct hal_trap *t)
{
	struct core *core = core_self();
	struct thread *current = core->current;

	(void)f;
	if (unlikely(has_demand(current)))
		demand_fault(core, t);
	else
		fault(core, current, t);
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	if (likely(t->kind == TRAP_FAULT))
		kernel_fault(f, t);
	else if (t->kind == TRAP_CALL)
		kernel_call(f);
	else
		interrupted(core_self(), t->kind == TRAP_TIMER);
}
