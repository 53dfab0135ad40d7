/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks of core roles share: a thread that is measured on a core of a role, others
 * beside it, and what the kernel has counted meanwhile. The measured thread makes kernel calls
 * only, no libc (it has no thread pointer on the hosted port). Source: seed 004 9.
 *
 * Options of all of them:
 *	--on ac|tc		the role of the core
 *	--beside none|daemons|thread
 *				what else is placed on it: two threads of a higher priority that
 *				sleep and wake in periods, or one that computes for ever
 *	--callers N		threads on other cores that call the kernel in a tight loop
 *	--device random		a thread on another core takes bytes of that device
 *	--pages small|large	size of the pages of what is measured
 *	--fault no|yes		they come when they are touched
 *	--best no|yes		hosted: pinned, SCHED_FIFO and locked memory where Linux permits it
 *
 * Between window_begin and window_end the measured thread is in the window with the label LABEL of
 * the instruction counter.
 */
#ifndef BENCH_ROLES_H
#define BENCH_ROLES_H

#include <stddef.h>
#include <stdint.h>
#include "../micro/micro.h"
#include "below.h"

/* Have work() run on the measured thread, and report what was counted; it ends when that has. */
void role_measure(int argc, char **argv, void (*work)(void));

/* The same without a report, for work without a window. */
void role_run(int argc, char **argv, void (*work)(void));

/* On the measured thread. */
void window_begin(void);
void window_end(void);

/* The first core of a role (ROLE_*) that has no thread, or is a TC; never core 0. */
int role_core(uint32_t role);

/* Memory as --pages and --fault say it, zeros. Before role_measure. */
void *role_memory(int argc, char **argv, size_t bytes);

/* Is option `name` there with this value? */
int role_option(int argc, char **argv, const char *name, const char *value);

/* The benchmark ends: something is wrong. */
_Noreturn void role_fail(const char *why, long result);

#endif
