/* SPDX-License-Identifier: MIT
 *
 * HAL contract: user mode. Core 1 makes a space with a code page, a data page and a hole, and
 * enters a user program; kernel_trap leads to the test's on_trap, whose last step is finish(). Core
 * 0 only starts it and, in one test, interrupts.
 */
#include <base/str.h>
#include "testbed.h"

#define INTERRUPTS 10

void
user_prepare(struct testbed *bed, struct user_test *u)
{
	struct hal_space *s = &u->space;
	struct hal_page_source source = {.take = page_take, .give = page_give, .ctx = &bed->pool};
	char *data, *stack;

	hal_acquire(&bed->pool, sizeof(bed->pool));
	expect(bed, hal_space_init(s, &source) == 0);
	u->code = (s->first + 2 * HAL_LARGE_BYTES - 1) & ~(HAL_LARGE_BYTES - 1);
	u->data = u->code + HAL_PAGE_BYTES;
	u->hole = u->code + 3 * HAL_PAGE_BYTES;
	u->code_page = bed->pool.next;
	data = u->code_page + HAL_PAGE_BYTES;
	stack = data + 2 * HAL_PAGE_BYTES;
	bed->pool.next += (USER_PAGES - 1) * HAL_PAGE_BYTES;
	hal_zero_pages(u->code_page, (USER_PAGES - 1) * HAL_PAGE_BYTES);
	memcpy(u->code_page, user_code, user_code_bytes());
	hal_publish(u->code_page, (USER_PAGES - 1) * HAL_PAGE_BYTES);
	u->block = (uint64_t *)data;
	expect(bed, hal_map(s, u->code, hal_paddr(u->code_page), 1, PAGE_READ | PAGE_EXEC) == 0);
	expect(bed, hal_map(s, u->data, hal_paddr(data), 1, PAGE_READ | PAGE_WRITE) == 0);
	expect(bed, hal_map(s, u->data + HAL_PAGE_BYTES, hal_paddr(data + HAL_PAGE_BYTES), 1,
		PAGE_READ | HAL_MAY(PAGE_WRITE)) == 0);
	expect(bed, hal_map(s, u->code + STACK_AT * HAL_PAGE_BYTES, hal_paddr(stack),
		2 * STACK_PAGES, PAGE_READ | PAGE_WRITE) == 0);
	u->block[BLOCK_GATE] = hal_user_gate();
	u->step = u->ticks = 0;
	u->rung = false;
	u->returns = false;
	memset(&u->other_frame, 0, sizeof(u->other_frame));
	hal_publish(&bed->pool, sizeof(bed->pool));
}

void
user_clear(struct testbed *bed, struct user_test *u)
{
	hal_acquire(&bed->pool, sizeof(bed->pool));
	hal_space_use(NULL);
	while (!hal_space_destroy(&u->space))
		continue;
	hal_publish(&bed->pool, sizeof(bed->pool));
}

_Noreturn void
user_enter(struct testbed *bed, struct user_test *u, enum user_program p, size_t beyond)
{
	struct test_core *c = hal_core_local();
	struct context context;

	c->user = u;
	u->block[BLOCK_ADDRESS] = u->data + beyond;
	user_context(&context, p, u, 0);
	expect(bed, hal_context_ok(&context));
	memset(&u->frame, 0xa5, sizeof(u->frame));
	hal_frame_new(&u->frame, &context);
	hal_user_enter(&u->frame, &u->space);
}

void
user_finish(struct testbed *bed)
{
	struct test_core *c = hal_core_local();

	user_clear(bed, c->user);
	core_done(bed);
}

void
pass(uint64_t until)
{
	while (hal_clock_ns() < until)
		continue;
}

static void
run_plan(struct testbed *bed, unsigned core)
{
	struct user_test *u = &bed->user[core - 1];
	const struct user_plan *plan = &bed->plan;

	hal_acquire(&bed->plan, sizeof(bed->plan));
	user_prepare(bed, u);
	u->on_trap = plan->on_trap;
	if (plan->first != NULL)
		plan->first(bed, u);
	user_enter(bed, u, plan->program, plan->beyond);
}

