/* SPDX-License-Identifier: MIT
 *
 * Waiting for the death of a cluster. Source: seed 000 II-C (clusters fail alone).
 */
#include <kernel/ikc/state.h>

/* Home half of cluster_watch. */
static long
watch_home(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	uint32_t peer = (uint32_t)args->a[0];

	peer_look(c, peer);
	if (c->ikc.peer[peer].state == PEER_DEAD)
		return -E_HOSTDOWN;
	return thread_park(caller, &c->ikc.peer[peer].watchers);
}

/*
 * kc_cluster_watch: wait until a cluster is dead, also one that is not up yet.
 *
 * Calling core; waits. Returns -E_HOSTDOWN; -E_INVAL: no such cluster, or the own one.
 */
long
kc_cluster_watch(struct thread *caller, int cluster)
{
	unsigned long value = (unsigned long)cluster;

	if (cluster < 0 || (uint32_t)cluster >= caller->cluster->ikc.clusters || (uint32_t)cluster == caller->cluster->id)
		return -E_INVAL;
	return ikc_call_home(caller, watch_home, &value, 1);
}
