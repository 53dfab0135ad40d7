/* SPDX-License-Identifier: MIT
 *
 * Kernel calls on mappings. What is called _serve runs on the home core, for a bounded number of
 * pages; the calls themselves run on the calling core and go from step to step. Calls that act on
 * more than one step's pages look at all of them first, so that what is wrong is found before
 * anything changes. Between two steps another thread may change the same pages: then a call that
 * fails has undone what it mapped, but rights changed by page_protect stay so. Source: seed 000
 * III-B (memory management).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/dev/device.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/mapping.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define UNMAP_STEP (MEM_STEP / 4)	/* small pages */
#define PROTECT_STEP (MEM_STEP * 3 / 8)

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

bool
prot_is_valid(int prot)
{
	int bits = prot & PROT_BITS;

	return (prot & ~(PROT_BITS | PAGE_LARGE)) == 0 && (bits == 0 || (bits & PAGE_READ));
}

/* The right of the memory that a private mapping may do without: it never writes there. */
static int
shared_rights(int prot)
{
	return prot & PAGE_PRIVATE ? prot & ~PAGE_WRITE : prot;
}

long
mem_home(struct thread *caller, kcall_serve_fn *fn, unsigned long *a)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = caller;
	for (int i = 0; i < MEM_ARGS; i++)
		args->a[i] = a[i];
	result = am_call_kernel(core, fn, args, offsetof(struct kcall_args, data));
	for (int i = 0; i < MEM_ARGS; i++)
		a[i] = args->a[i];
	return result;
}

/* What page_map, page_protect and page_unmap are about: process a[0], a[1] on, a[2] pages. */
struct change {
	struct process *p;
	struct range r;
	size_t unit;		/* bytes of a page */
	/* page_map: the first frame, and how many; a device has none */
	uint32_t frame;
	uint32_t frames;
	uint64_t paddr;
	struct memory *memory;
	int prot;
	uint32_t area;		/* page_map: what comes there by itself (kernel/mem/area.h) */
};

/*
 * a[3]: page of the memory that comes first; a[4]: protection; a[5]: memory. Everything that can be
 * said about the range as a whole. The most rights that page_protect may give later are those of
 * the handle, but for another process no more than it gets now.
 */
static int
map_decode(struct kcall_args *args, struct change *m)
{
	struct thread *t = args->caller;
	const struct memory *memory;
	uint32_t at = (uint32_t)args->a[3];
	int e = proc_find(t, (int)args->a[0], RIGHT_WRITE, &m->p);

	m->area = args->a[4] & PAGE_PRIVATE ? (uint32_t)args->a[4] : 0;
	m->prot = (int)args->a[4] & ~PAGE_PRIVATE;
	m->unit = m->prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	if (e == 0)
		e = memory_find(t, (int)args->a[5], shared_rights((int)args->a[4]), &m->memory);
	if (e != 0)
		return e;
	memory = m->memory;
	if (!prot_is_valid(m->prot) || range_make(m->p, args->a[1], (long)args->a[2], m->unit,
		&m->r) != 0)
		return -E_INVAL;
	m->frame = memory->first + at;
	m->frames = (uint32_t)((m->r.end - m->r.start) / HAL_PAGE_BYTES);
	if (at > memory->count || m->frames > memory->count - at ||
		m->frame % (m->unit / HAL_PAGE_BYTES) != 0)
		return -E_INVAL;
	m->paddr = memory_paddr(&t->cluster->frames, memory, at);
	if (m->area != 0 && (memory->kind != MEMORY_FRAMES || m->unit != HAL_PAGE_BYTES))
		return -E_INVAL;
	if (memory->kind != MEMORY_FRAMES)
		m->frames = 0;
	if (m->p == t->proc)
		m->prot |= HAL_MAY((int)handle_rights(&t->proc->handles, (int)args->a[5]) &
			PROT_BITS);
	if (m->area != 0)
		m->prot = (m->prot & ~PAGE_WRITE) |
			HAL_MAY(m->p == t->proc ? PAGE_WRITE : m->prot & PAGE_WRITE);
	return 0;
}

/* The next step is done: a[1] to a[3] say what is left. 0: nothing is. */
static long
map_next(unsigned long *a, size_t pages, size_t unit)
{
	a[1] += pages * unit;
	a[2] -= pages;
	a[3] += pages * (unit / HAL_PAGE_BYTES);
	return a[2] > 0 ? -E_AGAIN : 0;
}

