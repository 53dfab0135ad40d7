/* SPDX-License-Identifier: MIT
 *
 * One cluster's part of a job: its process, its ranks, its end. The process server has one thread,
 * so nothing here is shared; no function waits for another process. What is to be said to other
 * servers is noted and said when their slots take it (say.c).
 */
#ifndef SERVERS_PROC_AGENT_H
#define SERVERS_PROC_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <servers/proc/family.h>
#include <servers/proc/job.h>
#include <servers/proc/load.h>
#include <servers/proc/part.h>
#include <servers/proc/place.h>
#include <servers/proc/protocol.h>
#include <servers/proc/stack.h>

/* What etc/job says and where that puts the ranks. Every agent computes the same. */
struct job_plan {
	struct job job;
	struct placement *place;	/* of each rank */
	uint32_t room;			/* for so many: as the largest job needed so far */
	uint32_t counts[CLUSTERS_MAX];
};

/* What is still to be said. */
struct to_say {
	/* the end of the part, to the leader, when the name server knows of it */
	bool has_ended;
	enum proc_end end;
	int status;
};

/* bits of the server's notification: those that a service leaves free (atoll/service.h) */
#define BIT_MAIL 1			/* a message has come */
#define BIT_ROOM 2			/* an output mailbox that was full may take one */
#define BIT_END 3			/* of the part's process */
#define BIT_DEATH 4			/* of a cluster */
#define BIT_SERVER 5			/* the end of a server */
#define BIT_CHILD 6			/* of a process that a program has asked for */
#define BIT_TYPED 7	/* it is time to look what was typed, and who has not ended */
#define BIT_NAMES 8			/* the name server has said something */

/* A server of this cluster. */
struct server {
	const char *name;		/* in the boot archive */
	int proc;			/* handle; 0: it was not started */
	int device[STARTUP_DEVICES];	/* handles of those that it is given, the first ones */
	uint32_t device_class;
};

struct agent {
	struct cluster_info here;
	bool has_files;			/* it has a file server */
	/* the machine has a name server: a message to none would wait for it for ever */
	bool has_names;
	struct job_plan plan;
	struct part part;
	struct to_say say;
	struct family family;
};

/* Read etc/job and place its ranks. 0 or -E_NAME; with `is_loud` the reason goes to the console. */
int job_plan_read(struct job_plan *p, const struct cluster_info *here, bool is_loud);

/*
 * Cores of a cluster on which ranks run. Without cluster lines every cluster takes part, as if all
 * its cores but the first ran ranks.
 */
uint32_t job_cores(const struct job *j, const struct cluster_info *here, uint32_t cluster);

/* Mailbox and portal ports that a cluster has for ranks, from BASE_PORT on. */
uint32_t job_ports(const struct cluster_info *here);

/*
 * Start this cluster's ranks of job number `job` (plan must be read). Loading makes kernel calls
 * alone, and reads the archive in memory: it ends, and what comes meanwhile waits in its sender's
 * slot. Failures are said on the console and to the leader.
 */
void agent_start(struct agent *a, uint32_t job);

/* End them. */
void agent_kill(struct agent *a, int status);

/* The time since the machine was started, in hundredths of a second. */
uint32_t agent_hundredths(void);

/* The cores, and no more than the limits, that the job's processes have here. 0 or -E_NAME. */
long agent_limit_process(const struct agent *a, int proc);

/* Start a server in a process of its own, on this core; it listens at `port`. 0 or -E_NAME. */
int agent_start_server(struct agent *a, struct server *s, int port);

/* Has it ended (BIT_SERVER)? Then that is said. */
bool agent_server_has_ended(const struct server *s);

/*
 * Open the devices of this cluster for those that are to drive them: DEVICE_CLASSES servers, and
 * the file server. Start the former, each of which has one.
 */
void agent_open_devices(struct server *servers, struct server *files);
void agent_start_devices(struct agent *a, struct server *servers);

/* A job is over in all clusters: they forget what it had open. */
void agent_forget_devices(const struct server *servers, uint32_t badge);

/* The part's only rank has become another program, in that process. The caller ends its old one. */
void agent_replace(struct agent *a, int proc);

/*
 * The part's process may have ended (BIT_END): if so, say why, and note what others are to hear
 * (reap.c).
 */
void agent_reap(struct agent *a);

/* The part is over: the leader will hear how. */
void agent_ended(struct agent *a, enum proc_end end, int status);

/*
 * Say what the slots take now; BIT_ROOM tells when to try again. True: the end of the part is due,
 * and *m says it to the leader.
 */
bool agent_say(struct agent *a, struct proc_message *m);

/* The leader has been told. */
void agent_has_told(struct agent *a);

#endif
