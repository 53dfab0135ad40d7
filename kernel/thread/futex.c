/* SPDX-License-Identifier: MIT
 *
 * Sleep if a word still has the expected value. The caller is enqueued at home first and looks at
 * the word again afterwards: whoever changes the word and then wakes either finds the caller in the
 * queue, or the caller sees the change. Source: seed 004 5.
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

/* of one step: 1 for a thread that is looked at, and more for one that is woken */
#define WAKE_COST 96
#define WAKE_READY 15
#define BUCKETS (sizeof(((struct cluster *)0)->futex) / sizeof(struct list))

/*
 * What a thread waits on: the address, which is its process's; with FUTEX_SHARED the place in the
 * page frame, marked by KEY_OF_FRAME. No key is odd. 0 or -E_FAULT.
 */
#define KEY_OF_FRAME 2

static int
key_of(struct process *p, unsigned long addr, uintptr_t *key)
{
	int e = 0;

	*key = addr;
	if (unlikely((addr & FUTEX_SHARED) != 0))
		e = mem_shared_place(p, addr & ~(unsigned long)FUTEX_SHARED, key);
	if (e > 0)
		*key |= KEY_OF_FRAME;
	return e < 0 ? e : 0;
}

static struct list *
bucket(struct cluster *c, uintptr_t addr)
{
	return &c->futex[(addr / 4 ^ addr / 4096) % BUCKETS];
}

static long
enqueue_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	uintptr_t key;
	int e = key_of(t->proc, args->a[0], &key);

	if (e != 0)
		return e;
	t->wait.on = key;
	thread_park(t, bucket(t->cluster, key));
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
 * kc_futex_wait: sleep until futex_wake(addr), if the word at addr is `value`. With FUTEX_SHARED in
 * addr whoever has the page frame can wake us, at whatever address; lazy and private memory is one
 * process's own, and there it makes no difference. Runs: calling core.
 * Returns 0 when woken; -E_AGAIN: the word differs; -E_FAULT; -E_INVAL: addr is not aligned.
 */
long
kc_futex_wait(struct thread *caller, unsigned long addr, uint32_t value)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	unsigned long word = addr & ~(unsigned long)FUTEX_SHARED;
	uint32_t now;
	long result;

	if (word & 3)
		return -E_INVAL;
	if (hal_user_load32(word, &now) != 0)
		return -E_PROBE;
	if (now != value)
		return -E_AGAIN;
	args->caller = caller;
	args->a[0] = addr;
	result = am_call_kernel(core, enqueue_serve, args,
		offsetof(struct kcall_args, a) + sizeof(args->a[0]));
	if (result < 0)
		return result;
	if (hal_user_load32(word, &now) == 0 && now == value)
		return -E_PARK;
	return am_call_kernel(core, cancel_serve, args, offsetof(struct kcall_args, a));
}

/*
 * Address a[0], a[1] more threads. a[2]: those that were woken. -E_AGAIN: not all have been looked
 * at; the place in the queue is that of the caller's own link, which is nobody's wait.
 */
static long
wake_serve(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct list *queue, *mark = &caller->wait.link, *node, *after;
	uintptr_t key;
	int e = key_of(caller->proc, args->a[0], &key);

	queue = bucket(caller->cluster, key);
	node = list_is_empty(mark) ? queue->next : mark->next;
	list_remove(mark);
	if (e != 0)
		return e;
	for (unsigned cost = 0; node != queue && args->a[1] > 0; node = after, cost++) {
		struct thread *t = list_entry(node, struct thread, wait.link);

		if (cost >= WAKE_COST) {
			caller->wait.on = 1;
			list_insert_between(mark, node->prev, node);
			return -E_AGAIN;
		}
		after = node->next;
		if (t->wait.on != key ||
			(t->proc != caller->proc && !((key & KEY_OF_FRAME) && thread_is_alive(t))))
			continue;
		thread_ready(t, 0);
		args->a[1]--;
		args->a[2]++;
		cost += WAKE_READY;
	}
	return 0;
}

/*
 * kc_futex_wake: wake up to `count` threads that sleep on addr, oldest first; both with
 * FUTEX_SHARED in addr, or both without. Runs: calling core, with a message to home for each few of
 * them. Returns how many; -E_INVAL: addr or count; -E_FAULT: nothing is at a shared address.
 */
long
kc_futex_wake(struct thread *caller, unsigned long addr, int count)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long e;

	if (unlikely((addr & 3 & ~FUTEX_SHARED) || count < 0))
		return -E_INVAL;
	args->caller = caller;
	args->a[0] = addr;
	args->a[1] = (unsigned long)count;
	args->a[2] = 0;
	do
		e = am_call_kernel(core, wake_serve, args,
			offsetof(struct kcall_args, a) + 3 * sizeof(args->a[0]));
	while (e == -E_AGAIN);
	return e != 0 ? e : (long)args->a[2];
}
