/* SPDX-License-Identifier: MIT
 *
 * Processes: an address space, its threads, and what they hold. Home core.
 *
 * The end of a process: it becomes DYING, from then on no call of it has any effect and none of its
 * threads is made ready; a sweep takes its threads off the cores; when that and its shoot-downs are
 * done, everything it had comes back in short steps (proc_reap), and it becomes a ZOMBIE until
 * somebody has asked how it ended, or no handle names it any more.
 */
#ifndef KERNEL_PROC_PROC_H
#define KERNEL_PROC_PROC_H

#include <kernel/cluster.h>

/*
 * Make an empty process; the kernel makes the first with parent NULL. 0 and *process; -E_NOSPC:
 * table full; -E_NOMEM.
 */
int proc_new(struct cluster *c, const struct process *parent, struct process **process);

/*
 * The process that `caller` names by SELF or by a handle with these rights, in any state. 0 and
 * *process; -E_BADF; -E_ACCES.
 */
int proc_named(struct thread *caller, int handle, unsigned rights, struct process **process);

/* The same, but it must be alive: else -E_SRCH. */
int proc_find(struct thread *caller, int handle, unsigned rights, struct process **process);

/* 0 if the caller's handle is one of the authority, with these rights; -E_BADF; -E_ACCES. */
int authority_check(struct thread *caller, int handle, unsigned rights);

/* End a process; the first cause counts. */
void proc_end(struct process *p, int status, uint32_t cause);

/* Nobody asks for an ended process any more: its table entry is free. */
void proc_forget(struct cluster *c, struct process *p);

/*
 * An account of its own, below the one that it has, for a process that has nothing yet but its
 * entry of the table and its page tables. 0; -E_NOMEM: no memory, or too many accounts below each
 * other.
 */
int proc_own_account(struct cluster *c, struct process *p);

/* If it is over, no handle names it, and its last frame is free, its entry can be used again. */
void proc_entry_free(struct cluster *c, struct process *p);

/*
 * No handle names it any more: nobody could wait for it, nor end it. It ends, and what is left of
 * it is forgotten.
 */
void proc_unreferenced(struct cluster *c, struct process *p);

/*
 * End one of the processes that nobody names. Home's loop, where cluster->orphans is not 0. True.
 */
bool proc_end_orphan(struct cluster *c);

/*
 * Home's loop: one step of the end of the process that is the first to be gone. False if there is
 * none.
 */
bool proc_reap(struct cluster *c);

/* A sweep that held it has ended: go on with its end if that is what it waits for. */
void proc_sweep_ended(struct process *p);

static inline struct cluster *
proc_cluster(struct process *p)
{
	(void)p;
	return core_self()->cluster;
}

#endif
