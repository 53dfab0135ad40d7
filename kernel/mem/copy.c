/* SPDX-License-Identifier: MIT
 *
 * Memory of a process that appears a second time: copied into another process, which costs no page
 * until one of them writes (see demand.h), or shared, the same frames at another address. Source:
 * seed 000 III-B (memory management), 004 4 (rfork).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/mapping.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>

/* page_copy: what a message may cost, in pages; what a run of pages costs beside these */
#define COPY_STEP 120
#define RUN_COST 28
#define TABLE_RUN 18		/* pages beside which tables are made */
#define LINK_STEP 8

/*
 * What page_copy and page_link are about: process a[0], a[1] on, a[2] pages, which appear at a[4]
 * on.
 */
struct copied {
	struct process *from;
	struct process *to;
	uintptr_t start;
	uintptr_t end;		/* of this step */
	uintptr_t at;		/* of the first in the other process */
	uint32_t was, prot;	/* of its area, before and then */
	int now;		/* rights that one of them has */
	int left;		/* of page_copy: of what this message may cost */
	size_t refs;		/* that the call has to the first frames of these */
	uint64_t paddr[COPY_STEP - RUN_COST];
};

static int
range_check(const struct process *p, uintptr_t addr, unsigned long count)
{
	return addr % HAL_PAGE_BYTES == 0 && addr >= p->space.first && addr < p->space.limit &&
		count > 0 && count <= (p->space.limit - addr) / HAL_PAGE_BYTES ? 0 : -E_INVAL;
}

/*
 * No page is at the first address: the addresses are reserved up to the next one. Of a large page
 * small ones have to be made.
 */
static int
run_without(struct copied *m)
{
	size_t hole = hal_hole(&m->from->space, m->start, HOLE_LOOKS);

	m->prot = m->was | (m->was != 0 ? PAGE_PRIVATE : 0);
	if (hole == 0) {
		m->left = RUN_COST;
		return mem_split(m->from, m->start);
	}
	if (hole < m->end - m->start)
		m->end = m->start + hole;
	return 0;
}

/*
 * A run of page_copy: pages that are there, and become private, to which the
 * call refers. In an area in which none comes by itself they are those that have the same rights,
 * and where none is the addresses stay reserved. Of a page that the kernel counts in only the
 * address is copied.
 */
static int
run_copied(struct frames *f, struct copied *m)
{
	size_t most = (m->end - m->start) / HAL_PAGE_BYTES, pages = (size_t)m->left - RUN_COST;
	uint64_t counted = m->from->events != NULL ? frame_paddr(f, m->from->events_frame) :
		UINT64_MAX;
	bool is_counted;

	pages = hal_query_run(&m->from->space, m->start, most < pages ? most : pages,
		m->was == 0 ? PAGE_READ | PAGE_WRITE | PAGE_EXEC : PAGE_READ, m->paddr, &m->now);
	if (pages == 0)
		return run_without(m);
	if (hal_hole(&m->to->space, m->at, 1) > HAL_PAGE_BYTES) {
		pages = pages < TABLE_RUN ? pages : TABLE_RUN;	/* a table has to be made */
		m->left = RUN_COST;
	}
	m->prot = m->was | ((uint32_t)m->now & PROT_BITS) | PAGE_PRIVATE;
	m->refs = frames_get(f, m->paddr, pages, counted);
	is_counted = m->paddr[0] == counted;
	m->end = m->start + (is_counted ? 1 : m->refs) * HAL_PAGE_BYTES;
	return is_counted || m->refs > 0 ? 0 : -E_NOMEM;
}

/* The processes, and what is left of the call. */
static int
copied_decode(const struct kcall_args *args, struct copied *m)
{
	int e = proc_find(args->caller, (int)args->a[0], RIGHT_WRITE, &m->to);

	m->from = args->caller->proc;
	if (e == 0)
		e = range_check(m->from, args->a[1], args->a[2]);
	return e != 0 ? e : range_check(m->to, args->a[4], args->a[2]);
}

/*
 * The next run: pages of one area, of which nobody else can take any back; for page_link (`shared`)
 * none in which they come or are copied by themselves.
 */
static int
run_decode(const struct kcall_args *args, bool shared, struct copied *m)
{
	unsigned long count = args->a[2];
	const struct area *a = area_find(&m->from->areas, args->a[1]);

	m->start = args->a[1];
	m->at = args->a[4];
	if (shared && count > LINK_STEP)
		count = LINK_STEP;
	if (count > (HAL_LARGE_BYTES - m->at % HAL_LARGE_BYTES) / HAL_PAGE_BYTES)
		count = (HAL_LARGE_BYTES - m->at % HAL_LARGE_BYTES) / HAL_PAGE_BYTES;
	if (a == NULL || (shared && a->prot != 0))
		return -E_INVAL;
	m->end = m->start + count * HAL_PAGE_BYTES;
	if (m->end > a->end)
		m->end = a->end;
	if ((m->end - 1) / HAL_LARGE_BYTES != m->start / HAL_LARGE_BYTES)
		m->end &= ~(HAL_LARGE_BYTES - 1);	/* all small ones, or of one large one */
	m->was = a->prot;
	if (m->from->mapping_count > 0 && mappings_are_in(m->from, m->start, m->end))
		return -E_ACCES;
	return shared ? 0 : run_copied(&args->caller->cluster->frames, m);
}

/* The step is done, as far as anything of it may have to be taken back. */
static long
step_next(struct kcall_args *args, const struct copied *m)
{
	args->a[1] = m->end;
	args->a[4] += m->end - m->start;
	args->a[2] -= (m->end - m->start) / HAL_PAGE_BYTES;
	return args->a[2] > 0 ? -E_AGAIN : 0;
}

