/* SPDX-License-Identifier: MIT
 *
 * Kernel calls that give memory. The calling core asks home for some frames, fills them with zeros
 * and has home show them, until all are there; nobody sees frames before they are zeroed. Source:
 * seed 000 III-B (memory management).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define ZERO_STEP (MEM_STEP / 16)	/* pages */

/* Home, where its own thread calls, serves others after each step. */
void
mem_zero(struct thread *caller, uint32_t frame, uint32_t count)
{
	struct core *core = core_self();
	uint32_t n;

	for (; count > 0; frame += n, count -= n) {
		void *at = frame_kaddr(&caller->cluster->frames, frame);

		n = count < ZERO_STEP ? count : ZERO_STEP;
		hal_zero_pages(at, n * HAL_PAGE_BYTES);
		hal_publish(at, n * HAL_PAGE_BYTES);
		if (core_is_home(core))
			am_serve(core);
	}
}

long
mem_too_little(struct cluster *c)
{
	return memory_drop_some(c) ? -E_AGAIN : -E_NOMEM;
}

/* a[0]: how many frames. The handle; a[1]: the first frame. Again: -E_AGAIN. */
static long
create_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct frames *f = &t->cluster->frames;
	struct mem_work *w = &t->work;
	uint32_t count = (uint32_t)args->a[0], first;
	long handle;

	if (!mem_charge(t->proc, count))
		return mem_too_little(t->cluster);
	first = frames_block(f, t->proc->domain, count);
	handle = first == FRAME_NONE ? mem_too_little(t->cluster) : memory_new(t->proc,
		sizeof(struct memory), RIGHTS_OF_PAGES | RIGHT_GRANT | RIGHT_REVOKE, &w->memory);
	if (handle < 0) {
		if (first != FRAME_NONE)
			frames_block_back(f, first, count);
		mem_refund(t->proc, count);
		return handle;
	}
	object_get(&w->memory->object);
	w->memory->first = w->block = first;
	w->block_count = count;
	args->a[1] = first;
	return handle;
}

/* The next a[0] frames of the block are zeroed: they are the object's now. */
static long
grow_serve(struct kcall_args *args)
{
	struct mem_work *w = &args->caller->work;
	uint32_t count = (uint32_t)args->a[0];

	memory_grow(args->caller->proc, w->memory, count);
	w->block += count;
	w->block_count -= count;
	if (w->block_count == 0)
		mem_work_drop(args->caller);
	else
		frames_mark_next(&args->caller->cluster->frames, w->block);
	return 0;
}

/*
 * kc_memory_create: memory of `count` contiguous page frames, filled with zeros, aligned to the
 * next power of two at or above count. Runs: calling core. Returns its handle, with the rights to
 * map it in each way, to grant and to revoke; -E_INVAL; -E_NOMEM; -E_MFILE.
 */
long
kc_memory_create(struct thread *caller, int count)
{
	unsigned long a[MEM_ARGS] = {(unsigned long)count};
	uint32_t left = (uint32_t)count, n;
	long handle;

	if (count <= 0)
		return -E_INVAL;
	handle = mem_steps(caller, create_serve, a);
	for (uint32_t at = (uint32_t)a[1]; handle > 0 && left > 0; at += n, left -= n) {
		n = left < MEM_STEP ? left : MEM_STEP;
		mem_zero(caller, at, n);
		mem_home(caller, grow_serve, (unsigned long[MEM_ARGS]){n});
	}
	return handle;
}

/* The next run of a[0] pages, of large ones if a[1]. Its frame; a[2]: pages. Again: -E_AGAIN. */
static long
run_serve(struct kcall_args *args)
{
	uint32_t taken = 0;
	long run = mem_run_take(args->caller, args->a[0], args->a[1] != 0, &taken);

	args->a[2] = taken;
	return run == -E_NOMEM ? mem_too_little(args->caller->cluster) : run;
}

/*
 * Process, bytes, protection, and where to look from. Claims the range a[1], a[2] and sets frames
 * aside for its tables. Again: -E_AGAIN.
 */
