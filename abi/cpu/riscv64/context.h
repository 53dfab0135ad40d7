/* SPDX-License-Identifier: MIT
 *
 * Register context of a riscv64 user thread: everything integer. Floating-point registers start as
 * zero.
 */
#ifndef ABI_CONTEXT_H
#define ABI_CONTEXT_H

#include <stdint.h>

/*
 * What an interrupt may write below the stack pointer of a thread that it stops: nothing, its
 * registers go to the kernel.
 */
#define CONTEXT_INTERRUPT_BYTES 0

struct context {
	uint64_t pc;
	uint64_t x[32];			/* x[0] unused; x[2] sp, x[4] tp, x[10] a0 */
};

static inline void
context_init(struct context *c, uintptr_t pc, uintptr_t sp, uintptr_t arg, uintptr_t tls)
{
	for (int i = 0; i < 32; i++)
		c->x[i] = 0;
	c->pc = pc;
	c->x[2] = sp;
	c->x[4] = tls;
	c->x[10] = arg;
}

/* The result of the call that a context was trapped in. */
static inline void
context_set_result(struct context *c, uintptr_t result)
{
	c->x[10] = result;
}

#endif
