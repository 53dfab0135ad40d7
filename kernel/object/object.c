/* SPDX-License-Identifier: MIT
 *
 * What becomes of an object of which a handle is gone, or all are. Home core.
 */
#include <kernel/cluster.h>
#include <kernel/mem/memory.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

/* The wait of a thread (or of none) ends if its handle does not name the object any more. */
static void
wait_ends(struct thread *t, const struct object *o)
{
	if (t != NULL && handle_get_far(&t->proc->handles, t->wait.handle, o->type) != o)
		thread_ready(t, -E_BADF);
}

void
object_handle_gone(struct object *o)
{
	if (o->type == OBJECT_PORT)
		ikc_handle_gone(core_self()->cluster, o);
	else if (o->type == OBJECT_PROCESS)
		wait_ends(thread_first(&list_entry(o, struct process, object)->waiters), o);
	else if (o->type == OBJECT_THREAD)
		wait_ends(thread_first(&list_entry(o, struct thread, object)->joiners), o);
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
