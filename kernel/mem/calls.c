/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on frames and mappings. All of this runs on the home core but the local halves of page_unmap and page_protect.
 * Source: seed 000 III-B (memory management).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define PAGES_PER_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)
#define PROT_BITS (PAGE_READ | PAGE_WRITE | PAGE_EXEC)

struct range {
	uintptr_t start;
	uintptr_t end;
};

/* A range of `count` pages of `unit` bytes inside a process's addresses. 0 or -E_INVAL. */
static int
range_make(const struct process *p, uintptr_t addr, long count, size_t unit, struct range *r)
{
	uintptr_t room = p->space.limit - addr;

	if (addr % unit != 0 || addr < p->space.first || addr >= p->space.limit)
		return -E_INVAL;
	if (count <= 0 || (unsigned long)count > room / unit)
		return -E_INVAL;
	r->start = addr;
	r->end = addr + (uintptr_t)count * unit;
	return 0;
}

static bool
prot_is_valid(int prot)
{
	int bits = prot & PROT_BITS;

	return (prot & ~(PROT_BITS | PAGE_LARGE)) == 0 && (bits & PAGE_READ);
}

/*
 * kc_frame_alloc: `count` contiguous frames, zero-filled, held by the caller's process. Runs: home. Returns the first; -E_INVAL; -E_NOMEM.
 */
long
kc_frame_alloc(struct thread *caller, int count)
{
	struct process *p = caller->proc;
	uint32_t first;

	if (count <= 0)
		return -E_INVAL;
	first = frames_alloc(&caller->cluster->frames, (uint32_t)count, FRAME_USER, p->id);
	if (first == FRAME_NONE)
		return -E_NOMEM;
	for (uint32_t i = first; i < first + (uint32_t)count; i++)
		held_add(p, i);
	return (long)first;
}

/*
 * kc_frame_free: give up frames that frame_alloc handed out; each lives on while it is mapped. Runs: home.
 * Returns 0; -E_INVAL: no such frames; -E_ACCES: not held by the caller's process.
 */
long
kc_frame_free(struct thread *caller, int frame, int count)
{
	struct frames *f = &caller->cluster->frames;
	uint32_t end = (uint32_t)frame + (uint32_t)count;

	if (frame < 0 || count <= 0 || end > f->total)
		return -E_INVAL;
	for (uint32_t i = (uint32_t)frame; i < end; i++) {
		if (!frame_is_used(f, i))
			return -E_INVAL;
		if (!f->frame[i].is_held || f->frame[i].owner != caller->proc->id)
			return -E_ACCES;
	}
	for (uint32_t i = (uint32_t)frame; i < end; i++)
		held_remove(caller->proc, i);
	return 0;
}

/* May the caller map these frames so? 0; -E_INVAL: no such frames; -E_ACCES; -E_NOMEM: too many mappings of one. */
static int
frames_check(struct thread *caller, uint32_t first, size_t count, int prot)
{
	struct frames *f = &caller->cluster->frames;

	if (first >= f->total || count > f->total - first)
		return -E_INVAL;
	for (size_t i = first; i < first + count; i++) {
		struct frame *e = &f->frame[i];

		if (!frame_is_used(f, (uint32_t)i))
			return -E_INVAL;
		if (e->state == FRAME_KERNEL || (e->state == FRAME_EVENTS && (prot & PAGE_WRITE)))
			return -E_ACCES;
		if (e->state == FRAME_USER && e->owner != caller->proc->id && caller->proc != caller->cluster->init)
			return -E_ACCES;
		if (e->refs >= FRAME_REFS_MAX)
			return -E_NOMEM;
	}
	return 0;
}

/* Rights that a process may give its mapping of frames later: any to its own frames, no more than it gets now to those of others. */
static int
frames_most(const struct frames *f, const struct process *p, uint32_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		if (f->frame[i].state != FRAME_USER || f->frame[i].owner != p->id)
			return 0;
	return HAL_MAY_ALL;
}

/*
 * kc_page_map: map `count` consecutive frames from `frame` on at addr. The range is reserved (mem_alloc with prot 0) or unclaimed. Where
 * a frame is not the target's own, page_protect can later give no right that is not in prot. Runs: home.
 * Returns 0; -E_BADF; -E_SRCH; -E_INVAL; -E_EXIST: something is there; -E_NOMEM; -E_ACCES: no RIGHT_WRITE, or not its frames. init may map
 * the frames of every process.
 */
