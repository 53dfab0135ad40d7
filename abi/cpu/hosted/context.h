/* SPDX-License-Identifier: MIT
 *
 * Register context of a user thread on the hosted port (x86-64): what a function call preserves,
 * the start argument and the thread pointer. At a kernel call nothing else is live; of a thread
 * that was stopped elsewhere, the rest is in what Linux pushed.
 */
#ifndef ABI_CONTEXT_H
#define ABI_CONTEXT_H

#include <stdint.h>

/*
 * What an interrupt may write below the stack pointer of a thread that it stops: Linux pushes all
 * of its registers, vectors too (3.3 KB with AVX-512; tile registers only where a program asked for
 * them), and a handler runs there. Each stack has room for that.
 */
#define CONTEXT_INTERRUPT_BYTES 4096

struct context {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	uint64_t bx;
	uint64_t r12;
	uint64_t r13;
	uint64_t r14;
	uint64_t r15;
	/* rdi at the start; also the result register (rax) when a call returns */
	uint64_t arg;
	uint64_t tls;			/* fs base */
};

static inline void
context_init(struct context *c, uintptr_t pc, uintptr_t sp, uintptr_t arg, uintptr_t tls)
{
	*c = (struct context){.pc = pc, .sp = sp, .arg = arg, .tls = tls};
}

/* The result of the call that a context was trapped in. */
static inline void
context_set_result(struct context *c, uintptr_t result)
{
	c->arg = result;
}

#endif
