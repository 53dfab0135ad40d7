/* SPDX-License-Identifier: MIT
 *
 * What the leader knows of a job and decides when something happens. No kernel calls: tested on its
 * own.
 */
#ifndef SERVERS_PROC_LEAD_H
#define SERVERS_PROC_LEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/limits.abi.h>
#include <abi/layout.h>
#include <servers/proc/protocol.h>

struct lead {
	uint32_t job;
	uint32_t clusters;		/* in the machine */
	uint32_t running;		/* clusters whose ranks run or are to be started */
	bool takes_part[CLUSTERS_MAX];
	bool has_ended[CLUSTERS_MAX];
	/* what a cluster is still to be told: PROC_START, PROC_KILL; 0: nothing */
	uint8_t due[CLUSTERS_MAX];
	bool is_failed;			/* the others are to be ended */
	/* of the job: that of the first failure, else the first nonzero one */
	int32_t status;
};

/* A job begins; counts[c] ranks in each cluster. PROC_START is due to each that has any. */
void lead_begin(struct lead *l, uint32_t job, uint32_t clusters, const uint32_t *counts);

/*
 * Take a message: PROC_ENDED of a process server. Anything else, and what does not fit the job's
 * state, changes nothing. Only after a failure is PROC_KILL due to those that run; a cluster that
 * was never told to start has ended then.
 */
void lead_take(struct lead *l, const struct mail_sender *from, const struct proc_message *m);

/* A cluster is dead. */
void lead_dead(struct lead *l, uint32_t cluster);

/* The cluster has been told what was due. */
void lead_told(struct lead *l, uint32_t cluster);

/* Does the leader wait for this cluster's end? */
bool lead_waits_for(const struct lead *l, uint32_t cluster);

/* The job has ended, with l->status. */
bool lead_is_over(const struct lead *l);

#endif