static long
claim_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	int prot = (int)args->a[2], lazy = prot & PAGE_LAZY ? prot : 0;
	size_t unit = prot & PAGE_LARGE ? HAL_LARGE_BYTES : HAL_PAGE_BYTES, len = args->a[1];
	size_t bytes = (len + unit - 1) & ~(unit - 1);
	struct frames *f = &t->cluster->frames;
	struct process *p;
	uint32_t tables;
	uintptr_t at = args->a[3];
	int e = proc_find(t, (int)args->a[0], RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (bytes < len || bytes == 0 || !prot_is_valid(prot & ~PAGE_LAZY) || (lazy & PAGE_LARGE))
		return -E_INVAL;
	e = mem_claim(p, bytes, unit, (uint32_t)lazy, &at);
	args->a[3] = at;
	if (e != 0)
		return e;
	tables = prot == 0 || lazy ? 0 : mem_tables_most(at, at + bytes);
	if (tables != 0 && !quota_has_room(p->quota, QUOTA_BYTES,
		bytes + (size_t)tables * HAL_PAGE_BYTES)) {
		mem_unclaim(p, at, at + bytes);
		return mem_too_little(t->cluster);
	}
	args->a[1] = at;
	args->a[2] = bytes;
	t->work.reserved = tables;
	f->free -= tables;
	return 0;
}

/*
 * The first run of the list appears in process a[0] so that it ends at a[1], with protection a[2].
 * Its pages. Behind the last nothing stays with the thread.
 */
static long
show_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct process *p;
	long e = proc_find(t, (int)args->a[0], RIGHT_WRITE, &p);

	if (e == 0)
		e = mem_run_map(t, p, args->a[1], (int)args->a[2]);
	if (e > 0 && t->work.run_count == 0)
		mem_work_drop(t);
	return e;
}

/* The end, good or bad: nothing stays with the thread. Again: -E_AGAIN. */
static long
settle_serve(struct kcall_args *args)
{
	return mem_work_drop(args->caller) ? 0 : -E_AGAIN;
}

long
mem_settle(struct thread *caller)
{
	return mem_steps(caller, settle_serve, (unsigned long[MEM_ARGS]){0});
}

long
mem_take_zeroed(struct thread *caller, size_t pages, bool large)
{
	while (pages > 0) {
		unsigned long a[MEM_ARGS] = {pages, large};
		long run = mem_home(caller, run_serve, a);

		if (run == -E_AGAIN)
			continue;
		if (run < 0)
			return run;
		mem_zero(caller, (uint32_t)run, (uint32_t)a[2]);
		pages -= a[2];
	}
	return 0;
}

/* Show them, from the end of the range on. *at: the lowest that is there. */
static long
show_all(struct thread *caller, int proc, uintptr_t start, uintptr_t *at, int prot)
{
	while (*at > start) {
		long pages = mem_home(caller, show_serve,
			(unsigned long[MEM_ARGS]){(unsigned long)(long)proc, *at,
			(unsigned long)prot});

		if (pages < 0)
			return pages;
		*at -= (size_t)pages * HAL_PAGE_BYTES;
	}
	return 0;
}

/*
 * kc_mem_alloc: zero-filled memory of `len` bytes (rounded up to pages) at an address that the
 * kernel chooses. Protection 0 only reserves addresses, for page_map; with PAGE_LAZY a page comes
 * and is charged when it is first touched, and where there is none left then, that is a fault
 * (kernel/mem/demand.h). RIGHT_WRITE. Runs: calling core. Other threads may see a part of the
 * memory before the call ends. Returns 0; -E_BADF; -E_SRCH; -E_ACCES; -E_NOMEM; -E_INVAL, also if
 * another thread changes the range meanwhile. All frames are found before one is shown, so that a
 * call which fails has shown nothing; only where a host has no room for the mapping, or the range
 * was changed, is memory taken back. What another thread has mapped into the range of a call that
 * fails is gone with it.
 */
