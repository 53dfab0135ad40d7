/* SPDX-License-Identifier: MIT
 *
 * Page frames: a buddy allocator for each memory domain, with reference counts, on the home core.
 *
 * A frame is named by its index, counted from the large-page boundary at or below the cluster's
 * memory. No block lies in two domains. The table's entry of a frame is valid if the frame begins
 * a block that is free, or was split or taken, and once it was marked: setting up costs nothing,
 * however large the memory is. A user frame lives as long as
 * somebody refers to it: one reference per mapping, one if it belongs to a memory object
 * (memory.h). A frame whose last reference goes waits in limbo for the shoot-downs after which no
 * core reaches it any more: those of the calls that unmapped it. Others do not delay it.
 */
#ifndef KERNEL_MEM_FRAME_H
#define KERNEL_MEM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <hal/mmu.h>

struct cluster;
struct sweep;
struct sweeps;

#define FRAME_NONE UINT32_MAX
#define FRAME_ORDERS 20

#define FRAME_INSIDE 0		/* of a free block, or of nothing */
#define FRAME_FREE 1		/* first of a free block */
#define FRAME_USER 2
#define FRAME_KERNEL 3		/* page tables, kernel tables */
#define FRAME_LIMBO 4

#define FRAME_REFS_MAX 65000

struct frame {
	/* free list, limbo; aligned so that many are marked fast (frames_mark) */
	_Alignas(8) uint32_t next;
	uint32_t prev;		/* the same; in use or in limbo: see frame_put */
	int32_t owner;		/* id of the process that it is charged to, 0: the kernel */
	uint16_t refs;
	uint8_t state;		/* FRAME_* */
	uint8_t order;		/* of a free block */
};

struct frame_domain {
	uint32_t first, end;	/* its frames */
	uint32_t stat[DOMAIN_WORDS];
	/* that was freed alone, in no block yet: the next one that is needed */
	uint32_t last;
	uint32_t list[FRAME_ORDERS];	/* free blocks by order */
};

struct frames {
	struct frame *frame;
	unsigned char *base;	/* kernel address of frame 0 (may lie below the memory) */
	uint64_t base_paddr;
	uint32_t first;		/* usable frames are first..total-1 */
	uint32_t total;
	uint32_t free;		/* number of free frames, limbo and those set aside not counted */
	uint32_t turn;		/* where domains take turns: whose it was */
	/* free ones that hold zeros, linked by `next`, which are in no block; how many */
	uint32_t zeroed, zeroed_count;
	const struct boot_policy *policy;
	struct frame_domain *domain;	/* [policy->last_domain + 1] */
};

/*
 * Take memory [start, end) into service, the last part of a memory that has as many equal parts as
 * there are domains. `table` has an entry for each frame from `memory` on, or from the large page
 * on in which start is, if that is another; it lies elsewhere (frames_table_bytes).
 */
void frames_init(struct frames *f, void *table, const void *memory, void *start, void *end,
	const struct boot_policy *policy);

/* Bytes of the table for this memory. */
size_t frames_table_bytes(const void *memory, size_t bytes, const struct boot_policy *policy);

/*
 * Allocate `count` contiguous frames, aligned to the next power of two at or above count, filled
 * with zeros, without references: for the kernel. Returns the first frame, or FRAME_NONE. */
uint32_t frames_alloc(struct frames *f, uint32_t count, uint8_t state, int32_t owner);

/* The same, with whatever they held: nobody may see them before they are zeroed. */
uint32_t frames_take(struct frames *f, uint32_t count, uint8_t state, int32_t owner);

/*
 * The two halves of frames_take, for so many frames that they are marked in pieces, from the domain
 * that the policy says for somebody of this one. Until they are marked their numbers mean nothing
 * to anybody, and frames_block_back gives them back. Who marks a part first says which is the next
 * (frames_mark_next), so that no free buddy is seen in it.
 */
uint32_t frames_block(struct frames *f, uint32_t domain, uint32_t count);
void frames_mark(struct frames *f, uint32_t first, uint32_t count, struct frame as);
void frames_block_back(struct frames *f, uint32_t first, uint32_t count);

/*
 * Free frames that hold zeros already: one of them, or FRAME_NONE; and one that is taken becomes
 * one. Where nothing else is left frames_block takes them for what they are. Domain 0.
 */
uint32_t frames_zeroed_take(struct frames *f);
void frames_zeroed_put(struct frames *f, uint32_t frame);

static inline void
frames_mark_next(struct frames *f, uint32_t frame)
{
	f->frame[frame].state = FRAME_INSIDE;
}

/* Give frames back to the free lists. They must have no references. */
void frames_free(struct frames *f, uint32_t first, uint32_t count);

/*
 * A frame of a process (its id) is free: it is charged for it no more. Whoever uses this file
 * supplies it.
 */
void frame_freed(int32_t owner);

/*
 * One reference more or less. A mapping that was removed gives its reference back with `by`, the
 * shoot-down that has begun for it; one that no core may know any more, and whatever else refers to
 * a frame, with NULL.
 *
 * When the last reference goes with a shoot-down, and no earlier mapping went with another that may
 * still run, the frame waits for that one alone. A frame that outlives a mapping has in `prev` the
 * number of the youngest shoot-down that there was when the last such mapping went (0: none went).
 * It waits for all that are not younger, one after the other in the order of their age.
 */
void frame_get(struct frames *f, uint32_t frame);
void frame_put(struct frames *f, uint32_t frame, const struct sweeps *all, struct sweep *by);

/*
 * A shoot-down is over: free what waited for it alone, and have the rest wait for the next one.
 * At most *most frames, which counts down. True: that was all.
 */
bool frames_limbo_drain(struct frames *f, const struct sweeps *all, struct sweep *s,
	unsigned *most);

/*
 * One reference more of each frame at one of these addresses, up to the first that has too many, is
 * none of ours, or is at `except`: how many that are. And one less of those behind mappings that no
 * core may know any more: how many, until what that costs is *most, which counts down: one for each
 * that others have, FRAMES_PUT_FREE for one that is free then, or none of ours. There is at least
 * one address, and *most is not 0.
 */
#define FRAMES_PUT_FREE 14
size_t frames_get(struct frames *f, const uint64_t *paddr, size_t count, uint64_t except);
size_t frames_put(struct frames *f, const struct sweeps *all, const uint64_t *paddr, size_t count,
	int *most);

void *frame_kaddr(const struct frames *f, uint32_t frame);
uint64_t frame_paddr(const struct frames *f, uint32_t frame);

/* Frame at a physical address, FRAME_NONE if it is none of ours. */
static inline uint32_t
frame_at(const struct frames *f, uint64_t paddr)
{
	uint64_t frame = (paddr - f->base_paddr) / HAL_PAGE_BYTES;

	return paddr < f->base_paddr || frame >= f->total ? FRAME_NONE : (uint32_t)frame;
}

#endif
