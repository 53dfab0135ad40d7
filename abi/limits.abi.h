/* SPDX-License-Identifier: MIT
 *
 * Limits and sizes that kernel and user agree on. Pure numbers: the generators read this file too.
 */
#ifndef ABI_LIMITS_H
#define ABI_LIMITS_H

/* number of the first kernel call; smaller numbers go to the caller's handler */
#define KC_FIRST 4096

#define CLUSTERS_MAX 64
#define CORES_MAX 512		/* in the whole machine */
#define CLUSTER_CORES_MAX 320	/* in one cluster */
#define DOMAINS_MAX 8		/* memory domains of one cluster */
/* mailbox or portal ports of one cluster; the boot record says how many there are */
#define PORTS_MAX 128

#define CHANNEL_PAGES_MAX 16	/* of one channel */
/* messages that a mailbox port has room for, where ports share connectors */
#define MAILBOX_CREDITS 2

#define SYNC_PORTS 8		/* sync points that have the same cluster as their ONE */

#define CONTEXT_SIZE 512	/* room for a struct context of any CPU */
#define MAILBOX_MSG_SIZE 128	/* bytes of one mailbox message as the user sees it */
#define CONSOLE_WRITE_MAX 512
#define PAGE_INFO_SIZE 16
#define PROC_STATUS_SIZE 16
#define CLUSTER_INFO_SIZE 36
#define CRASH_INFO_SIZE 48
#define MAIL_SENDER_SIZE 8
#define PROC_QUOTA_SIZE 16
#define DEVICE_INFO_SIZE 16
#define ALARM_TIMES_SIZE 16
#define THREAD_COUNTS_SIZE 56
#define CLUSTER_STATE_SIZE 16
#define PORT_STATS_SIZE 40
#define CORE_INFO_SIZE 96

/*
 * Badges: whom a message is from, inside its cluster, stamped by its kernel. The process server
 * gives them to what it starts; a process that another makes has that one's. A child of the process
 * server that got none has a larger one of its own.
 */
#define BADGE_KERNEL 0
#define BADGE_SERVER 1
#define BADGE_JOB 16		/* and this many of jobs: their processes in all clusters */
#define BADGE_JOBS 2032
#define BADGE_CHILD 2048	/* and this many: processes that a program has asked for */
#define BADGE_CHILDREN 2048
#define BADGE_INIT 4096		/* the process server */

/* protection bits of page_map and mem_alloc */
#define PAGE_READ 1
#define PAGE_WRITE 2
#define PAGE_EXEC 4
/* count is in large pages; addr and the memory must be aligned to one */
#define PAGE_LARGE 8
/* mem_alloc: a page comes, filled with zeros, when it is first touched */
#define PAGE_LAZY 16
#define PAGE_PRIVATE 256	/* page_map: who writes to a page gets a copy of his own */

/* what a thread's handler takes */
#define HANDLE_CALLS 1		/* calls whose number is below KC_FIRST */
/* the thread's faults, and addresses in its kernel calls that cannot be reached */
#define HANDLE_FAULTS 2
#define HANDLE_UPCALLS 4	/* bits of the thread's notification: thread_upcalls */
/*
 * proc_handler alone: faults at some instructions that nobody else handles, in a handler too, go on
 * elsewhere with the same registers. stack_top is the first of these, stack_size their bytes.
 */
#define HANDLE_FIXUP 8

/*
 * in the address of futex_wait and futex_wake, which is a multiple of 4: the word is one of the
 * page frame, so that it is the same at every address, in every process that has the frame
 */
#define FUTEX_SHARED 1

#define FOREVER (~0ull)		/* as a deadline: none */

#define WAKE_BITS 31		/* of a thread's notification */
#define WAKE_ANY 0x7fffffff
#define ALARM_PERIOD_MIN 100000	/* ns between two alarms of a thread */

/* port_stats without a handle: of all ends in the cluster of this class */
#define CLASS_MAILBOX 0
#define CLASS_PORTAL 1
#define CLASS_SYNC 2
#define CLASSES 3

/* what event_bind binds to a bit */
#define EVENT_MAILBOX 0
#define EVENT_ROOM 1
#define EVENT_PORTAL 2
#define EVENT_THREAD 3
#define EVENT_PROC 4
#define EVENT_CLUSTER 5
#define EVENT_FAULT 6
#define EVENT_INTERRUPT 7
#define EVENT_SYNC 8
#define EVENT_CHANNEL 9

