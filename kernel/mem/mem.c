/* SPDX-License-Identifier: MIT
 *
 * Memory of processes: see mem.h.
 */
#include <base/str.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>

#define PAGES_PER_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)
#define CLAIMS_PER_FRAME 16	/* pages of addresses that a process may claim, for each frame of the cluster */

static void *
table_take(void *ctx)
{
	struct cluster *c = ctx;
	uint32_t frame = frames_alloc(&c->frames, 1, FRAME_KERNEL, 0);

	return frame == FRAME_NONE ? NULL : frame_kaddr(&c->frames, frame);
}

static void
table_give(void *ctx, void *page)
{
	struct cluster *c = ctx;
	uint32_t frame = frame_at(&c->frames, hal_paddr(page));

	/* a core may still walk it: like any other frame it waits for the shoot-down */
	frame_get(&c->frames, frame);
	frame_put(&c->frames, frame, sweeps_epoch(c));
}

void
mem_init(struct cluster *c)
{
	c->page_source = (struct hal_page_source){table_take, table_give, c};
	slab_init(&c->slab, &c->frames);
}

/* Addresses alone cost nothing, but the kernel core walks them when they are given up: no process has more than it could use. */
static bool
may_claim(struct process *p, size_t bytes)
{
	struct cluster *c = proc_cluster(p);

	return areas_has_room(&c->areas) && bytes / HAL_PAGE_BYTES <= (size_t)CLAIMS_PER_FRAME * c->frames.total - p->claimed;
}

static void
claim(struct process *p, uintptr_t start, uintptr_t end)
{
	area_add(&proc_cluster(p)->areas, &p->areas, start, end);
	p->claimed += (end - start) / HAL_PAGE_BYTES;
}

void
mem_unclaim(struct process *p, uintptr_t start, uintptr_t end)
{
	area_remove(&proc_cluster(p)->areas, &p->areas, start, end);
	p->claimed -= (end - start) / HAL_PAGE_BYTES;
}

int
mem_claim(struct process *p, size_t bytes, size_t align, uintptr_t *addr)
{
	const uintptr_t bounds[2] = {p->space.first, p->space.limit};

	if (!may_claim(p, bytes) || area_find_gap(&p->areas, bounds, bytes, align, addr) != 0)
		return -E_NOMEM;
	claim(p, *addr, *addr + bytes);
	return 0;
}

int
mem_claim_at(struct process *p, uintptr_t addr, size_t bytes)
{
	if (area_overlaps(&p->areas, addr, addr + bytes))
		return -E_EXIST;
	if (!may_claim(p, bytes))
		return -E_NOMEM;
	claim(p, addr, addr + bytes);
	return 0;
}

int
mem_map_frame(struct process *p, uintptr_t addr, uint32_t frame, int prot)
{
	struct cluster *c = proc_cluster(p);
	int e = hal_map(&p->space, addr, frame_paddr(&c->frames, frame), 1, prot);

	if (e == 0)
		frame_get(&c->frames, frame);
	return e;
}

int
mem_lookup(struct process *p, uintptr_t addr, uint64_t *paddr, int *prot)
{
	int e = hal_query(&p->space, addr, paddr, prot);

	if (e == 0 && (*prot & PAGE_LARGE))
		*paddr += addr % HAL_LARGE_BYTES & ~(HAL_PAGE_BYTES - 1);
	return e;
}

/* Could pages and all tables that map them be allocated one by one? Then no mapping of them fails for want of a table. */
static bool
tables_fit(const struct cluster *c, size_t pages_to_take, size_t pages)
{
	return pages_to_take + pages / PAGES_PER_LARGE + 8 <= c->frames.free;
}

/* Frames for at most `want` pages: as many in one run as there are, but at least `least`. */
static uint32_t
run_alloc(struct cluster *c, struct process *p, uint32_t *want, uint32_t least)
{
	uint32_t frame = FRAME_NONE;

	for (; *want >= least; *want /= 2) {
		frame = frames_alloc(&c->frames, *want, FRAME_USER, p->id);
		if (frame != FRAME_NONE)
			break;
	}
	return frame;
}

/* Runs of frames that nobody has seen are a list: the first frame of each says how many there are, and where the next run begins. */
static void
runs_free(struct frames *f, uint32_t run)
{
	while (run != FRAME_NONE) {
		uint32_t next = f->frame[run].next;

		frames_free(f, run, f->frame[run].prev);
		run = next;
	}
}

/* Runs for `pages` pages, each of at least `least`, the last one first. FRAME_NONE: there are not as many. */
static uint32_t
runs_alloc(struct process *p, size_t pages, uint32_t least)
{
	struct cluster *c = proc_cluster(p);
	struct frame *table = c->frames.frame;
	uint32_t last = FRAME_NONE;

	while (pages > 0) {
		uint32_t take = PAGES_PER_LARGE, run;

		while (take > pages)
			take /= 2;
		run = run_alloc(c, p, &take, least);
		if (run == FRAME_NONE) {
			runs_free(&c->frames, last);
			return FRAME_NONE;
		}
		table[run].next = last;
		table[run].prev = take;
		last = run;
		pages -= take;
	}
	return last;
}

/* Map the first run of a list. 0 or -E_NOMEM. */
static int
run_map(struct process *p, uintptr_t addr, uint32_t run, int prot)
{
	struct cluster *c = proc_cluster(p);
	uint32_t pages = c->frames.frame[run].prev;
	size_t count = prot & PAGE_LARGE ? pages / PAGES_PER_LARGE : pages;

	if (hal_map(&p->space, addr, frame_paddr(&c->frames, run), count, prot | HAL_MAY_ALL) != 0)
		return -E_NOMEM;
	for (uint32_t i = 0; i < pages; i++)
		frame_get(&c->frames, run + i);
	return 0;
}

