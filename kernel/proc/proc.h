/* SPDX-License-Identifier: MIT
 *
 * Processes: an address space, its threads, and what they hold. Home core.
 *
 * The end of a process: it becomes DYING, from then on no call of it has any effect and none of its threads is made ready; a
 * sweep takes its threads off the cores; when that and its shoot-downs are done, everything it had comes back and it becomes a ZOMBIE
 * until its creator has asked how it ended.
 */
#ifndef KERNEL_PROC_PROC_H
#define KERNEL_PROC_PROC_H

#include <kernel/cluster.h>

/* Make an empty process. 0 and *process; -E_NOSPC: table full; -E_NOMEM. */
int proc_new(struct cluster *c, int parent, struct process **process);

/*
 * The process that `caller` names: SELF or an id. 0 and *process; -E_SRCH: no such living process; -E_ACCES: neither the caller's own
 * nor its child, and the caller is no server.
 */
int proc_find(struct thread *caller, int id, struct process **process);

/* The process with this id, in any state, NULL if there is none (any more). */
struct process *proc_by_id(struct cluster *c, int id);

/* Has the caller the right to act on it? */
bool proc_may_act(const struct thread *caller, const struct process *p);

/* End a process; the first cause counts. */
void proc_end(struct process *p, int status, uint32_t cause);

/* Nobody asks for an ended process any more: its table entry is free. */
void proc_forget(struct cluster *c, struct process *p);

/* No handle names it any more: if it is forgotten, its table entry is free. */
void proc_unreferenced(struct cluster *c, struct process *p);

/* A sweep that held it has ended: go on with its end if that is what it waits for. */
void proc_sweep_ended(struct process *p);

static inline struct cluster *
proc_cluster(struct process *p)
{
	(void)p;
	return core_self()->cluster;
}

#endif