/* cluster_state: of another cluster; it has not come up yet, or is started again */
#define CLUSTER_STARTS 0
#define CLUSTER_UP 1
#define CLUSTER_DEAD 2
#define CLUSTER_STOPS 3		/* on its way from there to a new start */

/* sync points: who signals, and who waits */
#define SYNC_ONE_TO_ALL 0
#define SYNC_ALL_TO_ONE 1

/* kinds of devices */
#define DEVICE_NONE 0
#define DEVICE_UART_16550 1
#define DEVICE_VIRTIO 2		/* registers in memory ("virtio-mmio"), version 1 or 2 */
#define DEVICE_TEST 3		/* of a back end for tests */

#define FAULT_REFUSED (~0ul)	/* fault_next: the thread does not go on */

/*
 * Priorities of threads: on each core the highest that are ready run, and on a time-sharing core,
 * which interrupts what it runs, those of one priority in turn.
 */
#define PRIORITIES 4
#define PRIORITY_PROGRAM 1	/* what a process begins with: no thread of it has more */
#define PRIORITY_SERVER 3	/* of the first process of a cluster */

#define SELF (-1)		/* the caller's own process, where a call takes one */
/* rights of a handle; what each allows, the calls say */
#define RIGHT_READ 1		/* look at it */
#define RIGHT_WRITE 2		/* change it */
#define RIGHT_SIGNAL 4		/* wake who waits for it */
/* memory: map it executable; its READ and WRITE are those of mappings */
#define RIGHT_EXEC 4
#define RIGHT_WAIT 8		/* wait for it, take its result */
#define RIGHT_END 16		/* end it */
#define RIGHT_GRANT 32		/* give copies of the handle to other processes */
#define RIGHT_REVOKE 64		/* make the other handles of the same view dead */
#define RIGHTS_ALL 127
#define HANDLE_MOVE 256		/* with rights, in handle_duplicate: the original is closed */
/* the same: the copy names a view of its own, which can be revoked */
#define HANDLE_VIEW 512

#define ANY_CORE (-1)		/* the kernel chooses an application core */
#define ANY_SOURCE_CLUSTER (-1)

/* keys of the stats call: numbers in use, for before/after comparisons */
#define STATS_FRAMES_FREE 0
#define STATS_FRAMES_TOTAL 1
#define STATS_THREADS 2
#define STATS_PROCS 3
#define STATS_MAILBOXES 4
#define STATS_PORTALS 5
#define STATS_REMOTE_CALLS 6
#define STATS_GUESTS_MAX 7	/* threads of the host's that may be guests at a time */
#define STATS_PIECE_PAGES 8	/* pages of handle tables and other small pieces of kernel memory */
#define STATS_HOME_TICKS 9	/* timer interrupts of the kernel's core */
#define STATS_SYNCS 10
#define STATS_CHANNEL_PAGES 11	/* of the own window, in channels */
#define STATS_KEPT_MESSAGES 12	/* that wait for a place in another cluster's window */
/* and DOMAIN_WORDS for each memory domain; behind the last one -E_INVAL */
#define STATS_DOMAIN 32
#define DOMAIN_PAGES 0
#define DOMAIN_FREE 1
/* pages that were given to those whose first choice it is, and to others, since boot */
#define DOMAIN_NEAR 2
#define DOMAIN_FAR 3
#define DOMAIN_WORDS 4

/* roles of cores: at boot, and of core_role. Idle: at boot it is not started */
#define ROLE_IDLE 0
/* user threads in turn, preempted by messages, priority and time; core 0: and the kernel */
#define ROLE_TC 1
#define ROLE_KC 2		/* kernel only */
#define ROLE_AC 3		/* one user thread at a time, never preempted */
#define ROLE_XC 4		/* lent by its thread to a program as bare hardware (core_lend) */
#define ROLE_KINDS 5

/* keys of the core_count call: what the calling core counted since it started */
#define COUNT_REFILLS_DATA 0	/* traps that filled its TLBs; 0 where the hardware does it */
#define COUNT_REFILLS_CODE 1
/* timer interrupts: none but on a time-sharing core with more than one thread to run */
#define COUNT_TICKS 2
/*
 * times that it forgot its translations for another core's sake: for processes that it still knows
 * only
 */
#define COUNT_SHOT_DOWN 3

#endif
