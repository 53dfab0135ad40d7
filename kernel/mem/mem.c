/* SPDX-License-Identifier: MIT
 *
 * Memory of processes: see mem.h.
 */
#include <base/str.h>
#include <kernel/mem/clear.h>
#include <kernel/mem/mapping.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define DROP_STEP 3		/* runs of frames */
/* of a process that ends, in a step; what an area, a hole or a large page costs, in these */
#define RELEASE_STEP 140
#define RELEASE_AREA 12
#define RELEASE_PAGES 64
#define RELEASE_LOOK 9

__attribute__((noinline)) bool
mem_charge(struct process *p, uint32_t frames)
{
	if (!quota_charge(p->quota, QUOTA_BYTES, (size_t)frames * HAL_PAGE_BYTES))
		return false;
	p->frames += frames;
	return true;
}

__attribute__((noinline)) void
mem_refund(struct process *p, uint32_t frames)
{
	quota_refund(p->quota, QUOTA_BYTES, (size_t)frames * HAL_PAGE_BYTES);
	p->frames -= frames;
	if (p->frames == 0)
		proc_entry_free(proc_cluster(p), p);
}

void
frame_freed(int32_t owner)
{
	mem_refund(&core_self()->cluster->proc[ID_INDEX(owner)], 1);
}

__attribute__((noinline)) uint32_t
mem_block_charged(struct process *p, uint32_t frames)
{
	uint32_t block;

	if (!mem_charge(p, frames))
		return FRAME_NONE;
	block = frames_block(&proc_cluster(p)->frames, p->domain, frames);
	if (block == FRAME_NONE)
		mem_refund(p, frames);
	return block;
}

/* A page of a process, filled with zeros; NULL: it can have no more. */
static void *
page_charged(struct process *p, uint8_t state)
{
	struct frames *f = &proc_cluster(p)->frames;
	uint32_t ready = clear_take(p), frame = ready != FRAME_NONE ? ready :
		mem_block_charged(p, 1);
	void *page;

	if (frame == FRAME_NONE)
		return NULL;
	frames_mark(f, frame, 1, (struct frame){.state = state, .owner = p->id});
	page = frame_kaddr(f, frame);
	if (ready != FRAME_NONE)
		hal_acquire(page, HAL_PAGE_BYTES);
	else
		hal_zero_pages(page, HAL_PAGE_BYTES);
	return page;
}

static void *
table_take(void *ctx)
{
	return page_charged(ctx, FRAME_KERNEL);
}

static void
table_give(void *ctx, void *page)
{
	struct cluster *c = proc_cluster(ctx);
	uint32_t frame = frame_at(&c->frames, hal_paddr(page));

	/* a core may still walk it: like the pages behind it, it waits for the shoot-down */
	frame_get(&c->frames, frame);
	frame_put(&c->frames, frame, &c->sweeps, c->sweeps.unmapping);
}

int
mem_space_init(struct process *p)
{
	const struct hal_page_source source = {table_take, table_give, p};

	return hal_space_init(&p->space, &source);
}

static bool
may_claim(struct process *p, size_t bytes)
{
	return area_may_add(&p->areas) &&
		bytes / HAL_PAGE_BYTES <= proc_cluster(p)->claims_max - p->claimed;
}

static void
claim(struct process *p, uintptr_t start, uintptr_t end, uint32_t prot)
{
	area_add(&p->areas, start, end, prot);
	if (prot != 0)
		hal_store32(&p->demand, 1);
	p->claimed += (end - start) / HAL_PAGE_BYTES;
}

void
mem_unclaim(struct process *p, uintptr_t start, uintptr_t end)
{
	area_remove(&p->areas, start, end);
	p->claimed -= (end - start) / HAL_PAGE_BYTES;
}

int
mem_claim(struct process *p, size_t bytes, size_t align, uint32_t prot, uintptr_t *addr)
{
	const uintptr_t bounds[2] = {*addr > p->space.first ? *addr : p->space.first,
		p->space.limit};
	int e = may_claim(p, bytes) ? area_find_gap(&p->areas, bounds, bytes, align, addr) :
		-E_NOMEM;

	if (e != 0)
		return e;
	claim(p, *addr, *addr + bytes, prot);
	return 0;
}

