/* SPDX-License-Identifier: MIT
 *
 * The border between the hosted CPU back end and the board that launches it: the board opens files,
 * makes the shared memory and the processes; each process then becomes a cluster by
 * host_cluster_main.
 */
#ifndef CPU_HOST_H
#define CPU_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>

/* A cluster process that receives this signal says on stderr what each of its cores does. */
#define HOST_DUMP 60

/* Cluster 0 sends the launcher this signal when it has changed an order in host_control. */
#define HOST_ORDER 61

/*
 * What is to become of a cluster. Cluster 0 writes STOP, and START into STOPPED; the launcher
 * writes the others.
 */
enum host_order { HOST_NONE, HOST_STOP, HOST_STOPPED, HOST_START };

/* How a cluster process ended, told to the launcher through memory that all of them share. */
enum host_end { HOST_RUNNING, HOST_PANICKED, HOST_HALTED };

struct host_control {
	uint64_t start_ns;		/* CLOCK_MONOTONIC at the start of the machine */
	uint32_t halted;		/* somebody called hal_machine_halt; the first one counts */
	int32_t status;			/* its argument */
	uint32_t end[CLUSTERS_MAX];	/* enum host_end */
	uint32_t launcher;		/* its process */
	uint32_t order[CLUSTERS_MAX];	/* enum host_order */
	_Alignas(64) uint32_t awake;	/* cores of all clusters that do not sleep in the host */
	/* process, and thread, of each cluster's core 0; 0: it cannot be interrupted yet */
	_Alignas(64) uint32_t home[CLUSTERS_MAX];
};

struct host_machine {
	/* the cluster's own copy; addresses are filled in by host_cluster_main */
	struct boot_record *record;
	struct host_control *control;
	void *noc;			/* all windows, mapped shared */
	int noc_fd;
	int archive_fd;
	void *archive;			/* mapped read-only */
	uint32_t cpus;			/* host CPUs that we may use */
	/* set the thread pointer by system call even if an instruction can */
	bool no_fsgsbase;
	/* the machine's time runs so many times as fast as the host's; for tests */
	uint32_t clock_rate;
	int16_t cpu[CORES_MAX];		/* host CPU to pin a core to, or -1 */
};

/*
 * Make the machine known to this process (before the clusters are forked; the parent may then use
 * hal_noc_mark_dead, hal_notify).
 */
void host_attach(const struct host_machine *m);

/* For the launcher: a cluster's process is no more, and its cores do not count any longer. */
void host_cluster_gone(unsigned cluster);

/*
 * Turn this process into a cluster: its memory, its core 0, the kernel. Says why on stderr and
 * exits if the host refuses.
 */
_Noreturn void host_cluster_main(unsigned cluster);

#endif
