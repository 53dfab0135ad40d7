/* SPDX-License-Identifier: MIT
 *
 * Threads move between cores: see move.h. Source: seed 000 III-B (threads), 004 4.
 */
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/move.h>
#include <kernel/thread/role.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/*
 * What speaks against a core: a program's thread is best alone on an AC, and a server's on a TC,
 * where nobody computes who does not give it up.
 */
static uint32_t
cost_of(const struct core *core, const struct thread *t)
{
	if (core->role == ROLE_TC)
		return 1 + core->load;
	if (hal_load32(&t->priority) > PRIORITY_PROGRAM)
		return THREADS_MAX + 1 + core->load;
	if (core->load == 0)
		return 0;
	return 1 + core->load + (hal_load32(&t->is_pinned) != 0 ? THREADS_MAX : 0);
}

struct core *
core_elsewhere(const struct thread *t)
{
	const struct process *p = t->proc;
	struct cluster *c = t->cluster;
	bool stays = core_runs_users(t->core);
	struct core *best = NULL;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < c->cores; i++) {
		struct core *core = core_by_order(c, p, i);
		bool own = core->id - p->core_first < p->core_count;
		uint32_t cost = cost_of(core, t) + (own ? 0 : UINT32_MAX / 2);

		if (core == t->core || !core_runs_users(core) || cost >= least ||
			((stays || !own) && core->role != ROLE_TC) || (stays && !own))
			continue;
		best = core;
		least = cost;
	}
	return best;
}

/* Where a thread goes now: its next core may have got another role since it was told. */
static struct core *
next_core(const struct thread *t)
{
	struct core *to = t->move_to == MOVE_AWAY ? NULL : core_at(t->cluster, t->move_to);

	if (to == NULL || !core_runs_users(to))
		to = core_elsewhere(t);
	return to != NULL ? to : t->core;
}

/* Home. All that its core knows of the thread has been published. */
static long
move_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	upcall_change(t, 0, UPCALL_MOVE);
	counts_home(t, RUN_MOVES);
	thread_replace(t, next_core(t));
	role_crowd(t);
	hal_acquire(t, offsetof(struct thread, cluster));
	thread_launch(t);
	return 0;
}

/* Home. */
static long
spread_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	const struct process *p = t->proc;

	if (hal_load32(&t->priority) > PRIORITY_PROGRAM)
		return 0;
	for (uint32_t i = 0; i < t->cluster->cores; i++) {
		const struct core *to = core_by_order(t->cluster, p, i);

		if (core_is_home(to) || !core_runs_users(to) || to->load != 0 ||
			to->id - p->core_first >= p->core_count)
			continue;
		thread_send(t, to->id);
		t->core->spread++;
		return 1;
	}
	return 0;
}

void
thread_spreads(struct core *core)
{
	struct kcall_args *args = kcall_args(core);

	args->caller = core->current;
	/*
	 * Who goes, goes now: the next one would be sent to the same empty core. This is no call of
	 * the thread, and the interrupt that brought us here looks at doorbells and upcalls next.
	 */
	if (hal_peek32(&core->current->is_pinned) == 0 &&
		am_call_last(core, spread_serve, args, offsetof(struct kcall_args, a)) > 0)
		core->quantum_end = HAL_FOREVER;
}

void
thread_moves(struct core *core)
{
	struct thread *t = core->current;
	struct kcall_args *args = kcall_args(core);

	counts_end(t, RUN_SWITCHES);
	t->quantum_left = 0;
	hal_frame_move(t->now);
	core_publish(t);
	args->caller = t;
	am_call_last(core, move_serve, args, offsetof(struct kcall_args, a));
	core->current = NULL;
}

void
thread_send(struct thread *t, uint32_t to)
{
	bool leaves = to != t->core->id;

	t->move_to = to;
	if (to == MOVE_AWAY)
		hal_store32(&t->is_pinned, 0);	/* there is no such core for it any more */
	t->returns = to == MOVE_AWAY && (t->returns || core_is_home(t->core));
	upcall_change(t, leaves ? UPCALL_MOVE : 0, UPCALL_MOVE);
	if (leaves && t->state == THREAD_READY)
		core_interrupt(t->core);
}

__attribute__((noinline)) int
thread_confine(struct thread *t, uint32_t first, uint32_t count)
{
	struct core *to = core_among(t->proc, first, count);

	if (t->core->id >= t->cluster->cores)
		return -E_NOSYS;
	if (to == NULL)
		return -E_INVAL;
	if (t->core->id - first < count && core_runs_users(t->core))
		to = t->core;		/* its core may just have sent it on its way to another */
	thread_send(t, to->id);
	if (to == t->core)
		role_crowd(t);		/* as it may have been, to make room */
	return 0;
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
	struct thread *t;
	int e = thread_named(caller, thread, RIGHT_SIGNAL, &t);

	if (e == 0)
		e = thread_confine(t, (uint32_t)first, (uint32_t)count);
	if (e == 0)
		hal_store32(&t->is_pinned, (uint32_t)count < t->cluster->cores);
	return e;
}
