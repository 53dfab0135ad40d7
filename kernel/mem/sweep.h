/* SPDX-License-Identifier: MIT
 *
 * Sweeps: home asks a set of cores to do something and learns when the last of them has done it,
 * without waiting. Used for TLB shoot-down and for taking the threads of a dying process off the
 * cores.
 *
 * Each core acknowledges by decrementing a shared word; who brings it to zero rings home. A core
 * whose inbox is busy is posted to later.
 */
#ifndef KERNEL_MEM_SWEEP_H
#define KERNEL_MEM_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/limits.abi.h>
#include <base/bitmap.h>
#include <base/list.h>
#include <kernel/am/am.h>

struct cluster;
struct core;
struct process;
struct thread;

struct sweep {
	/* shared word: cores that have not acknowledged */
	_Alignas(HAL_CACHE_LINE) uint32_t pending;
	/* home */
	_Alignas(HAL_CACHE_LINE) struct list link;
	uint32_t epoch;		/* number of this sweep */
	uint32_t limbo;		/* list of the frames that wait for it (frame_put) */
	uint32_t unposted;	/* bits set in todo */
	am_post_fn *fn;
	void (*done)(struct cluster *c, struct sweep *s);
	struct process *proc;	/* on whose behalf: it does not end before */
	struct thread *caller;	/* who waits for it, or NULL */
	long result;		/* that the caller gets then */
	uint32_t todo[BITMAP_WORDS(CLUSTER_CORES_MAX)];	/* cores not yet posted to */
};

struct sweeps {
	struct list running;	/* by age */
	uint32_t epoch;		/* of the youngest */
	uint32_t sent;		/* that are chores of home's */
	struct sweep *unmapping;	/* of the call of which a step unmaps pages now, or NULL */
};

/* What a core gets. */
struct sweep_post {
	struct sweep *sweep;
	struct process *proc;
};

/*
 * Begin a sweep on behalf of `s->proc`: from now on frames may wait for it. Then say which cores:
 * those that may know the space of a process now, but `except` (-1 for none), of one process or of
 * several; and let go. sweep_send returns true if there was nothing to wait for; otherwise `done`
 * runs later, from sweeps_poll. Set fn, done, proc and caller before.
 */
void sweep_begin(struct cluster *c, struct sweep *s);
void sweep_cover(struct cluster *c, struct sweep *s, struct process *p, int except);
bool sweep_send(struct cluster *c, struct sweep *s);

/* Can no core but this one know the space of a process now? */
bool sweep_needs_only(const struct cluster *c, const struct process *p, uint32_t core);

/*
 * Home's loop: post what was not posted yet, finish what has been acknowledged. False if there was
 * nothing to do.
 */
bool sweeps_poll(struct cluster *c);

/* Home: will one of the sweeps that run still post to this core? */
bool sweeps_want(struct cluster *c, uint32_t core);

/* A core has done its part. */
void sweep_acknowledge(struct cluster *c, struct sweep *s);

#endif
