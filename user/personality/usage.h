/* SPDX-License-Identifier: MIT
 *
 * Processor time, as the kernel counts it (thread_stats, ADR 0087): of threads of processes that
 * programs have started from their start, of others from the first question on. It is all time of
 * the program: nobody tells it from time in calls.
 *
 * A process that ends says in its status how long earlier programs of it have run, and those of
 * its children that it has waited for. How long itself did the kernel tells, and its parent adds
 * both to its own children's (ADR 0108).
 */
#ifndef USER_PERSONALITY_USAGE_H
#define USER_PERSONALITY_USAGE_H

#include <user/personality/personality.h>

struct inherit;

/* Of calls that take clocks: Linux's numbers for the times of a process and of a thread. */
#define CLOCK_PROCESS_TIME 2
#define CLOCK_THREAD_TIME 3

/* In nanoseconds: of the process, of a thread, and of children that were waited for. */
uint64_t usage_process(void);
uint64_t usage_thread(const struct thread_record *r);

/* What a look at the process has found: its time, and how many threads it has. */
struct usage {
	uint64_t ns;
	uint32_t threads;
};

struct usage usage_look(void);

/*
 * How long it takes at least from there until the process has had so much time: all its threads may
 * run at once. Never so short that alarms would be all that happens.
 */
uint64_t usage_left(const struct usage *u, uint64_t until);

/*
 * Of earlier programs of the process and of its children, as ends carry it; the process servers add
 * what the kernel has counted of the process.
 */
uint32_t usage_at_end(void);

/* A child has ended that says so of itself. */
void usage_add_child(uint32_t used);

/* What another program of this process begins with, and that program takes. */
void usage_put(struct inherit *b);
void usage_take(const struct inherit *b);

/*
 * May a clock be asked, one of `clock`'s numbers or what Linux makes of a process or thread? Its
 * time, or -E_INVAL.
 */
long usage_clock(const struct handler_event *c, int32_t clock, uint64_t *ns);

/* A struct rusage with that time. */
void usage_fill(void *rusage, uint32_t used);
long usage_call(const struct handler_event *c);
long usage_times(const struct handler_event *c);

#endif
