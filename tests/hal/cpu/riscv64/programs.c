/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of riscv64 are copied into the code page; a trap instruction calls the kernel.
 */
#include "../../testbed.h"

extern const char user_code_end[];
extern const char user_calls[], user_loop[], user_spin[], user_load[], user_store[], user_jump[], user_illegal[],
	user_registers[], user_handler_code[];

static uintptr_t
entry(enum user_program p)
{
	switch (p) {
	case USER_CALLS:
		return (uintptr_t)user_calls;
	case USER_LOOP:
		return (uintptr_t)user_loop;
	case USER_SPIN:
		return (uintptr_t)user_spin;
	case USER_LOAD:
		return (uintptr_t)user_load;
	case USER_STORE:
		return (uintptr_t)user_store;
	case USER_JUMP:
		return (uintptr_t)user_jump;
	case USER_REGISTERS:
		return (uintptr_t)user_registers;
	case USER_HANDLER:
		return (uintptr_t)user_handler_code;
	default:
		return (uintptr_t)user_illegal;
	}
}

size_t
user_code_bytes(void)
{
	return (size_t)(user_code_end - user_code);
}

bool
user_can(enum user_program p)
{
	(void)p;
	return true;
}

void hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value);

void
user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	static const uint64_t cause[] = {13, 15, 12};

	hal_user_trap(f, cause[write], addr);
}

void
user_context(struct context *c, enum user_program p, const struct user_test *u, unsigned thread)
{
	context_init(c, u->code + entry(p) - (uintptr_t)user_code, u->code + (thread == 0 ? 2 : USER_PAGES) * HAL_PAGE_BYTES, u->data, 0);
}

void
user_handler(const struct user_test *u, uintptr_t *at, uintptr_t *stack)
{
	*at = u->code + entry(USER_HANDLER) - (uintptr_t)user_code;
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
	return 30;
}

uint64_t
soon_ns(void)
{
	return 20000;
}
