/* SPDX-License-Identifier: MIT
 *
 * Life and death of the other clusters, and the events to them. A peer is met when it is first seen
 * up; a peer whose incarnation changes has died and restarted, and everything that was between us
 * and its past life is dropped before anything of its new life is taken. All ports are told of a
 * peer's new state in steps (peers_walk). Deaths are looked for when hal_noc_deaths changes. With a
 * heartbeat, it is told when a peer has been silent for SILENT_BEATS of our own beats, and when it
 * is heard again: a host that stops everybody for a while stops both counts. Silence is no death:
 * who may restart the cluster decides (restart.c). Home core.
 */
#include <base/str.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include <kernel/ikc/state.h>

#define BACKLOG_NS 100000		/* until a full ring is tried again */
#define PEERS_PER_STEP 8		/* that are looked at and have not changed */
#define TRIES_PER_STEP 16		/* events of one peer */
#define PROCESSES_PER_STEP 32		/* that are told of a death */

static struct ikc_peer *
peer_at(struct cluster *c, uint32_t peer)
{
	return &c->ikc.peer[peer];
}

/* --- events --- */

static uint32_t *
backlog_of(struct cluster *c, uint32_t peer)
{
	return &c->ikc.backlog[peer * c->ikc.backlog_max];
}

/* The number of a peer's events in the backlog changes. */
static void
backlog_count(struct cluster *c, uint32_t peer, uint32_t count)
{
	uint32_t change = count - peer_at(c, peer)->backlog;

	peer_at(c, peer)->backlog = count;
	c->ikc.backlog_count += change;
	c->chores += change;
}

/*
 * A living peer for which there is no room takes no events, or makes us send more than any right
 * kernel does: backlog_poll sees to it.
 */
static void
backlog_add(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct ikc_peer *p = peer_at(c, peer);

	if (p->backlog == c->ikc.backlog_max)
		p->overrun = true;
	if (p->overrun || p->state == PEER_DEAD)
		return;
	backlog_of(c, peer)[p->backlog] = event;
	backlog_count(c, peer, p->backlog + 1);
}

void
event_send(struct cluster *c, uint32_t peer, uint32_t event)
{
	if (peer == c->id)
		event_take(c, peer, event);
	else if (peer_at(c, peer)->backlog > 0 || hal_noc_notify(peer, event) == -E_AGAIN)
		backlog_add(c, peer, event);
}

/* Try some of a peer's events, in their order. True: some are gone. */
static bool
backlog_try(struct cluster *c, uint32_t peer)
{
	uint32_t *held = backlog_of(c, peer), count = peer_at(c, peer)->backlog, gone = 0;

	while (gone < count && gone < TRIES_PER_STEP &&
		hal_noc_notify(peer, held[gone]) != -E_AGAIN)
		gone++;
	memmove(held, held + gone, (count - gone) * sizeof(*held));
	backlog_count(c, peer, count - gone);
	return gone > 0;
}

/* --- life --- */

/* A peer is in a new state: all are told, from the first on. */
static void
walk_begin(struct cluster *c, struct ikc_peer *p)
{
	p->walk = p->walk_local = 0;
	if (!list_is_empty(&p->walking))
		return;
	list_push_back(&c->ikc.walks, &p->walking);
	c->chores++;
}

/*
 * All processes may look for deaths, and do so when they are told of an event: they come before the
 * ports.
 */
static void
tell_processes(struct cluster *c, struct ikc_peer *p)
{
	for (unsigned n = 0; n < PROCESSES_PER_STEP && p->walk < c->procs_max; n++) {
		const struct process *of = &c->proc[p->walk++];

		if (of->state == PROC_LIVE && of->events != NULL)
			hal_store32(&of->events->clusters_dead, c->ikc.clusters_dead);
	}
}

