/* SPDX-License-Identifier: MIT
 *
 * Memory of processes. Home core. Every function checks everything before it changes anything: a failed call leaves no trace.
 */
#ifndef KERNEL_MEM_MEM_H
#define KERNEL_MEM_MEM_H

#include <kernel/cluster.h>

/* Page tables take their pages from the cluster's frames. */
void mem_init(struct cluster *c);

/*
 * Map fresh, zeroed memory into a process: `bytes` (whole pages) at `addr`, which must be claimed and not mapped. 0 or -E_NOMEM.
 */
int mem_populate(struct process *p, uintptr_t addr, size_t bytes, int prot);

/* Find and claim room for `bytes` (whole pages), aligned to `align`. 0 and *addr, or -E_NOMEM. */
int mem_claim(struct process *p, size_t bytes, size_t align, uintptr_t *addr);

/* Claim the given range. 0; -E_EXIST; -E_NOMEM. */
int mem_claim_at(struct process *p, uintptr_t addr, size_t bytes);

/* Give up addresses; all of them must be claimed. Needs room for one more area (areas_has_room) if it leaves a hole. */
void mem_unclaim(struct process *p, uintptr_t start, uintptr_t end);

/* Map the boot archive read-only. 0 and *addr, or -E_NOMEM. */
int mem_map_archive(struct process *p, uintptr_t *addr);

/* Map one frame that other processes know too (no fresh memory). */
int mem_map_frame(struct process *p, uintptr_t addr, uint32_t frame, int prot);

/* What is behind a page: physical address of the small page at addr, protection (with PAGE_LARGE). 0 or -E_INVAL. */
int mem_lookup(struct process *p, uintptr_t addr, uint64_t *paddr, int *prot);

/* Write to user memory that is mapped into a process, whatever its protection. */
void mem_write(struct process *p, uintptr_t addr, const void *from, size_t len);

/* Frames that frame_alloc gave to a process. */
void held_add(struct process *p, uint32_t frame);
void held_remove(struct process *p, uint32_t frame);

/* Give back all memory of a process that no core runs any more. */
void mem_release(struct process *p);

#endif
