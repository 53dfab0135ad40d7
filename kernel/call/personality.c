/* SPDX-License-Identifier: MIT
 *
 * Reflection: a trap whose number is not ours goes to the personality, a library in the thread's own process. It finds the interrupted
 * context on its stack, and goes back to it, changed as it likes, by context_set. Source: seed 000 III-A (runtime libraries).
 */
#include <kernel/call/call.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

long
personality_reflect(struct thread *t)
{
	struct personality *p = &t->proc->personality;
	struct context ctx;
	uintptr_t at;

	hal_acquire(p, sizeof(*p));
	if (p->entry == 0)
		return -E_NOSYS;
	at = (p->stack_top - t->index * p->stack_size - sizeof(ctx)) & ~(uintptr_t)15;
	hal_frame_to_context(&t->frame, &ctx);
	if (hal_copy_out(at, &ctx, sizeof(ctx)) != 0)
		return -E_FAULT;
	context_init(&ctx, p->entry, at, at, 0);
	hal_frame_from_context(&t->frame, &ctx);
	t->resume = RESUME_FRAME;
	return -E_PARK;
}

/*
 * kc_personality_set: who gets the foreign calls of a process. The thread with index i inside the process has the stack
 * [stack_top - (i + 1) * stack_size, stack_top - i * stack_size). Entry 0: nobody. RIGHT_WRITE.
 * Runs: home. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL: entry or stack outside of the user range.
 */
long
kc_personality_set(struct thread *caller, int proc, unsigned long entry, unsigned long stack_top, unsigned long stack_size)
{
	struct process *p;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (entry != 0 && (entry < p->space.first || entry >= p->space.limit || stack_top > p->space.limit || stack_top <= p->space.first ||
			stack_size < sizeof(struct context)))
		return -E_INVAL;
	p->personality = (struct personality){entry, stack_top, stack_size};
	hal_publish(&p->personality, sizeof(p->personality));
	return 0;
}
