/* SPDX-License-Identifier: MIT
 *
 * Waiting and waking: see thread.h. Home core.
 */
#include <base/tune.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

long
thread_park(struct thread *t, struct list *queue)
{
	t->state = THREAD_WAITING;
	if (queue != NULL)
		list_push_back(queue, &t->wait.link);
	if (unlikely(t->upcalls != 0))
		upcall_cut(t);
	return -E_PARK;
}

/* Home's own core runs a user thread only in the middle of a call. */
__attribute__((noinline)) void
core_interrupt(const struct core *core)
{
	if (!core_is_home(core) || core->current != NULL)
		hal_interrupt(core->id);
	if (unlikely(hal_load32(&core->acts) == ROLE_XC))
		hal_core_take_back(core->id);
}

/*
 * The only producer of ready rings. A thread is in at most one ring at most once, so a ring never
 * overflows.
 */
hot_inline void
push_ready(struct thread *t, uint32_t first)
{
	struct core *core = t->core;
	uint32_t put = core->ready_put;
	uint16_t *slot = &core->ready.slot[(int32_t)(put & core->ready.mask)];

	*slot = (uint16_t)(ID_INDEX(t->tid) << 1 | first);
	hal_publish(slot, sizeof(*slot));
	core->ready_put = ++put;
	hal_store32(&core->ready.put, put);
	/* a TC may run a user thread of lower or equal priority */
	if (unlikely(core->role == ROLE_TC))
		core_interrupt(core);
	else
		hal_notify(hal_cluster_id(), core->id);
	paths_meet();
}

void
thread_launch(struct thread *t)
{
	hal_publish(t, offsetof(struct thread, wake_result));
	t->state = THREAD_READY;
	push_ready(t, READY_FIRST);
}

hot_inline void
leave_queue(struct thread *t)
{
	list_remove(&t->wait.link);
	t->wait.kind = WAIT_OTHER;
	t->wait.undo = NULL;
}

void
thread_wait_end(struct thread *t)
{
	leave_queue(t);
	if (unlikely(t->wait.deadline.place != 0))
		deadline_clear(t->cluster, &t->wait.deadline);
}

/* The deadline goes last: only home looks at it, and the thread's core has been told by then. */
void
thread_ready(struct thread *t, long result)
{
	check(t->state == THREAD_WAITING);
	leave_queue(t);
	t->state = THREAD_READY;
	t->wake_result = result;
	hal_publish(&t->wake_result, offsetof(struct thread, state) -
		offsetof(struct thread, wake_result));
	if (likely(thread_is_alive(t)))
		push_ready(t, 0);
	if (unlikely(t->wait.deadline.place != 0))
		deadline_clear(t->cluster, &t->wait.deadline);
}

struct thread *
thread_waiter(struct list *queue)
{
	struct thread *t = thread_first(queue);

	if (t == NULL || thread_is_alive(t))
		return t;
	thread_wait_end(t);
	return NULL;
}

struct thread *
thread_first(const struct list *queue)
{
	return likely(list_is_empty(queue)) ? NULL :
		list_entry(queue->next, struct thread, wait.link);
}
