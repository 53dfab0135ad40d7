/* SPDX-License-Identifier: MIT
 *
 * Layouts of what the kernel hands to user programs through out arguments. Explicit widths, no
 * pointers.
 */
#ifndef ABI_LAYOUT_H
#define ABI_LAYOUT_H

#include <stdint.h>
#include <abi/limits.abi.h>

/* cluster_info */
struct cluster_info {
	uint32_t cluster;		/* own number */
	uint32_t clusters;		/* in the machine */
	uint32_t core;			/* calling core, numbered inside its cluster */
	uint32_t cores;			/* in this cluster */
	uint32_t page_bytes;
	uint32_t large_page_bytes;
	uint32_t mailbox_ports;
	uint32_t portal_ports;
	uint32_t first_core;		/* the machine's number of its core 0 (/dev/cores) */
};

/* cluster_state: what is known of the life of a cluster */
struct cluster_state {
	uint32_t state;			/* CLUSTER_* */
	uint32_t incarnation;		/* that is or was up last; 0: none */
	uint32_t silent;		/* own heartbeats since its last was heard */
	uint32_t deaths;		/* so far */
};

/*
 * port_stats, since the end was made, or the cluster has started. Of one end: `reads` or `writes`,
 * and of an output what it waited for its receivers.
 */
struct port_stats {
	uint64_t volume;		/* bytes read and written */
	/* ns from a write or signal until all was taken, in all; measured from the first call on */
	uint64_t latency_ns;
	uint32_t reads;			/* messages, transfers, rounds that were waited for */
	uint32_t writes;		/* messages, transfers, signals */
	uint32_t creates;		/* ends that read, so far; of one end: 0 or 1 */
	uint32_t opens;			/* ends that write */
	uint32_t closes;		/* of both */
	uint32_t reserved;
};

/* proc_wait: how a process ended */
struct proc_status {
	/* exit status, or -signal-like cause (CRASH_*) if it was ended by the kernel */
	int32_t status;
	uint32_t cause;			/* 0 exited, else CRASH_* */
	uint32_t threads;		/* that it still had */
	/*
	 * how long its threads ran, if they are counted (thread_stats): PROC_USED_BITS of the
	 * nanoseconds, and above them by how many bits they are shifted. The process servers make
	 * another form of that (servers/proc/client.h)
	 */
	uint32_t used;
};

#define PROC_USED_BITS 26

#define CRASH_NONE 0
#define CRASH_ACCESS 1			/* bad address (SIGSEGV) */
#define CRASH_ILLEGAL 2			/* illegal instruction (SIGILL) */
#define CRASH_ALIGN 3			/* misaligned access (SIGBUS) */
#define CRASH_KILLED 4			/* proc_kill */
#define CRASH_BREAK 5			/* breakpoint (SIGTRAP) */
#define CRASH_ARITH 6			/* SIGFPE */
#define CRASH_ABORT 7			/* the program gave up (SIGABRT) */

/* crash_info: where a process crashed */
struct crash_info {
	uint32_t cause;			/* CRASH_* */
	uint32_t core;
	int32_t tid;
	uint32_t write;			/* the access was 0 read, 1 write, 2 fetch */
	uint64_t pc;
	uint64_t addr;			/* offending address */
	uint64_t sp;
	uint64_t ra;			/* return address where the CPU has one, else 0 */
};

/* mailbox_read: who sent it. A kernel can only lie about the processes of its own cluster */
struct mail_sender {
	uint32_t cluster;
	uint32_t badge;			/* BADGE_* */
};

/* proc_quota: the most that a process may have, together with those that it makes */
struct proc_quota {
	uint64_t bytes;			/* memory: its own, and what the kernel needs for it */
	uint32_t threads;
	uint32_t processes;		/* itself, too */
};

/* device_open */
struct device_info {
	uint32_t kind;			/* DEVICE_* */
	uint32_t id;			/* DEVICE_VIRTIO: what it is, by the standard's numbers */
	uint32_t pages;			/* of registers */
	uint32_t reserved;
};

/*
 * What a handler is told (proc_handler, thread_handler): why its thread stopped, and where. How it
 * reaches the handler is the port's: usercpu/handler.h makes the argument of a function of it.
 */
struct handler_event {
	/* CRASH_NONE: a call for the handler; HANDLER_UPCALL; else a fault, CRASH_* */
	uint32_t cause;
	uint32_t write;			/* the faulting access was 0 read, 1 write, 2 fetch */
	/*
	 * the address that it could not reach; of an upcall: the bits; of a call: the handle of the
	 * thread, or 0 if it has not called before
	 */
	uint64_t addr;
	uint64_t pc;			/* of the thread; of a kernel call: behind it */
	uint64_t sp;
	uint64_t number;		/* of the call */
	uint64_t args[6];
};

