/* SPDX-License-Identifier: MIT
 *
 * Memory objects: see memory.h.
 */
#include <kernel/dev/device.h>
#include <kernel/ikc/channel.h>
#include <kernel/mem/memory.h>
#include <kernel/proc/proc.h>

#define DROP_STEP 6	/* frames */

_Static_assert(RIGHT_READ == PAGE_READ && RIGHT_WRITE == PAGE_WRITE && RIGHT_EXEC == PAGE_EXEC,
	"a right of memory is a protection");

long
memory_new(struct process *p, size_t bytes, unsigned rights, struct memory **made)
{
	struct slab *slab = &proc_cluster(p)->slab;
	struct memory *m = quota_alloc(p->quota, slab, bytes);
	long handle;

	if (m == NULL)
		return -E_NOMEM;
	object_init(&m->object, OBJECT_MEMORY);
	list_init(&m->mappings);
	handle = handle_new(&p->handles, &m->object, rights);
	if (handle < 0) {
		quota_free(p->quota, slab, m, bytes);
		return handle;
	}
	m->quota = p->quota;
	quota_get(m->quota);
	*made = m;
	return handle;
}

#define PLACED_RIGHTS (RIGHT_READ | RIGHT_WRITE | RIGHT_WAIT | RIGHT_GRANT | RIGHT_REVOKE)

long
placed_new(struct process *p, size_t bytes, struct placed place, struct placed **made)
{
	struct handles *handles = &p->handles;
	struct memory *m;
	long handle = memory_new(p, bytes, PLACED_RIGHTS, &m), view;

	if (handle < 0)
		return handle;
	m->kind = place.memory.kind;
	view = handle_duplicate(handles, (int)handle, handles,
		PLACED_RIGHTS | HANDLE_VIEW | HANDLE_MOVE);
	if (view < 0) {
		handle_close(handles, (int)handle);
		return view;
	}
	*made = list_entry(m, struct placed, memory);
	m->count = place.memory.count;
	(*made)->base = place.base;
	return view;
}

uint64_t
memory_paddr(const struct frames *f, const struct memory *m, uint32_t page)
{
	if (m->kind != MEMORY_FRAMES)
		return list_entry(m, const struct placed, memory)->base +
			(uint64_t)page * HAL_PAGE_BYTES;
	return frame_paddr(f, m->first + page);
}

void
memory_grow(struct process *p, struct memory *m, uint32_t count)
{
	struct frames *f = &proc_cluster(p)->frames;
	uint32_t at = m->first + m->count;

	frames_mark(f, at, count, (struct frame){.state = FRAME_USER, .owner = p->id});
	for (uint32_t i = at; i < at + count; i++)
		frame_get(f, i);
	m->count += count;
}

int
memory_find(struct thread *caller, int handle, int prot, struct memory **m)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *o = handle_get(handles, handle, OBJECT_MEMORY,
		(unsigned)prot & RIGHTS_OF_PAGES);

	if (o == NULL)
		return (int)handle_error(handles, handle, OBJECT_MEMORY);
	*m = list_entry(o, struct memory, object);
	return 0;
}

static size_t
bytes_of(const struct memory *m)
{
	if (m->kind == MEMORY_CHANNEL)
		return sizeof(struct channel);
	return m->kind == MEMORY_DEVICE ? sizeof(struct device) : sizeof(*m);
}

/* Some of its frames. True: that was all, and it is gone. */
static bool
drop(struct cluster *c, struct memory *m)
{
	struct quota *q = m->quota;

	for (unsigned n = 0; m->count > 0; n++) {
		if (n == DROP_STEP)
			return false;
		frame_put(&c->frames, m->first + --m->count, &c->sweeps, NULL);
	}
	quota_free(q, &c->slab, m, bytes_of(m));
	quota_put(&c->slab, q);
	return true;
}

void
memory_gone(struct cluster *c, struct memory *m)
{
	if (drop(c, m))
		return;
	list_push_back(&c->memory_gone, &m->link);
	c->chores++;
}

void
memory_unreferenced(struct cluster *c, struct object *o)
{
	struct memory *m = list_entry(o, struct memory, object);

	if (m->kind == MEMORY_CHANNEL) {
		channel_unreferenced(c, m);
		return;
	}
	if (m->kind == MEMORY_DEVICE)
		device_close(c, m);
	memory_gone(c, m);
}

void
memory_handle_gone(struct cluster *c, struct memory *m)
{
	if (m->kind == MEMORY_CHANNEL)
		channel_handle_gone(c, m);
	else if (m->kind == MEMORY_DEVICE)
		device_handle_gone(c, m);
}

void
memory_put(struct cluster *c, struct memory *m)
{
	if (m != NULL && --m->object.refs == 0)
		memory_gone(c, m);
}

bool
memory_drop_some(struct cluster *c)
{
	struct list *node = list_pop_front(&c->memory_gone);
	struct memory *m;

	if (node == NULL)
		return false;
	m = list_entry(node, struct memory, link);
	if (drop(c, m))
		c->chores--;
	else
		list_push_front(&c->memory_gone, &m->link);
	return true;
}
