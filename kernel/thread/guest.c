/* SPDX-License-Identifier: MIT
 *
 * Guests: see hal/guest.h.
 */
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
	e = thread_make(p, &c->core[args->a[0]], &t);
	if (e != 0)
		return e;
	t->state = THREAD_READY;
	return t->tid;
}

int
kernel_guest_enter(void *home, unsigned core, uintptr_t image, struct guest_thread *g)
{
	struct cluster *c = ((struct core *)home)->cluster;
	struct core *self = &c->core[core];
	struct kcall_args *args = kcall_args(self);
	long tid;

	hal_core_set_local(self);
	ready_drain(self);
	run_queue_init(self);
	args->caller = &c->thread[0];	/* of init, which lives: there is no thread yet that calls */
	args->a[0] = core;
	args->a[1] = image;
	tid = am_call_kernel(self, enter_serve, args, offsetof(struct kcall_args, a) + 2 * sizeof(args->a[0]));
	if (tid < 0)
		return (int)tid;
	self->current = &c->thread[ID_INDEX(tid)];
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
	thread_end(t, 0);
	if (t->state == THREAD_ZOMBIE)
		thread_release(t);
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
		/* while it waits for home it serves what home posts: by the next time that may have been all */
		result = am_call_kernel(self, leave_serve, args, offsetof(struct kcall_args, a));
	} while (result != 0 && self->doomed == NULL);
	if (result != 0)
		return false;
	/* after this none will come, for nobody knows of this core any more */
	am_serve_posts(self);
	self->current = NULL;
	self->space = NULL;
	return true;
}