#define HANDLER_UPCALL 64

/* alarm_set: times of kc_clock, in nanoseconds */
struct alarm_times {
	uint64_t first;			/* FOREVER: no alarm */
	uint64_t period;		/* 0: it comes once */
};

/* thread_stats: of a thread, or of threads of a process, since it was asked for first */
struct thread_counts {
	/* that a core was its own, calls that do not wait included */
	uint64_t run_ns;
	/* time of kc_clock since when it counts; of a process: or the one that has made it */
	uint64_t begun_ns;
	union {
		uint32_t count[5];
		struct {
			/* times that it left its core: it waited, yielded, or moved */
			uint32_t switches;
			uint32_t calls;	/* messages of its kernel calls to the kernel core */
			uint32_t preempted;	/* times that it left it for another's turn */
			/*
			 * that the kernel served, or that another process has handled; not
			 * those of its own handler
			 */
			uint32_t faults;
			uint32_t moves;	/* to another core */
		};
	};
	uint32_t core;			/* where it runs, or ran last */
	/* of a process: that live and are counted here; and all that have ended */
	uint32_t threads;
	uint32_t ended;
	uint32_t pages;			/* of a process: of memory, those of its tables included */
	uint32_t reserved;
};

#define CORE_IDLE_SHIFT 13

/* core_info: of a core, since it started */
struct core_info {
	uint32_t role;			/* ROLE_* */
	/* ROLE_*: an AC with threads of several processes acts as a TC until it has none */
	uint32_t acts;
	uint32_t threads;		/* that are placed there, those that wait included */
	union {
		uint32_t count[7];
		struct {
			uint32_t ticks;		/* timer interrupts */
			/* it forgot its translations for another core's sake */
			uint32_t shot_down;
			/* of threads, but those that they handled themselves */
			uint32_t faults;
			/*
			 * active messages of core 0 that it has served; of core 0: those of all
			 * others, and calls of its own threads
			 */
			uint32_t messages;
			uint32_t roles;		/* changes of what it acts as */
			/* sent to core 0 by threads that thread_stats counts */
			uint32_t calls;
			/*
			 * time for which it had nothing to run since somebody first asked, in units
			 * of 2^CORE_IDLE_SHIFT ns; it begins again at 0 behind 2^32 of them. Calls
			 * that core 0 serves one by one while it waits are in it
			 */
			uint32_t idle;
		};
	};
	uint32_t waiting;		/* of core 0: messages that it has not looked at yet */
	/* what the kernel has decided by itself */
	uint32_t spread;		/* threads of this TC sent to cores of their own */
	uint32_t crowded;		/* times that this AC became a TC for a second process */
	uint32_t reserved;
	uint64_t role_ns[ROLE_KINDS];	/* time for which it has had each role */
};

/* page_query */
struct page_info {
	int32_t frame;
	uint32_t prot;			/* PAGE_* */
	uint32_t references;		/* mappings of the frame */
	uint32_t reserved;
};

/* what the kernel copies out is what the user has room for */
_Static_assert(sizeof(struct cluster_info) == CLUSTER_INFO_SIZE, "cluster_info");
_Static_assert(sizeof(struct cluster_state) == CLUSTER_STATE_SIZE, "cluster_state");
_Static_assert(sizeof(struct proc_status) == PROC_STATUS_SIZE, "proc_wait");
_Static_assert(sizeof(struct crash_info) == CRASH_INFO_SIZE, "crash_info");
_Static_assert(sizeof(struct page_info) == PAGE_INFO_SIZE, "page_query");
_Static_assert(sizeof(struct proc_quota) == PROC_QUOTA_SIZE, "proc_quota");
_Static_assert(sizeof(struct thread_counts) == THREAD_COUNTS_SIZE, "thread_stats");
_Static_assert(sizeof(struct alarm_times) == ALARM_TIMES_SIZE, "alarm_set");
_Static_assert(sizeof(struct mail_sender) == MAIL_SENDER_SIZE, "mailbox_read");
_Static_assert(sizeof(struct port_stats) == PORT_STATS_SIZE, "port_stats");
_Static_assert(sizeof(struct core_info) == CORE_INFO_SIZE, "core_info");
_Static_assert(sizeof(struct device_info) == DEVICE_INFO_SIZE, "device_open");

#endif
