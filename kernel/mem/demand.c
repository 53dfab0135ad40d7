/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched, and pages that are copied when they are written to: see
 * demand.h. What is called _serve runs on the home core. Several threads may touch a page at once:
 * each brings a frame, the first is mapped. Source: seed 000 III-B (memory management).
 */
#include <base/str.h>
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/clear.h>
#include <kernel/mem/demand.h>
#include <kernel/mem/mem.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/run.h>

#define POPULATE_STEP 8			/* pages */

/* The right that an access needs: 0 read, 1 write, 2 fetch. */
static uint32_t
right_of(unsigned long access)
{
	return access == 0 ? PAGE_READ : access == 1 ? PAGE_WRITE : PAGE_EXEC;
}

/* A frame for a page, which is the thread's until it is shown; -E_NOMEM; again: -E_AGAIN. */
static long
take(struct thread *t)
{
	uint32_t frame = mem_block_charged(t->proc, 1);

	if (unlikely(frame == FRAME_NONE))
		return mem_too_little(t->cluster);
	mem_run_push(t, frame, 1);
	return (long)frame;
}

/*
 * Nobody else has this frame, nor may a core know it by a mapping that is gone: it becomes the
 * process's own. 0 or -E_NOMEM.
 */
static int
take_over(struct process *p, uintptr_t page, struct frame *f, uint64_t paddr, uint32_t prot)
{
	int e = f->owner != p->id && !mem_charge(p, 1) ? -E_NOMEM : 0;

	if (e == 0)
		e = hal_remap(&p->space, page, paddr, paddr, (int)prot & PROT_BITS);
	if (f->owner == p->id)
		return e;
	frame_freed(e == 0 ? f->owner : p->id);
	if (e == 0)
		f->owner = p->id;
	return e;
}

/*
 * A write to a page of a private area that is mapped without the right: as look_serve. a[1]: the
 * frame to copy, and 1.
 */
static __attribute__((noinline)) long
look_private(struct kcall_args *args, uint32_t prot, uint64_t paddr)
{
	struct thread *t = args->caller;
	struct frames *f = &t->cluster->frames;
	uint32_t old = frame_at(f, paddr);
	long e;

	if (old == FRAME_NONE)
		return -E_FAULT;
	/* until a shoot-down ends another core may write to the frame: the access is tried again */
	if (!HAL_REMAP_IS_SEEN && t->proc->holds != 0)
		return -E_EXIST;
	if (f->frame[old].refs == 1 &&
		(f->frame[old].prev == 0 || list_is_empty(&t->cluster->sweeps.running))) {
		e = take_over(t->proc, args->a[0], &f->frame[old], paddr, prot);
		return e == 0 ? -E_EXIST : e;
	}
	if (f->frame[old].refs >= FRAME_REFS_MAX)
		return -E_NOMEM;
	e = take(t);
	if (e < 0)
		return e;
	frame_get(f, old);
	t->work.refs_first = old;
	t->work.refs = 1;
	t->work.refs_unmapped = false;
	args->a[1] = old + 1;
	return e;
}

/* The thread's frame is a page of its process from now on. */
static void
give(struct thread *t)
{
	uint32_t frame = t->work.runs;

	mem_run_pop(t);
	t->cluster->frames.frame[frame] =
		(struct frame){.state = FRAME_USER, .owner = t->proc->id, .refs = 1};
}

/* Where no page is. 0; -E_EXIST; -E_NOMEM: no table for it. */
static int
show(struct thread *t, uintptr_t page, uint32_t prot)
{
	int e = hal_map(&t->proc->space, page, frame_paddr(&t->cluster->frames, t->work.runs), 1,
		((int)prot & PROT_BITS) | HAL_MAY_ALL);

	if (e == 0)
		give(t);
	return e;
}

/*
 * In the place of the frame `old`, whose copy it is. The thread's core forgets that in any case
 * (bring). Others may know it: the thread goes on when they have forgotten it. 0; -E_PARK;
 * -E_EXIST: the page is another one now; -E_NOMEM.
 */
static __attribute__((noinline)) long
replace(struct thread *t, uintptr_t page, uint32_t prot, uint32_t old)
{
	struct cluster *c = t->cluster;
	struct process *p = t->proc;
	struct sweep *s;
	int e = prot & PAGE_WRITE ? hal_remap(&p->space, page, frame_paddr(&c->frames, old),
		frame_paddr(&c->frames, t->work.runs), (int)prot & PROT_BITS) : -E_EXIST;

	if (e != 0)
		return e;
	give(t);
	mem_refs_drop(t);
	if (HAL_REMAP_IS_SEEN || sweep_needs_only(c, p, t->core->id)) {
		frame_put(&c->frames, old, &c->sweeps, NULL);
		return 0;
	}
	s = shoot_down_begin(t, p);
	frame_put(&c->frames, old, &c->sweeps, s);
	return shoot_down_end(t, s, 0);
}

