/* SPDX-License-Identifier: MIT
 *
 * Threads of a server. The start record lies at the top of the new thread's stack.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <usercpu/start.h>

struct thread_begin {
	void (*fn)(void *arg);
	void *arg;
};

static void
thread_main(uintptr_t arg)
{
	struct thread_begin *b = (struct thread_begin *)arg;

	b->fn(b->arg);
	for (;;)
		kthread_exit(0);
}

int
thread_start_on(void (*fn)(void *arg), void *arg, int core, void *stack, size_t stack_bytes)
{
	struct thread_begin *b =
		(struct thread_begin *)(((uintptr_t)stack + stack_bytes) & ~(uintptr_t)15) - 1;
	struct context c;

	*b = (struct thread_begin){fn, arg};
	/*
	 * as if thread_main had been called: on x86-64 a return address lies below the aligned top
	 */
	context_init(&c, (uintptr_t)thread_main,
		((uintptr_t)b & ~(uintptr_t)15) - CONTEXT_CALL_BYTES, (uintptr_t)b, 0);
	return (int)kthread_create(&c, core);
}

int
thread_start(void (*fn)(void *arg), void *arg, int core, size_t stack_bytes)
{
	uint64_t stack;
	long result;

	stack_bytes += CONTEXT_INTERRUPT_BYTES;
	result = kmem_alloc(SELF, stack_bytes, PAGE_READ | PAGE_WRITE, &stack);
	return result < 0 ? (int)result :
		thread_start_on(fn, arg, core, (void *)(uintptr_t)stack, stack_bytes);
}
