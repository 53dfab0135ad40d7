/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: what its files share. All state of a run is in the one struct coro_machine;
 * it is the test process's only run.
 */
#ifndef CORO_INTERNAL_H
#define CORO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <hal/trap.h>
#include <hal/timer.h>
#include "coroutine.h"

#define STACK_BYTES (256 * 1024)
#define REGIONS_MAX 128
#define REGION_CORES_MAX 64
#define STORES_MAX 4
#define HELD_MAX 12			/* stores and publishes of a core that wait */
#define WRITES_KEPT 256
#define OPS_KEPT 24
#define USER_RANGES_MAX 32

enum op_kind {
	OP_NONE, OP_LOAD, OP_STORE, OP_ADD, OP_CAS, OP_FENCE, OP_PUBLISH, OP_ACQUIRE, OP_WAIT_BEGIN,
	OP_WAIT_CANCEL, OP_WAIT, OP_NOTIFY,
	OP_INTERRUPT, OP_ARM, OP_USER_ENTER, OP_TRAP, OP_USER, OP_COPY, OP_CLOCK, OP_POINT,
	OP_DEVICE, OP_KINDS
};

struct op {
	enum op_kind kind;
	const char *file;
	int line;
	uint32_t value;
};

/* Memory of which a core sees an image. `live` is where the running core reads and writes. */
struct view {
	char *live;
	char *shared;
	/* what `live` held when it was last equal to the shared copy: shows what was written */
	char *clean;
	size_t len;
};

struct piece {
	size_t offset, len;
};

struct region {
	char *base;
	size_t len;
	/* ordinary memory now; the cores' images stay as they are */
	bool ended;
	unsigned loaded;		/* whose image lies at base */
	/* pages that were written to: all others are the same in every image */
	struct piece *active;
	size_t active_count;
	char *shared;
	/* per core of the cluster; parts of `memory`, as are the next */
	char *image[REGION_CORES_MAX];
	char *clean[REGION_CORES_MAX];
	char *memory;			/* for images of `room` bytes and so many cores */
	size_t room;
	unsigned cores;
};

/* A store or a publish that others do not see yet. */
struct held {
	volatile uint32_t *place;	/* store: in the shared copy; publish: NULL */
	uint32_t value;
	/* publish: where to, and what was there when it was published */
	char *shared;
	char *bytes;
	size_t len;
};

/* What a shared word held before somebody wrote it. */
struct word_write {
	const volatile uint32_t *place;
	uint32_t old;
	const struct coro_core *core;
};

enum coro_state { CORE_OFF, CORE_READY, CORE_WAITING, CORE_DEAD };

/* A translation that the core remembers until it is told to forget it. */
struct translation {
	uintptr_t page;
	uint64_t entry;			/* of the page table; 0: none */
	size_t bytes;
};

#define TRANSLATIONS 8			/* of a core's TLB */

/*
 * A table of small pages that the core has walked: it looks there again, whatever the table above
 * says meanwhile, until it is told to forget.
 */
struct walked {
	uintptr_t at;			/* of what the table maps */
	uint64_t *table;		/* NULL: none */
};

#define WALKED 2

struct coro_core {
	/* known to switch.S */
	void *sp;
	void *kernel_top;		/* start of the kernel stack */
	struct hal_frame *frame;	/* of the running user thread */
	/* the rest */
	unsigned cluster, core, index;
	enum coro_state state;
	char *stack;
	bool waiting, rung, interrupt, in_user;
	uint64_t until;
	uint64_t tick;			/* hal_timer_arm */
	uint32_t priority;
	void *local;
	void (*entry)(struct coro_core *);
	void *arg;
	struct hal_space *space;
	/* of `space`; stale when the page table was changed since */
	struct translation tlb[TRANSLATIONS];
	unsigned tlb_next;
	struct walked walked[WALKED];
	unsigned walked_next;
	char *windows, *windows_clean;	/* image of all NoC windows */
	struct held held[HELD_MAX];
	unsigned held_count, held_stores;
	uint64_t looked;		/* number of the write up to which its loads are ordered */
	struct op ops[OPS_KEPT];
	unsigned op_count;
	struct hal_trap trap;		/* why the user thread enters the kernel */
	struct hal_trap unreached;	/* hal_user_fault */
};

struct coro_cluster {
	char *memory;
	size_t memory_bytes;
	struct coro_core *core;		/* first of `cores` */
	unsigned cores;
	struct region region[REGIONS_MAX];
	unsigned regions;
	_Alignas(HAL_CACHE_LINE) unsigned char noc_private[HAL_NOC_PRIVATE_BYTES];
};

