/* SPDX-License-Identifier: MIT
 *
 * All state of one kernel instance. Nothing else in kernel/ is mutable.
 *
 * Each structure says which core owns which part: "home" is the cluster's kernel core (core 0),
 * "own" the core that the object belongs to. What crosses that border is published by the writer
 * and acquired by the reader, byte-exact; words that both sides touch are 32 bits wide and accessed
 * by the atomic operations only.
 */
#ifndef KERNEL_CLUSTER_H
#define KERNEL_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <abi/startup.h>
#include <base/check.h>
#include <base/list.h>
#include <base/bitmap.h>
#include <base/tune.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/console.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <hal/trap.h>
#include <kernel/kcalls.h>
#include <kernel/am/am.h>
#include <kernel/ikc/ikc.h>
#include <kernel/mem/frame.h>
#include <kernel/mem/area.h>
#include <kernel/mem/memory.h>
#include <kernel/mem/sweep.h>
#include <kernel/object/handle.h>
#include <kernel/dev/console.h>

#define KERNEL_CORE 0		/* the home core of everything */

#define CORE_MASK_WORDS BITMAP_WORDS(CLUSTER_CORES_MAX)

#define THREADS_MIN 64
#define THREADS_MAX 4096
#define THREAD_BYTES (128 * 1024)	/* cluster memory per thread that there may be */
#define CLAIMS_PER_FRAME 16	/* pages of addresses, for each frame of the cluster */
#define PROCS_MIN 16
#define PROCS_MAX 256
#define PROC_BYTES (512 * 1024)

/*
 * Ids carry the table index in their low bits and a generation above, so that an old id is not
 * taken for a new object. Threads have one count of generations in common.
 */
#define ID_INDEX_BITS 12
#define ID_INDEX(id) ((uint32_t)(id) & ((1u << ID_INDEX_BITS) - 1))
#define ID_GENERATION_MAX ((1u << (31 - ID_INDEX_BITS)) - 1)

enum thread_state {
	THREAD_FREE,
	THREAD_READY,		/* running, or in a ready ring or a run queue: its core has it */
	THREAD_WAITING,		/* registered at the home core; thread_ready() ends it */
	THREAD_ZOMBIE,		/* ended, its value not yet taken */
};

/*
 * How a thread goes on when its core takes it from the run queue. By their signs, which cost least
 * to look at.
 */
enum resume {
	/* as its frame says: it has never run, it yielded, or its frame was replaced */
	RESUME_FRAME = -1,
	RESUME_RESULT = 0,	/* its call returns what ended the wait */
	/* its call has a second half, `finish`, which gets what ended the wait */
	RESUME_FINISH = 1,
};

/* An upcall ends a wait, but not one from WAIT_MEMORY on. */
enum wait_kind { WAIT_OTHER, WAIT_JOIN, WAIT_SLEEP, WAIT_PORTAL, WAIT_MEMORY, WAIT_FAULT };

/* A time at which home does something: see kernel/thread/deadline.c. */
struct deadline {
	uint64_t until;		/* hal_clock_ns */
	uint32_t place;		/* among the deadlines, from 1; 0: it is not among them */
	bool is_alarm;		/* of a struct alarm, else of a struct wait */
};

/*
 * Whom an event tells: a bit of a thread. Tid 0: nobody. A thread that has ended is told nothing
 * any more.
 */
struct binding {
	int tid;
	/* BINDING: the handle by which it was made, with which it ends, and the bit */
	uint32_t how;
};

/* There is room for a bit where a handle says its home; what is no handle is not kept. */
#define BINDING(handle, bit) (((uint32_t)(handle) & ~15u) << 1 | (uint32_t)(bit))
#define BINDING_HANDLE(b) ((int)((b)->how >> 1 & ~15u))
#define BINDING_BIT(b) (1u << ((b)->how & 31))

_Static_assert(HANDLE_HOME_BITS == 4, "room for a bit");

/*
 * The wait of a thread: what ends it, and until when. It ends once, by thread_ready() or by the
 * death of its process.
 */