void
user_run(struct testbed *bed, const struct user_plan *plan)
{
	if (!user_can(plan->program)) {
		test_skip(bed, "not on this port");
		return;
	}
	hal_store32(&bed->flag[0], 0);
	hal_store32(&bed->flag[1], 0);
	bed->plan = *plan;
	hal_publish(&bed->plan, sizeof(bed->plan));
	hal_publish(&bed->pool, sizeof(bed->pool));
	on_core(bed, 1, run_plan);
	if (plan->meanwhile != NULL)
		plan->meanwhile(bed);
	wait_for_core(bed, 1);
	hal_acquire(&bed->pool, sizeof(bed->pool));
}

bool
user_is_call(const struct hal_frame *f, const struct hal_trap *t, unsigned long number)
{
	return t->kind == TRAP_CALL && hal_frame_number(f) == number;
}

/*
 * The short cut, where the port has it: declines almost everything, so that the ordinary way is
 * tried too.
 */
long
kernel_call_fast(struct hal_frame *f, unsigned long nr)
{
	const struct test_core *c = hal_core_local();

	(void)nr;
	if (hal_frame_number(f) == CALL_RETURN && c->user->returns)
		return hal_frame_resume(&c->user->frame);
	if (hal_frame_number(f) != CALL_FAST)
		return false;
	hal_frame_set_result(f, (long)hal_frame_arg(f, 0) + 1);
	return true;
}

static void
check_call(struct testbed *bed, const struct hal_frame *f, const struct hal_trap *t)
{
	expect(bed, user_is_call(f, t, CALL_CHECK));
	for (int i = 0; i < 6; i++)
		expect(bed, hal_frame_arg(f, i) == (unsigned long)i + 1);
}

/*
 * Resumed by returning, by hal_user_enter, and through a context into another frame: each time
 * every register is as it was.
 */
static void
calls_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;
	struct context c;

	if (user_is_call(f, t, CALL_FAST)) {
		hal_frame_set_result(f, (long)hal_frame_arg(f, 0) + 1);
		return;
	}
	if (u->step % 2 == 1) {
		expect(bed, user_is_call(f, t, CALL_STATUS));
		expect(bed, hal_frame_arg(f, 0) == 0);
		expect(bed, hal_frame_arg(f, 1) == 0xfeed);
		if (u->step++ == 5)
			user_finish(bed);
		return;
	}
	check_call(bed, f, t);
	hal_frame_set_result(f, 0x1234);
	if (u->step++ == 0)
		return;
	if (u->step > 3) {
		hal_frame_to_context(f, &c);
		expect(bed, hal_context_ok(&c));
		memset(&bed->user->other_frame, 0xa5, sizeof(bed->user->other_frame));
		hal_frame_new(&bed->user->other_frame, &c);
		hal_user_enter(&bed->user->other_frame, &bed->user->space);
	}
	hal_user_enter(f, &bed->user->space);
}

static void
calls(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = calls_trap});
}

static void
loop_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	expect(bed, user_is_call(f, t, CALL_LOOP));
	if (bed->user->step++ == ROUNDS)
		user_finish(bed);
	if (bed->user->step % 2)
		hal_user_enter(f, &bed->user->space);
}

static void
loops(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_LOOP, .on_trap = loop_trap});
}

/* The user thread spins; core 0 interrupts it, waits for the proof, interrupts again. */
static void
spin_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (u->step == 0)
		expect(bed, user_is_call(f, t, CALL_STARTED));
	else
		expect(bed, t->kind == TRAP_DOORBELL);
	hal_store32(&bed->flag[0], (uint32_t)++u->step);
	hal_notify(hal_cluster_id(), 0);
	if (u->step > INTERRUPTS)
		user_finish(bed);
	if (u->step % 2)
		hal_user_enter(f, &bed->user->space);
}

static bool
step_is(struct testbed *bed, uint32_t step)
{
	return hal_load32(&bed->flag[0]) == step;
}

