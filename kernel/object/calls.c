/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on handles. All of them run on the home core.
 */
#include <kernel/cluster.h>
#include <kernel/proc/proc.h>

/* kc_handle_close: give up a handle. Runs: home. Returns 0; -E_BADF. */
long
kc_handle_close(struct thread *caller, int handle)
{
	return handle_close(&caller->proc->handles, handle);
}

/*
 * kc_handle_duplicate: copy a handle into the caller's table (proc is SELF), or into that of a process (RIGHT_WRITE) if the handle has
 * RIGHT_GRANT. The copy has the rights that the original has and `rights` names. HANDLE_MOVE: the original is closed. HANDLE_VIEW: the copy
 * names a view of its own, which handle_revoke can make dead with all that is copied from it. Runs: home.
 * Returns the handle, in the other's table; -E_BADF; -E_ACCES; -E_SRCH: the process has ended; -E_INVAL: more than eight views below each
 * other; -E_MFILE: the table is full; -E_NOMEM.
 */
long
kc_handle_duplicate(struct thread *caller, int handle, int proc, uint32_t rights)
{
	struct process *p;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	return e != 0 ? e : handle_duplicate(&caller->proc->handles, handle, &p->handles, rights);
}

/*
 * kc_handle_revoke: make every other handle dead that names the same view (RIGHT_REVOKE), or a view below it. Runs: home.
 * Returns 0; -E_BADF; -E_ACCES; -E_INVAL: it names no view; -E_NOMEM.
 */
long
kc_handle_revoke(struct thread *caller, int handle)
{
	return handle_revoke(&caller->proc->handles, handle);
}
