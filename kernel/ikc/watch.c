/* SPDX-License-Identifier: MIT
 *
 * Waiting for the death of a cluster, and the events of this folder that can be bound. Source: seed 000 II-C (clusters fail alone).
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

/* A message is there, or some cluster has died since the start. */
static long
mail_event(struct thread *caller, int id, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_MAIL_IN);

	if (d == NULL)
		return -E_BADF;
	*e = (struct event){&c->ikc.in[d->port].event,
		mail_in_is_pending(c, d->port, ANY_SOURCE_CLUSTER) || hal_load32(&c->events->clusters_dead) != 0};
	return 0;
}

static long
transfer_event(struct thread *caller, int id, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_PORTAL_OUT);
	struct portal_in *in;

	if (d != NULL) {
		*e = (struct event){&d->event, portal_allowed_desc(c, d->cluster, d->port) == d || c->ikc.peer[d->cluster].state == PEER_DEAD};
		return 0;
	}
	d = desc_find(c, caller->proc, id, DESC_PORTAL_IN);
	if (d == NULL)
		return -E_BADF;
	in = &c->ikc.portal[d->port];
	*e = (struct event){&in->event, in->state == PORTAL_FULL || in->state == PORTAL_ABORTED};
	return 0;
}

static long
death_event(struct thread *caller, int cluster, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct ikc_peer *p;
	const struct thread *t;

	if (cluster < 0 || (uint32_t)cluster >= c->ikc.clusters || (uint32_t)cluster == c->id)
		return -E_INVAL;
	p = &c->ikc.peer[cluster];
	t = thread_find(c, p->end.tid);
	if (t != NULL && t->proc != caller->proc)
		return -E_BUSY;
	peer_look(c, (uint32_t)cluster);
	*e = (struct event){&p->end, p->state == PEER_DEAD};
	return 0;
}

long
ikc_event(struct thread *caller, int event, int object, struct event *e)
{
	switch (event) {
	case EVENT_MAILBOX:
		return mail_event(caller, object, e);
	case EVENT_ROOM:
		*e = (struct event){&caller->room, caller->missed_slot != NULL};
		return object == 0 ? 0 : -E_INVAL;
	case EVENT_PORTAL:
		return transfer_event(caller, object, e);
	case EVENT_CLUSTER:
		return death_event(caller, object, e);
	default:
		return -E_INVAL;
	}
}
