/* SPDX-License-Identifier: MIT
 *
 * User programs for machines under the coroutine scheduler that run the real kernel: each is a C
 * function that calls the kernel. A test sets config.core = program_core; every core but the home
 * cores then asks its home core to start what program_on() says.
 */
#ifndef TESTS_COROUTINE_PROGRAM_H
#define TESTS_COROUTINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <hal/cpu/coroutine/coroutine.h>

struct program {
	void (*fn)(uintptr_t arg);	/* ends with program_exit */
	uintptr_t arg;
};

/* A test that is run with one seed after the other. */
struct program_test {
	const char *name;
	unsigned long seeds;		/* how many, if the command line does not say it */
	/* memory of the programs that the kernel may read and write */
	void *shared;
	size_t shared_bytes;
	/* the test's own, all zero when a run begins */
	void *state;
	size_t state_bytes;
	/* 0: one cluster of 2 to 4 cores, and core 0 is a TC with each fourth seed */
	unsigned clusters, cores;
	/* alone on core 1 of cluster 0; NULL: program_on says what runs */
	void (*main)(uintptr_t arg);
	/* NULL, or what else the test says of a run */
	void (*begin)(struct coro_config *config, struct boot_record *record, unsigned long seed);
	void (*dump)(void);
};

/*
 * Run the seeds that the command line names ([SEEDS [FIRST]]). Returns how many there were; 0 if
 * one failed, which is printed.
 */
unsigned long program_seeds(const struct program_test *test, int argc, char **argv);

/* A main() for a test of which there is no more to say. */
int program_main(const struct program_test *test, int argc, char **argv);

/*
 * The test says what runs on a core: up to `max` programs, each in a process of its own. Returns
 * their number.
 */
unsigned program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max);

/* For coro_config.core. */
void program_core(void *arg);

/* Before each run: memory of programs (their stacks and `shared`) is readable to the kernel. */
void program_begin(void *shared, size_t len);

/* Is a program init, the first process of its cluster? It may not end then. Set before a run. */
extern bool program_is_init;

/* If it is set, each program's first handle is of the authority, under this name. */
extern bool program_has_authority;
#define PROGRAM_AUTHORITY (1 << 16)

/* The first core of cluster 0 that runs threads: 0 if home does. Set before each run. */
extern int program_first_core;

/* A number of the statistics; for one thread of a run. */
uint64_t program_stats(int what);

/*
 * Run rounds, each of which ends all processes that it has begun, and end the run: it fails if they
 * have left memory or processes behind.
 */
_Noreturn void program_rounds(void (*one_round)(unsigned round), unsigned rounds);

/* End the calling program's process. */
_Noreturn void program_exit(void);

/* Kernel call with integer arguments; missing ones are 0. */
#define KC(number, ...) KC_(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define KC_(number, a, b, c, d, e, f, ...) \
	coro_kcall((number), (unsigned long)(a), (unsigned long)(b), (unsigned long)(c), \
	(unsigned long)(d), (unsigned long)(e), (unsigned long)(f))

#endif