static void
interrupt_again_and_again(struct testbed *bed)
{
	for (uint32_t i = 1; i <= INTERRUPTS; i++) {
		wait_until(bed, step_is, i);
		hal_interrupt(1);
	}
}

static void
interrupts(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_SPIN, .on_trap = spin_trap,
		.meanwhile = interrupt_again_and_again});
}

static void
notify_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	expect(bed, user_is_call(f, t, CALL_LOOP));
	hal_store32(&bed->flag[0], (uint32_t)++bed->user->step);
	if (bed->user->step == ROUNDS)
		user_finish(bed);
}

static void
notify_again_and_again(struct testbed *bed)
{
	(void)bed;
	for (int i = 0; i < ROUNDS; i++)
		hal_notify(hal_cluster_id(), 1);
}

static void
notify_never_interrupts(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_LOOP, .on_trap = notify_trap,
		.meanwhile = notify_again_and_again});
}

static void
check_copy_in(struct testbed *bed, const struct user_test *u)
{
	const uintptr_t end = u->hole;
	char buffer[64];
	uint32_t word;

	memcpy(&u->block[8], "from user", 10);
	expect(bed, hal_copy_in(buffer, u->data + 64, 10) == 0 &&
		memcmp(buffer, "from user", 10) == 0);
	expect(bed, hal_copy_in(buffer, u->data + 67, 7) == 0 && memcmp(buffer, "m user", 7) == 0);
	expect(bed, hal_copy_in(buffer, end - 64, 64) == 0);
	expect(bed, hal_copy_in(buffer, end - 8, 9) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, u->hole, 1) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, 0, 8) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, (uintptr_t)u->block, 8) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, bed->user->space.limit, 8) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, ~(uintptr_t)0 - 3, 8) == -E_FAULT);
	expect(bed, hal_copy_in(buffer, u->data, 0) == 0);
	((uint32_t *)u->block)[40] = 0x01020304;
	expect(bed, hal_user_load32(u->data + 160, &word) == 0 && word == 0x01020304);
	expect(bed, hal_user_load32(u->hole, &word) == -E_FAULT);
	expect(bed, hal_user_load32((uintptr_t)u->block, &word) == -E_FAULT);
}

static void
check_copy_out(struct testbed *bed, const struct user_test *u)
{
	const char *data = (const char *)u->block;
	const uintptr_t read_only = u->data + HAL_PAGE_BYTES;

	expect(bed, hal_copy_out(u->data + 256, "to user", 8) == 0 &&
		memcmp(data + 256, "to user", 8) == 0);
	expect(bed, hal_copy_out(u->data + 301, "odd", 4) == 0 &&
		memcmp(data + 301, "odd", 4) == 0);
	expect(bed, hal_copy_out(read_only, "x", 1) == -E_FAULT);
	expect(bed, hal_copy_out(read_only - 4, "12345678", 8) == -E_FAULT);
	expect(bed, data[HAL_PAGE_BYTES] == 0);
	expect(bed, hal_copy_out(u->code, "x", 1) == -E_FAULT);
	expect(bed, hal_copy_out(u->hole, "x", 1) == -E_FAULT);
	expect(bed, hal_copy_out((uintptr_t)bed, "x", 1) == -E_FAULT);
	expect(bed, hal_copy_out(0, "x", 1) == -E_FAULT);
}

/* The probe knows what hal_copy_out would say, and writes nothing. */
static void
check_probe(struct testbed *bed, const struct user_test *u)
{
	const uintptr_t read_only = u->data + HAL_PAGE_BYTES;
	uint32_t *words = (uint32_t *)u->block;

	words[64] = 0x01020304;
	words[65] = 0x05060708;
	expect(bed, hal_user_probe(u->data + 256, 8) == 0);
	expect(bed, hal_user_probe(u->data + 257, 6) == 0);
	expect(bed, words[64] == 0x01020304 && words[65] == 0x05060708);
	expect(bed, hal_user_probe(u->data, HAL_PAGE_BYTES) == 0);
	expect(bed, hal_user_probe(read_only - 1, 1) == 0);
	expect(bed, hal_user_probe(read_only, 1) == -E_FAULT);
	expect(bed, hal_user_probe(read_only - 4, 8) == -E_FAULT);
	expect(bed, hal_user_probe(u->code, 1) == -E_FAULT);
	expect(bed, hal_user_probe(u->hole, 1) == -E_FAULT);
	expect(bed, hal_user_probe(u->hole - 1, 2) == -E_FAULT);
	expect(bed, hal_user_probe((uintptr_t)bed, 1) == -E_FAULT);
	expect(bed, hal_user_probe(0, 1) == -E_FAULT);
	expect(bed, hal_user_probe(bed->user->space.limit - 1, 8) == -E_FAULT);
	expect(bed, hal_user_probe(~(uintptr_t)0 - 3, 8) == -E_FAULT);
}

