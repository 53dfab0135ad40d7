/* SPDX-License-Identifier: MIT
 *
 * Threads move between cores: see move.h. Source: seed 000 III-B (threads), 004 4.
 */
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/move.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* Home. All that its core knows of the thread has been published. */
static long
move_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	upcall_change(t, 0, UPCALL_MOVE);
	thread_replace(t, core_at(t->cluster, t->move_to));
	hal_acquire(t, offsetof(struct thread, cluster));
	thread_launch(t);
	return 0;
}

void
thread_moves(struct core *core)
{
	struct thread *t = core->current;
	struct kcall_args *args = kcall_args(core);

	counts_end(t);
	t->quantum_left = 0;
	hal_frame_move(t->now);
	core_publish(t);
	args->caller = t;
	am_call_last(core, move_serve, args, offsetof(struct kcall_args, a));
	core->current = NULL;
}

/*
 * kc_thread_cores: a thread of the own process (RIGHT_SIGNAL) runs on one of the cores `first` to
 * first + count - 1 from now on: if it is on another, it goes to that of these with the fewest
 * threads, as soon as its core hears of it, and before that next takes it up; a call in which it
 * waits goes on waiting. Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_SRCH: it has ended; -E_INVAL:
 * none of these cores runs threads of its process; -E_NOSYS: a thread of the host's.
 */
long
kc_thread_cores(struct thread *caller, int thread, int first, int count)
{
	struct object *o = handle_get(&caller->proc->handles, thread, OBJECT_THREAD, RIGHT_SIGNAL);
	struct core *to;
	struct thread *t;

	if (o == NULL)
		return handle_error(&caller->proc->handles, thread, OBJECT_THREAD);
	t = list_entry(o, struct thread, object);
	if (t->state != THREAD_READY && t->state != THREAD_WAITING)
		return -E_SRCH;
	if (t->core->id >= t->cluster->cores)
		return -E_NOSYS;
	to = first < 0 || count <= 0 ? NULL : core_among(t->proc, (uint32_t)first, (uint32_t)count);
	if (to == NULL)
		return -E_INVAL;
	if (t->core->id - (uint32_t)first < (uint32_t)count)
		to = t->core;		/* its core may just have sent it on its way to another */
	t->move_to = to->id;
	upcall_change(t, to != t->core ? UPCALL_MOVE : 0, UPCALL_MOVE);
	if (to != t->core && t->state == THREAD_READY)
		core_interrupt(t->core);
	return 0;
}
