/* SPDX-License-Identifier: MIT
 *
 * What the kernel calls on memory share. They run on the calling core and loop over messages to
 * home (kernel/mem/mem.h).
 */
#ifndef KERNEL_MEM_CALLS_H
#define KERNEL_MEM_CALLS_H

#include <kernel/cluster.h>

#define MEM_ARGS 6

/* Have home run fn with these arguments, which hold what it left there afterwards. */
long mem_home(struct thread *caller, kcall_serve_fn *fn, unsigned long *a);

/* The same, again as long as that returns -E_AGAIN. */
long mem_steps(struct thread *caller, kcall_serve_fn *fn, unsigned long *a);

#define PROT_BITS (PAGE_READ | PAGE_WRITE | PAGE_EXEC)

/* Home: would a page come at an address where none is? */
bool mem_is_lazy(struct process *p, uintptr_t addr);

/*
 * Home: is a large page at `at`? It becomes small ones: -E_AGAIN, so that the step that needs that
 * begins again; -E_NOMEM; -E_INVAL: the port has no such change.
 */
bool mem_is_large(struct process *p, uintptr_t at);
int mem_split(struct process *p, uintptr_t at);

/* From step to step of a change, then the own core forgets what it knew of the pages. */
long mem_change_steps(struct thread *caller, kcall_serve_fn *fn, unsigned long *a);

bool prot_is_valid(int prot);

/* Fill frames that nobody sees yet with zeros, on the calling core. */
void mem_zero(struct thread *caller, uint32_t frame, uint32_t count);

/*
 * Frames for so many pages, or large ones, zeroed, none of which anybody sees yet: 0 or an error.
 * At the end, good or bad, mem_settle gives back what the call has and did not show.
 */
long mem_take_zeroed(struct thread *caller, size_t pages, bool large);
long mem_settle(struct thread *caller);

/*
 * There is too little for a call. What has been given up already may be on its way back: a step of
 * that, and the call tries again. -E_AGAIN, or -E_NOMEM.
 */
long mem_too_little(struct cluster *c);

/*
 * Home: unmap some pages of [start, end), so many small ones or a large one, in a step of a
 * thread's call, up to the address that is returned. The thread's sweep has begun, so that no frame
 * is free before it ends; and of a large page the call has the references then, which mem_refs_drop
 * gives back before the next step.
 */
uintptr_t mem_unmap_some(struct thread *t, struct process *p, uintptr_t start, uintptr_t end,
	unsigned pages);
#define UNMAP_REVOCABLE 2		/* pages of a step that looks mappings up as well */

/*
 * Home: begin the thread's sweep, which shoots translations down and then readies it with
 * sweep->result.
 */
void shoot_down(struct core *core, const void *data);	/* on each core: struct sweep_post */
struct sweep *shoot_down_begin(struct thread *caller, struct process *p);
void shoot_down_done(struct cluster *c, struct sweep *s);

/*
 * Home: all that the sweep is about has changed. The caller's own core flushes when it has the
 * answer, before it runs a user thread again. `result`, or -E_PARK: that comes later.
 */
long shoot_down_end(struct thread *caller, struct sweep *s, long result);

/*
 * A call has failed: take the range back, and everything that is mapped there. Like page_unmap, but
 * what the call then returns is `error`.
 */
long page_take_back(struct thread *caller, int proc, uintptr_t start, uintptr_t end, long error);

#endif
