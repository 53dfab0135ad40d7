/* SPDX-License-Identifier: MIT
 *
 * Start-up record: what the loader tells a program. Its address is the value of the auxiliary
 * vector entry AT_ATOLL. It lies in memory of the program's process, is written before the program
 * starts and is read-only from then on. All addresses are of the process's address space.
 */
#ifndef ABI_STARTUP_H
#define ABI_STARTUP_H

#include <stdint.h>

#define AT_ATOLL 0x41544f4c		/* auxiliary vector type */
#define STARTUP_VERSION 3
#define NO_PORTS 0			/* value of base_port */
#define STARTUP_DEVICES 8

/* mapping policies (002 5.8) */
#define MAP_COMPACT 0
#define MAP_SCATTER 1

struct startup {
	uint32_t version;
	uint32_t bytes;
	/* hosted: address of the kernel call gate; 0 where a trap instruction does it */
	uint64_t gate;
	/* address of the process's struct event_page; 0: it has none */
	uint64_t events;
	uint32_t cluster;
	/* handle of the first thread; 0: not known, thread_self tells */
	int32_t thread;
	/*
	 * handle of the authority over the machine, if the process was given one (init is); 0: none
	 */
	int32_t authority;
	/* handle of the input mailbox at which a server is asked; 0: none */
	int32_t listens;
	/* the job; ranks is 0 for a program that is not part of one (servers) */
	uint32_t job;
	uint32_t rank;
	uint32_t ranks;
	uint32_t policy;		/* MAP_* */
	uint32_t local_rank;		/* 0 .. local_ranks-1 inside this cluster */
	uint32_t local_ranks;
	/*
	 * The rank with local number i of this cluster owns mailbox and portal port base_port + i.
	 * NO_PORTS: none does, because the job lives in one cluster.
	 */
	uint32_t base_port;
	/* memory of a cluster per rank where that is least, the same for all ranks; 0: not known */
	uint32_t rank_kb;
	/* area shared by the job's ranks of this cluster, zero-filled at start */
	uint64_t shared;
	uint64_t shared_bytes;
	uint64_t placement;		/* address of struct placement[ranks] */
	uint64_t image_base;
	uint64_t image_bytes;
	/* address of the cluster's struct job_control; 0 outside a job */
	uint64_t control;
	/* handles of the devices that a server drives, the first ones; 0: none */
	int32_t device[STARTUP_DEVICES];
	uint32_t device_class;		/* servers/device/protocol.h */
	/*
	 * handle of a page of memory that a server leaves to its successor, zeros at first; 0: none
	 */
	int32_t kept;
	/* address of struct job_part[clusters]; 0: the job lives in one cluster */
	uint64_t parts;
};

/*
 * A cluster's part of a job: its rank with local number i listens at base_port + i, and what they
 * send comes with this badge. Zeros: the cluster has none.
 */
struct job_part {
	uint16_t base_port;
	uint16_t badge;
};

/*
 * How a rank ends: it stores its status, adds one to `ended`, and the one that makes it reach
 * `ranks` ends the process with the first nonzero status; the others sleep until then. Ending the
 * process before that is what MPI_Abort does, and what the end of a rank does that holds the job:
 * one between MPI_Init and MPI_Finalize, for which others may wait. In memory that all ranks of the
 * cluster and its agent share; 32-bit atomics.
 */
struct job_rank {
	uint64_t stack_first;		/* the rank's stack, to tell whose thread is running */
	uint64_t stack_limit;
	uint64_t startup;
	int32_t status;
	uint32_t held;			/* its end ends the job */
};

struct job_control {
	uint32_t ranks;			/* in this cluster */
	uint32_t ended;
	uint32_t status;		/* first nonzero one */
	uint32_t broken;		/* a rank that held the job has ended */
	struct job_rank rank[];
};

/* where each rank lives */
struct placement {
	uint16_t cluster;
	uint16_t local_rank;
};

/*
 * Counts of what came to a process, which it may poll: in a page of its own, so that no other
 * process sees them. The kernel never reads them.
 */
#define EVENT_PAGE_PORTS 128
struct event_page {
	/* messages that ever arrived at an input port that the process made */
	uint32_t mailbox_arrivals[EVENT_PAGE_PORTS];
	uint32_t clusters_dead;				/* deaths noticed so far */
};

#endif