/*
 * The thread's frame, now filled, becomes the page a[0], unless that is there or gone meanwhile: a
 * look tells. a[1]: as look_serve leaves it. 0, -E_PARK or -E_NOMEM.
 */
static long
show_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	const struct area *a = area_find(&t->proc->areas, args->a[0]);
	uint32_t old = (uint32_t)args->a[1];
	long e = -E_EXIST;

	if (a != NULL && old == 0 && (a->prot & PAGE_LAZY))
		e = show(t, args->a[0], a->prot);
	else if (a != NULL && old != 0 && (a->prot & PAGE_PRIVATE))
		e = replace(t, args->a[0], a->prot, old - 1);
	if (unlikely(e != 0 && e != -E_PARK))
		mem_work_drop(t);
	return e == -E_NOMEM || e == -E_PARK ? e : 0;
}

/* A frame that holds zeros already is shown at once. False: none is ready, or there is no table. */
static __attribute__((noinline)) bool
show_ready(struct kcall_args *args)
{
	struct thread *t = args->caller;
	uint32_t frame = clear_take(t->proc);

	if (frame == FRAME_NONE)
		return false;
	mem_run_push(t, frame, 1);
	if (show_serve(args) != 0)
		return false;
	args->a[1] = FRAME_NONE;
	return true;
}

/*
 * a[0]: a page, a[1]: the access to it; whether the thread may wait says a[2]. A frame for it,
 * which is the thread's, and a[1]: 0, or the frame whose copy that will be, and 1; or 0 and a[1]:
 * FRAME_NONE: it has come; -E_EXIST: it is there; -E_FAULT: this access is none that makes a page
 * come; -E_NOMEM; again: -E_AGAIN.
 */
static long
look_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	const struct area *a = area_find(&t->proc->areas, args->a[0]);
	uint32_t right = right_of(args->a[1]);
	uint64_t paddr;
	int prot;

	counts_home(t, RUN_FAULTS);
	if (a == NULL || !(a->prot & right))
		return -E_FAULT;
	if (hal_query(&t->proc->space, args->a[0], &paddr, &prot) == 0) {
		if ((uint32_t)prot & right)
			return -E_EXIST;
		return (a->prot & PAGE_PRIVATE) && args->a[2] ?
			look_private(args, a->prot, paddr) : -E_FAULT;
	}
	if (!(a->prot & PAGE_LAZY))
		return -E_FAULT;
	args->a[1] = 0;
	if (unlikely(t->cluster->clearing.core != NULL) && show_ready(args))
		return 0;
	return take(t);
}

static long
ask(struct core *core, kcall_serve_fn *fn, unsigned long *a)
{
	struct kcall_args *args = kcall_args(core);
	long result;

	args->caller = core->current;
	args->a[0] = a[0];
	args->a[1] = a[1];
	args->a[2] = a[2];
	result = am_call_kernel(core, fn, args,
		offsetof(struct kcall_args, a) + 3 * sizeof(args->a[0]));
	a[1] = args->a[1];
	return result;
}

static void
copy(struct thread *t, uint32_t to, uint32_t from)
{
	struct frames *f = &t->cluster->frames;

	hal_acquire(frame_kaddr(f, from), HAL_PAGE_BYTES);
	memcpy(frame_kaddr(f, to), frame_kaddr(f, from), HAL_PAGE_BYTES);
	hal_publish(frame_kaddr(f, to), HAL_PAGE_BYTES);
}

/* -E_PARK: the thread has been parked, and tries again when it goes on; 0: it does that now. */
static long
bring(struct core *core, const struct hal_trap *trap, bool may_wait)
{
	unsigned long a[3] = {trap->addr & ~(uintptr_t)(HAL_PAGE_BYTES - 1), trap->write, may_wait};
	long frame, e;

	if (trap->cause != CRASH_ACCESS)
		return -E_FAULT;
	do {
		a[1] = trap->write;
		frame = ask(core, look_serve, a);
	} while (frame == -E_AGAIN);
	if (frame == -E_EXIST)
		hal_tlb_flush();
	if (frame < 0)
		return frame == -E_EXIST ? 0 : frame;
	if (a[1] == FRAME_NONE)
		return 0;
	if (likely(a[1] == 0))
		mem_zero(core->current, (uint32_t)frame, 1);
	else
		copy(core->current, (uint32_t)frame, (uint32_t)a[1] - 1);
	e = ask(core, show_serve, a);
	if (a[1] != 0)
		hal_tlb_flush();
	return e;
}

