/* SPDX-License-Identifier: MIT
 *
 * Register context of an or1k user thread.
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
	uint32_t pc;
	/* r1 sp, r3 first argument, r10 thread pointer, r11 result */
	uint32_t r[32];
};

static inline void
context_init(struct context *c, uintptr_t pc, uintptr_t sp, uintptr_t arg, uintptr_t tls)
{
	for (int i = 0; i < 32; i++)
		c->r[i] = 0;
	c->pc = pc;
	c->r[1] = sp;
	c->r[3] = arg;
	c->r[10] = tls;
}

/* The result of the call that a context was trapped in. */
static inline void
context_set_result(struct context *c, uintptr_t result)
{
	c->r[11] = result;
}

#endif