int
mem_claim_at(struct process *p, uintptr_t addr, size_t bytes, uint32_t prot)
{
	if (area_overlaps(&p->areas, addr, addr + bytes))
		return -E_EXIST;
	if (!may_claim(p, bytes))
		return -E_NOMEM;
	claim(p, addr, addr + bytes, prot);
	return 0;
}

int
mem_area_change(struct process *p, uintptr_t start, uintptr_t end, uint32_t prot)
{
	if (prot != 0)
		hal_store32(&p->demand, 1);
	return area_change(&p->areas, start, end, prot);
}

static int
map_frame(struct process *p, uintptr_t addr, uint32_t frame, int prot)
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

int
mem_shared_place(struct process *p, uintptr_t addr, uintptr_t *place)
{
	const struct area *a = area_find(&p->areas, addr);
	uint64_t paddr;
	int prot;

	if (a == NULL)
		return -E_FAULT;
	if (a->prot != 0)
		return 0;
	if (mem_lookup(p, addr & ~(uintptr_t)(HAL_PAGE_BYTES - 1), &paddr, &prot) != 0)
		return -E_FAULT;
	*place = (uintptr_t)paddr + addr % HAL_PAGE_BYTES;
	return 1;
}

uint32_t
mem_tables_most(uintptr_t start, uintptr_t end)
{
	size_t first = start / HAL_LARGE_BYTES, last = (end - 1) / HAL_LARGE_BYTES;

	return (uint32_t)(last - first + 1 + last / PAGES_PER_LARGE - first / PAGES_PER_LARGE + 1);
}

/* The first frame of each run in a list says how many there are, and where the next run begins. */
long
mem_run_take(struct thread *t, size_t want, bool large, uint32_t *taken)
{
	uint32_t least = large ? PAGES_PER_LARGE : 1, take = large ? PAGES_PER_LARGE : MEM_STEP;
	uint32_t run = FRAME_NONE;

	while (take > want)
		take /= 2;
	for (; take >= least; take /= 2) {
		run = mem_block_charged(t->proc, take);
		if (run != FRAME_NONE)
			break;
	}
	if (run == FRAME_NONE)
		return -E_NOMEM;
	mem_run_push(t, run, take);
	*taken = take;
	return (long)run;
}

/* Tables may take what was set aside for them. */
static int
map_reserved(struct thread *t, struct hal_space *s, uintptr_t at, int prot)
{
	struct frames *f = &t->cluster->frames;
	uint32_t run = t->work.runs, pages = f->frame[run].prev, before, used;
	size_t count = prot & PAGE_LARGE ? pages / PAGES_PER_LARGE : pages;
	int e;

	f->free += t->work.reserved;
	before = f->free;
	e = hal_map(s, at, frame_paddr(f, run), count, prot | HAL_MAY_ALL);
	used = before - f->free;
	t->work.reserved = t->work.reserved > used ? t->work.reserved - used : 0;
	f->free -= t->work.reserved;
	return e;
}

long
mem_run_map(struct thread *t, struct process *p, uintptr_t end, int prot)
{
	struct frames *f = &t->cluster->frames;
	uint32_t run = t->work.runs, pages = f->frame[run].prev, next = f->frame[run].next;
	uintptr_t at = end - pages * HAL_PAGE_BYTES;
	int e;

	if (!area_covers(&p->areas, at, end))
		return -E_INVAL;
	if (p != t->proc && !mem_charge(p, pages))
		return -E_NOMEM;
	e = map_reserved(t, &p->space, at, prot);
	if (p != t->proc)
		mem_refund(e == 0 ? t->proc : p, pages);
	if (e != 0)
		return e == -E_EXIST ? -E_INVAL : -E_NOMEM;
	frames_mark(f, run, pages, (struct frame){.state = FRAME_USER, .owner = p->id, .refs = 1});
	t->work.runs = next;
	t->work.run_count--;
	return (long)pages;
}

void
mem_sweep_ended(const struct sweep *s)
{
	struct process *p = s->proc, *of_caller = s->caller->proc;

	proc_sweep_ended(p);
	if (of_caller != p)
		proc_sweep_ended(of_caller);
}

