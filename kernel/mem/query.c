/* SPDX-License-Identifier: MIT
 *
 * What is mapped where, and the page of a process in which the kernel counts. Source: seed 000
 * III-B (memory management).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>

_Static_assert(sizeof(struct event_page) <= HAL_PAGE_BYTES, "the event page is one page");

/*
 * kc_page_query: what is mapped at addr: frame (-1: none of the cluster's), protection, references;
 * with PAGE_LAZY and no references: a page that has not come yet. RIGHT_READ. Runs: home.
 */
long
kc_page_query(struct thread *caller, int proc, unsigned long addr, void *info)
{
	struct frames *f = &caller->cluster->frames;
	struct page_info *out = info;
	struct process *p;
	uint64_t paddr;
	uint32_t frame = FRAME_NONE;
	int prot;
	int e = proc_find(caller, proc, RIGHT_READ, &p);

	if (e != 0)
		return e;
	if (addr < p->space.first || addr >= p->space.limit)
		return -E_INVAL;
	*out = (struct page_info){.frame = -1};
	if (mem_lookup(p, addr & ~(HAL_PAGE_BYTES - 1), &paddr, &prot) == 0) {
		frame = frame_at(f, paddr);
		out->prot = (uint32_t)(prot & (PROT_BITS | PAGE_LARGE));
	} else if (mem_is_lazy(p, addr)) {
		out->prot = area_find(&p->areas, addr)->prot;
	} else {
		return -E_INVAL;
	}
	if (frame != FRAME_NONE) {
		out->frame = (int32_t)frame;
		out->references = f->frame[frame].refs;
	}
	return 0;
}

/*
 * kc_proc_events: from now on the kernel counts in a page of a process's own memory what comes to
 * that process (struct event_page). Before it has mailboxes. RIGHT_WRITE. Runs: home. Returns 0;
 * -E_BADF; -E_SRCH; -E_INVAL: nothing is mapped at addr, or not a page; -E_ACCES: no right, or
 * memory that others map or name, too; -E_BUSY: it has one.
 */
long
kc_proc_events(struct thread *caller, int proc, unsigned long addr)
{
	struct cluster *c = caller->cluster;
	struct frames *f = &c->frames;
	struct process *p;
	uint64_t paddr;
	uint32_t frame;
	int prot, e = proc_find(caller, proc, RIGHT_WRITE, &p);

	if (e != 0)
		return e;
	if (addr % HAL_PAGE_BYTES != 0 || addr < p->space.first || addr >= p->space.limit ||
		mem_lookup(p, addr, &paddr, &prot) != 0)
		return -E_INVAL;
	frame = frame_at(f, paddr);
	if (frame == FRAME_NONE || f->frame[frame].state != FRAME_USER ||
		(p->events == NULL && f->frame[frame].refs != 1))
		return -E_ACCES;
	if (p->events != NULL)
		return -E_BUSY;
	frame_get(f, frame);
	p->events_frame = frame;
	p->events = frame_kaddr(f, frame);
	hal_store32(&p->events->clusters_dead, c->ikc.clusters_dead);
	return 0;
}