static size_t
map_step(const struct kcall_args *args)
{
	size_t most = args->a[4] & PAGE_LARGE ? 1 : MEM_STEP;

	return args->a[2] < most ? args->a[2] : most;
}

/* Is all of it claimed, and does nothing come there by itself? */
static bool
is_reserved(struct process *p, const struct range *r)
{
	const struct area *a = area_find(&p->areas, r->start);

	return a != NULL && r->end <= a->end && a->prot == 0;
}

/* The first look at a range of many steps. Again: -E_AGAIN. */
static long
map_check_serve(struct kcall_args *args)
{
	struct change m;
	uint64_t paddr;
	bool claimed;
	int prot, e = map_decode(args, &m);

	if (e != 0)
		return e;
	claimed = is_reserved(m.p, &m.r);
	if (!claimed && area_overlaps(&m.p->areas, m.r.start, m.r.end))
		return -E_EXIST;
	for (size_t i = 0; claimed && i < map_step(args); i++)
		if (hal_query(&m.p->space, m.r.start + i * m.unit, &paddr, &prot) == 0)
			return -E_EXIST;
	return map_next(args->a, map_step(args), m.unit);
}

/* One more mapping of each frame: -E_NOMEM if one has too many. */
static int
refs_check(const struct frames *f, const struct change *m)
{
	for (uint32_t i = m->frame; i < m->frame + m->frames; i++)
		if (f->frame[i].refs >= FRAME_REFS_MAX)
			return -E_NOMEM;
	return 0;
}

/*
 * The next frames of a large page: who refers to them before they are mapped keeps them as they
 * are. -E_AGAIN: those were not the last.
 */
static int
refs_take(struct thread *t, const struct change *m)
{
	struct frames *f = &t->cluster->frames;
	struct mem_work *w = &t->work;
	struct change part = {.frame = m->frame + w->refs, .frames = MEM_STEP};
	int e;

	if (w->refs == PAGES_PER_LARGE)
		return 0;
	e = refs_check(f, &part);
	if (e != 0)
		return e;
	for (uint32_t i = 0; i < MEM_STEP; i++)
		frame_get(f, part.frame + i);
	w->refs_first = m->frame;
	w->refs_unmapped = false;
	w->refs += MEM_STEP;
	return -E_AGAIN;
}

/* In addresses that are claimed, or nobody's. */
static int
map_pages(const struct change *m, size_t pages)
{
	bool claimed = is_reserved(m->p, &m->r);
	int e = claimed ? mem_area_change(m->p, m->r.start, m->r.end, m->area) :
		mem_claim_at(m->p, m->r.start, m->r.end - m->r.start, m->area);

	if (e != 0)
		return e;
	e = hal_map(&m->p->space, m->r.start, m->paddr, pages, m->prot);
	if (e != 0 && claimed)
		check(area_change(&m->p->areas, m->r.start, m->r.end, 0) == 0);
	else if (e != 0)
		mem_unclaim(m->p, m->r.start, m->r.end);
	return e;
}

/* A step's pages, or a part of one large page. Again: -E_AGAIN. */
static long
map_serve(struct kcall_args *args)
{
	struct cluster *c = args->caller->cluster;
	size_t left = args->a[2], pages = map_step(args);
	struct change m;
	struct mapping *r;
	int e;

	args->a[2] = pages;
	e = map_decode(args, &m);
	args->a[2] = left;
	if (e == 0)
		e = m.unit == HAL_PAGE_BYTES ? refs_check(&c->frames, &m) :
			refs_take(args->caller, &m);
	if (e != 0)
		return e;
	e = mapping_begin(m.p, m.r.start, &args->caller->proc->handles, (int)args->a[5], m.memory,
		&r);
	if (e != 0)
		return e;
	e = map_pages(&m, pages);
	mapping_extend(m.p, r, e == 0 ? m.r.end : m.r.start);
	if (e != 0)
		return e;
	args->caller->work.refs = 0;	/* they are the mapping's now */
	for (uint32_t i = 0; m.unit == HAL_PAGE_BYTES && i < m.frames; i++)
		frame_get(&c->frames, m.frame + i);
	return map_next(args->a, pages, m.unit);
}

static long
refs_drop_serve(struct kcall_args *args)
{
	return mem_refs_drop(args->caller) ? 0 : -E_AGAIN;
}

long
mem_steps(struct thread *caller, kcall_serve_fn *fn, unsigned long *a)
{
	long result;

	do
		result = mem_home(caller, fn, a);
	while (result == -E_AGAIN);
	return result;
}