struct wait {
	struct list link;	/* in the queue of what ends it */
	enum wait_kind kind;
	/* through which it waits for a mailbox, a portal, or the end of a thread or a process */
	int handle;
	uintptr_t on;		/* WAIT_JOIN: the thread; of a sleep: the bits;
				 * of a futex: its address; of an output mailbox: its endpoint; of
				 * an input mailbox: the source; of a revocation: its memory, until
				 * all mappings are looked at */
	struct deadline deadline;
	/*
	 * before it ends by its deadline or an upcall: who knows the thread forgets it; NULL: only
	 * the queue does
	 */
	void (*undo)(struct thread *t);
};

/*
 * What the core of a thread finds in `upcall`: bits that start its handler, which has not taken
 * them; another core is its own from now on; what it does is counted.
 */
#define UPCALL_BITS 1u
#define UPCALL_MOVE 2u
#define UPCALL_COUNT 4u

/* At what a thread has stopped, which somebody else handles. */
struct fault {
	struct hal_frame *frame;	/* home's to read and change until the thread goes on */
	uintptr_t addr;
	uint32_t cause;		/* CRASH_* */
	uint16_t write;		/* 0 read, 1 write, 2 fetch */
	uint16_t why;		/* HANDLES_FAULT or HANDLES_PROBE: kernel/call/handler.h */
};

/*
 * A record of the slab, made with its thread. Its memory is home's again when the thread is in no
 * queue, no handle names it, and its core does nothing for it any more: its last call has come to
 * home, or the core has acknowledged the end of its process. Until the answer to that last call a
 * core may compare what stands in its record (core_evict), whatever that is then.
 */
struct thread {
	/*
	 * written by home before the thread first runs, by its own core afterwards; a change of the
	 * thread looks at the line from `now` to `proc`
	 */
	struct hal_frame frame;
	/* from here up to `sweep` cleared when it is made */
	/* of its frames the one that it runs with: its handler's while that runs */
	struct hal_frame *now;
	struct list run;
	enum resume resume;
	uint32_t quantum_left;	/* ns of a quantum that a higher priority cut short; 0: none */
	struct process *proc;	/* which its own core only reads */
	struct handler *handler;	/* NULL: it has not needed one */
	long (*finish)(struct hal_frame *frame, long result, const void *data);
	uint64_t until;		/* deadline of the call that it waits in */
	struct portal_move move;
	/* written by home before the thread first runs, read by everybody */
	_Alignas(HAL_CACHE_LINE) struct cluster *cluster;
	struct core *core;
	int tid;		/* its number in messages to people; nobody can use it */
	int handle;		/* its own, in its process's table: what thread_self tells */
	uint32_t is_pinned;	/* shared word, home's: somebody has said on which cores it runs */
	uint32_t index;		/* among its process's threads: the lowest that was free */
	/* written by home, then read by its own core: see kernel/thread/counts.h; NULL: none */
	struct run_counts *counts;
	/* written by home before each thread_ready(), read by the own core */
	_Alignas(HAL_CACHE_LINE) long wake_result;
	/* shared word: of a thread in a run queue it counts from when it is next put into one */
	uint32_t priority;
	/* shared word, written by home: UPCALL_*, what its core looks after before it goes on */
	uint32_t upcall;
	uint64_t wake_data[KCALL_WAKE_BYTES / 8];
	/* home */
	_Alignas(HAL_CACHE_LINE) enum thread_state state;
	uint32_t bits;		/* of its notification */
	uint32_t upcalls;	/* those that start its handler */
	struct binding end;	/* EVENT_THREAD */
	struct binding room;	/* EVENT_ROOM: its own */
	uint32_t move_to;	/* UPCALL_MOVE: its next core */
	/* output slot that it found full last; NULL: none yet, and `missed` is not set */
	const void *missed_slot;
	/* in the list of that slot, or of the threads that found several full */
	struct list missed;
	/* whom the message that it read last is from, or was forwarded for */
	uint32_t origin_badge;
	uint8_t origin_cluster;
	bool has_origin;		/* it has read one */
	bool returns;			/* home had it, and has it again as a TC */
	uint64_t value;		/* of a zombie */
	struct list joiners;	/* at most one */
	struct wait wait;
	struct fault fault;	/* WAIT_FAULT */
	struct list siblings;	/* in process->threads */
	struct endpoint *transfer;	/* portal whose transfer it takes part in, or NULL */
	struct handler_record *made;	/* its handler, whose memory home gave, and its alarm */
	struct object object;
	/* what a call on memory that takes many messages holds in between */
	struct mem_work {
		struct memory *memory;	/* that memory_create fills, or NULL */
		/* of sweep->proc: it covers nothing any more, and is to be freed */
		struct mapping *cut;
		uint32_t runs;		/* list of runs of frames that nobody has seen */
		uint32_t run_count;
		uint32_t reserved;	/* free frames set aside for page tables */
		uint32_t block;		/* frames that are still to become its */
		uint32_t block_count;
		/*
		 * frames of one large page that the call has a reference to: not mapped yet, or no
		 * more
		 */
		uint32_t refs_first;
		uint32_t refs;
		bool refs_unmapped;	/* they were mapped: `sweep` has begun for them */
		bool sweeping;		/* `sweep` has begun and is not sent */
	} work;
	struct sweep sweep;	/* a shoot-down that it waits for */
};

