/* SPDX-License-Identifier: MIT
 *
 * HAL contract: the tick. Core 1 arms it before it goes (back) to a user program that computes
 * without end, and looks which traps come, and in which order; in some tests core 0 interrupts
 * meanwhile. How soon a tick comes is nobody's business here.
 */
#include <base/str.h>
#include "testbed.h"

#define FAR_NS 3600000000000ull
#define TICKS 10
#define REPLACED 1000		/* ticks whose time is replaced when it comes */
#define INTERRUPTS 10

/* The user_test of the running core. */
static struct user_test *
own(void)
{
	struct test_core *c = hal_core_local();

	return c->user;
}

static void
arm(struct user_test *u, uint64_t from_now)
{
	u->until = hal_clock_ns() + from_now;
	hal_timer_arm(u->until);
}

/* A tick is expected now, and its time has come. */
static void
expect_tick(struct testbed *bed, struct user_test *u, const struct hal_trap *t)
{
	expect(bed, t->kind == TRAP_TIMER);
	expect(bed, hal_clock_ns() >= u->until);
	u->ticks++;
}

/* Core 0 interrupts once for each step that core 1 tells, and at most this often. */
static bool
is_told(struct testbed *bed, uint32_t step)
{
	return hal_load32(&bed->flag[0]) >= step;
}

static void
tell_step(struct testbed *bed, struct user_test *u)
{
	hal_store32(&bed->flag[0], (uint32_t)++u->step);
	hal_notify(hal_cluster_id(), 0);
	if (u->step > INTERRUPTS)
		user_finish(bed);
}

static void
interrupt_at_each_step(struct testbed *bed)
{
	for (uint32_t i = 1; i <= INTERRUPTS; i++) {
		wait_until(bed, is_told, i);
		hal_interrupt(1);
	}
}

/* --- a time that is past means soon --- */

static void
past_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	if (u->ticks == TICKS)
		user_finish(bed);
	u->until = u->ticks % 2 == 0 ? 0 : hal_clock_ns();
	hal_timer_arm(u->until);
}

static void
past(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = past_trap});
}

/* --- once --- */

static void
once_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	if (t->kind == TRAP_CALL) {
		arm(u, soon_ns());
		return;
	}
	if (u->ticks == 0)
		expect_tick(bed, u, t);
	else
		expect(bed, t->kind == TRAP_DOORBELL);
	pass(hal_clock_ns() + soon_ns());
	tell_step(bed, u);
}

static void
once(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = once_trap,
		.meanwhile = interrupt_at_each_step});
}

/* --- arming again replaces the time --- */

static void
replaced_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	if (u->ticks == TICKS)
		user_finish(bed);
	if (u->ticks % 2 == 0) {
		arm(u, FAR_NS);
		arm(u, soon_ns());
	} else {
		arm(u, soon_ns());
		arm(u, 10 * soon_ns());
	}
}

static void
replaced(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = replaced_trap});
}

/* --- replaced at the moment at which it comes, a little before or after --- */

static void
late_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	if (u->ticks == REPLACED)
		user_finish(bed);
	arm(u, soon_ns());
	pass(u->until - soon_ns() / 20 + (uint64_t)u->ticks * 97 % (soon_ns() / 10));
	arm(u, 3 * soon_ns());
}

static void
replaced_late(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = late_trap});
}

/* --- disarmed, also one that is due --- */

static void
disarmed_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	expect(bed, t->kind == (u->step == 0 ? TRAP_CALL : TRAP_DOORBELL));
	arm(u, u->step % 3 == 0 ? 0 : soon_ns());
	if (u->step % 2 == 0)
		pass(u->until + soon_ns());
	hal_timer_arm(HAL_FOREVER);
	pass(u->until + soon_ns());
	tell_step(bed, u);
}

static void
disarmed(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = disarmed_trap,
		.meanwhile = interrupt_at_each_step});
}

/* --- far away: the core interrupts itself, and nothing else comes --- */

static void
far_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	static const uint64_t far_away[] = {HAL_FOREVER - 1, HAL_FOREVER / 2, HAL_FOREVER / 2 + 1,
		HAL_FOREVER / 4};
	struct user_test *u = own();

	(void)f;
	expect(bed, t->kind == (u->step == 0 ? TRAP_CALL : TRAP_DOORBELL));
	if (u->step++ == INTERRUPTS) {
		hal_timer_arm(HAL_FOREVER);
		user_finish(bed);
	}
	hal_timer_arm(u->step % 5 == 4 ? hal_clock_ns() + FAR_NS : far_away[u->step % 5]);
	hal_interrupt(hal_core_id());
}

static void
far(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = far_trap});
}