/*
 * kc_page_map: map `count` pages of a memory, from its page `first` on, at addr. The range is
 * reserved (mem_alloc with prot 0) or unclaimed. The handle needs the rights that prot names; with
 * PAGE_PRIVATE not that to write, for who writes gets a page of his own (kernel/mem/demand.h);
 * prot may name none.
 * page_protect can later give the rights of the handle to pages of the own process, to those of
 * another one none that is not in prot. Runs: calling core. Returns 0; -E_BADF; -E_SRCH; -E_INVAL;
 * -E_EXIST: something is there; -E_NOMEM; -E_ACCES: no RIGHT_WRITE for the process, or not these
 * rights of the memory.
 */
long
kc_page_map(struct thread *caller, int proc, unsigned long addr, int memory, int first, int count,
	int prot)
{
	const unsigned long call[MEM_ARGS] =
		{(unsigned long)(long)proc, addr, (unsigned long)(long)count,
		(unsigned long)(long)first,
		(unsigned long)(long)prot, (unsigned long)(long)memory};
	unsigned long a[MEM_ARGS];
	long e = 0;

	if (count <= 0)
		return -E_INVAL;
	__builtin_memcpy(a, call, sizeof(a));
	if (count > (prot & PAGE_LARGE ? 1 : MEM_STEP))
		e = mem_steps(caller, map_check_serve, a);
	if (e != 0)
		return e;
	__builtin_memcpy(a, call, sizeof(a));
	e = mem_steps(caller, map_serve, a);
	if (e != 0 && (prot & PAGE_LARGE))
		mem_steps(caller, refs_drop_serve, (unsigned long[MEM_ARGS]){0});
	return e != 0 && a[1] > addr ? page_take_back(caller, proc, addr, a[1], e) : e;
}

bool
mem_is_large(struct process *p, uintptr_t at)
{
	uint64_t paddr;
	int prot;

	return hal_query(&p->space, at, &paddr, &prot) == 0 && (prot & PAGE_LARGE);
}

int
mem_split(struct process *p, uintptr_t at)
{
	int e = hal_split(&p->space, at);

	return e == 0 ? -E_AGAIN : e;
}

/*
 * A border between two pages that lies in the middle of a large one: that becomes small ones, and
 * the step begins again. Else 0.
 */
static int
split_at(struct process *p, uintptr_t at)
{
	return at % HAL_LARGE_BYTES != 0 && mem_is_large(p, at) ? mem_split(p, at) : 0;
}

/*
 * Small pages from `a` on that are mapped, up to the end of the range; their frames lose the
 * mapping.
 */
static size_t
put_run(struct process *p, uintptr_t a, uintptr_t end)
{
	struct cluster *c = proc_cluster(p);
	uintptr_t at = a;
	uint64_t paddr;
	int prot;

	while (at < end && hal_query(&p->space, at, &paddr, &prot) == 0 && !(prot & PAGE_LARGE)) {
		uint32_t frame = frame_at(&c->frames, paddr);

		if (frame != FRAME_NONE)
			frame_put(&c->frames, frame, &c->sweeps, c->sweeps.unmapping);
		at += HAL_PAGE_BYTES;
	}
	return (at - a) / HAL_PAGE_BYTES;
}

/*
 * Unmap a large page at `at`, if there is one: the references to its frames are the call's then.
 * Its pages.
 */
static size_t
unmap_large(struct thread *t, struct process *p, uintptr_t at)
{
	uint64_t paddr;
	uint32_t frame;
	int prot;

	if (hal_query(&p->space, at, &paddr, &prot) != 0)
		return 0;
	frame = frame_at(&t->cluster->frames, paddr);
	if (frame != FRAME_NONE) {
		t->work.refs_first = frame;
		t->work.refs = PAGES_PER_LARGE;
		t->work.refs_unmapped = true;
	}
	check(hal_unmap(&p->space, at, PAGES_PER_LARGE) == 0);
	return PAGES_PER_LARGE;
}

/* A run is unmapped at once: that is one call of the host's. */
uintptr_t
mem_unmap_some(struct thread *t, struct process *p, uintptr_t a, uintptr_t end, unsigned pages)
{
	if (end - a > pages * HAL_PAGE_BYTES)
		end = a + pages * HAL_PAGE_BYTES;

	t->cluster->sweeps.unmapping = &t->sweep;
	while (a < end && t->work.refs == 0) {
		size_t pages = put_run(p, a, end);

		if (pages != 0)
			check(hal_unmap(&p->space, a, pages) == 0);
		else
			pages = unmap_large(t, p, a);
		a += (pages != 0 ? pages : 1) * HAL_PAGE_BYTES;
	}
	t->cluster->sweeps.unmapping = NULL;
	return a;
}

