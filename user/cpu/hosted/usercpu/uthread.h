/* SPDX-License-Identifier: MIT
 *
 * What user threads (user/uthread.c) need of a CPU: to put registers away and take others.
 */
#ifndef USERCPU_UTHREAD_H
#define USERCPU_UTHREAD_H

#include <stdint.h>

/* A thread that was stopped anywhere goes on here: all its registers are put on its stack. */
#define UTHREAD_STOPS 1
#define UTHREAD_INTERRUPTED ((uintptr_t)uthread_interrupted)
void uthread_interrupted(void);

/*
 * Puts what a function call preserves on the stack, and the stack pointer to *save; goes on at
 * `to`.
 */
void uthread_switch(void **save, void *to);

/* The stack of a thread that begins with begin(), below top. */
static inline void *
uthread_stack(uintptr_t top, void (*begin)(void))
{
	uint64_t *sp = (uint64_t *)(top - 72);

	sp[0] = 0x1f80 | (uint64_t)0x037f << 32;	/* mxcsr, x87 control word: as at a start */
	sp[7] = (uintptr_t)begin;
	return sp;
}

#endif
