/* SPDX-License-Identifier: MIT
 *
 * Guests: see hal/guest.h.
 */
#include <kernel/call/kcall_core.h>
#include <hal/guest.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

static long
enter_serve(struct kcall_args *args)
{
	struct thread *t = thread_make(args->caller->proc, &args->caller->cluster->core[args->a[0]]);

	if (t == NULL)
		return -E_NOSPC;
	t->state = THREAD_READY;
	return t->tid;
}

int
kernel_guest_enter(void *home, unsigned core, int host_tid, struct guest_thread *g)
{
	struct cluster *c = ((struct core *)home)->cluster;
	struct core *self = &c->core[core];
	struct thread *host = &c->thread[ID_INDEX(host_tid)];
	struct kcall_args *args = kcall_args(self);
	long tid;

	if (host_tid <= 0 || ID_INDEX(host_tid) >= c->threads_max || host->tid != host_tid)
		return -E_SRCH;
	hal_core_set_local(self);
	ready_drain(self);
	list_init(&self->run_queue);
	args->caller = host;
	args->a[0] = core;
	tid = am_call_kernel(self, enter_serve, args, offsetof(struct kcall_args, a) + sizeof(args->a[0]));
	if (tid < 0)
		return tid == -E_NOSPC ? -E_NOSPC : -E_SRCH;
	self->current = &c->thread[ID_INDEX(tid)];
	self->space = &self->current->proc->space;
	*g = (struct guest_thread){&self->current->frame, self->space};
	return (int)tid;
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