void
shoot_down(struct core *core, const void *data)
{
	const struct sweep_post *post = data;

	hal_tlb_flush();
	core_counts(core, CORE_SHOT_DOWN);
	sweep_acknowledge(core->cluster, post->sweep);
}

void
shoot_down_done(struct cluster *c, struct sweep *s)
{
	(void)c;
	thread_ready(s->caller, s->result);
	mem_sweep_ended(s);
}

struct sweep *
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

long
shoot_down_end(struct thread *caller, struct sweep *s, long result)
{
	s->result = result;
	caller->work.sweeping = false;
	sweep_cover(caller->cluster, s, s->proc, (int)caller->core->id);
	if (!sweep_send(caller->cluster, s)) {
		caller->wait.kind = WAIT_MEMORY;
		return thread_park(caller, NULL);
	}
	mem_sweep_ended(s);
	return result;
}

static int
change_decode(struct kcall_args *args, struct change *m)
{
	int e = proc_find(args->caller, (int)args->a[0], RIGHT_WRITE, &m->p);

	if (e != 0)
		return e;
	return range_make(m->p, args->a[1], (long)args->a[2], HAL_PAGE_BYTES, &m->r);
}

static int
unmap_check(struct thread *caller, const struct change *m)
{
	int e;

	if (!area_covers(&m->p->areas, m->r.start, m->r.end))
		return -E_INVAL;
	e = split_at(m->p, m->r.start);
	if (e == 0)
		e = split_at(m->p, m->r.end);
	if (e != 0)
		return e;
	if (!area_may_remove(&m->p->areas, m->r.start) ||
		(m->p->mapping_count > 0 && mappings_split(m->p, m->r.start) != 0))
		return -E_NOMEM;
	return caller->work.sweeping ? 0 :
		hal_unmap_ready(&m->p->space, m->r.start, (m->r.end - m->r.start) / HAL_PAGE_BYTES);
}

/*
 * a[3]: the call's result when the range is gone. -E_AGAIN: a[1] and a[2] say what is left of it.
 */
static long
unmap_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct change m;
	uintptr_t at, edge;
	int e;

	if (t->work.cut != NULL) {
		mapping_free(t->sweep.proc, t->work.cut);
		t->work.cut = NULL;
		return -E_AGAIN;
	}
	/* of the large page that was unmapped last */
	if (t->work.refs > 0 && (!mem_refs_drop(t) || args->a[2] > 0))
		return -E_AGAIN;
	if (t->work.sweeping && args->a[2] == 0)
		return shoot_down_end(t, &t->sweep, (long)args->a[3]);
	e = change_decode(args, &m);
	if (e == 0)
		e = unmap_check(t, &m);
	if (e != 0)
		return e != -E_AGAIN && t->work.sweeping ? shoot_down_end(t, &t->sweep, e) : e;
	if (!t->work.sweeping)
		shoot_down_begin(t, m.p);
	t->work.sweeping = true;
	edge = area_edge(&m.p->areas, m.r.start, m.r.end);
	if (m.p->mapping_count == 0) {
		at = mem_unmap_some(t, m.p, m.r.start, edge, UNMAP_STEP);
	} else {
		at = mem_unmap_some(t, m.p, m.r.start, mappings_edge(m.p, m.r.start, edge),
			UNMAP_REVOCABLE);
		t->work.cut = mappings_cut(m.p, m.r.start, at);
	}
	mem_unclaim(m.p, m.r.start, at);
	args->a[1] = at;
	args->a[2] = (m.r.end - at) / HAL_PAGE_BYTES;
	return args->a[2] > 0 || t->work.cut != NULL || t->work.refs > 0 ? -E_AGAIN :
		shoot_down_end(t, &t->sweep, (long)args->a[3]);
}

bool
mem_is_lazy(struct process *p, uintptr_t addr)
{
	const struct area *a = area_find(&p->areas, addr);

	return a != NULL && (a->prot & PAGE_LAZY);
}

