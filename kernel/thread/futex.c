/* SPDX-License-Identifier: MIT
 *
 * Sleep if a word still has the expected value. The caller is enqueued at home first and looks at the word again afterwards:
 * whoever changes the word and then wakes either finds the caller in the queue, or the caller sees the change. Source: seed 004 5.
 */
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define BUCKETS (sizeof(((struct cluster *)0)->futex) / sizeof(struct list))

static struct list *
bucket(struct cluster *c, unsigned long addr)
{
	return &c->futex[(addr / 4 ^ addr / 4096) % BUCKETS];
}

static long
enqueue_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	t->wait.on = args->a[0];
	thread_park(t, bucket(t->cluster, args->a[0]));
	return 0;
}

/* The word has changed: leave the queue, unless a wake-up was faster. */
static long
cancel_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	if (t->state != THREAD_WAITING)
		return -E_PARK;		/* its wake-up is in the ready ring */
	thread_wait_end(t);
	t->state = THREAD_READY;
	return -E_AGAIN;
}

/*
 * kc_futex_wait: sleep until futex_wake(addr), if the word at addr is `value`. Runs: calling core.
 * Returns 0 when woken; -E_AGAIN: the word differs; -E_FAULT; -E_INVAL: addr is not aligned.
 */
long
kc_futex_wait(struct thread *caller, unsigned long addr, uint32_t value)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	uint32_t now;
	long result;

	if (addr & 3)
		return -E_INVAL;
	if (hal_user_load32(addr, &now) != 0)
		return -E_PROBE;
	if (now != value)
		return -E_AGAIN;
	args->caller = caller;
	args->a[0] = addr;
	result = am_call_kernel(core, enqueue_serve, args, offsetof(struct kcall_args, a) + sizeof(args->a[0]));
	if (result < 0)
		return result;
	if (hal_user_load32(addr, &now) == 0 && now == value)
		return -E_PARK;
	return am_call_kernel(core, cancel_serve, args, offsetof(struct kcall_args, a));
}

/* kc_futex_wake: wake up to `count` threads that sleep on addr, oldest first. Runs: home. Returns how many; -E_INVAL: addr or count. */
long
kc_futex_wake(struct thread *caller, unsigned long addr, int count)
{
	struct list *queue = bucket(caller->cluster, addr);
	struct list *node, *after;
	long woken = 0;

	if (unlikely((addr & 3) || count < 0))
		return -E_INVAL;
	if (likely(list_is_empty(queue)))
		return 0;
	list_each(node, after, queue) {
		struct thread *t = list_entry(node, struct thread, wait.link);

		if (woken == count)
			break;
		if (t->wait.on != addr || t->proc != caller->proc)
			continue;
		thread_ready(t, 0);
		woken++;
	}
	return woken;
}
