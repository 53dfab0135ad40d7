/* SPDX-License-Identifier: MIT
 *
 * One cluster's part of a job: its process, its ranks, its end.
 */
#ifndef SERVERS_PROC_AGENT_H
#define SERVERS_PROC_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <servers/proc/job.h>
#include <servers/proc/load.h>
#include <servers/proc/place.h>
#include <servers/proc/protocol.h>

/* What etc/job says and where that puts the ranks. Every agent computes the same. */
struct job_plan {
	struct job job;
	struct placement place[JOB_RANKS_MAX];
	uint32_t counts[CLUSTERS_MAX];
};

#define BASE_PORT 8			/* first port of a rank; those below it are well known */

/* A rank of this cluster. */
struct part_rank {
	uint64_t base;			/* of its image */
	uint64_t sp;			/* where its stack pointer starts */
	uint32_t rank;			/* its number in the job */
};

/* The running part of a cluster. */
struct part {
	uint32_t job;
	uint32_t ranks;			/* of this cluster */
	int proc;
	struct image image;
	struct window control;		/* struct job_control, then the placement table */
	struct part_rank *rank;		/* [ranks] */
};

struct agent {
	struct cluster_info here;
	int leader;			/* mailbox to the leader */
	bool has_files;			/* it has a file server */
	bool has_names;			/* the machine has a name server: a message to none would wait for it for ever */
	struct job_plan plan;
	struct part part;
	bool is_running;		/* part has a process; shared with the reaper, accessed atomically */
};

/* Read etc/job and place its ranks. 0 or -E_NAME; with `is_loud` the reason goes to the console. */
int job_plan_read(struct job_plan *p, const struct cluster_info *here, bool is_loud);

/* Mailbox and portal ports that a cluster has for ranks, from BASE_PORT on. */
uint32_t job_ports(const struct cluster_info *here);

/* Start this cluster's ranks of job number `job` (plan must be read). Failures are reported on the console and to the leader. */
void agent_start(struct agent *a, uint32_t job);

/* End them. */
void agent_kill(struct agent *a, int status);

/* Start a server of the boot archive in a process of its own, on this core. 0 or -E_NAME. */
int agent_start_server(struct agent *a, const char *name);

/* The owners of a cluster's ports are gone: so are their names, and what they had open. */
void agent_forget_names(const struct agent *a, uint32_t cluster, uint32_t first, uint32_t ports);

/* Give the part's memory in this process back. */
void agent_part_close(struct part *p);

/* Wait for the end of the part's process and report it to the leader (reap.c). */
void agent_reap(struct agent *a);

/* Tell the leader how this cluster's part ended. */
void agent_report(struct agent *a, enum proc_end end, int status);

#endif