/* The next pages of a range: are they mapped, with these rights at most, or would they come? */
static int
protect_look(struct change *m, int rights)
{
	for (unsigned n = 0; n < PROTECT_STEP && m->r.start < m->r.end; n++) {
		uintptr_t unit = HAL_PAGE_BYTES;
		uint64_t paddr;
		int prot;

		if (hal_query(&m->p->space, m->r.start, &paddr, &prot) == 0) {
			if (HAL_MAY(rights) & ~prot)
				return -E_ACCES;
			unit = prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
		} else if (!mem_is_lazy(m->p, m->r.start)) {
			return -E_INVAL;
		}
		m->r.start = (m->r.start | (unit - 1)) + 1;
	}
	if (m->r.start > m->r.end)
		m->r.start = m->r.end;
	return 0;
}

/* The first look at a long range: a[1] and a[2] say what is left. */
static long
protect_check_serve(struct kcall_args *args)
{
	struct change m;
	int e = change_decode(args, &m);

	if (e != 0 || !prot_is_valid((int)args->a[3]))
		return e != 0 ? e : -E_INVAL;
	e = protect_look(&m, (int)args->a[3] & PROT_BITS);
	if (e != 0)
		return e;
	args->a[1] = m.r.start;
	args->a[2] = (m.r.end - m.r.start) / HAL_PAGE_BYTES;
	return m.r.start < m.r.end ? -E_AGAIN : 0;
}

/*
 * Pages of an area in which they come or are copied: those that are there change, and what others
 * will have. A private one may not be written to before it was seen whose it is.
 */
static int
protect_area(struct process *p, uint32_t kind, uintptr_t at, uintptr_t end, int rights)
{
	int e = area_change(&p->areas, at, end, kind | (uint32_t)rights);
	uint64_t paddr;
	int prot;

	rights &= kind & PAGE_PRIVATE ? ~PAGE_WRITE : ~0;

	while (e == 0 && at < end) {
		uintptr_t from = at;

		while (at < end && hal_query(&p->space, at, &paddr, &prot) == 0)
			at += prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
		if (at > from)
			e = hal_protect(&p->space, from, (at - from) / HAL_PAGE_BYTES, rights);
		else
			at += HAL_PAGE_BYTES;
	}
	return e;
}

/*
 * A step's pages, or one large page: all of a short range. Where some of the process's memory is
 * lazy, what is alike of them.
 */
static int
protect_pages(const struct change *m, size_t *pages, int rights)
{
	uintptr_t end = m->r.start + *pages * HAL_PAGE_BYTES;
	const struct area *a;

	if (hal_load32(&m->p->demand) == 0)
		return hal_protect(&m->p->space, m->r.start, *pages, rights);
	a = area_find(&m->p->areas, m->r.start);
	if (a == NULL || a->prot == 0)
		return hal_protect(&m->p->space, m->r.start, *pages, rights);
	if (a->end < end)
		end = a->end;
	*pages = (end - m->r.start) / HAL_PAGE_BYTES;
	return protect_area(m->p, a->prot & ~(uint32_t)PROT_BITS, m->r.start, end, rights);
}

/* Before the first step of a call: where not all of it is alike it is looked at as a whole. */
static int
protect_begin(const struct kcall_args *args, const struct change *m)
{
	struct change look = *m;

	if (!prot_is_valid((int)args->a[3]))
		return -E_INVAL;
	return args->a[4] == 0 && hal_load32(&m->p->demand) != 0 ?
		protect_look(&look, (int)args->a[3] & PROT_BITS) : 0;
}

/*
 * Pages of the next step: no small ones and large ones together. A large page of which a part is
 * meant becomes small ones, and the step begins again.
 */
static int
protect_step(const struct kcall_args *args, const struct change *m, size_t *pages)
{
	size_t to_border = PAGES_PER_LARGE - m->r.start % HAL_LARGE_BYTES / HAL_PAGE_BYTES;

	if (mem_is_large(m->p, m->r.start)) {
		if (to_border != PAGES_PER_LARGE || args->a[2] < PAGES_PER_LARGE)
			return mem_split(m->p, m->r.start);
		*pages = PAGES_PER_LARGE;
		return 0;
	}
	*pages = args->a[2] < PROTECT_STEP ? args->a[2] : PROTECT_STEP;
	if (*pages > to_border)
		*pages = to_border;
	return 0;
}

/*
 * The small pages in place of which there could be a large one, up to `end`, if the call is about
 * all of them: they become one if they are of one area, nobody may take a part of them back, and no
 * page of them is ever replaced alone.
 */
