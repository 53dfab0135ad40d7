/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on processes. Source: seed 000 III-A (processes), 004 4 (kill through active
 * messages).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/move.h>
#include <kernel/thread/thread.h>

#define THREADS_PER_STEP 96		/* of the table, that are looked at for their process */
#define SENT 12				/* as many of these takes one that is sent to a core */

/*
 * kc_proc_create: an empty process, with a program's priority or the caller's lower one. It lives
 * as long as a handle names it. Runs: home. Returns the first handle, with all rights but
 * RIGHT_GRANT, which only init gets: processes that hold handles of each other would never end.
 * -E_NOSPC; -E_NOMEM; -E_MFILE.
 */
long
kc_proc_create(struct thread *caller)
{
	struct process *p;
	long handle = proc_new(caller->cluster, caller->proc, &p);

	if (handle != 0)
		return handle;
	handle = handle_new(&caller->proc->handles, &p->object,
		RIGHTS_ALL & ~(caller->proc == caller->cluster->init ? 0u : RIGHT_GRANT));
	if (handle < 0)
		proc_end(p, 0, CRASH_NONE);
	return handle;
}

/*
 * kc_proc_start: start a thread, the first or a further one, in a process (RIGHT_WRITE). Only that
 * process gets a handle of it. Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_SRCH: it has ended;
 * -E_INVAL: context, or no core of that process's; -E_NOSPC; -E_NOMEM; -E_MFILE.
 */
long
kc_proc_start(struct thread *caller, int proc, const void *ctx, int core)
{
	struct process *p;
	long e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e == 0)
		e = thread_new(p, ctx, core);
	return e < 0 ? e : 0;
}

/* What the steps of proc_priority and proc_cores are about. */
enum { ARG_PROC, ARG_PRIORITY, ARG_FIRST = ARG_PRIORITY, ARG_COUNT, ARG_PLACE, ARG_IS_CORES };

static int
priority_give(struct process *p, const struct process *own, unsigned long priority)
{
	if (priority >= PRIORITIES)
		return -E_INVAL;
	if (priority > own->priority)
		return -E_ACCES;
	p->priority = (uint32_t)priority;
	return 0;
}

static int
cores_give(struct process *p, const struct process *own, unsigned long first, unsigned long count)
{
	if ((long)first < 0 || (long)count <= 0)
		return -E_INVAL;
	if (first < own->core_first || first - own->core_first + count > own->core_count)
		return -E_ACCES;
	p->core_first = (uint32_t)first;
	p->core_count = (uint32_t)count;
	p->domain = domain_near(proc_cluster(p), p);
	return 0;
}

/*
 * What a process may have, and then a few of its threads, from a place of the table on: they have
 * no more, and are where it may be. Again: -E_AGAIN.
 */
static long
limit_serve(struct kcall_args *args)
{
	const struct cluster *c = args->caller->cluster;
	const struct process *own = args->caller->proc;
	struct process *p;
	int e = proc_find(args->caller, (int)args->a[ARG_PROC], RIGHT_WRITE, &p);

	if (e == 0)
		e = args->a[ARG_IS_CORES] != 0 ?
			cores_give(p, own, args->a[ARG_FIRST], args->a[ARG_COUNT]) :
			priority_give(p, own, args->a[ARG_PRIORITY]);
	if (e != 0 || p->live == 0)
		return e;
	for (unsigned n = 0; n < THREADS_PER_STEP; n++) {
		struct thread *t;

		if (args->a[ARG_PLACE] >= c->threads_used)
			return 0;
		t = thread_at(c, (uint32_t)args->a[ARG_PLACE]++);
		if (t == NULL || t->proc != p || !thread_lives(t))
			continue;
		if (hal_load32(&t->priority) > p->priority)
			hal_store32(&t->priority, p->priority);
		if (args->a[ARG_IS_CORES] != 0) {
			thread_confine(t, p->core_first, p->core_count);
			n += SENT;
		}
	}
	return -E_AGAIN;
}

/*
 * kc_proc_priority: the most that the threads of a process may have, and what those that it gets
 * from now on begin with: 0 .. what the caller's own process may. Threads that have more come down
 * to it. RIGHT_WRITE. Runs: calling core, with a message to home for each few threads. Returns 0;
 * -E_BADF; -E_SRCH: it has ended; -E_ACCES: no right, or higher than the caller's; -E_INVAL: no
 * such priority.
 */
long
kc_proc_priority(struct thread *caller, int proc, int priority)
{
	return mem_steps(caller, limit_serve,
		(unsigned long[MEM_ARGS]){(unsigned long)(long)proc,
		(unsigned long)(long)priority});
}

/*
 * kc_proc_cores: the `count` cores from `first` on are those on which threads of a process run from
 * now on, and of the processes that it makes from now on. Threads that are elsewhere go to that of
 * these with the fewest, as with thread_cores; where none of these runs threads, they stay where
 * they are. RIGHT_WRITE. Runs: calling core, with a message to home for each few threads. Returns
 * 0; -E_BADF; -E_SRCH: it has ended; -E_INVAL: no core; -E_ACCES: no right, or some are not the
 * caller's process's.
 */
long
kc_proc_cores(struct thread *caller, int proc, int first, int count)
{
	return mem_steps(caller, limit_serve,
		(unsigned long[MEM_ARGS]){(unsigned long)(long)proc,
		(unsigned long)(long)first, (unsigned long)(long)count, 0, 1});
}