/* Without a space there is no user memory; with it again, there is. */
static void
check_space_use(struct testbed *bed, const struct user_test *u)
{
	uint32_t word;

	hal_space_use(NULL);
	expect(bed, hal_user_load32(u->data, &word) == -E_FAULT);
	expect(bed, hal_copy_in(&word, u->data, 4) == -E_FAULT);
	hal_space_use(&bed->user->space);
	expect(bed, hal_user_load32(u->data, &word) == 0);
}

static void
copy_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	check_call(bed, f, t);
	check_copy_in(bed, bed->user);
	check_copy_out(bed, bed->user);
	check_probe(bed, bed->user);
	check_space_use(bed, bed->user);
	user_finish(bed);
}

static void
copies(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = copy_trap});
}

static void
expect_fault(struct testbed *bed, const struct hal_trap *t, uintptr_t addr, uint32_t write)
{
	expect(bed, t->kind == TRAP_FAULT);
	expect(bed, t->cause == CRASH_ACCESS);
	expect(bed, t->addr == addr);
	expect(bed, t->write == write);
}

/* A load from the hole faults; the kernel maps a page there, and the same load succeeds. */
static void
load_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (u->step++ == 0) {
		((uint32_t *)u->block)[HAL_PAGE_BYTES / 4] = 0x600d;
		expect_fault(bed, t, u->hole, 0);
		expect(bed,
			hal_map(&bed->user->space, u->hole,
			hal_paddr((char *)u->block + HAL_PAGE_BYTES), 1, PAGE_READ) == 0);
		hal_tlb_flush();
		return;
	}
	expect(bed, user_is_call(f, t, CALL_VALUE));
	expect(bed, hal_frame_arg(f, 0) == 0x600d);
	user_finish(bed);
}

static void
loads(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_LOAD, .beyond = TO_HOLE,
		.on_trap = load_trap});
}

/* A store to a page that was made read-only faults; made writable again, it succeeds. */
static void
store_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;
	uintptr_t page = u->data + HAL_PAGE_BYTES;

	if (u->step++ == 0) {
		expect_fault(bed, t, page + 8, 1);
		expect(bed, hal_protect(&bed->user->space, page, 1, PAGE_READ | PAGE_WRITE) == 0);
		hal_tlb_flush();
		hal_user_enter(f, &bed->user->space);
	}
	expect(bed, user_is_call(f, t, CALL_VALUE));
	expect(bed, ((uint32_t *)u->block)[(HAL_PAGE_BYTES + 8) / 4] == 7);
	user_finish(bed);
}

static void
stores(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_STORE, .beyond = HAL_PAGE_BYTES + 8,
		.on_trap = store_trap});
}

/* Does a fault of this access reach the kernel? */
static bool
is_reported(struct testbed *bed, struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	int before = bed->user->step;

	user_page_fault(f, addr, write);
	return bed->user->step > before;
}

/*
 * A core may remember that a page was not there, or not writable: what the tables permit now is no
 * fault.
 */