enum proc_state { PROC_FREE, PROC_LIVE, PROC_DYING, PROC_ZOMBIE };

/*
 * Where the handler of one kind (HANDLE_*) begins. Of a process: its thread with index i has the
 * stack below stack - i * stack_size.
 */
struct handler_place {
	uintptr_t entry;	/* 0: there is none */
	uintptr_t stack;
	uintptr_t stack_size;
};
#define HANDLER_KINDS 3		/* of a thread */
#define HANDLER_FIXUP 3		/* one more of a process: HANDLE_FIXUP */

struct process {
	/* written by home, read by the cores that run it */
	struct hal_space space;
	/*
	 * shared word, written by home: it has or had memory that comes when it is touched
	 * (kernel/mem/demand.h)
	 */
	uint32_t demand;
	/* home */
	_Alignas(HAL_CACHE_LINE) enum proc_state state;
	int id;			/* place in the table and generation */
	uint32_t generation;
	uint32_t badge;		/* of the messages that it sends */
	uint32_t priority;	/* the most that its threads may have, and what they begin with */
	bool is_orphan;		/* no handle names it: home will end it */
	struct list threads;
	struct list waiters;	/* threads in proc_wait */
	struct list handlers;	/* threads in fault_next */
	struct list faulted;	/* its threads that have stopped so and that nobody has taken */
	struct list taken;	/* those that somebody has */
	struct areas areas;	/* claimed address ranges */
	struct list mappings;	/* what it has mapped through views */
	struct list *mapping_found;	/* before what was looked up last */
	uint32_t mapping_count;
	uint32_t events_frame;
	/* that are charged to it: its entry is not used again before they are free */
	uint32_t frames;
	uint32_t *indexes;	/* bitmap: thread->index in use: none without a thread */
	uint16_t *placed;	/* how many of its threads each core has: 0 without one */
	uint32_t domain;	/* whose pages it gets first, and near which its threads run */
	uint32_t core_first;	/* its threads may be placed on these cores only */
	uint32_t core_count;
	struct sweep kill;
	/* from here up to `object` cleared when it is made */
	uint32_t live;		/* threads that have not ended */
	uint32_t holds;		/* sweeps on its behalf that still run */
	uint32_t index_floor;	/* `indexes` below are in use */
	bool swept;		/* no core runs it any more */
	size_t claimed;		/* pages in `areas` */
	/* what it may poll, in a page of its own that it may spoil; NULL: none. Home writes */
	struct event_page *events;
	struct binding end;	/* EVENT_PROC */
	struct binding fault;	/* EVENT_FAULT: who handles what its threads do not */
	/* that have threads of it, or have had some and may know its space yet */
	uint32_t cores[CORE_MASK_WORDS];
	/* of threads that have none of their own */
	struct handler_place handler[HANDLER_KINDS + 1];
	struct proc_status status;
	struct crash_info crash;
	/*
	 * of threads that have ended; begun_ns 0: nobody has asked for it, nor had for the process
	 * that made it (kernel/thread/counts.h)
	 */
	struct thread_counts counts;
	struct object object;
	struct handles handles;	/* what it may act on */
	struct quota *quota;	/* of the tree of processes that it belongs to */
	uint32_t stage;		/* of its end: kernel/proc/proc.c */
	uint32_t looked;	/* threads that this stage has looked at */
	struct list free;	/* in cluster->procs_free, or at its end in cluster->reaping */
};

/* Deadlines of waits, and alarms: the first on top. */
#define DEADLINES_PER_THREAD 2
struct deadlines {
	struct deadline **heap;	/* [DEADLINES_PER_THREAD * threads_max] */
	uint32_t count;
};

