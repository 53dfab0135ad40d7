/* SPDX-License-Identifier: MIT
 *
 * A cluster is stopped and started again while the others go on. Cluster 0 does it, when a process
 * with the authority over the machine says so:
 *
 *	STOPS	the machine stops the cluster's cores (hal_cluster_stop): that is the evidence of
 *		its death, which is then told to all
 *	ASKS	every other cluster says that it has settled: it knows of the death, all its ports
 *		were told, and none of its cores is still putting a block into the window of the
 *		dead. Such a core has checked the old life, and would write into the next one. Who
 *		does not live cannot answer: it is stopped, too
 *	then	the cluster starts, with a pristine image and its next incarnation. That it is up is
 *		noticed as of any cluster; a life that ends before counts as one more death
 *
 * Who maps memory of other windows (user channels) has to unmap it before it has settled.
 *
 * Several restarts may be under way: a peer is asked for one of them at a time. Home core. Source:
 * seed 000 II-C (clusters fail alone).
 */
#include <hal/noc.h>
#include <kernel/ikc/channel.h>
#include <kernel/ikc/state.h>
#include <kernel/proc/proc.h>

#define ASKS_PER_STEP 8

static struct ikc_peer *
peer_at(struct cluster *c, uint32_t peer)
{
	return &c->ikc.peer[peer];
}

/* --- every cluster --- */

/* Is nothing of a dead peer's left here? Not in its ring either, then, whatever that was. */
static bool
has_settled(struct cluster *c, uint32_t peer)
{
	struct ikc_peer *p = peer_at(c, peer);

	peer_refresh(c, peer);
	if (p->state != PEER_DEAD || !list_is_empty(&p->walking) || p->moving != 0 ||
		!channels_are_away(c, peer))
		return false;
	hal_noc_forget(peer);
	return true;
}

/* The answer that we owe, when it is true and there is room for it. */
static bool
answer(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;

	if (!has_settled(c, s->settling) ||
		hal_noc_notify(0, wire_event(WIRE_SETTLED, s->settling, s->settling_number)) ==
		-E_AGAIN)
		return false;
	s->settling = 0;
	c->chores--;
	return true;
}

/* --- cluster 0 --- */

/* A peer needs not settle any more for this restart. */
static void
settled(struct cluster *c, uint32_t peer, uint32_t dead)
{
	bitmap_clear(peer_at(c, dead)->unsettled, peer);
	if (peer_at(c, peer)->asked == dead)
		peer_at(c, peer)->asked = 0;
}

/* All cores of a peer have stopped. */
static void
stopped(struct cluster *c, uint32_t peer)
{
	for (uint32_t i = 1; i < c->ikc.clusters; i++)
		settled(c, peer, i);
}

/* Can nothing of this peer's reach the window of the dead one, and never will? */
static bool
cannot_reach(struct cluster *c, uint32_t peer, uint32_t dead)
{
	const struct ikc_peer *p = peer_at(c, peer);

	if (peer == c->id)
		return has_settled(c, dead);
	if (p->restart == RESTART_ASKS)		/* it has stopped, too */
		return true;
	if (p->state == PEER_DEAD && !p->starts)
		return hal_cluster_stop(peer) == 0;
	return (p->state == PEER_UNKNOWN || p->starts) && !hal_noc_alive(peer);
}

/* True: the peer was asked to settle, or needs not be any more. */
static bool
ask(struct cluster *c, uint32_t peer, uint32_t dead)
{
	struct ikc_peer *p = peer_at(c, peer);

	if (p->asked != 0 || p->restart == RESTART_STOPS)
		return false;
	peer_refresh(c, peer);
	if (cannot_reach(c, peer, dead)) {
		settled(c, peer, dead);
		return true;
	}
	if (peer == c->id || (p->state != PEER_UP && p->state != PEER_MEETING) ||
		hal_noc_notify(peer, wire_event(WIRE_SETTLE, dead, peer_at(c, dead)->started)) != 0)
		return false;
	p->asked = (uint8_t)dead;
	return true;
}

