/* SPDX-License-Identifier: MIT
 *
 * Guests: see hal/guest.h.
 */
#include <base/str.h>
#include <kernel/call/kcall_core.h>
#include <hal/guest.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

/* The living process that has this address, NULL if none has. */
static struct process *
process_at(struct cluster *c, uintptr_t addr)
{
	for (uint32_t i = 0; i < c->procs_max; i++) {
		struct process *p = &c->proc[i];

		if (p->state == PROC_LIVE && addr >= p->space.first && addr < p->space.limit)
			return p;
	}
	return NULL;
}

static long
enter_serve(struct kcall_args *args)
{
	struct cluster *c = core_self()->cluster;
	struct process *p = process_at(c, args->a[1]);
	struct thread *t;
	long e;

	if (p == NULL)
		return -E_SRCH;
	e = thread_make(p, core_at(c, args->a[0]), &t);
	if (e != 0)
		return e;
	memset(&t->frame, 0, sizeof(t->frame));
	t->state = THREAD_READY;
	args->a[0] = (unsigned long)t;
	return 0;
}

int
kernel_guest_enter(void *home, unsigned core, uintptr_t image, struct guest_thread *g)
{
	struct cluster *c = ((struct core *)home)->cluster;
	struct core *self = core_at(c, core);
	struct kcall_args *args = kcall_args(self);
	long e;

	hal_core_set_local(self);
	ready_drain(self);
	run_queue_init(self);
	hal_acquire(&c->thread[0], sizeof(c->thread[0]));
	/* there is no thread yet that calls: init's first one, whose record stays */
	args->caller = thread_at(c, 0);
	args->a[0] = core;
	args->a[1] = image;
	e = am_call_kernel(self, enter_serve, args,
		offsetof(struct kcall_args, a) + 2 * sizeof(args->a[0]));
	if (e < 0)
		return (int)e;
	self->current = (struct thread *)args->a[0];
	self->space = &self->current->proc->space;
	*g = (struct guest_thread){self->current->now, self->space};
	return self->current->handle;
}

static long
leave_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct process *p = t->proc;

	if (sweeps_want(t->cluster, t->core->id))
		return -E_AGAIN;
	bitmap_clear(p->cores, t->core->id);
	object_get(&t->object);
	thread_end(t, 0);
	if (t->state == THREAD_ZOMBIE)
		thread_release(t);
	object_put(&t->object);
	return 0;
}

bool
kernel_guest_leave(void)
{
	struct core *self = core_self();
	struct kcall_args *args = kcall_args(self);
	long result;

	do {
		args->caller = self->current;
		/*
		 * while it waits for home it serves what home posts: by the next time that may have
		 * been all
		 */
		result = am_call_last(self, leave_serve, args, offsetof(struct kcall_args, a));
	} while (result != 0 && self->doomed == NULL);
	if (result != 0)
		return false;
	/*
	 * its record is gone. After this no post will come, for nobody knows of this core any more
	 */
	self->current = NULL;
	am_serve_posts(self);
	self->space = NULL;
	return true;
}
