/* SPDX-License-Identifier: MIT
 *
 * Devices that processes drive: see device.h. Source: seed 000 III-B (device module, drivers in
 * user space), seed 004 6 (interrupts of devices go to one core).
 */
#include <hal/device.h>
#include <kernel/dev/device.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

static struct device *
device_of(struct memory *m)
{
	return list_entry(m, struct device, placed.memory);
}

/* The open device with this number, or NULL. */
static struct device *
device_at(struct cluster *c, uint32_t number)
{
	struct list *node, *after;

	list_each(node, after, &c->devices) {
		struct device *d = list_entry(node, struct device, link);

		if (d->number == number)
			return d;
	}
	return NULL;
}

/* A device and the first handle of it, through a view. */
static long
device_new(struct process *p, uint32_t number, const struct hal_device *found)
{
	struct placed *made, place = {.memory = {.kind = MEMORY_DEVICE, .count = found->pages},
		.base = found->base};
	long handle = placed_new(p, sizeof(struct device), place, &made);
	struct device *d;

	if (handle < 0)
		return handle;
	d = device_of(&made->memory);
	d->number = number;
	list_push_back(&proc_cluster(p)->devices, &d->link);
	return handle;
}

/*
 * kc_device_open: take a device of the cluster, by an authority (RIGHT_WRITE). Its number says
 * which: 0, 1, ... The handle is one of memory, whose pages are the device's registers; it has no
 * RIGHT_EXEC. The device is taken until all handles and mappings of it are gone: then it is
 * stopped. Runs: home. Returns the handle; -E_BADF; -E_ACCES; -E_INVAL: the cluster has no such
 * number; -E_NOENT: nothing is there; -E_BUSY: it is taken; -E_NOMEM; -E_MFILE.
 */
long
kc_device_open(struct thread *caller, int authority, int number, void *info)
{
	struct device_info *out = info;
	struct hal_device found;
	long handle = authority_check(caller, authority, RIGHT_WRITE);

	if (handle != 0)
		return handle;
	if (number < 0 || !hal_device_find((unsigned)number, &found))
		return -E_INVAL;
	if (found.kind == DEVICE_NONE)
		return -E_NOENT;
	if (device_at(caller->cluster, (uint32_t)number) != NULL)
		return -E_BUSY;
	handle = device_new(caller->proc, (uint32_t)number, &found);
	if (handle < 0)
		return handle;
	hal_device_start((unsigned)number);
	*out = (struct device_info){.kind = found.kind, .id = found.id, .pages = found.pages};
	return handle;
}

/* The device that a handle names; NULL and *wrong. */
static struct device *
device_find(struct thread *caller, int handle, unsigned rights, long *wrong)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *o = handle_get_far(handles, handle, HANDLE_KIND(OBJECT_MEMORY, rights));
	struct memory *m = list_entry(o, struct memory, object);

	*wrong = o == NULL ? handle_error(handles, handle, OBJECT_MEMORY) : -E_INVAL;
	return o != NULL && m->kind == MEMORY_DEVICE ? device_of(m) : NULL;
}

/*
 * kc_device_done: the interrupt of a device (RIGHT_WAIT) is served: the next one can come. Runs:
 * home. Returns 0, also if there was none; -E_BADF; -E_ACCES: no right, or it is no device.
 */
long
kc_device_done(struct thread *caller, int device)
{
	long e;
	struct device *d = device_find(caller, device, RIGHT_WAIT, &e);

	if (d == NULL)
		return e;
	if (d->is_raised)
		hal_device_done(d->number);
	d->is_raised = false;
	return 0;
}

/*
 * kc_device_memory: the device (RIGHT_WRITE) shall read and write this memory (RIGHT_READ,
 * RIGHT_WRITE) itself, instead of the one that it was given before, which it uses no more: the
 * caller has seen to that. It stays until the device is stopped, whatever becomes of its handles.
 * Nothing keeps the device from other memory: who has this right for a device that can reach
 * memory is trusted with all of it. Runs: home. Returns 0, and where the device finds the first
 * page, behind which the others lie; -E_BADF; -E_ACCES; -E_INVAL: no device, or the memory is one.
 */
long
kc_device_memory(struct thread *caller, int device, int memory, void *address)
{
	struct cluster *c = caller->cluster;
	struct memory *m;
	uint64_t at;
	long e;
	struct device *d = device_find(caller, device, RIGHT_WRITE, &e);

	if (d == NULL)
		return e;
	e = memory_find(caller, memory, PAGE_READ | PAGE_WRITE, &m);
	if (e != 0 || m->kind != MEMORY_FRAMES)
		return e != 0 ? e : -E_INVAL;
	object_get(&m->object);
	memory_put(c, d->shared);
	d->shared = m;
	at = memory_paddr(&c->frames, m, 0);
	__builtin_memcpy(KCALL_OUT_WORD(address), &at, sizeof(at));
	return 0;
}

long
device_event(struct thread *caller, int handle, struct event *e)
{
	long wrong;
	struct device *d = device_find(caller, handle, RIGHT_WAIT, &wrong);

	if (d == NULL)
		return wrong;
	*e = (struct event){&d->interrupt, d->is_raised};
	return 0;
}

void
device_handle_gone(struct cluster *c, struct memory *m)
{
	binding_handle_gone(c, &device_of(m)->interrupt, &m->object);
}

void
device_close(struct cluster *c, struct memory *m)
{
	struct device *d = device_of(m);

	if (m->count == 0)
		return;
	hal_device_stop(d->number);
	list_remove(&d->link);
	memory_put(c, d->shared);
	m->count = 0;
}

/* Of one that is stopped, or that nobody has opened, none is taken. */
void
kernel_interrupt(unsigned number)
{
	struct cluster *c = core_self()->cluster;
	struct device *d = device_at(c, number);

	if (d == NULL)
		return;
	d->is_raised = true;
	binding_signal(c, &d->interrupt);
}
