/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of the coroutine back end are functions of the host on a stack
 * of their own. They reach user memory through the page table; what needs real instructions (jumps,
 * illegal ones) is left out.
 */
#include <hal/cpu/coroutine/coroutine.h>
#include "../../testbed.h"

#define STACK_BYTES 65536

const char user_code[1];
static char stack[2][2][STACK_BYTES] __attribute__((aligned(16)));	/* of each user_test */

static uintptr_t
address_word(uintptr_t data)
{
	return (uintptr_t)coro_user_load32(data + 8) | (uintptr_t)coro_user_load32(data + 12) << 32;
}

static void
calls_program(uintptr_t data)
{
	volatile unsigned long kept = 0x1111;

	(void)data;
	for (;;) {
		long result = coro_kcall(100, 1, 2, 3, 4, 5, 6);
		long fast = coro_kcall(4201, 41, 0, 0, 0, 0, 0);

		coro_kcall(101, (result != 0x1234) + 2 * (kept != 0x1111) + 8 * (fast != 42),
			0xfeed, 0, 0, 0, 0);
	}
}

static void
loop_program(uintptr_t data)
{
	(void)data;
	for (;;)
		coro_kcall(102, 0, 0, 0, 0, 0, 0);
}

static void
spin_program(uintptr_t data)
{
	(void)data;
	coro_kcall(104, 0, 0, 0, 0, 0, 0);
	for (;;)
		coro_user_point();
}

static void
load_program(uintptr_t data)
{
	coro_kcall(103, coro_user_load32(address_word(data)), 0, 0, 0, 0, 0);
}

static void
store_program(uintptr_t data)
{
	coro_user_store32(address_word(data), 7);
	coro_kcall(103, 7, 0, 0, 0, 0, 0);
}

/* What is in registers here is in local variables. */
static void
registers_program(uintptr_t data)
{
	volatile uintptr_t kept[4] = {data, data + 1, data + 2, data + 3};

	for (;;) {
		coro_user_point();
		for (unsigned i = 0; i < 4; i++)
			if (kept[i] != data + i)
				coro_kcall(101, 1, 0, 0, 0, 0, 0);
	}
}

static void
handler_program(uintptr_t event)
{
	coro_kcall(105, event, 0, 0, 0, 0, 0);
	coro_user_point();
	coro_kcall(4202, 0, 0, 0, 0, 0, 0);
}

static void (*const program[])(uintptr_t data) = {
	[USER_CALLS] = calls_program, [USER_LOOP] = loop_program, [USER_SPIN] = spin_program,
	[USER_LOAD] = load_program,
	[USER_STORE] = store_program, [USER_JUMP] = NULL, [USER_ILLEGAL] = NULL,
	[USER_REGISTERS] = registers_program, [USER_HANDLER] = handler_program,
	[USER_PAGE_FAULTS] = NULL,
};

size_t
user_code_bytes(void)
{
	return 0;
}

bool
user_can(enum user_program p)
{
	return program[p] != NULL;
}

void
user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	(void)f;
	(void)addr;
	(void)write;
}

void
user_context(struct context *c, enum user_program p, const struct user_test *u, unsigned thread)
{
	coro_user_context(c, program[p], stack[hal_core_id() - 1][thread] + STACK_BYTES, u->data);
}

void
user_handler(const struct user_test *u, uintptr_t *at, uintptr_t *top)
{
	char *own = stack[hal_core_id() - 1][1];

	(void)u;
	if (hal_user_probe((uintptr_t)own, 1) != 0)
		coro_user_memory(own, STACK_BYTES);
	*at = (uintptr_t)handler_program;
	*top = (uintptr_t)own + STACK_BYTES;
}

uintptr_t
user_handler_room(const struct user_test *u)
{
	uintptr_t at, top;

	user_handler(u, &at, &top);
	return top - u->hole - HAL_PAGE_BYTES;
}

unsigned
litmus_rounds(void)
{
	return 1;
}

uint64_t
soon_ns(void)
{
	return 50;
}

bool
user_device_can(void)
{
	return true;
}

void
user_device_raise(bool up)
{
	if (up)
		coro_device_raise(0);
	else
		coro_device(0)->is_raised = false;
}

/* All clusters are of one program. */
enum machine_lives
machine_lives(void)
{
	return LIVES_MANY;
}