/* All are settled: the next life begins. */
static void
start(struct cluster *c, uint32_t dead)
{
	struct ikc_peer *p = peer_at(c, dead);

	p->restart = RESTART_NONE;
	p->starts = true;
	p->started++;
	c->ikc.restarts--;
	c->chores--;
	hal_noc_mark_down(dead);
	check(hal_cluster_start(dead) == 0);
}

/* True: there was something to do. */
static bool
asks(struct cluster *c, uint32_t dead)
{
	struct ikc_peer *p = peer_at(c, dead);
	uint32_t clusters = c->ikc.clusters, i = bitmap_find_set(p->unsettled, clusters, 0);
	unsigned done = 0;

	if (i == clusters) {
		start(c, dead);
		return true;
	}
	for (; i < clusters && done < ASKS_PER_STEP;
		i = bitmap_find_set(p->unsettled, clusters, i + 1))
		done += ask(c, i, dead);
	return done > 0;
}

/*
 * It has stopped. That is told before anybody is asked: whoever comes up later sees it dead, and
 * whoever came up before is seen.
 */
static bool
stops(struct cluster *c, uint32_t dead)
{
	struct ikc_peer *p = peer_at(c, dead);

	if (hal_cluster_stop(dead) != 0)
		return false;
	hal_noc_mark_dead(dead);
	hal_fence();
	stopped(c, dead);
	for (uint32_t i = 0; i < c->ikc.clusters; i++)
		if (i != dead)
			bitmap_set(p->unsettled, i);
	p->restart = RESTART_ASKS;
	return true;
}

static bool
restart_step(struct cluster *c, uint32_t dead)
{
	switch (peer_at(c, dead)->restart) {
	case RESTART_STOPS: return stops(c, dead);
	case RESTART_ASKS: return asks(c, dead);
	default: return false;
	}
}

/*
 * kc_cluster_restart: stop another cluster, whatever it does, and start it again, by cluster 0's
 * authority over the machine (RIGHT_END). The others go on. EVENT_CLUSTER and cluster_state tell of
 * its death and when it is up again; if it does not come up, it can be restarted once more. Runs:
 * home. Returns 0: it is on its way; -E_BADF; -E_ACCES; -E_INVAL: no such cluster, or the own one;
 * -E_BUSY: a restart of it is under way; -E_NOSYS: this machine cannot.
 */
long
kc_cluster_restart(struct thread *caller, int authority, int cluster)
{
	struct cluster *c = caller->cluster;
	struct ikc_peer *p;
	long e = authority_check(caller, authority, RIGHT_END);

	if (e != 0)
		return e;
	if ((uint32_t)cluster >= c->ikc.clusters || (uint32_t)cluster == c->id)
		return -E_INVAL;
	p = peer_at(c, (uint32_t)cluster);
	if (p->restart != RESTART_NONE)
		return -E_BUSY;
	e = hal_cluster_stop((unsigned)cluster);
	if (e != 0 && e != -E_AGAIN)
		return e;
	p->restart = RESTART_STOPS;
	c->ikc.restarts++;
	c->chores++;
	return 0;
}

/* --- both --- */

/*
 * Where none gets on, an event or the end of a stop will come; or others are looked at next time.
 */
bool
restarts_poll(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	bool any = s->settling != 0 && answer(c);

	if (s->restarts == 0)
		return any;
	for (unsigned n = 0, left = s->clusters; n < RESTARTS_PER_STEP && left > 0 && !any;
		left--) {
		n += peer_at(c, s->restart_next)->restart != RESTART_NONE;
		any = restart_step(c, s->restart_next);
		s->restart_next = s->restart_next + 1 < s->clusters ? s->restart_next + 1 : 0;
	}
	return any;
}

void
restart_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct ikc_state *s = &c->ikc;
	uint32_t of = wire_event_port(event);

	if (wire_event_kind(event) == WIRE_SETTLE) {
		c->chores += s->settling == 0;
		s->settling = of;
		s->settling_number = wire_event_argument(event);
	} else if (peer_at(c, peer)->asked == of && peer_at(c, of)->restart == RESTART_ASKS &&
		wire_event_argument(event) == peer_at(c, of)->started) {
		settled(c, peer, of);
	}
}