/* False: that was the last port. */
static bool
tell_port(struct cluster *c, struct ikc_peer *p)
{
	uint32_t peer = (uint32_t)(p - c->ikc.peer), port = p->walk - c->procs_max;

	if (port < c->ikc.portal_ports && !portal_peer_changed(c, peer, port))
		return true;
	if (port < c->ikc.mailbox_ports) {
		mail_out_peer_changed(c, peer, port);
		if (p->state != PEER_UP)
			mail_in_peer_changed(c, peer, port);
	}
	if (port < SYNC_PORTS)
		sync_peer_changed(c, peer, port);
	if (port < c->ikc.channels)
		channel_peer_changed(c, peer, port);
	p->walk++;
	p->walk_local = 0;
	return ++port < c->ikc.portal_ports || port < c->ikc.mailbox_ports || port < SYNC_PORTS ||
		port < c->ikc.channels;
}

bool
peers_walk(struct cluster *c)
{
	struct ikc_peer *p = list_entry(c->ikc.walks.next, struct ikc_peer, walking);

	if (list_is_empty(&c->ikc.walks))
		return false;
	if (p->walk < c->procs_max) {
		tell_processes(c, p);
	} else if (!tell_port(c, p)) {
		if (p->state != PEER_MEETING) {
			list_remove(&p->walking);
			c->chores--;
		} else {
			p->state = PEER_UP;
			walk_begin(c, p);
			binding_signal(c, &p->end);
		}
	}
	return true;
}

/* What was between us and a past life, if any, goes first. */
static void
peer_meet(struct cluster *c, uint32_t peer, uint32_t incarnation)
{
	struct ikc_peer *p = peer_at(c, peer);

	p->state = p->incarnation == 0 ? PEER_UP : PEER_MEETING;
	p->incarnation = incarnation;
	p->starts = false;
	p->heartbeat = hal_noc_heartbeat_of(peer);
	p->silent = 0;
	walk_begin(c, p);
	if (p->state == PEER_UP)
		binding_signal(c, &p->end);
}

static void
peer_gone(struct cluster *c, uint32_t peer)
{
	struct ikc_peer *p = peer_at(c, peer);

	p->state = PEER_DEAD;
	p->starts = false;
	p->asked = 0;
	p->silent = 0;
	p->overrun = false;
	p->deaths++;
	c->ikc.clusters_dead++;
	backlog_count(c, peer, 0);
	walk_begin(c, p);
	if (!list_is_empty(&p->watchers))
		look_later(c, queue_watchers(peer));	/* a look may be what has found out */
	binding_signal(c, &p->end);
}

void
ikc_condemn(struct cluster *c, uint32_t peer, const char *what)
{
	if (peer_at(c, peer)->state != PEER_UP || peer == c->id)
		return;
	console_message(c, "cluster %u %s and counts as dead", (unsigned)peer, what);
	hal_noc_mark_dead(peer);
	peer_gone(c, peer);
}

bool
peer_refresh(struct cluster *c, uint32_t peer)
{
	struct ikc_peer *p = peer_at(c, peer);
	uint32_t incarnation = hal_noc_incarnation(peer), before = p->state;
	bool alive = hal_noc_alive(peer);

	if (peer == c->id || (p->state != PEER_UP && !list_is_empty(&p->walking)))
		return false;
	if (p->state == PEER_UP && (!alive || incarnation != p->incarnation))
		peer_gone(c, peer);
	if (alive && p->state != PEER_UP && incarnation != p->incarnation) {
		peer_meet(c, peer, incarnation);
		return true;
	}
	if ((p->state == PEER_UNKNOWN || p->starts) && hal_noc_is_dead(peer)) {
		peer_gone(c, peer);
		return true;
	}
	return p->state != before;
}

void
peer_look(struct cluster *c, uint32_t peer)
{
	if (peer_at(c, peer)->state == PEER_UNKNOWN)
		peer_refresh(c, peer);
}

long
peer_check(struct cluster *c, struct endpoint *ep)
{
	struct ikc_peer *p = peer_at(c, ep->cluster);

	peer_look(c, ep->cluster);
	if (p->state == PEER_DEAD)
		return -E_HOSTDOWN;
	if (ep->incarnation != 0 && ep->incarnation != p->incarnation)
		return -E_CONNRESET;
	if (p->state != PEER_UP)
		return -E_AGAIN;
	ep->incarnation = p->incarnation;
	return 0;
}

