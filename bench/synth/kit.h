/* SPDX-License-Identifier: MIT
 *
 * What the synthetic benchmarks of the kernel share. They use the kernel's own calls only, no libc
 * and no MPI, so that one source runs on every port, as a job or in init's place. Threads are
 * kernel threads on cores that the kernel chooses.
 *
 * A measured part lies between window_open(n) and window_close(n): on the cluster in RTL its cycles
 * and counters are in the simulator's report, under riscv64's instruction counter it is a window
 * with the label 16 + n, and everywhere its time becomes a row.
 */
#ifndef BENCH_SYNTH_KIT_H
#define BENCH_SYNTH_KIT_H

#include <stddef.h>
#include <stdint.h>
#include <context.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <hal/perf.h>

#define STACK_BYTES 8192
#define TEAM_MAX 64

/*
 * Cores of this cluster that run user threads, and kernel threads of a benchmark: all but the
 * caller's.
 */
unsigned user_cores(void);

/* Start fn(arg) as a thread; its number. The benchmark ends if that fails. */
int start(void (*fn)(void *arg), void *arg);
void join(int tid);

/* Nanoseconds. */
uint64_t now_ns(void);

/* One result, a rounded quotient: `total` over `count`. `params` is "KEY=VALUE ..." or "". */
void row(const char *name, uint64_t total, uint64_t count, const char *params);
void row_number(const char *name, uint64_t value, const char *unit, const char *params);

int is_equal(const char *a, const char *b);

/* The number after `name` on the command line. */
long number(int argc, char **argv, const char *name, long otherwise);

/* End the benchmark: something is wrong. */
_Noreturn void give_up(const char *why, long result);

/*
 * Semaphores and mutexes as 000 has them: every up and every unlock is a kernel call, whether
 * somebody waits or not.
 */
struct semaphore {
	uint32_t value;
};

void semaphore_up(struct semaphore *s);
void semaphore_down(struct semaphore *s);

/*
 * Have every down and every lock call the kernel core, too, as in 000, where it executes all
 * operations of semaphores and mutexes: without this, taking what is there makes no call.
 */
void semaphores_always_call(int always);

/* A mutex is a semaphore of 1. */
static inline void
mutex_lock(struct semaphore *s)
{
	semaphore_down(s);
}

static inline void
mutex_unlock(struct semaphore *s)
{
	semaphore_up(s);
}

/*
 * All threads of a team start together: each calls gate_pass, the starter gate_open when `waiting`
 * of them have come.
 */
struct gate {
	uint32_t come;
	uint32_t is_open;
};

void gate_pass(struct gate *g);
void gate_wait(struct gate *g, uint32_t waiting);	/* until so many have come */
void gate_open(struct gate *g, uint32_t waiting);

/*
 * Let a part of the team begin later than the others, by up to 1023 rounds of a loop that the seed
 * and the part decide: replications of a run that would else repeat exactly. 0: not at all.
 */
void stagger(long seed, uint32_t part);

/*
 * Labels of windows begin at 16 + WINDOW_BASE, which the build sets: several benchmarks in one
 * program (suite.c) must not share them.
 */
#define window_label(n) hal_mark(16 + WINDOW_BASE + (n))
#define window_is_over(n) hal_mark(256 + WINDOW_BASE + (n))
#define window_open(n) do { window_label(n); hal_mark(MARK_BEGIN); } while (0)
#define window_close(n) do { hal_mark(MARK_END); window_is_over(n); } while (0)

#endif
