/* SPDX-License-Identifier: MIT
 *
 * Mappings that can be revoked: see mapping.h.
 */
#include <kernel/mem/calls.h>
#include <kernel/mem/mapping.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

_Static_assert(PROCS_MAX <= 1 << 8 && ID_INDEX_BITS >= 8, "a place in the table of processes");

#define LOOKS 8			/* mappings that one step finds alive */

static struct mapping *
in_process(struct list *node)
{
	return list_entry(node, struct mapping, link);
}

/*
 * The first that ends above an address, or the head of the list. What is before it is remembered: a
 * call looks up one place several times.
 */
static struct list *
first_above(struct process *p, uintptr_t addr)
{
	struct list *head = &p->mappings, *found = p->mapping_found;
	struct list *node = found != head && in_process(found)->end <= addr ? found->next :
		head->next;

	while (node != head && in_process(node)->end <= addr)
		node = node->next;
	p->mapping_found = node->prev;
	return node;
}

/*
 * An empty record of a view, behind others in the lists of the process and of the memory, or NULL.
 */
static struct mapping *
mapping_new(struct process *p, struct list *behind, struct view *view, uint16_t life,
	struct list *behind_of_memory)
{
	struct cluster *c = proc_cluster(p);
	struct mapping *r = p->mapping_count < MAPPINGS_MAX ?
		quota_alloc(p->quota, &c->slab, sizeof(*r)) : NULL;

	if (r == NULL)
		return NULL;
	view_get(view);
	r->view = view;
	r->life = life;
	r->proc = (uint8_t)p->id;
	list_push_front(behind, &r->link);
	list_push_front(behind_of_memory, &r->of_memory);
	p->mapping_count++;
	return r;
}

/* It covers nothing any more. Twice does no harm. */
static __attribute__((noinline)) void
mapping_unlist(struct process *p, struct mapping *r)
{
	if (p->mapping_found == &r->link)
		p->mapping_found = r->link.prev;
	list_remove(&r->link);
	list_remove(&r->of_memory);
}

__attribute__((noinline)) void
mapping_free(struct process *p, struct mapping *r)
{
	struct cluster *c = proc_cluster(p);
	struct view *view;

	if (r == NULL)
		return;
	mapping_unlist(p, r);
	p->mapping_count--;
	view = r->view;
	quota_free(p->quota, &c->slab, r, sizeof(*r));
	view_put(&c->slab, view);
}

int
mapping_begin(struct process *p, uintptr_t at, const struct handles *handles, int handle,
	struct memory *m, struct mapping **mapping)
{
	uint16_t life;
	struct view *view = handle_view(handles, handle, &life);
	struct list *before;
	struct mapping *r;

	*mapping = NULL;
	if (view == NULL)
		return 0;
	before = first_above(p, at)->prev;
	r = in_process(before);
	if (before == &p->mappings || r->end != at || r->view != view || r->life != life) {
		r = mapping_new(p, before, view, life, m->mappings.prev);
		if (r == NULL)
			return -E_NOMEM;
		r->looked = m->looks;
		r->start = r->end = at;
	}
	*mapping = r;
	return 0;
}

void
mapping_extend(struct process *p, struct mapping *r, uintptr_t end)
{
	if (r == NULL)
		return;
	r->end = end;
	if (r->start >= end)
		mapping_free(p, r);
}

int
mappings_split(struct process *p, uintptr_t at)
{
	struct list *node = first_above(p, at);
	struct mapping *r = in_process(node), *rest;

	if (node == &p->mappings || r->start >= at)
		return 0;
	rest = mapping_new(p, node, r->view, r->life, &r->of_memory);
	if (rest == NULL)
		return -E_NOMEM;
	rest->looked = r->looked;
	rest->start = at;
	rest->end = r->end;
	r->end = at;
	return 0;
}

bool
mappings_are_in(struct process *p, uintptr_t start, uintptr_t end)
{
	struct list *node = first_above(p, start);

	return node != &p->mappings && in_process(node)->start < end;
}

uintptr_t
mappings_edge(struct process *p, uintptr_t start, uintptr_t end)
{
	struct list *node = first_above(p, start);

	return node != &p->mappings && in_process(node)->end < end ? in_process(node)->end : end;
}

