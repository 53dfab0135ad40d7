/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of the hosted port are copied into the code page; they call the kernel through the gate.
 */
#include "../../testbed.h"

extern const char user_code_end[];
extern const char user_calls[], user_loop[], user_spin[], user_load[], user_store[], user_jump[], user_illegal[],
	user_registers[], user_handler_code[];

static const char *const entry[] = {
	[USER_CALLS] = user_calls, [USER_LOOP] = user_loop, [USER_SPIN] = user_spin, [USER_LOAD] = user_load,
	[USER_STORE] = user_store, [USER_JUMP] = user_jump, [USER_ILLEGAL] = user_illegal,
	[USER_REGISTERS] = user_registers, [USER_HANDLER] = user_handler_code,
};

size_t
user_code_bytes(void)
{
	return (size_t)(user_code_end - user_code);
}

bool
user_can(enum user_program p)
{
	return p != USER_PAGE_FAULTS;
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
	context_init(c, u->code + (uintptr_t)(entry[p] - user_code), u->code + (thread == 0 ? 2 : USER_PAGES) * HAL_PAGE_BYTES, u->data, 0);
}

void
user_handler(const struct user_test *u, uintptr_t *at, uintptr_t *stack)
{
	*at = u->code + (uintptr_t)(entry[USER_HANDLER] - user_code);
	*stack = u->code + USER_PAGES * HAL_PAGE_BYTES;
}

uintptr_t
user_handler_room(const struct user_test *u)
{
	(void)u;
	return HAL_PAGE_BYTES;
}

unsigned
litmus_rounds(void)
{
	return 300;
}

uint64_t
soon_ns(void)
{
	return 20000;
}