/* The pages are both processes' from now on, neither of which may write to them. */
static int
copy_step(struct thread *t, struct copied *m)
{
	if ((m->now & PAGE_WRITE) && !t->work.sweeping) {
		shoot_down_begin(t, m->from);
		t->work.sweeping = true;
	}
	m->left -= (int)m->refs;
	return hal_share(&m->from->space, m->start, m->refs, &m->to->space, m->at);
}

/* A run of pages that are alike, or none of which is there. */
static long
copy_run(struct kcall_args *args, struct copied *m)
{
	struct thread *t = args->caller;
	struct frames *f = &t->cluster->frames;
	int e;

	m->refs = 0;
	e = run_decode(args, false, m);
	if (e == 0)
		e = mem_claim_at(m->to, m->at, m->end - m->start, m->prot);
	if (e == 0 && m->was != m->prot)
		e = mem_area_change(m->from, m->start, m->end, m->prot);
	if (e == 0 && m->refs > 0)
		e = copy_step(t, m);
	while (e != 0 && m->refs > 0)
		frame_put(f, frame_at(f, m->paddr[--m->refs]), &t->cluster->sweeps, NULL);
	m->left -= RUN_COST;
	return e != 0 ? e : step_next(args, m);
}


static long
copy_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct copied m;
	long e;

	if (t->work.sweeping && args->a[2] == 0)
		return shoot_down_end(t, &t->sweep, 0);
	m.left = COPY_STEP;
	e = copied_decode(args, &m);
	if (e == 0 && m.to == m.from)
		e = -E_INVAL;
	if (e == 0)
		do
			e = copy_run(args, &m);
		while (e == -E_AGAIN && m.left > RUN_COST);
	if (e == 0 && t->work.sweeping && m.left <= 0)
		return -E_AGAIN;	/* its end is a step of its own */
	return e != -E_AGAIN && t->work.sweeping ? shoot_down_end(t, &t->sweep, e) : e;
}

/*
 * kc_page_copy: `count` pages at addr of the own process appear at `to` in another (RIGHT_WRITE),
 * where nothing may be claimed. They are private ones from now on in both processes, whatever they
 * were: each gets a page of its own when it writes there. Addresses that are only reserved are so
 * there, too. A page in which the kernel counts (proc_events) does not appear. What other threads
 * write meanwhile may be seen there, or not. Runs and waits like kc_page_protect. Returns 0;
 * -E_BADF; -E_SRCH; -E_ACCES: no right, or memory that was mapped through a view; -E_INVAL: not
 * claimed; -E_EXIST; -E_NOMEM, also: a page is none of the cluster's frames. A call that fails may
 * have copied the first of the pages.
 */
long
kc_page_copy(struct thread *caller, int proc, unsigned long addr, int count, unsigned long to)
{
	return mem_change_steps(caller, copy_serve,
		(unsigned long[MEM_ARGS]){(unsigned long)(long)proc, addr,
		(unsigned long)(long)count, 0, to});
}

/* One more mapping of the frame of a page that is there, with no more rights than that has. */
static int
link_page(struct frames *f, const struct copied *m, uintptr_t at)
{
	uint32_t frame;
	uint64_t paddr;
	int now, e;

	if (mem_lookup(m->from, at, &paddr, &now) != 0)
		return -E_INVAL;
	frame = frame_at(f, paddr);
	if (frame == FRAME_NONE)
		return -E_INVAL;
	if (f->frame[frame].refs >= FRAME_REFS_MAX)
		return -E_NOMEM;
	now &= m->to == m->from ? PROT_BITS | HAL_MAY_ALL : PROT_BITS;
	e = hal_map(&m->to->space, m->at + (at - m->start), paddr, 1, now);
	if (e == 0)
		frame_get(f, frame);
	return e;
}

static long
link_serve(struct kcall_args *args)
{
	struct copied m;
	int e = copied_decode(args, &m);
	long next;

	if (e == 0)
		e = run_decode(args, true, &m);
	if (e == 0)
		e = mem_claim_at(m.to, m.at, m.end - m.start, 0);
	if (e != 0)
		return e;
	next = step_next(args, &m);
	for (uintptr_t at = m.start; e == 0 && at < m.end; at += HAL_PAGE_BYTES)
		e = link_page(&args->caller->cluster->frames, &m, at);
	return e != 0 ? e : next;
}

/*
 * kc_page_link: `count` pages at addr of the own process, neither lazy nor private ones, appear at
 * `to` in a process (RIGHT_WRITE), where nothing may be claimed, too: whoever writes at one address
 * changes what is read at the other. They have the rights that they have at addr; page_protect can
 * later give those of the own process the rights that it can give at addr, those of another one
 * none. Runs: calling core. Returns 0; -E_BADF; -E_SRCH; -E_ACCES: no right, or memory that was
 * mapped through a view; -E_INVAL: nothing is there, or memory of another kind; -E_EXIST; -E_NOMEM.
 * A call that fails leaves nothing behind.
 */
long
kc_page_link(struct thread *caller, int proc, unsigned long addr, int count, unsigned long to)
{
	unsigned long a[MEM_ARGS] = {(unsigned long)(long)proc, addr, (unsigned long)(long)count, 0,
		to};
	long e = mem_steps(caller, link_serve, a);

	return e != 0 && a[4] > to ? page_take_back(caller, proc, to, a[4], e) : e;
}