long
kc_mem_alloc(struct thread *caller, int proc, unsigned long len, int prot, void *addr)
{
	unsigned long a[MEM_ARGS] = {(unsigned long)(long)proc, len, (unsigned long)(long)prot};
	long e = mem_steps(caller, claim_serve, a);
	uintptr_t start = a[1], end = start + a[2], at = end;
	uint64_t out = start;

	if (e != 0)
		return e;
	if (prot != 0 && !(prot & PAGE_LAZY)) {
		e = mem_take_zeroed(caller, a[2] / HAL_PAGE_BYTES, prot & PAGE_LARGE);
		if (e == 0)
			e = show_all(caller, proc, start, &at, prot);
	}
	if (e != 0) {
		mem_settle(caller);
		return page_take_back(caller, proc, start, end, e);
	}
	__builtin_memcpy(KCALL_OUT_WORD(addr), &out, sizeof(out));
	return e;
}

/*
 * Process. Claims room for the archive: a[1] where, a[2] pages, a[3] how many large ones. Again:
 * -E_AGAIN.
 */
static long
archive_serve(struct kcall_args *args)
{
	struct cluster *c = args->caller->cluster;
	size_t bytes = (size_t)c->record->archive_bytes;
	size_t pages = (bytes + HAL_PAGE_BYTES - 1) / HAL_PAGE_BYTES;
	size_t large = c->record->archive_base % HAL_LARGE_BYTES == 0 ? bytes / HAL_LARGE_BYTES : 0;
	struct process *p;
	uintptr_t at = args->a[1];
	int e = proc_find(args->caller, (int)args->a[0], RIGHT_WRITE, &p);

	if (e == 0 && pages == 0)
		e = -E_NOMEM;
	if (e == 0)
		e = mem_claim(p, pages * HAL_PAGE_BYTES, large > 0 ? HAL_LARGE_BYTES :
			HAL_PAGE_BYTES, 0, &at);
	args->a[1] = at;
	if (e != 0)
		return e;
	bytes = (size_t)mem_tables_most(at, at + pages * HAL_PAGE_BYTES) * HAL_PAGE_BYTES;
	if (!quota_has_room(p->quota, QUOTA_BYTES, bytes)) {
		mem_unclaim(p, at, at + pages * HAL_PAGE_BYTES);
		return -E_NOMEM;
	}
	args->a[2] = pages;
	args->a[3] = large;
	return 0;
}

/*
 * Map a[2] pages of the archive, from its byte a[3] on, at a[1] of process a[0]; a[4]: PAGE_LARGE
 * or 0.
 */
static long
archive_map_serve(struct kcall_args *args)
{
	const struct boot_record *r = args->caller->cluster->record;
	uintptr_t at = args->a[1], bytes =
		args->a[2] * (args->a[4] ? HAL_LARGE_BYTES : HAL_PAGE_BYTES);
	struct process *p;
	int e = proc_find(args->caller, (int)args->a[0], RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (!area_covers(&p->areas, at, at + bytes))
		return -E_NOMEM;
	return hal_map(&p->space, at, r->archive_base + args->a[3], args->a[2],
		PAGE_READ | (int)args->a[4]) == 0 ? 0 : -E_NOMEM;
}

/*
 * kc_archive_map: map the boot archive read-only into a process (RIGHT_WRITE). Gives address and
 * length. Runs: calling core. 0; -E_SRCH; -E_ACCES; -E_NOMEM.
 */
long
kc_archive_map(struct thread *caller, int proc, void *span)
{
	unsigned long a[MEM_ARGS] = {(unsigned long)(long)proc};
	long e = mem_steps(caller, archive_serve, a);
	size_t pages = a[2], large = a[3] * PAGES_PER_LARGE, n;
	uint64_t out[2] = {a[1], caller->cluster->record->archive_bytes};
	uintptr_t start = a[1];

	if (e != 0)
		return e;
	for (size_t done = 0; done < pages; done += n) {
		bool is_large = done < large;
		unsigned long m[MEM_ARGS] =
			{(unsigned long)(long)proc, start + done * HAL_PAGE_BYTES, 1,
			done * HAL_PAGE_BYTES, is_large ? PAGE_LARGE : 0};

		n = is_large ? PAGES_PER_LARGE : pages - done < MEM_STEP ? pages - done : MEM_STEP;
		m[2] = is_large ? 1 : n;
		e = mem_home(caller, archive_map_serve, m);
		if (e != 0)
			return page_take_back(caller, proc, start, start + pages * HAL_PAGE_BYTES,
				e);
	}
	__builtin_memcpy(span, out, sizeof(out));
	return 0;
}
