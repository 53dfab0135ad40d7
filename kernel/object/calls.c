/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on handles.
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/mapping.h>
#include <kernel/proc/proc.h>

/* kc_handle_close: give up a handle. Runs: home. Returns 0; -E_BADF. */
long
kc_handle_close(struct thread *caller, int handle)
{
	return handle_close(&caller->proc->handles, handle);
}

/*
 * kc_handle_duplicate: copy a handle into the caller's table (proc is SELF), or into that of a
 * process (RIGHT_WRITE) if the handle has RIGHT_GRANT. The copy has the rights that the original
 * has and `rights` names. HANDLE_MOVE: the original is closed. HANDLE_VIEW: the copy names a view
 * of its own, which handle_revoke can make dead with all that is copied from it. Runs: home.
 * Returns the handle, in the other's table; -E_BADF; -E_ACCES; -E_SRCH: the process has ended;
 * -E_INVAL: more than eight views below each other; -E_MFILE: the table is full; -E_NOMEM.
 */
long
kc_handle_duplicate(struct thread *caller, int handle, int proc, uint32_t rights)
{
	struct process *p;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	return e != 0 ? e : handle_duplicate(&caller->proc->handles, handle, &p->handles, rights);
}

static long
revoke_serve(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct handles *handles = &caller->proc->handles;
	int handle = (int)args->a[0];
	long e = handle_revoke(handles, handle);
	struct object *o = e == 0 ? handle_get_far(handles, handle, OBJECT_MEMORY) : NULL;

	return o != NULL ? mappings_revoke(caller, list_entry(o, struct memory, object)) : e;
}

/*
 * kc_handle_revoke: make every other handle dead that names the same view (RIGHT_REVOKE), or a view
 * below it. What was mapped through them is unmapped: its addresses stay reserved. Runs: calling
 * core; waits until no core can reach these pages any more, then the frames that nobody else has
 * are free. Returns 0; -E_BADF; -E_ACCES; -E_INVAL: it names no view; -E_NOMEM.
 */
long
kc_handle_revoke(struct thread *caller, int handle)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);

	args->caller = caller;
	args->a[0] = (unsigned long)(long)handle;
	return am_call_kernel(core, revoke_serve, args,
		offsetof(struct kcall_args, a) + sizeof(args->a[0]));
}
