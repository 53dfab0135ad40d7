/* SPDX-License-Identifier: MIT
 *
 * Kernel entry from user threads: calls, faults, doorbells. Source: seed 000 III-B (local and remote kernel calls).
 */
#include <base/tune.h>
#include <kernel/call/call.h>
#include <kernel/thread/run.h>

/* The thread does not go on here: leave to another. */
static _Noreturn void
leave(struct core *core)
{
	core_drop_current(core);
	core_loop(core);
}

/* The deadline among a call's arguments. */
static uint64_t
deadline_of(const struct hal_frame *f, const struct kcall_entry *e)
{
	uint64_t until;

	if (e->until == 0)
		return HAL_FOREVER;
	until = hal_frame_arg(f, e->until - 1);
	return sizeof(long) == sizeof(until) ? until : until | (uint64_t)hal_frame_arg(f, e->until) << 32;
}

/* A call has no result now: the thread goes on with another frame, or the core leaves to another thread. */
static void
no_result(struct core *core, const struct hal_frame *f, const struct kcall_entry *e)
{
	struct thread *t = core->current;

	if (t == NULL)
		leave(core);
	if (t->resume == RESUME_FRAME) {
		t->resume = RESUME_RESULT;
		return;
	}
	if (e->finish != NULL) {
		t->resume = RESUME_FINISH;
		t->finish = e->finish;
	}
	t->until = deadline_of(f, e);
	core_park(core, t);
	leave(core);
}

static void
call(struct core *core, struct hal_frame *f)
{
	unsigned long nr = hal_frame_number(f) - KC_FIRST;
	static const struct kcall_entry reflected = {0};
	const struct kcall_entry *e = &reflected;
	long result;

	if (likely(nr < KC_COUNT)) {
		e = &kcall_table[nr];
		result = e->enter(core, core->current, f);
	} else if (nr >= (unsigned long)-KC_FIRST) {
		result = personality_reflect(core->current);
	} else {
		result = -E_NOSYS;
	}
	if (likely(result > -E_PARK))
		hal_frame_set_result(f, result);
	else
		no_result(core, f, e);
}

/* Is there anything that a yield of this core's thread would let run? */
static bool
is_idle_but_for_caller(struct core *core)
{
	return !core_is_home(core) && !am_is_pending(core) && hal_load32(&core->ready.put) == core->ready.got &&
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

static __attribute__((noinline)) bool
remote_call(struct hal_frame *f, const struct kcall_entry *e, struct core *core)
{
	hal_frame_set_result(f, e->enter(core, core->current, f));
	if (unlikely(core->doomed != NULL))
		leave(core);
	return true;
}

/*
 * Calls that never park the thread nor replace its frame need no complete frame: all remote ones, and those local ones that are
 * answered by a look at the core. No stack frame here, so that these cost little.
 */
bool
kernel_call_fast(struct hal_frame *f)
{
	struct core *core = core_self();
	unsigned long nr = hal_frame_number(f) - KC_FIRST;

	if (nr < KC_COUNT && (kcall_table[nr].flags & KCALL_REMOTE))
		return remote_call(f, &kcall_table[nr], core);
	if (nr == KC_THREAD_YIELD - KC_FIRST)
		return yield_call(core, f);
	if (nr != KC_THREAD_SELF - KC_FIRST)
		return false;
	hal_frame_set_result(f, core->current->handle);
	return true;
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	struct core *core = core_self();

	if (likely(t->kind == TRAP_CALL)) {
		call(core, f);
	} else if (likely(t->kind != TRAP_FAULT)) {
		core_interrupted(core, t->kind == TRAP_TIMER);
	} else {
		crash_report(core->current, t);
		leave(core);
	}
	if (unlikely(core->doomed != NULL))
		leave(core);
}
