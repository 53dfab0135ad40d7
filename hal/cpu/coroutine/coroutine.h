/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end, seen by tests: run a whole machine in one process under a seeded scheduler.
 *
 * Every core of every cluster is a coroutine. Each HAL operation is a place where another core may
 * run; a generator seeded with coro_config.seed decides, so that a run repeats exactly. Memory
 * registered with hal_shared_region and the NoC windows are stale until acquired: each core has its
 * own image, hal_publish copies bytes to the shared copy (all bytes of the range: publish only what
 * you own), hal_acquire from it, the 32-bit operations work on the shared copy. In some seeds
 * stores wait in a store buffer until a fence, an atomic, a notify or a wait; publishes wait there
 * as long as the contract allows, and in pieces; a load is done as early as it allows; dirty bytes
 * are written back early; waits return spuriously; memory is cold, that is, holds garbage until it
 * was acquired once.
 */
#ifndef CORO_COROUTINE_H
#define CORO_COROUTINE_H

/*
 * A run ends when the test calls coro_finish or hal_machine_halt, or with a failure: every core
 * waits and nobody can wake one (hang), too many operations, a panic, coro_fail. A failed run's
 * dump says what each core waits for and what it did last.
 *
 * User programs are C functions on their own stacks that call the kernel through coro_kcall. User
 * addresses (hal_copy_in ...) inside [first, limit) of the running space go through the software
 * page table; host memory named with coro_user_memory is taken as it is; everything else is
 * -E_FAULT.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <context.h>

enum coro_strategy {
	CORO_UNIFORM,			/* any ready core at every operation */
	CORO_STICKY,			/* stay most of the time */
	CORO_STARVE,			/* one core rarely runs */
	CORO_PRIORITY,			/* random priorities that change a few times */
	CORO_BURST,			/* runs of random length */
	CORO_STRATEGIES
};

enum coro_end { CORO_OK, CORO_HANG, CORO_ENDLESS, CORO_PANIC, CORO_FAILED };

struct coro_config {
	/* mem_bytes: each cluster's memory; the back end places it */
	const struct boot_record *record;
	uint64_t seed;
	uint64_t ops_max;			/* 0: two million */
	uint64_t op_ns;				/* what an operation takes; 0: 10 */
	/* NULL: kernel_boot_main */
	void (*boot)(const struct boot_record *record, void *memory, size_t bytes);
	void (*core)(void *arg);		/* NULL: kernel_core_main */
	void (*dump)(void);			/* prints the test's own state after a failure */
	/* sees every hal_add32 where it takes effect */
	void (*on_add)(const volatile uint32_t *place, uint32_t old);
	/* no spurious wake-ups, which hide lost ones: for mutation controls */
	bool strict;
	/* copies of 64 bytes and more from a user take up to so many operations more */
	unsigned copy_in_points;
	bool panic_kills;			/* a panic ends the cluster, not the run */
	bool verbose;				/* the console goes to stdout */
};

struct coro_result {
	enum coro_end end;
	int status;				/* of coro_finish or hal_machine_halt */
	/* hash of what ran in which order with which values */
	uint64_t trace;
	uint64_t ops;
	char why[256];
};

/*
 * Run one machine to its end. True if it ended with CORO_OK and status 0; otherwise a dump was
 * printed unless `quiet`.
 */
bool coro_run(const struct coro_config *config, struct coro_result *result, bool quiet);

/*
 * Run the seeds first .. first + count - 1 and stop at the first failure, which is printed with its
 * seed. True if none failed.
 */
bool coro_run_seeds(struct coro_config *config, uint64_t first, uint64_t count);

/*
 * The record of a machine with `clusters` clusters of `cores` cores, core 0 a KC, and a few ports.
 */
void coro_record(struct boot_record *record, unsigned clusters, unsigned cores);

/* For code that runs in the machine. */
_Noreturn void coro_finish(int status);
_Noreturn void coro_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define coro_check(condition) \
	((condition) ? (void)0 : coro_fail("%s:%d: %s", __FILE__, __LINE__, #condition))
void coro_point(void);				/* a place where another core may run */
uint32_t coro_random(uint32_t n);		/* 0 .. n-1, drawn from the seed */
/* it stops as if its power had failed; the caller may be in it */
void coro_kill_cluster(unsigned cluster);
uint64_t coro_ops(void);			/* operations so far */

/*
 * The devices of cluster 0. The test is the device: coro_device_raise interrupts, with what stands
 * in the page of the registers, which programs map.
 */
#define CORO_DEVICES 2

struct coro_device {
	bool is_on;
	bool is_raised;			/* an interrupt has come and is not taken */
	bool is_taken;			/* one was taken and is not served */
	unsigned taken, stopped;	/* how often */
};

void coro_device_raise(unsigned number);
void *coro_device_page(unsigned number);	/* 4096 bytes */
struct coro_device *coro_device(unsigned number);

/* Of user programs. */
long coro_kcall(unsigned long number, unsigned long a0, unsigned long a1, unsigned long a2,
	unsigned long a3, unsigned long a4,
	unsigned long a5);
/*
 * Where hal_interrupt and the tick may interrupt a user thread. It stands for any amount of
 * computing: if the core's tick is armed, the clock may go on to its time here.
 */
void coro_user_point(void);
/* of the running core: hal_timer_arm's last, HAL_FOREVER if it is disarmed */
uint64_t coro_tick(void);
uint32_t coro_user_load32(uintptr_t addr);	/* through the page table; may fault */
void coro_user_store32(uintptr_t addr, uint32_t value);
/* host memory that user addresses may name, in this run */
void coro_user_memory(void *base, size_t len);
/* A context that runs fn(arg) on a stack; when fn returns, the run fails. */
void coro_user_context(struct context *c, void (*fn)(uintptr_t arg), void *stack_top,
	uintptr_t arg);

/*
 * Mutation controls: "KIND:FILE:LINE" (FILE: end of the path) makes the operation at that place do
 * nothing. KIND is publish, acquire, fence, notify, interrupt, arm or wait_begin. NULL: none. False
 * if the text makes no sense.
 */
bool coro_mutate(const char *place);

/*
 * For whoever runs a test program as it is (tests/coroutine/mutation.c): CORO_MUTANT in the
 * environment is a place to switch off, which makes the runs strict and silent; into the file named
 * by CORO_SITES the program writes the places it reached when it ends.
 */

/*
 * Places that the runs so far reached, in the order in which they were first reached; false when i
 * is beyond the last.
 */
bool coro_site(unsigned i, char *text, size_t size, const char **file);
void coro_forget_sites(void);

#endif