long
kc_page_map(struct thread *caller, int proc, unsigned long addr, int frame, int count, int prot)
{
	struct cluster *c = caller->cluster;
	size_t unit = prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	size_t frames;
	struct process *p;
	struct range r;
	bool claimed;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (frame < 0 || !prot_is_valid(prot) || (uint32_t)frame % (unit / HAL_PAGE_BYTES) != 0 || range_make(p, addr, count, unit, &r) != 0)
		return -E_INVAL;
	frames = (r.end - r.start) / HAL_PAGE_BYTES;
	e = frames_check(caller, (uint32_t)frame, frames, prot);
	if (e != 0)
		return e;
	claimed = area_covers(&p->areas, r.start, r.end);
	if (!claimed)
		e = mem_claim_at(p, r.start, r.end - r.start);
	if (e != 0)
		return e;
	prot |= frames_most(&c->frames, p, (uint32_t)frame, frames);
	e = hal_map(&p->space, r.start, frame_paddr(&c->frames, (uint32_t)frame), (size_t)count, prot);
	if (e != 0) {
		if (!claimed)
			mem_unclaim(p, r.start, r.end);
		return e;
	}
	for (size_t i = 0; i < frames; i++)
		frame_get(&c->frames, (uint32_t)(frame + i));
	return 0;
}

/* A large page that the range cuts cannot be changed. Pages that are not mapped are allowed where `holes` is. */
static int
range_check(struct process *p, const struct range *r, bool holes)
{
	for (uintptr_t a = r->start; a < r->end; a += HAL_PAGE_BYTES) {
		uint64_t paddr;
		int prot;

		if (hal_query(&p->space, a, &paddr, &prot) != 0) {
			if (!holes)
				return -E_INVAL;
			continue;
		}
		if (!(prot & PAGE_LARGE))
			continue;
		if (a % HAL_LARGE_BYTES != 0 || r->end - a < HAL_LARGE_BYTES)
			return -E_INVAL;
		a += HAL_LARGE_BYTES - HAL_PAGE_BYTES;
	}
	return 0;
}

/* Pages from `a` on that are mapped, up to the end of the range; their frames lose the mapping. */
static size_t
put_run(struct process *p, uintptr_t a, uintptr_t end)
{
	struct cluster *c = proc_cluster(p);
	uintptr_t at = a;
	uint64_t paddr;
	int prot;

	while (at < end && hal_query(&p->space, at, &paddr, &prot) == 0) {
		size_t pages = prot & PAGE_LARGE ? PAGES_PER_LARGE : 1;
		uint32_t frame = frame_at(&c->frames, paddr);

		for (size_t i = 0; frame != FRAME_NONE && i < pages; i++)
			frame_put(&c->frames, frame + (uint32_t)i, sweeps_epoch(c));
		at += pages * HAL_PAGE_BYTES;
	}
	return (at - a) / HAL_PAGE_BYTES;
}

/* The sweep has begun, so that no frame is free before it ends. A run is unmapped at once: that is one call of the host's. */
static void
range_unmap(struct process *p, const struct range *r)
{
	for (uintptr_t a = r->start; a < r->end; a += HAL_PAGE_BYTES) {
		size_t pages = put_run(p, a, r->end);

		if (pages == 0)
			continue;
		check(hal_unmap(&p->space, a, pages) == 0);
		a += (pages - 1) * HAL_PAGE_BYTES;
	}
}

/* On each core that runs the process. */
static void
shoot_down(struct core *core, const void *data)
{
	const struct sweep_post *post = data;

	hal_tlb_flush();
	sweep_acknowledge(core->cluster, post->sweep);
}

static void
shoot_down_done(struct cluster *c, struct sweep *s)
{
	struct process *p = s->proc;
	struct process *of_caller = s->caller->proc;

	(void)c;
	thread_ready(s->caller, 0);
	proc_sweep_ended(p);
	if (of_caller != p)
		proc_sweep_ended(of_caller);
}

static struct sweep *
shoot_down_begin(struct thread *caller, struct process *p)
{
	struct sweep *s = &caller->sweep;

	s->fn = shoot_down;
	s->done = shoot_down_done;
	s->proc = p;
	s->caller = caller;
	sweep_begin(caller->cluster, s);
	return s;
}

/* The caller's own core flushes when it has our answer (shoot_down_call), before it runs a user thread again. */
static long
shoot_down_end(struct thread *caller, struct sweep *s)
{
	if (sweep_send(caller->cluster, s, (int)caller->core->id))
		return 0;
	return thread_park(caller, NULL);
}

/* Process and range of page_unmap and page_protect. */
static int
change_decode(struct kcall_args *args, struct process **p, struct range *r)
{
	int e = proc_find(args->caller, (int)args->a[0], RIGHT_WRITE, p);

	if (e != 0)
		return e;
	return range_make(*p, args->a[1], (long)args->a[2], HAL_PAGE_BYTES, r);
}

static long
unmap_serve(struct kcall_args *args)
{
	struct cluster *c = args->caller->cluster;
	struct process *p;
	struct range r;
	struct sweep *s;
	int e = change_decode(args, &p, &r);

	if (e != 0)
		return e;
	if (!area_covers(&p->areas, r.start, r.end) || range_check(p, &r, true) != 0)
		return -E_INVAL;
	if (!areas_has_room(&c->areas) || hal_unmap_ready(&p->space, r.start, (r.end - r.start) / HAL_PAGE_BYTES) != 0)
		return -E_NOMEM;
	s = shoot_down_begin(args->caller, p);
	range_unmap(p, &r);
	mem_unclaim(p, r.start, r.end);
	return shoot_down_end(args->caller, s);
}

