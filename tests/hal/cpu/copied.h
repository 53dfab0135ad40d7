/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs that are assembled beside the test and copied into the code
 * page. A back end's programs.c includes this once and adds what is its own; its assembler file has
 * the programs.
 */
#ifndef TESTS_HAL_CPU_COPIED_H
#define TESTS_HAL_CPU_COPIED_H

#include "../testbed.h"

extern const char user_code_end[];
extern const char user_calls[], user_loop[], user_spin[], user_load[], user_store[], user_jump[],
	user_illegal[],
	user_registers[], user_handler_code[];

/*
 * Where a program begins in the code page. No table, because its addresses would have to be
 * relocated.
 */
static uintptr_t
entry(const struct user_test *u, enum user_program p)
{
	const char *at = user_illegal;

	switch (p) {
	case USER_CALLS: at = user_calls; break;
	case USER_LOOP: at = user_loop; break;
	case USER_SPIN: at = user_spin; break;
	case USER_LOAD: at = user_load; break;
	case USER_STORE: at = user_store; break;
	case USER_JUMP: at = user_jump; break;
	case USER_REGISTERS: at = user_registers; break;
	case USER_HANDLER: at = user_handler_code; break;
	default: break;
	}
	return u->code + (uintptr_t)at - (uintptr_t)user_code;
}

size_t
user_code_bytes(void)
{
	return (size_t)(user_code_end - user_code);
}

/*
 * Above its stack pointer a program has a word: the hosted gate reads the last argument of a call
 * there, as a C function would.
 */
void
user_context(struct context *c, enum user_program p, const struct user_test *u, unsigned thread)
{
	context_init(c, entry(u, p), u->code + STACK_END(thread) * HAL_PAGE_BYTES - 16, u->data, 0);
}

void
user_handler(const struct user_test *u, uintptr_t *at, uintptr_t *stack)
{
	*at = entry(u, USER_HANDLER);
	*stack = u->code + STACK_END(1) * HAL_PAGE_BYTES;
}

uintptr_t
user_handler_room(const struct user_test *u)
{
	(void)u;
	return STACK_PAGES * HAL_PAGE_BYTES;
}

#endif
