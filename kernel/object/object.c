/* SPDX-License-Identifier: MIT
 *
 * What becomes of an object of which a handle is gone, or all are. Home core.
 */
#include <kernel/call/fault.h>
#include <kernel/mem/memory.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

/*
 * The wait of the first in a queue ends if its handle does not name the object any more, and so
 * does the binding to the object's end.
 */
static __attribute__((noinline)) void
wait_ends(struct cluster *c, const struct list *queue, struct binding *b, const struct object *o)
{
	struct thread *t = thread_first(queue);

	if (t != NULL && handle_get_far(&t->proc->handles, t->wait.handle, o->type) != o)
		thread_ready(t, -E_BADF);
	binding_handle_gone(c, b, o);
}

static __attribute__((noinline)) void
process_handle_gone(struct cluster *c, struct process *p)
{
	wait_ends(c, &p->waiters, &p->end, &p->object);
	wait_ends(c, &p->handlers, &p->fault, &p->object);
	fault_handle_gone(c, p);
}

void
object_handle_gone(struct object *o)
{
	struct cluster *c = core_self()->cluster;
	struct process *p = list_entry(o, struct process, object);
	struct thread *t = list_entry(o, struct thread, object);

	if (o->type == OBJECT_PORT)
		ikc_handle_gone(c, o);
	else if (o->type == OBJECT_THREAD)
		wait_ends(c, &t->joiners, &t->end, o);
	else if (o->type == OBJECT_PROCESS)
		process_handle_gone(c, p);
	else if (o->type == OBJECT_MEMORY)
		memory_handle_gone(c, list_entry(o, struct memory, object));
}

void
object_unreferenced(struct object *o)
{
	struct cluster *c = core_self()->cluster;

	if (o->type == OBJECT_PROCESS)
		proc_unreferenced(c, list_entry(o, struct process, object));
	else if (o->type == OBJECT_THREAD)
		thread_unreferenced(list_entry(o, struct thread, object));
	else if (o->type == OBJECT_PORT)
		ikc_unreferenced(c, o);
	else if (o->type == OBJECT_MEMORY)
		memory_unreferenced(c, o);
}
