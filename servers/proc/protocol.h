/* SPDX-License-Identifier: MIT
 *
 * Messages of the process servers: one leader, in cluster 0, and an agent in every cluster (also
 * there), all on port PROC_PORT of their cluster. The sender's cluster and badge come from the
 * kernels: only what a process server (BADGE_INIT), or a server of the own cluster, says is
 * believed. Nobody else has anything to say here: a rank ends its job by ending its process.
 */
#ifndef SERVERS_PROC_PROTOCOL_H
#define SERVERS_PROC_PROTOCOL_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define PROC_LEADER 0
#define PROC_PORT 1
#define PROC_MAGIC 0x434f5250u		/* "PROC" */

enum proc_op {
	/* leader -> agent */
	PROC_START = 1,		/* start this cluster's ranks of the job that etc/job describes */
	PROC_KILL = 2,		/* end them with `status` */
	/* agent -> leader */
	PROC_ENDED = 3,		/* this cluster's ranks have ended: status, cause */
	/* name daemon -> name daemon (names.h) */
	PROC_NAME_ASK = 4,	/* name: which port is it? */
	PROC_NAME_TOLD = 5,	/* name, status: 0 or -E_NOENT, port */
	/* a server -> its process server: `wanted` of its struct lasting_memory has changed */
	PROC_MEMORY = 6,
};

/* how a cluster's part of a job ended */
enum proc_end {
	PROC_END_EXIT = 0,	/* every rank exited */
	PROC_END_ABORT = 1,	/* a rank ended the job */
	PROC_END_CRASH = 2,	/* a rank was ended by the kernel */
	PROC_END_KILLED = 3,	/* by PROC_KILL */
	PROC_END_NOT_STARTED = 4,	/* could not be loaded or started; the agent has said why */
};

struct proc_message {
	uint32_t magic;
	uint32_t op;
	uint32_t job;
	uint32_t cluster;
	int32_t status;
	uint32_t end;		/* enum proc_end */
	uint32_t port;		/* PROC_NAME_TOLD */
	char name[64];
	uint8_t pad[36];
};

_Static_assert(sizeof(struct proc_message) == MAILBOX_MSG_SIZE, "one message");

/*
 * Memory that goes from one life of a server to the next: the server's page begins with this. It
 * says how much it wants, counts that, sends PROC_MEMORY, and sleeps until that was answered; there
 * may be less then, for the memory ends, or more.
 */
struct lasting_memory {
	uint64_t at;			/* address in this life */
	uint32_t pages;			/* that lie there */
	uint32_t wanted;
	uint32_t asked, answered;	/* how often */
};

#endif