static void
join(struct thread *t, struct process *p, uintptr_t first, uintptr_t end)
{
	uintptr_t start = end - HAL_LARGE_BYTES;
	const struct area *a;

	if (end % HAL_LARGE_BYTES != 0 || end - first < HAL_LARGE_BYTES)
		return;
	a = area_find(&p->areas, start);
	if (a == NULL || a->end < end || (a->prot & PAGE_PRIVATE) || mappings_are_in(p, start, end))
		return;
	t->cluster->sweeps.unmapping = &t->sweep;
	hal_join(&p->space, start);
	t->cluster->sweeps.unmapping = NULL;
}

/* One step's pages. a[5]: where the call began. The sweep has begun when something has changed. */
static long
protect_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	size_t pages = 0;
	struct change m;
	int e = change_decode(args, &m);

	if (e == 0)
		e = protect_begin(args, &m);
	if (e == 0)
		e = protect_step(args, &m, &pages);
	if (e == 0)
		e = protect_pages(&m, &pages, (int)args->a[3] & PROT_BITS);
	if (e != 0)
		return e != -E_AGAIN && t->work.sweeping ? shoot_down_end(t, &t->sweep, e) : e;
	if (!t->work.sweeping)
		shoot_down_begin(t, m.p);
	t->work.sweeping = true;
	args->a[1] += pages * HAL_PAGE_BYTES;
	args->a[2] -= pages;
	args->a[4] = 1;			/* something has changed */
	if (args->a[3] & PAGE_LARGE)
		join(t, m.p, args->a[5], args->a[1]);
	return args->a[2] > 0 ? -E_AGAIN : shoot_down_end(t, &t->sweep, 0);
}

long
mem_change_steps(struct thread *caller, kcall_serve_fn *fn, unsigned long *a)
{
	long result = mem_steps(caller, fn, a);

	hal_tlb_flush();
	return result;
}

long
page_take_back(struct thread *caller, int proc, uintptr_t start, uintptr_t end, long error)
{
	unsigned long a[MEM_ARGS] = {(unsigned long)(long)proc, start,
		(end - start) / HAL_PAGE_BYTES, (unsigned long)error};
	long result = mem_change_steps(caller, unmap_serve, a);

	return result == -E_PARK ? result : error;
}

/*
 * kc_page_unmap: give up `count` small pages at addr, mapped or only reserved. Runs: calling core;
 * waits until no core can reach them any more, then the frames that nobody else has are free.
 * RIGHT_WRITE. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_INVAL: not claimed, or a large page is
 * cut; -E_NOMEM. Where another thread gives up some of the pages meanwhile it is -E_INVAL, and
 * those before these are given up.
 */
long
kc_page_unmap(struct thread *caller, int proc, unsigned long addr, int count)
{
	return mem_change_steps(caller, unmap_serve,
		(unsigned long[MEM_ARGS]){(unsigned long)(long)proc, addr,
		(unsigned long)(long)count});
}

/*
 * kc_page_protect: change the protection of mapped pages, and of lazy memory, whose pages come with
 * it from then on; with 0 no thread can reach them, and they keep what they have (a call of the
 * kernel's may read there). Private pages are written to as before. A large page of which a part is
 * meant becomes small ones; with PAGE_LARGE in prot small pages in place of which a large one can
 * be become one, if all of them are meant: with one block of memory behind them, all in one area
 * that is not private, and not mapped through a view (on or1k they stay as they are). Runs and
 * waits like kc_page_unmap. Returns 0; -E_BADF; -E_SRCH; -E_INVAL; -E_ACCES: no RIGHT_WRITE, or a
 * right that a mapping was made without; -E_NOMEM: the host has no room for one more mapping. Of
 * more than PROTECT_STEP pages some may have changed if another thread changes them meanwhile, or
 * if a host has no room.
 */
long
kc_page_protect(struct thread *caller, int proc, unsigned long addr, int count, int prot)
{
	const unsigned long call[MEM_ARGS] =
		{(unsigned long)(long)proc, addr, (unsigned long)(long)count,
		(unsigned long)(long)prot, 0, addr};
	unsigned long a[MEM_ARGS];
	long e = 0;

	__builtin_memcpy(a, call, sizeof(a));
	while (count > PROTECT_STEP && (e = mem_home(caller, protect_check_serve, a)) == -E_AGAIN)
		continue;
	if (e != 0)
		return e;
	__builtin_memcpy(a, call, sizeof(a));
	return mem_change_steps(caller, protect_serve, a);
}
