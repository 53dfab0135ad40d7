/* SPDX-License-Identifier: MIT
 *
 * What user threads (user/uthread.c) need of a CPU: to put registers away and take others.
 */
#ifndef USERCPU_UTHREAD_H
#define USERCPU_UTHREAD_H

#include <stdint.h>

/* Its flags cannot be put back by a program: no thread is stopped but in its own calls. */
#define UTHREAD_STOPS 0
#define UTHREAD_INTERRUPTED 0

/*
 * Puts what a function call preserves on the stack, and the stack pointer to *save; goes on at
 * `to`.
 */
void uthread_switch(void **save, void *to);

/* The stack of a thread that begins with begin(), below top. */
static inline void *
uthread_stack(uintptr_t top, void (*begin)(void))
{
	uint32_t *sp = (uint32_t *)(top - 64);

	sp[1] = (uintptr_t)begin;
	return sp;
}

#endif