/*
 * Threads that became ready, from home to one core: twice the index of each, and READY_FIRST if it
 * has never run.
 */
#define READY_FIRST 1u
struct ready_ring {
	uint32_t put;		/* shared word, advanced by home */
	_Alignas(HAL_CACHE_LINE) uint32_t got;	/* own */
	uint32_t mask;		/* places - 1 */
	uint16_t *slot;
};

/* Threads that could run on a core and do not, by priority. */
struct run_queue {
	uint32_t levels;	/* bitmap: those that are not empty */
	struct list level[PRIORITIES];
};

/*
 * A time of the clock for CORE_IDLE, as an odd number. When a core begins to be idle that is taken
 * away from its count, and added when it has something to run again: in between the count is odd.
 * It is 0 until somebody asks; until then home writes it.
 */
#define CORE_IDLE_CLOCK(ns) ((uint32_t)((ns) >> CORE_IDLE_SHIFT) | 1)

/* What a core counts. */
enum core_counter {
	CORE_TICKS,		/* TRAP_TIMER that came */
	CORE_SHOT_DOWN,		/* it forgot its translations because another core wanted it */
	CORE_FAULTS,		/* of threads that do not handle them themselves */
	CORE_MESSAGES,		/* active messages from home */
	CORE_ROLES,		/* changes of its role */
	CORE_CALLS,		/* to home, of threads that are counted */
	CORE_IDLE,		/* time, see above */
	CORE_COUNTS
};

/* What core->knows says of a space. */
#define SPACE_NAME(space) ((uint32_t)(uintptr_t)(space))

struct core {
	/* constant after boot */
	struct cluster *cluster;
	uint32_t id;
	/*
	 * shared word, written by its own core: the role that it acts in, which follows the one
	 * that home has given it (kernel/thread/role.h)
	 */
	uint32_t acts;
	/* home, which writes there seldom */
	uint32_t crowded;	/* times that is_crowded became true */
	uint32_t spread;	/* threads that thread_spreads has sent away */
	/* own */
	_Alignas(HAL_CACHE_LINE) struct thread *current;
	struct hal_space *space;	/* that hal_space_use made active */
	/*
	 * shared word, written behind that: the low bits of its address, so that home sees which
	 * spaces it has left
	 */
	uint32_t knows;
	struct run_queue run_queue;
	/* TC: when `current` must let others of its priority run; HAL_FOREVER: there are none */
	uint64_t quantum_end;
	uint64_t tick;		/* TC: what hal_timer_arm was last told */
	/* shared words, written by the core itself: what it has counted */
	uint32_t count[CORE_COUNTS];
	/* kill of current's process, to be acknowledged once current is dropped */
	struct sweep *doomed;
	struct ready_ring ready;
	/* home */
	_Alignas(HAL_CACHE_LINE) uint32_t load;	/* threads placed here */
	uint32_t role;		/* what it is for: ROLE_* */
	/* an AC that is a TC, or an XC, until it has no thread; of home: a KC that is one */
	bool is_crowded;
	bool is_untold;		/* it has not been told of its role */
	uint32_t ready_put;
	uint64_t role_since;	/* when it got its role */
	uint64_t role_ns[ROLE_KINDS];	/* time in each before that */
	/* the two directions of active messages */
	struct am_call call;	/* to home */
	struct am_post post;	/* from home */
	_Alignas(HAL_CACHE_LINE) unsigned char staging[KCALL_STAGING_BYTES];
};

/* Frames that a kernel core fills with zeros: kernel/mem/clear.h. Home. */
#define CLEAR_STEP 4		/* frames in a message */

struct clearing {
	struct core *core;	/* which does it; NULL: none */
	struct core *under_way;	/* which fills frame[]; NULL: nobody */
	uint32_t frame[CLEAR_STEP];
};