static void
sweep_drop(struct thread *t)
{
	t->work.sweeping = false;
	mapping_free(t->sweep.proc, t->work.cut);
	sweep_cover(t->cluster, &t->sweep, t->sweep.proc, -1);
	if (sweep_send(t->cluster, &t->sweep)) {
		mem_sweep_ended(&t->sweep);
	} else {
		t->wait.kind = WAIT_MEMORY;
		thread_park(t, NULL);
	}
}

bool
mem_refs_drop(struct thread *t)
{
	struct mem_work *w = &t->work;
	struct cluster *c = t->cluster;
	struct sweep *by = w->refs_unmapped ? &t->sweep : NULL;

	for (unsigned n = 0; n < MEM_STEP && w->refs > 0; n++)
		frame_put(&c->frames, w->refs_first + --w->refs, &c->sweeps, by);
	return w->refs == 0;
}

bool
mem_work_is_held(const struct thread *t)
{
	const struct mem_work *w = &t->work;

	return w->run_count + w->reserved + w->block_count + w->refs > 0 || w->memory != NULL ||
		w->sweeping;
}

bool
mem_work_drop(struct thread *t)
{
	struct frames *f = &t->cluster->frames;
	struct mem_work *w = &t->work;

	if (!mem_refs_drop(t))
		return false;
	for (unsigned n = 0; w->run_count > 0; n++) {
		uint32_t run = w->runs;

		if (n == DROP_STEP)
			return false;
		w->runs = f->frame[run].next;
		w->run_count--;
		mem_refund(t->proc, f->frame[run].prev);
		frames_block_back(f, run, f->frame[run].prev);
	}
	f->free += w->reserved;
	w->reserved = 0;
	if (w->block_count > 0) {
		frames_block_back(f, w->block, w->block_count);
		mem_refund(t->proc, w->block_count);
	}
	w->block_count = 0;
	if (w->memory != NULL)
		object_put(&w->memory->object);
	w->memory = NULL;
	if (w->sweeping)
		sweep_drop(t);
	return true;
}

int
mem_populate(struct process *p, uintptr_t addr, size_t bytes, int prot)
{
	for (uintptr_t at = addr; at < addr + bytes; at += HAL_PAGE_BYTES) {
		const void *page = page_charged(p, FRAME_USER);

		if (page == NULL ||
			map_frame(p, at, frame_at(&proc_cluster(p)->frames, hal_paddr(page)),
			prot | HAL_MAY_ALL) != 0)
			return -E_NOMEM;
	}
	return 0;
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

/*
 * Give up the frames behind some pages of the first area, and its addresses, which nobody counts
 * any more. The page tables stay as they are: they go as a whole later. What is left of `left`.
 */
static int
release_area(struct process *p, const struct area *a, int left)
{
	struct cluster *c = proc_cluster(p);
	uintptr_t start = a->start, addr = start,
		end = p->mapping_count > 0 ? mappings_edge(p, start, a->end) : a->end;
	uint64_t paddr[RELEASE_PAGES];
	int prot;

	left -= RELEASE_AREA;
	while (addr < end && left > 0) {
		size_t most = (end - addr) / HAL_PAGE_BYTES, n,
			hole = hal_hole(&p->space, addr,
				most < HOLE_LOOKS ? (unsigned)most : HOLE_LOOKS);

		if (hole > 0) {
			addr = hole < end - addr ? addr + hole : end;
			left -= RELEASE_LOOK;
			continue;
		}
		n = hal_query_run(&p->space, addr, most < RELEASE_PAGES ? most : RELEASE_PAGES, 0,
			paddr, &prot);
		if (n == 0) {		/* in a large page */
			mem_lookup(p, addr, paddr, &prot);
			n = 1;
			left -= RELEASE_LOOK;
		}
		addr += frames_put(&c->frames, &c->sweeps, paddr, n, &left) * HAL_PAGE_BYTES;
	}
	if (p->mapping_count > 0)
		mapping_free(p, mappings_cut(p, start, addr));
	area_cut_first(&p->areas, addr);
	return left;
}

bool
mem_release(struct process *p)
{
	int left = RELEASE_STEP;

	while (!list_is_empty(&p->areas.list)) {
		left = release_area(p, list_entry(p->areas.list.next, struct area, link), left);
		if (left <= RELEASE_AREA)
			return false;
	}
	return left > RELEASE_STEP / 2 && areas_close(&p->areas) && hal_space_destroy(&p->space);
}