struct coro_machine {
	const struct coro_config *config;
	struct coro_result *result;
	struct boot_record record;
	struct coro_cluster cluster[CLUSTERS_MAX];
	struct coro_core core[CORES_MAX];
	unsigned cores;
	struct coro_core *ready[CORES_MAX];
	unsigned ready_count;
	char *windows;			/* shared copy */
	size_t windows_bytes, window_bytes;
	struct coro_device device[CORO_DEVICES];
	uint64_t random, scenario_random;
	uint64_t clock_ns;
	uint64_t ops, ops_max, switches;
	/* what the seed chose */
	enum coro_strategy strategy;
	unsigned stores_max, store_laziness;
	bool early_writeback, spurious, cold;
	bool lazy_publishes, early_loads;
	uint8_t garbage;		/* cold runs: what is read before it was acquired */
	struct coro_core *victim;
	unsigned burst;
	uint64_t change_at[3];
	struct { uintptr_t first, limit; } user[USER_RANGES_MAX];
	unsigned user_ranges;
	bool running;
	struct word_write write[WRITES_KEPT];
	uint64_t writes;
};

extern struct coro_machine coro_machine;
extern struct coro_core *coro_now;	/* the running core; NULL outside of a run */

/* random.c: numbers of the scheduler. */
static inline uint32_t
coro_draw(uint32_t n)
{
	uint64_t x = coro_machine.random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	coro_machine.random = x;
	return (uint32_t)(((x * 0x2545f4914f6cdd1dULL >> 32) * n) >> 32);
}

static inline void
coro_hash(uint64_t value)
{
	coro_machine.result->trace = (coro_machine.result->trace ^ value) * 0x100000001b3ULL;
}

/* sched.c */
/* note it, and let another core run */
void coro_op(enum op_kind kind, const char *file, int line, uint32_t value);
void coro_make_ready(struct coro_core *core);
/* the running core is no longer ready: run others until it is */
void coro_block(void);
void coro_sched_start(void);		/* from outside: run until the end */
_Noreturn void coro_end(enum coro_end end, int status);	/* from inside: the run is over */

/* switch.S */
void coro_switch(void **save, void *load);
/* drop this stack, run fn on another */
_Noreturn void coro_jump_stack(void *stack_top, void (*fn)(void));
_Noreturn void coro_user_resume(const struct context *context);
/* save the user's registers in coro_now->frame, run fn on the kernel stack */
long coro_gate(void (*fn)(void));
extern char coro_user_first[];

/* images.c */
void coro_copy(void *to, const void *from, size_t len);	/* fast, and not the kernel's own memcpy */
void coro_memory_start(void);		/* memory, windows and images of a run */
void coro_cluster_memory(unsigned cluster);	/* a cluster's own, as at its start */
void coro_core_image(struct coro_core *core);	/* a core that starts sees the shared copies */
void coro_load_images(struct coro_core *core);

/* order.c */
void coro_word_write(const struct coro_core *core, volatile uint32_t *place, uint32_t value);
uint32_t coro_word_read(struct coro_core *core, volatile uint32_t *place);
/* later loads come after everything that others see now */
void coro_ordered(struct coro_core *core);
void coro_hold_store(struct coro_core *core, volatile uint32_t *place, uint32_t value);
void coro_hold_publish(struct coro_core *core, char *shared, const char *from, size_t len);
bool coro_held_word(const struct coro_core *core, const volatile uint32_t *place, uint32_t *value);
void coro_show_own(const struct coro_core *core, char *live, const char *shared, size_t len);
void coro_drain_one(struct coro_core *core);
void coro_drain(struct coro_core *core);
void coro_forget_held(struct coro_core *core);

/* device.c: would this core take an interrupt of a device now; the running core takes one */
bool coro_device_is_pending(const struct coro_core *core);
void coro_device_take(void);

/* memory.c */
void coro_full_order(struct coro_core *core);	/* what a fence does */
void coro_disturb(void);		/* what memory may do by itself between two operations */

/*
 * sites.c: what the environment asks for, once (true: a mutant runs); note the place (true: it is
 * switched off).
 */
bool coro_sites_from_outside(void);
bool coro_dropped(enum op_kind kind, const char *file, int line);
extern const char *const coro_op_name[OP_KINDS];

/* dump.c */
void coro_dump(void);

/*
 * Say at once that a signal ends the program, in which run: what has been printed before may be
 * lost. The second function has that done, and gives signals a stack of their own.
 */
void coro_crashed(int signal, const void *at);
void coro_catch_signals(void);

/* stacks, with the sanitizers told (fibre.c) */
void coro_fibre_make(struct coro_core *core);
void coro_fibre_to(struct coro_core *core, void **save_fake);
void coro_fibre_arrived(void *fake);
void coro_stack_unpoison(struct coro_core *core);

#endif