/* --- due while the kernel works: not before it leaves, by either way --- */

static void
due_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	expect(bed, hal_load32(&bed->flag[1]) == 0);
	if (u->ticks == TICKS)
		user_finish(bed);
	hal_store32(&bed->flag[1], 1);
	arm(u, soon_ns());
	pass(u->until + soon_ns());
	hal_store32(&bed->flag[1], 0);
	if (u->ticks % 2 == 0)
		hal_user_enter(f, &u->space);
}

static void
due(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = due_trap});
}

/* --- due while the core waits: it stays due until a user thread runs --- */

static void
waits_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	if (u->ticks == TICKS)
		user_finish(bed);
	arm(u, soon_ns());
	while (hal_clock_ns() < u->until + soon_ns()) {
		hal_wait_begin();
		hal_wait(u->until + soon_ns());
	}
	hal_user_enter(f, &u->space);
}

static void
waits(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = waits_trap});
}

/* --- all registers of two threads that are switched at each tick --- */

static void
registers_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	expect_tick(bed, u, t);
	if (u->ticks >= ROUNDS || t->kind != TRAP_TIMER)
		user_finish(bed);
	arm(u, (uint64_t)u->ticks * 977 % soon_ns());
	/* now and then the same goes on */
	if (u->ticks % 7 != 0)
		f = f == &u->frame ? &u->other_frame : &u->frame;
	hal_user_enter(f, &u->space);
}

static void
second_frame_and_tick(struct testbed *bed, struct user_test *u)
{
	struct context c;

	(void)bed;
	user_context(&c, USER_REGISTERS, u, 1);
	hal_frame_from_context(&u->other_frame, &c);
	arm(u, soon_ns());
}

static void
registers(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_REGISTERS, .on_trap = registers_trap,
		.first = second_frame_and_tick});
}

/* --- each core has a tick of its own: core 2 arms and disarms while core 1 has ticks --- */

static void
both_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = own();

	(void)f;
	if (t->kind != TRAP_CALL)
		expect_tick(bed, u, t);
	if (u->ticks == TICKS) {
		hal_store32(&bed->flag[1], 1);
		core_done(bed);
	}
	arm(u, soon_ns());
}

static void
neighbour_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	expect(bed, user_is_call(f, t, CALL_LOOP));
	if (hal_load32(&bed->flag[1]) != 0)
		core_done(bed);
	arm(own(), 0);
	hal_timer_arm(HAL_FOREVER);
}

static void
both_prepare(struct testbed *bed, unsigned core)
{
	user_prepare(bed, &bed->user[core - 1]);
}

static void
both_clear(struct testbed *bed, unsigned core)
{
	user_clear(bed, &bed->user[core - 1]);
}

static void
both_core(struct testbed *bed, unsigned core)
{
	struct user_test *u = &bed->user[core - 1];

	u->on_trap = core == 1 ? both_trap : neighbour_trap;
	user_enter(bed, u, core == 1 ? USER_SPIN : USER_LOOP, 0);
}

/* The pool of pages is for one core at a time. */
static void
both(struct testbed *bed)
{
	hal_store32(&bed->flag[1], 0);
	hal_publish(&bed->pool, sizeof(bed->pool));
	for (unsigned i = 1; i <= 2; i++) {
		on_core(bed, i, both_prepare);
		wait_for_core(bed, i);
	}
	for (unsigned i = 1; i <= 2; i++)
		on_core(bed, i, both_core);
	for (unsigned i = 1; i <= 2; i++)
		wait_for_core(bed, i);
	for (unsigned i = 1; i <= 2; i++) {
		on_core(bed, i, both_clear);
		wait_for_core(bed, i);
	}
	hal_acquire(&bed->pool, sizeof(bed->pool));
}

const struct hal_test timer_tests[] = {
	{"a_tick_of_a_time_that_is_past_comes", past, 2, 1},
	{"a_tick_comes_when_its_time_has_come_and_once", once, 2, 1},
	{"a_tick_armed_again_comes_at_the_later_or_earlier_time", replaced, 2, 1},
	{"a_tick_armed_again_when_it_comes_comes_at_the_later_time", replaced_late, 2, 1},
	{"a_tick_that_was_disarmed_does_not_come", disarmed, 2, 1},
	{"a_tick_of_a_far_time_does_not_come", far, 2, 1},
	{"a_tick_waits_until_the_kernel_leaves", due, 2, 1},
	{"a_tick_that_is_due_in_a_wait_comes_afterwards", waits, 2, 1},
	{"a_thread_has_all_its_registers_after_a_tick", registers, 2, 1},
	{"each_core_has_a_tick_of_its_own", both, 3, 1},
	{NULL, NULL, 0, 0},
};