static void
stale_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct user_test *u = bed->user;

	if (t->kind == TRAP_FAULT) {
		u->step++;
		return;
	}
	expect(bed, !is_reported(bed, f, u->data, 0));
	expect(bed, !is_reported(bed, f, u->data + HAL_PAGE_BYTES - 8, 1));
	expect(bed, !is_reported(bed, f, u->data + HAL_PAGE_BYTES, 0));
	expect(bed, !is_reported(bed, f, u->code, 2));
	expect(bed, is_reported(bed, f, u->data, 2));
	expect(bed, is_reported(bed, f, u->data + HAL_PAGE_BYTES, 1));
	expect(bed, is_reported(bed, f, u->code, 1));
	expect(bed, is_reported(bed, f, u->hole, 0));
	expect(bed, is_reported(bed, f, 0, 0));
	expect(bed, is_reported(bed, f, (uintptr_t)bed, 0));
	expect(bed, is_reported(bed, f, bed->user->space.limit, 1));
	user_finish(bed);
}

static void
stale_faults(struct testbed *bed)
{
	if (user_can(USER_PAGE_FAULTS))
		user_run(bed, &(struct user_plan){.program = USER_CALLS, .on_trap = stale_trap});
	else
		test_skip(bed, "not on this port");
}

static void
jump_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	(void)f;
	expect_fault(bed, t, bed->user->hole, 2);
	user_finish(bed);
}

static void
jumps(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_JUMP, .beyond = TO_HOLE,
		.on_trap = jump_trap});
}

static void
illegal_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	(void)f;
	expect(bed, t->kind == TRAP_FAULT);
	expect(bed, t->cause == CRASH_ILLEGAL);
	user_finish(bed);
}

static void
illegal_instructions(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_ILLEGAL, .on_trap = illegal_trap});
}

/*
 * A core that uses another space has forgotten the translations of the one that it leaves: whoever
 * changes that afterwards needs no shoot-down on this core.
 */
static void
left_trap(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t)
{
	struct hal_page_source source = {.take = page_take, .give = page_give, .ctx = &bed->pool};
	struct user_test *u = bed->user;
	uint32_t *words = (uint32_t *)u->block;
	uintptr_t page = u->data + HAL_PAGE_BYTES;
	struct context c;

	expect(bed, user_is_call(f, t, CALL_VALUE));
	expect(bed, hal_frame_arg(f, 0) == (u->step == 0 ? 0u : 0x600du));
	if (u->step++ == 1)
		user_finish(bed);
	words[0x100] = 0x600d;
	expect(bed, hal_space_init(&bed->space, &source) == 0);
	hal_space_use(&bed->space);
	expect(bed, hal_unmap(&u->space, page, 1) == 0);
	expect(bed, hal_map(&u->space, page, hal_paddr(u->block), 1, PAGE_READ) == 0);
	hal_space_use(&u->space);
	while (!hal_space_destroy(&bed->space))
		continue;
	user_context(&c, USER_LOAD, u, 0);
	hal_frame_from_context(&u->frame, &c);
	hal_user_enter(&u->frame, &u->space);
}

static void
left_spaces(struct testbed *bed)
{
	user_run(bed, &(struct user_plan){.program = USER_LOAD, .beyond = HAL_PAGE_BYTES + 0x400,
		.on_trap = left_trap});
}

const struct hal_test user_tests[] = {
	{"a_call_keeps_registers_and_carries_arguments_and_result", calls, 2, 1},
	{"a_user_thread_calls_again_and_again", loops, 2, 1},
	{"copies_from_and_to_users_stop_at_bad_addresses", copies, 2, 1},
	{"a_load_that_faulted_succeeds_after_the_page_came", loads, 2, 1},
	{"a_store_to_a_read_only_page_faults_as_a_write", stores, 2, 1},
	{"a_fault_that_the_tables_do_not_explain_is_tried_again", stale_faults, 2, 1},
	{"a_space_that_was_left_is_forgotten", left_spaces, 2, 1},
	{"a_jump_into_a_hole_faults_as_a_fetch", jumps, 2, 1},
	{"an_illegal_instruction_is_told_apart", illegal_instructions, 2, 1},
	{"an_interrupt_reaches_a_thread_that_never_calls", interrupts, 2, 1},
	{"a_notify_does_not_interrupt_a_user_thread", notify_never_interrupts, 2, 1},
	{NULL, NULL, 0, 0},
};
