/* SPDX-License-Identifier: MIT
 *
 * HAL contract: the second frame of a thread. Core 1 stops a user program, enters a handler
 * (USER_HANDLER) with the other frame and goes on with the first one: after a call, after a fault,
 * in the middle of anything, or with the call once more.
 */
#include <base/str.h>
#include "testbed.h"

#define HANDLED 48
#define RESULT 0x1234		/* what USER_CALLS wants */

static void
enter_handler(struct testbed *bed, const struct hal_trap *t, uintptr_t lower)
{
	struct user_test *u = bed->user;
	uintptr_t entry, stack;

	user_handler(u, &entry, &stack);
	hal_handler_enter(&u->frame, &u->other_frame, t, entry, stack - lower);
}

/* The handler says what it was told. */
static void
check_event(struct testbed *bed, const struct hal_frame *f, const struct hal_trap *t,
	const struct handler_event *wanted)
{
	const struct user_test *u = bed->user;
	struct handler_event e;

	expect(bed, f == &u->other_frame);
	expect(bed, user_is_call(f, t, CALL_EVENT));
	expect(bed, hal_copy_in(&e, hal_frame_arg(f, 0), sizeof(e)) == 0);
	expect(bed, e.cause == wanted->cause && e.write == wanted->write && e.addr == wanted->addr);
	expect(bed, e.pc == hal_frame_pc(&u->frame) && e.sp == hal_frame_sp(&u->frame));
	if (wanted->cause != CRASH_NONE)
		return;
	expect(bed, e.number == wanted->number);
	for (int i = 0; i < 6; i++)
		expect(bed, e.args[i] == (unsigned long)i + 1);
}

/* --- calls that a handler answers: every register but the result is as it was --- */

/*
 * An interrupt stops the handler, too; it goes on by either way, and returns by the short cut or
 * not. It comes soon: where a core interrupts itself by its timer (or1k), an emulator may be late,
 * so that it comes after the short handler now and then. The test ends when the last has come, for
 * the next one expects none.
 */
static void
call_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	static const struct handler_event call = {.number = CALL_CHECK};
	struct user_test *u = bed->user;

	if (t->kind == TRAP_DOORBELL) {
		u->ticks += f == &u->other_frame;
		u->rung = false;
		if (u->step % 3 == 0)
			hal_user_enter(f, &u->space);
	} else if (user_is_call(f, t, CALL_CHECK)) {
		expect(bed, f == &u->frame);
		if (u->step % 2 == 0 && u->step < HANDLED) {
			u->rung = true;
			hal_interrupt(hal_core_id());
			pass(hal_clock_ns() + 10 * soon_ns());
		}
		enter_handler(bed, t, 0);
	} else if (user_is_call(f, t, CALL_EVENT)) {
		check_event(bed, f, t, &call);
		hal_frame_set_result(&u->frame, RESULT);
		u->returns = u->step % 4 >= 2;
	} else if (user_is_call(f, t, CALL_RETURN)) {
		expect(bed, f == &u->other_frame);
		hal_frame_resume(&u->frame);
	} else if (user_is_call(f, t, CALL_FAST)) {
		hal_frame_set_result(f, (long)hal_frame_arg(f, 0) + 1);
	} else {
		expect(bed, user_is_call(f, t, CALL_STATUS) && f == &u->frame &&
			hal_frame_arg(f, 0) == 0);
		if (++u->step < HANDLED || u->rung)
			return;
		expect(bed, u->ticks > 0);
		user_finish(bed);
	}
}

static void
calls(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = call_trap});
}

/* --- a call that comes again, with the same arguments --- */

static void
again_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (user_is_call(f, t, CALL_CHECK)) {
		expect(bed, f == &u->frame);
		for (int i = 0; i < 6; i++)
			expect(bed, hal_frame_arg(f, i) == (unsigned long)i + 1);
		if (u->step++ % 3 != 2)
			enter_handler(bed, t, 0);
		hal_frame_set_result(f, RESULT);
	} else if (user_is_call(f, t, CALL_RETURN)) {
		hal_call_again(&u->frame);
	} else if (user_is_call(f, t, CALL_FAST)) {
		hal_frame_set_result(f, (long)hal_frame_arg(f, 0) + 1);
	} else if (user_is_call(f, t, CALL_STATUS)) {
		expect(bed, hal_frame_arg(f, 0) == 0 && u->step % 3 == 0);
		if (u->step >= HANDLED)
			user_finish(bed);
	}
}

static void
calls_again(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = again_trap});
}

/* --- a fault whose page the handler brings --- */

static void
fault_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;
	struct handler_event fault = {.cause = CRASH_ACCESS, .addr = u->hole};

	if (t->kind == TRAP_FAULT) {
		expect(bed, f == &u->frame && u->step++ == 0);
		enter_handler(bed, t, 0);
	}
	if (user_is_call(f, t, CALL_EVENT)) {
		check_event(bed, f, t, &fault);
		((uint32_t *)u->block)[HAL_PAGE_BYTES / 4] = 0x600d;
		expect(bed,
			hal_map(&u->space, u->hole, hal_paddr((char *)u->block + HAL_PAGE_BYTES), 1,
			PAGE_READ) == 0);
		hal_tlb_flush();
		return;
	}
	if (user_is_call(f, t, CALL_RETURN))
		hal_frame_resume(&u->frame);
	expect(bed, user_is_call(f, t, CALL_VALUE) && f == &u->frame &&
		hal_frame_arg(f, 0) == 0x600d);
	user_finish(bed);
}

static void
faults(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_LOAD, .beyond = TO_HOLE,
		.on_trap = fault_trap});
}

/*
 * --- a program that is stopped anywhere keeps all its registers, whatever the handler does to its
 * own ---
 */

static void
registers_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (t->kind == TRAP_DOORBELL)
		enter_handler(bed, t, 0);
	if (user_is_call(f, t, CALL_EVENT))
		return;
	expect(bed, user_is_call(f, t, CALL_RETURN));
	if (++u->step == ROUNDS || t->kind != TRAP_CALL || hal_frame_number(f) != CALL_RETURN)
		user_finish(bed);
	hal_interrupt(hal_core_id());
	hal_frame_resume(&u->frame);
}

static void
interrupt_itself(struct testbed *bed, struct user_test *u)
{
	(void)bed;
	(void)u;
	hal_interrupt(hal_core_id());
}

static void
registers(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_REGISTERS, .on_trap = registers_trap,
		.first = interrupt_itself});
}

/* --- a stack that is not there is the handler's fault --- */

static void
no_stack_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (u->step++ == 0)
		enter_handler(bed, t, user_handler_room(u));
	expect(bed, t->kind == TRAP_FAULT && t->cause == CRASH_ACCESS && f == &u->other_frame);
	user_finish(bed);
}

static void
no_stack(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = no_stack_trap});
}

const struct hal_test handler_tests[] = {
	{"a_handler_answers_a_call_and_changes_nothing_else", calls, 2, 1},
	{"a_call_that_is_made_again_has_its_arguments", calls_again, 2, 1},
	{"a_handler_brings_the_page_that_a_load_missed", faults, 2, 1},
	{"a_handler_has_registers_of_its_own", registers, 2, 1},
	{"a_stack_that_is_not_there_is_the_handlers_fault", no_stack, 2, 1},
	{NULL, NULL, 0, 0},
};
