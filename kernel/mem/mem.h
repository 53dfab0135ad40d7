/* SPDX-License-Identifier: MIT
 *
 * Memory of processes. Home core. Every function checks everything before it changes anything: a
 * failed call leaves no trace.
 */
#ifndef KERNEL_MEM_MEM_H
#define KERNEL_MEM_MEM_H

#include <kernel/cluster.h>

/*
 * A call that acts on many pages sends one message after the other, each for so many small pages,
 * or frames of a large one; the calling core loops. What the call holds between two messages is in
 * thread->work, which mem_work_drop gives back if its process dies.
 */
#define MEM_STEP HAL_STEP_PAGES
#define HOLE_LOOKS 24			/* for the end of a hole, in a step */
#define PAGES_PER_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)

/*
 * Charge frames to a process, before they are taken; frames_free refunds those that have it as
 * owner. False: it can have no more.
 */
bool mem_charge(struct process *p, uint32_t frames);
void mem_refund(struct process *p, uint32_t frames);

/* Frames of a process in a row, charged to it, that nobody has marked or zeroed; or FRAME_NONE. */
uint32_t mem_block_charged(struct process *p, uint32_t frames);

/* Make the empty address space of a process. Its page tables are charged to it. 0 or -E_NOMEM. */
int mem_space_init(struct process *p);

/*
 * At boot: map fresh, zeroed memory into a process: `bytes` (whole pages) at `addr`, which must be
 * claimed and not mapped. 0 or -E_NOMEM.
 */
int mem_populate(struct process *p, uintptr_t addr, size_t bytes, int prot);

/*
 * Find and claim room for `bytes` (whole pages), aligned to `align`, at *addr or above; what comes
 * there by itself says `prot` (kernel/mem/area.h). 0 and *addr; -E_NOMEM; -E_AGAIN: look on, with
 * the *addr that it leaves.
 */
int mem_claim(struct process *p, size_t bytes, size_t align, uint32_t prot, uintptr_t *addr);

/* Claim the given range. 0; -E_EXIST; -E_NOMEM. */
int mem_claim_at(struct process *p, uintptr_t addr, size_t bytes, uint32_t prot);

/* Something else comes by itself in a part of an area. 0 or -E_NOMEM. */
int mem_area_change(struct process *p, uintptr_t start, uintptr_t end, uint32_t prot);

/* Give up addresses of one area. Needs area_may_remove. */
void mem_unclaim(struct process *p, uintptr_t start, uintptr_t end);

/*
 * Frames that tables for this range may take: with so many free, no mapping in it fails for want of
 * a table.
 */
uint32_t mem_tables_most(uintptr_t start, uintptr_t end);

/*
 * Runs of frames that nobody has seen. Take one of at most `want` small pages, or one of a large
 * page, into the caller's list: its first frame and *taken, or -E_NOMEM; again: -E_AGAIN. Map the
 * first of the list so that it ends at `end`: its pages, -E_INVAL, -E_NOMEM.
 */
hot_inline void
mem_run_push(struct thread *t, uint32_t run, uint32_t pages)
{
	struct frame *first = &t->cluster->frames.frame[run];

	first->next = t->work.runs;
	first->prev = pages;
	t->work.runs = run;
	t->work.run_count++;
}

hot_inline void
mem_run_pop(struct thread *t)
{
	t->work.runs = t->cluster->frames.frame[t->work.runs].next;
	t->work.run_count--;
}

long mem_run_take(struct thread *t, size_t want, bool large, uint32_t *taken);
long mem_run_map(struct thread *t, struct process *p, uintptr_t end, int prot);

/*
 * Give some of the references back that a thread's call has to frames of a large page. True: that
 * was all.
 */
bool mem_refs_drop(struct thread *t);

/*
 * Give some of what a thread's call still holds back. True: that was all. A sweep that it has begun
 * is sent.
 */
bool mem_work_drop(struct thread *t);

/*
 * A shoot-down of a call is over: a process that has died meanwhile, the one that it is about or
 * the caller's, may go on ending.
 */
void mem_sweep_ended(const struct sweep *s);

/* Is there any? */
bool mem_work_is_held(const struct thread *t);

/*
 * What is behind a page: physical address of the small page at addr, protection (with PAGE_LARGE).
 * 0 or -E_INVAL.
 */
int mem_lookup(struct process *p, uintptr_t addr, uint64_t *paddr, int *prot);

/*
 * What a word of memory that several processes may have is in all of them: the physical address, in
 * *place. 1; 0: it lies in lazy or private memory, which is the process's own, and *place is left
 * as it is; -E_FAULT: nothing is there.
 */
int mem_shared_place(struct process *p, uintptr_t addr, uintptr_t *place);

/* Write to user memory that is mapped into a process, whatever its protection. */
void mem_write(struct process *p, uintptr_t addr, const void *from, size_t len);

/* Give back some memory of a process that no core runs any more. True: that was all. */
bool mem_release(struct process *p);

#endif