struct mapping *
mappings_cut(struct process *p, uintptr_t start, uintptr_t end)
{
	struct list *node = first_above(p, start);
	struct mapping *r = in_process(node);

	if (node == &p->mappings || r->start >= end)
		return NULL;
	r->start = end;
	if (end < r->end)
		return NULL;
	mapping_unlist(p, r);
	return r;
}

/* --- revocations --- */

static void
revoke_done(struct cluster *c, struct sweep *s)
{
	struct list *node = c->sweeps.running.next;

	while (node != &c->sweeps.running &&
		list_entry(node, struct sweep, link)->done != revoke_done)
		node = node->next;
	c->revocation = node != &c->sweeps.running ? list_entry(node, struct sweep, link) : NULL;
	shoot_down_done(c, s);
}

long
mappings_revoke(struct thread *caller, struct memory *m)
{
	struct cluster *c = caller->cluster;
	struct sweep *s;

	if (list_is_empty(&m->mappings) && c->revocation == NULL)
		return 0;
	m->looks++;
	object_get(&m->object);
	caller->wait.kind = WAIT_MEMORY;
	caller->wait.on = (uintptr_t)m;
	s = shoot_down_begin(caller, caller->proc);
	s->done = revoke_done;
	s->result = 0;
	if (c->revocation == NULL)
		c->revocation = s;
	c->chores++;
	return thread_park(caller, NULL);
}

/* Some of the pages of a mapping that is dead. Its process may be dying. */
static void
unmap_dead(struct cluster *c, struct thread *t, struct mapping *r)
{
	struct process *p = &c->proc[r->proc];

	r->start = mem_unmap_some(t, p, r->start, r->end, UNMAP_REVOCABLE);
	sweep_cover(c, &t->sweep, p, -1);
	if (r->start >= r->end)
		mapping_free(p, r);
}

/*
 * Some of the mappings of a memory, or some pages of one. True: all were looked at, and what is
 * dead is gone.
 */
static bool
look_at_some(struct cluster *c, struct thread *t, struct memory *m)
{
	for (unsigned n = 0; n < LOOKS; n++) {
		struct list *first = m->mappings.next;
		struct mapping *r = list_entry(first, struct mapping, of_memory);

		if (first == &m->mappings || r->looked == m->looks)
			return true;
		if (!view_is_alive(r->view, r->life)) {
			if (n == 0)
				unmap_dead(c, t, r);
			return false;
		}
		r->looked = m->looks;
		list_remove(first);
		list_push_back(&m->mappings, first);
	}
	return false;
}

static void
take_away_page(struct cluster *c, struct process *p, uintptr_t at, struct sweep *s)
{
	uint64_t paddr;
	int prot;

	check(hal_query(&p->space, at, &paddr, &prot) == 0);
	mem_area_change(p, at, at + HAL_PAGE_BYTES, (uint32_t)(prot & PROT_BITS) | PAGE_LAZY);
	c->sweeps.unmapping = s;
	check(hal_unmap(&p->space, at, 1) == 0);
	c->sweeps.unmapping = NULL;
}

bool
mappings_take_away(struct cluster *c, struct memory *m, struct sweep *s)
{
	struct list *first = m->mappings.next;
	struct mapping *r = list_entry(first, struct mapping, of_memory);
	struct process *p;

	if (first == &m->mappings)
		return false;
	p = &c->proc[r->proc];
	take_away_page(c, p, r->start, s);
	sweep_cover(c, s, p, -1);
	r->start += HAL_PAGE_BYTES;
	if (r->start >= r->end)
		mapping_free(p, r);
	return true;
}

/* The thread may be that of a process which dies: what it has begun goes on. */
bool
revokes_poll(struct cluster *c)
{
	struct sweep *s = c->revocation;
	struct thread *t;
	struct memory *m;

	if (s == NULL || s->caller->wait.on == 0)
		return false;
	t = s->caller;
	m = (struct memory *)t->wait.on;
	if (!mem_refs_drop(t) || !look_at_some(c, t, m))
		return true;
	t->wait.on = 0;
	c->chores--;
	object_put(&m->object);
	if (sweep_send(c, s))
		revoke_done(c, s);
	return true;
}
