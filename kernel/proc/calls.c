/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on processes. Source: seed 000 III-A (processes), 004 4 (kill through active messages).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

/* kc_proc_create: an empty process, child of the caller's. Runs: home. Returns its id; -E_NOSPC; -E_NOMEM. */
long
kc_proc_create(struct thread *caller)
{
	struct process *p;
	int e = proc_new(caller->cluster, caller->proc->id, &p);

	return e != 0 ? e : p->id;
}

/*
 * kc_proc_start: start a thread, the first or a further one, in another process. Runs: home.
 * Returns its tid; -E_SRCH; -E_ACCES; -E_INVAL: context or core; -E_NOSPC.
 */
long
kc_proc_start(struct thread *caller, int proc, const void *ctx, int core)
{
	struct process *p;
	int e = proc_find(caller, proc, &p);

	return e != 0 ? e : thread_new(p, ctx, core);
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
	struct process *p = proc_by_id(caller->cluster, (int)args->a[0]);

	if (p == NULL || p->state == PROC_FREE)
		return -E_SRCH;
	if (!proc_may_act(caller, p))
		return -E_ACCES;
	if (p == caller->proc || !list_is_empty(&p->waiters))
		return -E_INVAL;
	if (p->state != PROC_ZOMBIE)
		return thread_park(caller, &p->waiters);
	__builtin_memcpy(args->data, &p->status, sizeof(p->status));
	proc_forget(caller->cluster, p);
	return 0;
}

/*
 * kc_proc_wait: wait for the end of a process; its status is given once. Runs: calling core.
 * Returns 0; -E_SRCH: no such process, or its status is taken; -E_ACCES; -E_INVAL: the own process, or somebody waits already.
 */
long
kc_proc_wait(struct thread *caller, int proc, void *status)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	result = am_call_kernel(core, wait_serve, args, offsetof(struct kcall_args, data) + sizeof(struct proc_status));
	if (result == 0)
		__builtin_memcpy(status, args->data, sizeof(struct proc_status));
	return result;
}

/* kc_proc_kill: end a process. One that is ending already is left alone. Runs: home. Returns 0; -E_SRCH; -E_ACCES. */
long
kc_proc_kill(struct thread *caller, int proc, int status)
{
	struct process *p = proc == SELF ? caller->proc : proc_by_id(caller->cluster, proc);

	if (p == NULL || p->state == PROC_FREE)
		return -E_SRCH;
	if (!proc_may_act(caller, p))
		return -E_ACCES;
	proc_end(p, status, CRASH_KILLED);
	return 0;
}

/*
 * kc_crash_info: where a process crashed; answers until its id is used again, also after proc_wait. Runs: home.
 * Returns 0; -E_SRCH; -E_ACCES; -E_NOENT: it did not crash.
 */
long
kc_crash_info(struct thread *caller, int proc, void *info)
{
	struct process *p = proc_by_id(caller->cluster, proc);

	if (p == NULL)
		return -E_SRCH;
	if (!proc_may_act(caller, p))
		return -E_ACCES;
	if (p->crash.cause == CRASH_NONE)
		return -E_NOENT;
	__builtin_memset(info, 0, CRASH_INFO_SIZE);
	__builtin_memcpy(info, &p->crash, sizeof(p->crash));
	return 0;
}

static long
crash_serve(struct kcall_args *args)
{
	struct process *p = args->caller->proc;

	__builtin_memcpy(&p->crash, args->data, sizeof(p->crash));
	proc_end(p, -(int)p->crash.cause, p->crash.cause);
	return 0;
}

void
crash_report(struct thread *t, const struct hal_trap *trap)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	struct crash_info info = {
		.cause = trap->cause,
		.core = core->id,
		.tid = t->tid,
		.write = trap->write,
		.pc = hal_frame_pc(&t->frame),
		.addr = trap->addr,
		.sp = hal_frame_sp(&t->frame),
	};

	args->caller = t;
	__builtin_memcpy(args->data, &info, sizeof(info));
	am_call_kernel(core, crash_serve, args, offsetof(struct kcall_args, data) + sizeof(info));
}
