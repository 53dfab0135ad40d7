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
#include <servers/device/protocol.h>
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
#define BIT_SERVER 5	/* the end of a server, or a question for one that there is not */
#define BIT_CHILD 6			/* of a process that a program has asked for */
#define BIT_TYPED 7	/* it is time to look what was typed, and who has not ended */
#define BIT_NAMES 8			/* the name server has said something */

#define SERVER_ENDS 5	/* so many within a minute are too many */
#define SERVER_PIECES 160	/* of the memory that a server leaves */

/* A server of the cluster. */
struct server {
	const char *name;		/* in the boot archive */
	int port;			/* where it listens */
	bool is_refused;		/* there is none, and who asks for it hears that */
	/* handles: of that, also if there is no such server; and of what it leaves its successor */
	int in, kept;
	/* of one whose memory goes to its successor: what it says, and the memory, in the order of
	 * addresses; NULL: there is none */
	struct lasting_memory *memory;
	struct memory_piece {
		int handle;
		uint32_t pages;
	} *piece;			/* [SERVER_PIECES] */
	uint32_t pieces;
	int proc;			/* handle; 0: it was not started */
	uint32_t devices;		/* that it drives: */
	uint8_t device[STARTUP_DEVICES];	/* their numbers */
	uint32_t device_class;
	uint64_t base;			/* of its image */
	uint32_t lives;			/* begun so far */
	bool is_asked_to_end;		/* what comes of that is no fault of its own */
	uint32_t ends;			/* by itself; the last ones were at these times */
	uint64_t ended[SERVER_ENDS];
};

/* By their numbers (client.h); one that the machine has not is one without a name. */
#define SERVERS (PROCESS_RMEM_SERVER + 1)

struct agent {
	struct cluster_info here;
	bool has_files;			/* it has a file server */
	uint64_t parts;			/* clusters whose servers have parts of the tree of files */
	/* the machine has a name server: a message to none would wait for it for ever */
	bool has_names;
	struct job_plan plan;
	struct part part;
	struct to_say say;
	struct family family;
	struct server *server;		/* [SERVERS] */
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

/* Tell the leader that this cluster's part of a job cannot start; why has been said. */
void agent_refuse(struct agent *a, uint32_t job);

/* End them. */
void agent_kill(struct agent *a, int status);

/* The time since the machine was started, in hundredths of a second. */
uint32_t agent_hundredths(void);

/* The cores, and no more than the limits, that the job's processes have here. 0 or -E_NAME. */
long agent_limit_process(const struct agent *a, const struct member *m, int proc);

/*
 * Start the servers of the own cluster, each in a process of its own, on this core. 0; or -E_NAME:
 * the cluster cannot do without one, and the console says which.
 */
int servers_start(struct agent *a);

/*
 * Those that have ended (BIT_SERVER) are started again, which the console says, and who asks for a
 * device that the machine was not given is answered. False: one is not, for it ends again and
 * again, or there is no memory for it.
 */
bool servers_look(struct agent *a);

/*
 * End one, by a number from 0 on, with a signal, or with 0 do not. How many lives it has begun;
 * -E_SRCH: there is none, or it is not running.
 */
int servers_kill(const struct agent *a, int number, int signal);

/* A server of this cluster wants more memory, or less (PROC_MEMORY). */
void servers_give_memory(const struct agent *a);

/* The part's only rank has become another program, in that process. The caller ends its old one. */
void agent_replace(struct agent *a, int proc);

/*
 * The part's process may have ended (BIT_END): if so, say why, and note what others are to hear
 * (reap.c).
 */
void agent_reap(struct agent *a);

/* Why the kernel has ended it, and where in a program whose image begins at `base`, in words. */
const char *crash_text(const struct crash_info *i);
#define CRASH_PLACE 320
void crash_place(char text[CRASH_PLACE], const struct image *im, uint64_t base, uint64_t pc);

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