static long
protect_serve(struct kcall_args *args)
{
	int prot = (int)args->a[3];
	struct process *p;
	struct range r;
	int e = change_decode(args, &p, &r);

	if (e != 0)
		return e;
	if (!prot_is_valid(prot) || range_check(p, &r, false) != 0)
		return -E_INVAL;
	e = hal_protect(&p->space, r.start, (r.end - r.start) / HAL_PAGE_BYTES, prot & PROT_BITS);
	if (e != 0)
		return e;
	return shoot_down_end(args->caller, shoot_down_begin(args->caller, p));
}

static long
shoot_down_call(struct core *core, kcall_serve_fn *fn, struct kcall_args *args)
{
	long result = am_call_kernel(core, fn, args, offsetof(struct kcall_args, a) + 4 * sizeof(args->a[0]));

	if (result == 0 || result == -E_PARK)
		hal_tlb_flush();
	return result;
}

/*
 * kc_page_unmap: give up `count` small pages at addr, mapped or only reserved. Runs: calling core; waits until no core can reach them any
 * more, then the frames that nobody else has are free. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL: not claimed, or a large page
 * is cut. RIGHT_WRITE.
 */
long
kc_page_unmap(struct thread *caller, int proc, unsigned long addr, int count)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	args->a[1] = addr;
	args->a[2] = (unsigned long)(long)count;
	return shoot_down_call(core, unmap_serve, args);
}

/*
 * kc_page_protect: change the protection of mapped pages. Runs and waits like kc_page_unmap. Returns 0; -E_BADF; -E_SRCH; -E_INVAL; -E_ACCES: no
 * RIGHT_WRITE, or a right that a mapping was made without; -E_NOMEM: the host has no room for one more mapping.
 */
long
kc_page_protect(struct thread *caller, int proc, unsigned long addr, int count, int prot)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);

	args->caller = caller;
	args->a[0] = (unsigned long)(long)proc;
	args->a[1] = addr;
	args->a[2] = (unsigned long)(long)count;
	args->a[3] = (unsigned long)(long)prot;
	return shoot_down_call(core, protect_serve, args);
}

/* kc_page_query: what is mapped at addr: frame (-1: none of the cluster's), protection, references. RIGHT_READ. Runs: home. */
long
kc_page_query(struct thread *caller, int proc, unsigned long addr, void *info)
{
	struct frames *f = &caller->cluster->frames;
	struct page_info out = {.frame = -1};
	struct process *p;
	uint64_t paddr;
	uint32_t frame;
	int prot;
	int e = proc_find(caller, proc, RIGHT_READ, &p);

	if (e != 0)
		return e;
	if (addr < p->space.first || addr >= p->space.limit || mem_lookup(p, addr & ~(HAL_PAGE_BYTES - 1), &paddr, &prot) != 0)
		return -E_INVAL;
	frame = frame_at(f, paddr);
	out.prot = (uint32_t)prot;
	if (frame != FRAME_NONE) {
		out.frame = (int32_t)frame;
		out.references = f->frame[frame].refs;
	}
	__builtin_memcpy(info, &out, sizeof(out));
	return 0;
}

/*
 * kc_mem_alloc: zero-filled memory of `len` bytes (rounded up to pages) at an address that the kernel chooses. Protection 0 only
 * reserves addresses, for page_map. RIGHT_WRITE. Runs: home. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL; -E_NOMEM.
 */
long
kc_mem_alloc(struct thread *caller, int proc, unsigned long len, int prot, void *addr)
{
	size_t unit = prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	size_t bytes = (len + unit - 1) & ~(unit - 1);
	struct process *p;
	uintptr_t at;
	uint64_t out;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (bytes < len || bytes == 0 || (prot != 0 && !prot_is_valid(prot)))
		return -E_INVAL;
	e = mem_claim(p, bytes, unit, &at);
	if (e != 0)
		return e;
	if (prot != 0)
		e = mem_populate(p, at, bytes, prot);
	if (e != 0) {
		mem_unclaim(p, at, at + bytes);
		return e;
	}
	out = at;
	__builtin_memcpy(addr, &out, sizeof(out));
	return 0;
}

/*
 * kc_archive_map: map the boot archive read-only into a process (RIGHT_WRITE): every process may read it. Gives address and length.
 * Runs: home. Returns 0; -E_BADF; -E_ACCES; -E_SRCH; -E_NOMEM.
 */
long
kc_archive_map(struct thread *caller, int proc, void *span)
{
	uint64_t out[2];
	struct process *p;
	uintptr_t addr;
	int e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e == 0)
		e = mem_map_archive(p, &addr);
	if (e != 0)
		return e;
	out[0] = addr;
	out[1] = caller->cluster->record->archive_bytes;
	__builtin_memcpy(span, out, sizeof(out));
	return 0;
}
