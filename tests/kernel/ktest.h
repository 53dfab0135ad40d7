/* SPDX-License-Identifier: MIT
 *
 * Tests that run as init, in user mode, on the real kernel. Each prints `ok NAME` or `FAIL NAME:
 * why`; the machine halts with 0 or 1.
 */
#ifndef TESTS_KERNEL_KTEST_H
#define TESTS_KERNEL_KTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <context.h>

void kt_run(const char *name, void (*test)(void));
void kt_compare(const char *what, int line, long have, long want);
int kt_failures(void);		/* of the test that runs */
_Noreturn void kt_end(void);

/* Start fn(arg) as a thread that ends with what fn returns; its handle or an error. */
long kt_thread(unsigned long (*fn)(unsigned long arg), unsigned long arg, int core);

/*
 * The same, on any core, and return when the home core has answered the first kernel call of fn:
 * if that waits, the thread is waiting. A fn that makes no call of the home core must not be given.
 */
long kt_waiter(unsigned long (*fn)(unsigned long arg), unsigned long arg);

/*
 * Start this program as a process: its server_main finds `role` (not 0) in atoll_startup()->job and
 * `arg` in ->shared. Its handle or an error.
 */
long kt_spawn(uint32_t role, unsigned long arg, int core);

/* The same in a process that exists. */
long kt_spawn_in(long proc, uint32_t role, unsigned long arg, int core);

/* Wait for a process and close its handle: its status, and the cause of its end. */
int kt_wait(long proc, uint32_t *cause);

/* The same, but the handle stays open. */
int kt_end_of(long proc, uint32_t *cause);

/*
 * A core that runs user threads and is not the caller's, for threads that never give theirs up; -1
 * if there is none.
 */
int kt_other_core(void);
int kt_own_core(void);

/* The clock; what a core is for and what it has counted. */
uint64_t kt_now(void);
struct core_info kt_core_info(int core);

/*
 * A number that only the seed and the rounds decide. Many values are under way at once, so that
 * each register counts, and floating-point numbers: whoever spoils one of a thread's registers
 * changes it.
 */
uint32_t kt_compute(uint32_t seed, int rounds);

/* Let time pass, yielding. */
void kt_pause(uint64_t us);

/* Join and give the value; -1 on error. */
long kt_join(long tid);

/* Bytes of a page. */
size_t kt_page_bytes(void);

/*
 * Places where a result of `bytes` cannot be written: not mapped, not writable, and with only its
 * first half writable. Each call gives another, NULL is the end of the round.
 */
void *kt_bad_place(size_t bytes);

/* A number of the cluster. */
uint64_t kt_stats(int what);

/* What etc/args of the archive says, `CALLS SEED`; what it does not say stays. */
void kt_arguments(uint32_t *calls, uint32_t *seed);

#define TEST(name) static void test_##name(void)
#define RUN(name) kt_run(#name, test_##name)
#define expect(condition) kt_compare(#condition, __LINE__, (condition) != 0, 1)
#define expect_eq(have, want) kt_compare(#have, __LINE__, (long)(have), (long)(want))

#endif
