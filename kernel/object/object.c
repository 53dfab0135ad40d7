/* SPDX-License-Identifier: MIT
 *
 * What becomes of an object of which a handle is gone, or all are. Home core.
 */
#include <kernel/cluster.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

void
object_handle_gone(struct object *o)
{
	if (o->type == OBJECT_PORT)
		ikc_handle_gone(core_self()->cluster, o);
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
}