struct cluster {
	/* constant after boot */
	const struct boot_record *record;
	uint32_t id;
	uint32_t cores;
	uint32_t guests;	/* entries of core[] after those: see hal/guest.h */
	uint32_t threads_max;
	uint32_t procs_max;
	/*
	 * Pages of addresses that a process may claim. They cost nothing, but the kernel core walks
	 * them when they are given up: no process has more than it could use.
	 */
	size_t claims_max;
	struct core *core;	/* [cores + guests]: see core_at; one is CORE_STRIDE bytes long */
	uintptr_t *thread;	/* [threads_max]: see thread_at; home writes */
	struct process *proc;	/* [procs_max] */
	/*
	 * shared word, home's: core 0 may run a user thread, so who rings it interrupts it
	 * (kernel/thread/role.h)
	 */
	uint32_t home_runs_users;
	/* active messages to home: see am/am.h */
	struct am_queue am;
	/* home */
	uint32_t threads_used;	/* entries of the table that were ever used */
	uint32_t threads_free;	/* the first of them that is free; no less than threads_max: none */
	uint32_t thread_generation;	/* of the last thread that was made */
	uint32_t threads_live;
	uint32_t procs_live;
	uint32_t next_core;	/* where placement looks first */
	/* says where it looks instead; NULL: in turn, whatever the domain */
	const struct boot_policy *core_order;
	/*
	 * no application core of these has fewer threads: those that the process may use for which
	 * it was looked last
	 */
	uint32_t load_floor;
	uint32_t floor_first;
	uint32_t floor_count;
	struct process *init;
	struct object authority;	/* over the machine: its handle is init's at first */
	uint32_t orphans;	/* processes with is_orphan */
	/*
	 * things under way that need home's eye even if nothing new comes: sweeps, orphans, grants,
	 * backlog, heartbeat, deadlines
	 */
	uint32_t chores;
	uint32_t chore;		/* that home looked after last */
	uint32_t untold;	/* cores with is_untold */
	uint64_t home_open;	/* am.served: from then on nobody rings core 0 as before */
	/*
	 * home found something of this, or of the NoC, to do in its last round: there may be more
	 */
	bool unfinished;
	struct list procs_free;
	struct list reaping;	/* processes that end */
	uint32_t reaped;	/* steps of their ends */
	/* memory that nothing names, with frames that are still to be freed */
	struct list memory_gone;
	struct list devices;	/* those that are open: kernel/dev/device.h */
	/* of a view of memory: the oldest of those under way, or NULL */
	struct sweep *revocation;
	/* what leaving channels had mapped is shot down: kernel/ikc/channel.c */
	struct sweep taking;
	bool is_taking;		/* it has begun and is not sent */
	struct list futex[64];
	struct deadlines deadlines;
	struct frames frames;
	struct clearing clearing;
	struct slab slab;
	struct quota all;	/* the cluster's account */
	struct sweeps sweeps;
	struct console console;
	struct ikc_state ikc;
};

/*
 * What stands at a free place of the thread table: the next one, as an odd number, so no address.
 */
#define THREAD_PLACE_FREE(next) ((uintptr_t)(next) << 1 | 1)

/* The thread at a place of the table that was used, NULL if it is free. */
static inline struct thread *
thread_at(const struct cluster *c, uint32_t place)
{
	uintptr_t entry = c->thread[place];

	return entry & 1 ? NULL : (struct thread *)entry;
}

#define CORE_STRIDE (HAL_RECORD_STRIDE != 0 ? HAL_RECORD_STRIDE : sizeof(struct core))

/* A core of the cluster, or a guest. */
hot_inline struct core *
core_at(const struct cluster *c, uint32_t core)
{
	return (struct core *)((unsigned char *)c->core + core * CORE_STRIDE);
}

/* The running core. */
hot_inline struct core *
core_self(void)
{
	return hal_core_local();
}

hot_inline bool
core_is_home(const struct core *core)
{
	return core->id == KERNEL_CORE;
}

/* How many cores send messages to home; each has at most one in flight. */
hot_inline uint32_t
am_senders(const struct cluster *c)
{
	return c->cores + c->guests;
}

/* The core itself counts. */
hot_inline void
core_counts(struct core *core, enum core_counter what)
{
	hal_store32(&core->count[what], hal_peek32(&core->count[what]) + 1);
}

/* The core itself: does it share its time between threads? */
hot_inline bool
core_is_shared(const struct core *core)
{
	return hal_peek32(&core->acts) == ROLE_TC;
}

/* Is there a message for this core? */
hot_inline bool
am_is_pending(const struct core *core)
{
	if (core_is_home(core))
		return hal_load32(core->cluster->am.next) != 0;
	return hal_load32(&core->post.busy) != 0;
}

#endif