/* A thread that waited goes on: it tries again, the access or the call. */
static long
access_go(struct hal_frame *f, long result, const void *data)
{
	(void)result;
	(void)data;
	core_takes_up(core_self());
	return hal_frame_resume(f);
}

static long
call_go(struct hal_frame *f, long result, const void *data)
{
	(void)result;
	(void)data;
	core_takes_up(core_self());
	return hal_call_again(f);
}

/* Is a[0] in lazy memory that nobody else has, with room for a large page? Its protection, or 0. */
static int
large_prot(struct process *p, uintptr_t at)
{
	const struct area *a = area_find(&p->areas, at);
	uint64_t paddr;
	int prot;

	if (a == NULL || (a->prot & (PAGE_LAZY | PAGE_PRIVATE)) != PAGE_LAZY ||
		a->end - at < HAL_LARGE_BYTES || hal_query(&p->space, at, &paddr, &prot) == 0)
		return 0;
	return (int)a->prot & PROT_BITS;
}

/* a[0]: a large page's address. Whether it could be there; with a[1] the caller's run appears. */
static long
large_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	int prot = large_prot(t->proc, args->a[0]);

	if (prot == 0 || args->a[1] == 0)
		return prot != 0 ? 0 : -E_EXIST;
	return mem_run_map(t, t->proc, args->a[0] + HAL_LARGE_BYTES, prot | PAGE_LARGE);
}

/* A large page of lazy memory comes as one, if nothing of it is there. False: it does not. */
static bool
bring_large(struct thread *caller, unsigned long addr)
{
	unsigned long a[MEM_ARGS] = {addr, 0};
	bool came;

	if (mem_home(caller, large_serve, a) != 0)
		return false;
	a[1] = 1;
	came = mem_take_zeroed(caller, PAGES_PER_LARGE, true) == 0 &&
		mem_home(caller, large_serve, a) > 0;
	mem_settle(caller);
	return came;
}

/*
 * kc_page_populate: the first of `count` pages from addr on of the own process come as if they were
 * touched: written to if prot has PAGE_WRITE, else fetched from if it has PAGE_EXEC, else read. A
 * call does a part, for no other thread uses the core meanwhile. With PAGE_LARGE in prot lazy
 * memory gets a large page where one is free, and nothing of it is there yet. Runs: calling core;
 * waits, and begins again then, where a page is replaced that other cores know. Returns how many
 * pages are there, at least 1; -E_INVAL; -E_FAULT: a touch of the first would be a fault; -E_NOMEM.
 */
long
kc_page_populate(struct thread *caller, unsigned long addr, int count, int prot)
{
	struct core *core = core_self();
	struct hal_trap touch = {.cause = CRASH_ACCESS, .addr = addr,
		.write = prot & PAGE_WRITE ? 1 : prot & PAGE_EXEC ? 2 : 0};
	long e = 0;
	int done;

	if (addr % HAL_PAGE_BYTES != 0 || count <= 0 || (prot & ~(PROT_BITS | PAGE_LARGE)) != 0)
		return -E_INVAL;
	if ((prot & PAGE_LARGE) && addr % HAL_LARGE_BYTES == 0 &&
		(size_t)count >= PAGES_PER_LARGE && bring_large(caller, addr))
		return (long)PAGES_PER_LARGE;
	for (done = 0; done < count && done < POPULATE_STEP; done++) {
		e = bring(core, &touch, true);
		if (e != 0)
			break;
		touch.addr += HAL_PAGE_BYTES;
		if (core_is_home(core))
			am_serve(core);
	}
	if (e != -E_PARK)
		return done > 0 ? done : e;
	caller->resume = RESUME_FINISH;
	caller->finish = call_go;
	return e;
}

__attribute__((noinline)) bool
demand_bring(struct core *core, const struct hal_trap *trap, enum handler_why why)
{
	struct thread *t = core->current;
	long e = bring(core, trap, true);

	if (likely(e != -E_PARK))
		return e == 0;
	t->resume = RESUME_FINISH;
	t->finish = why == HANDLES_PROBE ? call_go : access_go;
	core_leave(core);
}

bool
demand_reach(struct core *core)
{
	struct hal_trap fault;

	if (!has_demand(core->current))
		return false;
	hal_user_fault(&fault);
	return bring(core, &fault, HAL_REMAP_IS_SEEN) == 0;
}