long
peer_look_again(struct cluster *c, struct endpoint *ep)
{
	long wrong;

	peer_refresh(c, ep->cluster);
	wrong = peer_check(c, ep);
	return wrong == 0 ? -E_AGAIN : wrong;
}

bool
peer_accept(struct cluster *c, uint32_t peer, uint32_t incarnation)
{
	struct ikc_peer *p = peer_at(c, peer);

	if (p->state != PEER_UP || p->incarnation != incarnation)
		peer_refresh(c, peer);
	return p->state == PEER_UP && p->incarnation == incarnation;
}

/* --- rounds --- */

/* Cluster 0 says what it hears of others; of itself cluster 1 does. */
static void
tell_silence(struct cluster *c, uint32_t peer, const char *what)
{
	if (c->id == (peer == 0))
		console_message(c, "cluster %u %s", (unsigned)peer, what);
	binding_signal(c, &peer_at(c, peer)->end);
}

/* Has a peer's heart beaten since we last listened? */
static void
peer_listen(struct cluster *c, uint32_t peer)
{
	struct ikc_peer *p = peer_at(c, peer);
	uint32_t heartbeat = hal_noc_heartbeat_of(peer);

	p->heard = c->ikc.beats;
	if (peer == c->id || p->state != PEER_UP)
		return;
	if (heartbeat == p->heartbeat) {
		if (++p->silent == SILENT_BEATS)
			tell_silence(c, peer, "gives no sign of life");
		return;
	}
	if (p->silent >= SILENT_BEATS)
		tell_silence(c, peer, "gives signs of life again");
	p->heartbeat = heartbeat;
	p->silent = 0;
}

/* Whatever there may be with one peer. True: there was something. */
static bool
peer_visit(struct cluster *c, uint32_t peer)
{
	struct ikc_peer *p = peer_at(c, peer);

	if (peer_refresh(c, peer))
		return true;
	if (p->heard != c->ikc.beats)
		peer_listen(c, peer);
	if (p->overrun)
		ikc_condemn(c, peer, "does not take its events");
	return p->backlog > 0 && backlog_try(c, peer);
}

/* Is our own next beat due? */
static bool
beat(struct cluster *c)
{
	uint64_t now;

	if (c->ikc.period_ns == 0)
		return false;
	now = hal_clock_ns();
	if (now < c->ikc.next_beat)
		return false;
	c->ikc.next_beat = now + c->ikc.period_ns;
	c->ikc.beats++;
	hal_noc_heartbeat();
	return true;
}

bool
peers_poll(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	uint32_t deaths = hal_noc_deaths();
	bool found = false;

	if (restarts_poll(c) || portal_turns_poll(c))
		return true;
	if (beat(c) || deaths != s->deaths || (s->peers_left == 0 && s->backlog_count > 0))
		s->peers_left = s->clusters;
	s->deaths = deaths;
	for (unsigned n = 0; n < PEERS_PER_STEP && s->peers_left > 0 && !found; n++) {
		found = peer_visit(c, s->peer_next);
		s->peer_next = s->peer_next + 1 < s->clusters ? s->peer_next + 1 : 0;
		s->peers_left--;
	}
	return found || s->peers_left > 0;
}

uint64_t
peers_deadline(struct cluster *c)
{
	uint64_t at = c->ikc.period_ns != 0 ? c->ikc.next_beat : HAL_FOREVER;
	uint64_t retry = c->ikc.backlog_count > 0 || c->ikc.restarts > RESTARTS_PER_STEP ?
		hal_clock_ns() + BACKLOG_NS : HAL_FOREVER;

	if (!list_is_empty(&c->ikc.queue) && c->ikc.turn_at < at)
		at = c->ikc.turn_at;
	return at < retry ? at : retry;
}