/* Undo the start of mem_populate where Linux is the host, which takes its translations back at once: only there a run's mapping can fail. */
static void
unpopulate(struct process *p, uintptr_t addr, uintptr_t end)
{
	struct cluster *c = proc_cluster(p);

	for (uintptr_t at = addr; at < end; at += HAL_PAGE_BYTES) {
		uint64_t paddr;
		int prot;

		check(mem_lookup(p, at, &paddr, &prot) == 0);
		frame_put(&c->frames, frame_at(&c->frames, paddr), sweeps_epoch(c));
	}
	if (addr < end)
		check(hal_unmap(&p->space, addr, (end - addr) / HAL_PAGE_BYTES) == 0);
}

/* Everything is found before anything is mapped: what another core has seen could not be freed without a shoot-down. */
int
mem_populate(struct process *p, uintptr_t addr, size_t bytes, int prot)
{
	struct cluster *c = proc_cluster(p);
	size_t pages = bytes / HAL_PAGE_BYTES;
	uintptr_t at = addr + bytes;
	uint32_t run, next;

	if (!tables_fit(c, pages, pages))
		return -E_NOMEM;
	run = runs_alloc(p, pages, prot & PAGE_LARGE ? PAGES_PER_LARGE : 1);
	if (run == FRAME_NONE)
		return -E_NOMEM;
	for (; run != FRAME_NONE; run = next) {
		size_t size = c->frames.frame[run].prev * HAL_PAGE_BYTES;

		next = c->frames.frame[run].next;
		if (run_map(p, at - size, run, prot) != 0)
			break;
		at -= size;
	}
	if (run == FRAME_NONE)
		return 0;
	runs_free(&c->frames, run);
	unpopulate(p, at, addr + bytes);
	return -E_NOMEM;
}

int
mem_map_archive(struct process *p, uintptr_t *addr)
{
	struct cluster *c = proc_cluster(p);
	uint64_t base = c->record->archive_base;
	size_t bytes = (size_t)c->record->archive_bytes;
	size_t pages = (bytes + HAL_PAGE_BYTES - 1) / HAL_PAGE_BYTES;
	size_t large = base % HAL_LARGE_BYTES == 0 ? bytes / HAL_LARGE_BYTES : 0;
	size_t rest = pages - large * PAGES_PER_LARGE;
	uintptr_t tail;

	if (pages == 0 || !tables_fit(c, 0, pages))
		return -E_NOMEM;
	if (mem_claim(p, pages * HAL_PAGE_BYTES, large > 0 ? HAL_LARGE_BYTES : HAL_PAGE_BYTES, addr) != 0)
		return -E_NOMEM;
	tail = *addr + large * HAL_LARGE_BYTES;
	if (large == 0 || hal_map(&p->space, *addr, base, large, PAGE_READ | PAGE_LARGE) == 0) {
		if (rest == 0 || hal_map(&p->space, tail, base + large * HAL_LARGE_BYTES, rest, PAGE_READ) == 0)
			return 0;
		if (large > 0)
			check(hal_unmap(&p->space, *addr, large * PAGES_PER_LARGE) == 0);
	}
	mem_unclaim(p, *addr, *addr + pages * HAL_PAGE_BYTES);
	return -E_NOMEM;
}

void
mem_write(struct process *p, uintptr_t addr, const void *from, size_t len)
{
	const unsigned char *bytes = from;

	while (len > 0) {
		size_t into = addr % HAL_PAGE_BYTES;
		size_t part = HAL_PAGE_BYTES - into < len ? HAL_PAGE_BYTES - into : len;
		uint64_t paddr;
		int prot;

		check(mem_lookup(p, addr - into, &paddr, &prot) == 0);
		memcpy((unsigned char *)hal_kaddr(paddr) + into, bytes, part);
		addr += part;
		bytes += part;
		len -= part;
	}
}

void
held_add(struct process *p, uint32_t frame)
{
	struct frames *f = &proc_cluster(p)->frames;
	struct frame *e = &f->frame[frame];

	e->is_held = 1;
	e->prev = FRAME_NONE;
	e->next = p->held;
	if (e->next != FRAME_NONE)
		f->frame[e->next].prev = frame;
	p->held = frame;
	frame_get(f, frame);
}

void
held_remove(struct process *p, uint32_t frame)
{
	struct cluster *c = proc_cluster(p);
	struct frames *f = &c->frames;
	struct frame *e = &f->frame[frame];

	if (e->prev != FRAME_NONE)
		f->frame[e->prev].next = e->next;
	else
		p->held = e->next;
	if (e->next != FRAME_NONE)
		f->frame[e->next].prev = e->prev;
	e->is_held = 0;
	frame_put(f, frame, sweeps_epoch(c));
}

/* Drop the references of all mappings in an area; the page tables go as a whole later. */
static void
release_area(struct process *p, const struct area *a)
{
	struct cluster *c = proc_cluster(p);

	for (uintptr_t addr = a->start; addr < a->end; addr += HAL_PAGE_BYTES) {
		uint64_t paddr;
		uint32_t frame;
		int prot;

		if (mem_lookup(p, addr, &paddr, &prot) != 0)
			continue;
		frame = frame_at(&c->frames, paddr);
		if (frame != FRAME_NONE)
			frame_put(&c->frames, frame, sweeps_epoch(c));
	}
}

void
mem_release(struct process *p)
{
	while (!list_is_empty(&p->areas)) {
		struct area *a = list_entry(p->areas.next, struct area, link);

		release_area(p, a);
		mem_unclaim(p, a->start, a->end);
	}
	while (p->held != FRAME_NONE)
		held_remove(p, p->held);
	hal_space_destroy(&p->space);
}
