/* SPDX-License-Identifier: MIT
 *
 * Parts of MPI jobs that programs have asked for (PROCESS_PART): loaded here, started when the
 * parts of all clusters are.
 */
#ifndef SERVERS_PROC_RANKS_H
#define SERVERS_PROC_RANKS_H

#include <servers/proc/child.h>

/* What room this cluster has for ranks. */
void ranks_room(struct agent *a, struct process_room *room);

/* The words of a memory domain of this cluster (STATS_DOMAIN). 0; -E_INVAL: there is none. */
int ranks_domain(uint32_t domain, char *to);

/*
 * How many ranks of a job this cluster has; -E_INVAL: it makes no sense, or no cluster takes any;
 * -E_NOSPC: more ranks than ports; -E_NOMEM. What has been found out is used by ranks_load, which
 * comes next, or is forgotten.
 */
int ranks_place(struct agent *a, const struct process_job *job);
void ranks_forget(void);

/*
 * Load them into a process, which a member of the family gets. 0; -E_BUSY: other jobs have the
 * ports; or as child_start. Without success nothing of it is left.
 */
int ranks_load(struct agent *a, struct member *m, const struct spawn *q,
	const struct process_job *job);

/* They run, and know the parts of all clusters. 0; -E_SRCH: they run already; as kproc_start. */
int ranks_start(const struct agent *a, const struct member *m, const struct job_part *parts);

/* What a part took here is given back; its process has ended. */
void ranks_end(struct agent *a, struct member *m, const struct proc_status *status);

#endif
