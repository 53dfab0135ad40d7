/* SPDX-License-Identifier: MIT
 *
 * The life and death of clusters as threads see it, and the events of this folder that can be
 * bound. Source: seed 000 II-C (clusters fail alone).
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
	caller->wait.on = c->ikc.peer[peer].deaths;
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

	if ((uint32_t)cluster >= caller->cluster->ikc.clusters ||
		(uint32_t)cluster == caller->cluster->id)
		return -E_INVAL;
	return ikc_call_home(caller, watch_home, &value, 1);
}

/* CLUSTER_* of a peer. */
static uint32_t
state_of(const struct ikc_peer *p)
{
	if (p->restart != RESTART_NONE)
		return CLUSTER_STOPS;
	if (p->state == PEER_DEAD && !p->starts)
		return CLUSTER_DEAD;
	return p->state == PEER_UP ? CLUSTER_UP : CLUSTER_STARTS;
}

/*
 * kc_cluster_state: what is known of the life of a cluster: struct cluster_state. EVENT_CLUSTER
 * tells when it has changed: the cluster died, is up again, is silent, or is heard again. Runs:
 * home. Returns 0; -E_INVAL: no such cluster.
 */
long
kc_cluster_state(struct thread *caller, int cluster, void *state)
{
	struct cluster *c = caller->cluster;
	const struct ikc_peer *p;
	struct cluster_state *out = state;

	if ((uint32_t)cluster >= c->ikc.clusters)
		return -E_INVAL;
	p = &c->ikc.peer[cluster];
	peer_look(c, (uint32_t)cluster);
	*out = (struct cluster_state){.state = state_of(p), .incarnation = p->incarnation,
		.silent = p->silent, .deaths = p->deaths};
	return 0;
}

/* A message is there, or some cluster has died since the start. */
static long
mail_event(struct thread *caller, int mailbox, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	long wrong = endpoint_find(caller, mailbox, MAIL_IN, RIGHT_WAIT, &ep);

	if (wrong == 0)
		*e = (struct event){&c->ikc.in[ep->port].event,
			mail_in_is_pending(c, ep->port, ANY_SOURCE_CLUSTER) ||
			c->ikc.clusters_dead != 0};
	return wrong;
}

static long
transfer_event(struct thread *caller, int portal, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	struct portal_in *in;
	long wrong = endpoint_find(caller, portal, PORTAL_IN | PORTAL_OUT, RIGHT_WAIT, &ep);

	if (wrong != 0)
		return wrong;
	in = &c->ikc.portal[ep->port];
	if (ep->kind == PORTAL_OUT)
		*e = (struct event){&ep->event, portal_allowed(c, ep->cluster, ep->port) == ep ||
			c->ikc.peer[ep->cluster].state == PEER_DEAD ||
			ep->state == PORTAL_ENDED};
	else
		*e = (struct event){&in->event, in->state == PORTAL_FULL ||
			in->state == PORTAL_ABORTED ||
			(in->state == PORTAL_ALLOWED && in->turn.wanted)};
	return 0;
}

/* A wait would return at once. */
static long
sync_bind(struct thread *caller, int sync, struct event *e)
{
	struct endpoint *ep;
	long wrong = endpoint_find(caller, sync, SYNC_IN | SYNC_OUT, RIGHT_WAIT, &ep);

	if (wrong == 0)
		*e = (struct event){&ep->event, sync_result(sync_of(ep)) != -E_PARK};
	return wrong;
}

static long
death_event(struct thread *caller, int cluster, struct event *e)
{
	struct cluster *c = caller->cluster;
	struct ikc_peer *p;
	const struct thread *t;

	if ((uint32_t)cluster >= c->ikc.clusters || (uint32_t)cluster == c->id)
		return -E_INVAL;
	p = &c->ikc.peer[cluster];
	t = thread_find(c, p->end.tid);
	if (t != NULL && t->proc != caller->proc)
		return -E_BUSY;
	peer_look(c, (uint32_t)cluster);
	*e = (struct event){&p->end, p->state == PEER_DEAD || p->silent >= SILENT_BEATS};
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
	case EVENT_CHANNEL:
		return channel_bind(caller, object, e);
	default:
		return event == EVENT_SYNC ? sync_bind(caller, object, e) : -E_INVAL;
	}
}
