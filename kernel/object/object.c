/* SPDX-License-Identifier: MIT
 *
 * What becomes of an object that no handle names any more. Home core.
 */
#include <kernel/cluster.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

void
object_unreferenced(struct object *o)
{
	if (o->type == OBJECT_PROCESS)
		proc_unreferenced(core_self()->cluster, list_entry(o, struct process, object));
	else if (o->type == OBJECT_THREAD)
		thread_unreferenced(list_entry(o, struct thread, object));
}
