/* SPDX-License-Identifier: MIT
 *
 * What the leader knows of a job and decides when something happens. No kernel calls: tested on its own.
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
	uint32_t running;		/* clusters whose ranks run */
	bool takes_part[CLUSTERS_MAX];
	bool has_ended[CLUSTERS_MAX];
	bool is_failed;			/* the others are to be ended */
	int32_t status;			/* of the job: that of the first failure, else the first nonzero one */
};

/* What the leader must do after a message. */
struct lead_action {
	bool kill_others;		/* send PROC_KILL to every running cluster */
	bool is_over;			/* the job has ended with lead->status */
};

/* A job begins; counts[c] ranks in each cluster. */
void lead_begin(struct lead *l, uint32_t job, uint32_t clusters, const uint32_t *counts);

/*
 * Take a message (PROC_ENDED, PROC_DEAD of process servers only, PROC_JOB_KILL; anything else, and what does not fit the
 * job's state, changes nothing).
 */
struct lead_action lead_take(struct lead *l, const struct mail_sender *from, const struct proc_message *m);

#endif
