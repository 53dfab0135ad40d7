/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched: see demand.h. What is called _serve runs on the home core.
 * Several threads may touch a page at once: each brings a frame, the first is mapped. Source: seed
 * 000 III-B (memory management).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/demand.h>
#include <kernel/mem/mem.h>

/* The right that an access needs: 0 read, 1 write, 2 fetch. */
static uint32_t
right_of(unsigned long access)
{
	return access == 0 ? PAGE_READ : access == 1 ? PAGE_WRITE : PAGE_EXEC;
}

/*
 * a[0]: a page, a[1]: the access to it. A frame for it, which is the thread's; -E_EXIST: it is
 * there; -E_FAULT: this access is none that makes a page come; -E_NOMEM; again: -E_AGAIN.
 */
static long
look_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	const struct area *a = area_find(&t->proc->areas, args->a[0]);
	uint32_t right = right_of(args->a[1]), frame;
	uint64_t paddr;
	int prot;

	if (a == NULL || !(a->prot & PAGE_LAZY) || !(a->prot & right))
		return -E_FAULT;
	if (hal_query(&t->proc->space, args->a[0], &paddr, &prot) == 0)
		return (uint32_t)prot & right ? -E_EXIST : -E_FAULT;
	frame = mem_block_charged(t->proc, 1);
	if (unlikely(frame == FRAME_NONE))
		return mem_too_little(t->cluster);
	mem_run_push(t, frame, 1);
	return (long)frame;
}

/* The thread's frame becomes a page of its process. 0; -E_EXIST; -E_NOMEM: no table for it. */
static int
show(struct thread *t, uintptr_t page, int prot)
{
	struct frames *f = &t->cluster->frames;
	uint32_t frame = t->work.runs;
	int e = hal_map(&t->proc->space, page, frame_paddr(f, frame), 1, prot | HAL_MAY_ALL);

	if (e != 0)
		return e;
	mem_run_pop(t);
	f->frame[frame] = (struct frame){.state = FRAME_USER, .owner = t->proc->id, .refs = 1};
	return 0;
}

/*
 * The thread's frame, now zeroed, becomes the page a[0], unless that is there or gone meanwhile: a
 * look tells. 0 or -E_NOMEM.
 */
static long
show_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	const struct area *a = area_find(&t->proc->areas, args->a[0]);
	int e = a == NULL || !(a->prot & PAGE_LAZY) ? -E_INVAL :
		show(t, args->a[0], (int)a->prot & PROT_BITS);

	if (unlikely(e != 0))
		mem_work_drop(t);
	return e == -E_NOMEM ? e : 0;
}

static long
ask(struct core *core, kcall_serve_fn *fn, uintptr_t page, unsigned long access)
{
	struct kcall_args *args = kcall_args(core);

	args->caller = core->current;
	args->a[0] = page;
	args->a[1] = access;
	return am_call_kernel(core, fn, args,
		offsetof(struct kcall_args, a) + 2 * sizeof(args->a[0]));
}

__attribute__((noinline)) bool
demand_bring(struct core *core, const struct hal_trap *trap)
{
	uintptr_t page = trap->addr & ~(uintptr_t)(HAL_PAGE_BYTES - 1);
	long frame;

	if (trap->cause != CRASH_ACCESS)
		return false;
	do
		frame = ask(core, look_serve, page, trap->write);
	while (frame == -E_AGAIN);
	if (frame == -E_EXIST)
		return true;
	if (frame < 0)
		return false;
	mem_zero(core->current, (uint32_t)frame, 1);
	return ask(core, show_serve, page, 0) == 0;
}

bool
demand_reach(struct core *core)
{
	struct hal_trap fault;

	if (!has_demand(core->current))
		return false;
	hal_user_fault(&fault);
	return demand_bring(core, &fault);
}