/*
 * kc_proc_badge: what messages of a process are marked with from now on, and those of the processes
 * that it makes from now on. RIGHT_WRITE and RIGHT_GRANT, so that no process has a choice of its
 * own. The account of a server (BADGE_SERVER) may have what is kept from others. Runs: home.
 * Returns 0; -E_BADF; -E_ACCES; -E_INVAL: not 1 .. BADGE_INIT - 1.
 */
long
kc_proc_badge(struct thread *caller, int proc, uint32_t badge)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *o = handle_get(handles, proc, OBJECT_PROCESS, RIGHT_WRITE | RIGHT_GRANT);
	struct process *p;

	if (o == NULL)
		return handle_error(handles, proc, OBJECT_PROCESS);
	if (badge == BADGE_KERNEL || badge >= BADGE_INIT)
		return -E_INVAL;
	p = list_entry(o, struct process, object);
	p->badge = badge;
	p->quota->is_served_first |= badge == BADGE_SERVER;
	return 0;
}

/* More than its entry of the table and its page tables? */
static bool
has_something(const struct process *p)
{
	return !list_is_empty(&p->threads) || p->handles.chunks > 0 || p->areas.pieces != NULL ||
		p->areas.count > 0;
}

/*
 * kc_proc_quota: the most that a process (RIGHT_WRITE) and those that it makes may have together:
 * struct proc_quota. It is no more than what the caller's own may have. Limits that are lower than
 * what it has take nothing away. Runs: home. Returns 0; -E_BADF; -E_SRCH: it has ended; -E_ACCES:
 * no right, or neither the caller nor a process that shares the caller's limits has made it;
 * -E_BUSY: it shares the caller's limits and has something already; -E_NOMEM: also if processes
 * with limits of their own are more than three below each other.
 */
long
kc_proc_quota(struct thread *caller, int proc, const void *limits)
{
	struct quota *own = caller->proc->quota;
	struct proc_quota most;
	struct process *p;
	long e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e == 0 && p->quota == own)
		e = has_something(p) ? -E_BUSY : proc_own_account(caller->cluster, p);
	else if (e == 0 && p->quota->parent != own)
		e = -E_ACCES;
	if (e != 0)
		return e;
	__builtin_memcpy(&most, limits, sizeof(most));
	p->quota->limit[QUOTA_BYTES] = most.bytes < SIZE_MAX ? (size_t)most.bytes : SIZE_MAX;
	p->quota->limit[QUOTA_THREADS] = most.threads;
	p->quota->limit[QUOTA_PROCS] = most.processes;
	return 0;
}

static long
exit_serve(struct kcall_args *args)
{
	proc_end(args->caller->proc, (int)args->a[0], CRASH_NONE);
	return 0;
}

/* kc_proc_exit: end the caller's process with all its threads. Never returns. */
long
kc_proc_exit(struct thread *caller, int status)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);

	args->caller = caller;
	args->a[0] = (unsigned long)(long)status;
	am_call_kernel(core, exit_serve, args, offsetof(struct kcall_args, a) + sizeof(args->a[0]));
	return -E_PARK;
}

static long
wait_serve(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct process *p;
	int e = proc_named(caller, (int)args->a[0], RIGHT_WAIT, &p);

	if (e != 0)
		return e;
	if (p->state == PROC_FREE)
		return -E_SRCH;
	if (p == caller->proc || thread_waiter(&p->waiters) != NULL)
		return -E_INVAL;
	caller->wait.handle = (int)args->a[0];
	if (p->state != PROC_ZOMBIE)
		return thread_park(caller, &p->waiters);
	__builtin_memcpy(args->data, &p->status, sizeof(p->status));
	proc_forget(caller->cluster, p);
	return 0;
}

/*
 * kc_proc_wait: wait for the end of a process (RIGHT_WAIT); its status is given once. Runs: calling
 * core. Returns 0; -E_BADF: also if the handle is closed or revoked meanwhile; -E_ACCES; -E_SRCH:
 * its status is taken; -E_INVAL: the own process, or somebody waits already.
 */
long
kc_proc_wait(struct thread *caller, int proc, void *status)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	result = am_call_kernel(core, wait_serve, args,
		offsetof(struct kcall_args, data) + sizeof(struct proc_status));
	if (result == 0)
		__builtin_memcpy(status, args->data, sizeof(struct proc_status));
	return result;
}

/*
 * kc_proc_kill: end a process (RIGHT_END). One that is ending already is left alone. Runs: home.
 * Returns 0; -E_BADF; -E_ACCES; -E_SRCH.
 */
long
kc_proc_kill(struct thread *caller, int proc, int status)
{
	struct process *p;
	int e = proc_named(caller, proc, RIGHT_END, &p);

	if (e != 0)
		return e;
	if (p->state == PROC_FREE)
		return -E_SRCH;
	proc_end(p, status, CRASH_KILLED);
	return 0;
}

/*
 * kc_crash_info: where a process crashed (RIGHT_READ); answers as long as the handle is open, also
 * after proc_wait. Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_NOENT: it did not crash.
 */
long
kc_crash_info(struct thread *caller, int proc, void *info)
{
	struct process *p;
	int e = proc_named(caller, proc, RIGHT_READ, &p);

	if (e != 0)
		return e;
	if (p->crash.cause == CRASH_NONE)
		return -E_NOENT;
	__builtin_memset(info, 0, CRASH_INFO_SIZE);
	__builtin_memcpy(info, &p->crash, sizeof(p->crash));
	return 0;
}
