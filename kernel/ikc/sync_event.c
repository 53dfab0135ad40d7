/* SPDX-License-Identifier: MIT
 *
 * Sync points between home cores. A signal is an event, and so is its answer: that it was taken, or
 * that it was refused because the waiting end is closed. Of each pair of clusters and sync point
 * one signal at most is on its way or kept, so nothing is counted, and the rings hold it. To
 * several clusters events are sent some at a time: what is owed to each is a bit in struct
 * sync_pair. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

#define EVENTS_PER_STEP 16

/* The end of a line that is open in this cluster, or NULL. */
static struct sync *
sync_at(struct cluster *c, uint32_t peer, unsigned line)
{
	struct endpoint *ep = c->ikc.peer[line < SYNC_PORTS ? c->id : peer].syncs;

	while (ep != NULL && ep->port != line % SYNC_PORTS)
		ep = ep->next;
	return ep != NULL ? sync_of(ep) : NULL;
}

static bool
is_end(const struct sync *y, enum endpoint_kind kind, uint32_t peer)
{
	return y != NULL && y->ep.kind == kind && bitmap_test(y->partners, peer);
}

/* Partners in turn: the next from `from` on; ikc.clusters: that was all. */
static uint32_t
partner_from(const struct cluster *c, const struct sync *y, uint32_t from)
{
	return bitmap_find_set(y->partners, c->ikc.clusters, from);
}

static bool
is_empty(const uint32_t *map)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < BITMAP_WORDS(CLUSTERS_MAX); i++)
		any |= map[i];
	return any == 0;
}

static bool
have_all_been_up(const struct sync *y)
{
	return memcmp(y->bound, y->partners, sizeof(y->bound)) == 0;
}

long
sync_result(const struct sync *y)
{
	if (y->ep.kind == SYNC_IN && y->missing == 0)
		return 0;
	if (y->ep.error != 0)
		return y->ep.error;
	if (!is_empty(y->dead))
		return -E_HOSTDOWN;
	return y->missing == 0 && have_all_been_up(y) ? 0 : -E_PARK;
}

/* Something has changed at an end: whoever waits for that goes on, the oldest first. */
static void
changed(struct cluster *c, struct sync *y)
{
	long result = sync_result(y);

	if (result == -E_PARK)
		return;
	binding_signal(c, &y->ep.event);
	while (result != -E_PARK && !list_is_empty(&y->waiters)) {
		struct thread *t = thread_waiter(&y->waiters);

		if (t == NULL)
			continue;
		if (result == 0 && y->ep.kind == SYNC_IN)
			sync_take(c, y);
		thread_ready(t, result);
		result = sync_result(y);
	}
}

/* --- what is owed --- */

static void
send(struct cluster *c, uint32_t peer, unsigned line, enum wire_sync what)
{
	uint32_t life = what == WIRE_SYNC_REFUSED ? 0 : c->ikc.sync[peer].generation[line];

	event_send(c, peer,
		wire_event(WIRE_SYNC, line % SYNC_PORTS, (line < SYNC_PORTS ? WIRE_SYNC_FROM_ONE :
		0) | (uint32_t)what << WIRE_SYNC_WHAT | life));
}

static void
owe(struct cluster *c, uint32_t peer)
{
	bitmap_set(c->ikc.owed, peer);
	c->chores += !c->ikc.owes;
	c->ikc.owes = true;
}

/* Send one of the events that a peer is owed. False: that was the last. */
static bool
send_one(struct cluster *c, uint32_t peer)
{
	struct sync_pair *p = &c->ikc.sync[peer];
	uint32_t owed = p->signal | p->taken | p->refused;
	unsigned line = bitmap_find_set(&owed, 2 * SYNC_PORTS, 0);
	uint16_t bit = (uint16_t)(1u << line);

	if (owed == 0)
		return false;
	if (p->taken & bit) {
		p->taken &= (uint16_t)~bit;
		send(c, peer, line, WIRE_SYNC_TAKEN);
	} else if (p->refused & bit) {
		p->refused &= (uint16_t)~bit;
		send(c, peer, line, WIRE_SYNC_REFUSED);
	} else {
		p->signal &= (uint16_t)~bit;
		send(c, peer, line, WIRE_SYNC_SIGNAL);
	}
	return (p->signal | p->taken | p->refused) != 0;
}

bool
sync_send(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	uint32_t peer = 0;

	if (!s->owes)
		return false;
	for (unsigned n = 0; n < EVENTS_PER_STEP; n++) {
		peer = bitmap_find_set(s->owed, s->clusters, peer);
		if (peer == s->clusters) {
			s->owes = false;
			c->chores--;
			break;
		}
		if (!send_one(c, peer))
			bitmap_clear(s->owed, peer);
	}
	return true;
}

void
sync_take(struct cluster *c, struct sync *y)
{
	uint16_t bit = (uint16_t)(1u << sync_line(c, y));

	count_read(c, &y->ep, CLASS_SYNC);
	for (uint32_t i = 0; (i = partner_from(c, y, i)) < c->ikc.clusters; i++) {
		c->ikc.sync[i].pending &= (uint16_t)~bit;
		c->ikc.sync[i].taken |= bit;
		owe(c, i);
		y->missing++;
	}
	sync_send(c);
}

void
sync_give(struct cluster *c, struct sync *y)
{
	uint16_t bit = (uint16_t)(1u << sync_line(c, y));

	count_write(c, &y->ep, CLASS_SYNC);
	latency_begin(&y->ep);
	for (uint32_t i = 0; (i = partner_from(c, y, i)) < c->ikc.clusters; i++) {
		c->ikc.sync[i].full |= bit;
		c->ikc.sync[i].signal |= bit;
		owe(c, i);
		y->missing++;
	}
	sync_send(c);
}

/* --- an end begins, and ends --- */

/* Signals for a new waiting end from clusters that are not its partners. */
static void
refuse_others(struct cluster *c, const struct sync *y, uint16_t bit)
{
	for (uint32_t i = 0; i < c->ikc.clusters; i++) {
		struct sync_pair *p = &c->ikc.sync[i];

		if (bitmap_test(y->partners, i) || !(p->pending & bit))
			continue;
		p->pending &= (uint16_t)~bit;
		p->refused |= bit;
		owe(c, i);
	}
}

void
sync_begin(struct cluster *c, struct sync *y)
{
	unsigned line = sync_line(c, y);
	uint16_t bit = (uint16_t)(1u << line);
	bool waits = y->ep.kind == SYNC_IN;

	memset(y->bound, 0, sizeof(y->bound));
	memset(y->dead, 0, sizeof(y->dead));
	list_init(&y->waiters);
	y->missing = 0;
	if (waits)
		y->ep.generation = c->ikc.sync_life =
			(uint8_t)(c->ikc.sync_life < 255 ? c->ikc.sync_life + 1 : 1);
	for (uint32_t i = 0; (i = partner_from(c, y, i)) < c->ikc.clusters; i++) {
		struct sync_pair *p = &c->ikc.sync[i];

		peer_look(c, i);
		if (c->ikc.peer[i].state == PEER_UP)
			bitmap_set(y->bound, i);
		else if (c->ikc.peer[i].state == PEER_DEAD)
			bitmap_set(y->dead, i);
		p->generation[line] = y->ep.generation;
		y->missing += waits ? !(p->pending & bit) : (p->full & bit) != 0;
	}
	if (waits && line < SYNC_PORTS)
		refuse_others(c, y, bit);
}

/* Signals that nobody takes any more are refused, also those of which an answer is still owed. */
void
sync_end(struct cluster *c, struct sync *y)
{
	uint16_t bit = (uint16_t)(1u << sync_line(c, y));

	for (uint32_t i = 0; (i = partner_from(c, y, i)) < c->ikc.clusters; i++) {
		struct sync_pair *p = &c->ikc.sync[i];

		if (y->ep.kind == SYNC_OUT) {
			p->late |= p->full & bit;
			continue;
		}
		if (!((p->pending | p->taken) & bit))
			continue;
		p->pending &= (uint16_t)~bit;
		p->taken &= (uint16_t)~bit;
		p->refused |= bit;
		owe(c, i);
	}
}

/* --- events --- */

static void
on_signal(struct cluster *c, uint32_t peer, unsigned line, uint32_t life)
{
	struct sync *y = sync_at(c, peer, line);
	struct sync_pair *p = &c->ikc.sync[peer];
	uint16_t bit = (uint16_t)(1u << line);

	if (y == NULL ? life != 0 : !is_end(y, SYNC_IN, peer) ||
		(life != 0 && life != y->ep.generation)) {
		send(c, peer, line, WIRE_SYNC_REFUSED);
		return;
	}
	if (p->pending & bit)
		return;
	p->pending |= bit;
	if (y != NULL && --y->missing == 0)
		changed(c, y);
}

static void
on_answer(struct cluster *c, uint32_t peer, unsigned line, uint32_t event)
{
	struct sync *y = sync_at(c, peer, line);
	struct sync_pair *p = &c->ikc.sync[peer];
	uint16_t bit = (uint16_t)(1u << line);
	bool late = (p->late & bit) != 0;

	if (!(p->full & ~p->signal & bit))
		return;
	p->full &= (uint16_t)~bit;
	p->late &= (uint16_t)~bit;
	if (!is_end(y, SYNC_OUT, peer))
		return;
	if (!late && wire_sync_what(event) == WIRE_SYNC_TAKEN)
		p->generation[line] = (uint8_t)event;
	else if (!late)
		y->ep.error = -E_PIPE;
	if (--y->missing == 0)
		latency_end(c, &y->ep);
	if (y->missing == 0 || y->ep.error != 0)
		changed(c, y);
}

void
sync_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	unsigned line = wire_event_port(event) + (event & WIRE_SYNC_FROM_ONE ? SYNC_PORTS : 0u);

	if (wire_sync_what(event) == WIRE_SYNC_SIGNAL)
		on_signal(c, peer, line, event & WIRE_SYNC_GENERATION);
	else
		on_answer(c, peer, line, event);
}

/* --- peers --- */

/* What was between an end and a peer that is not up any more. */
static void
forget(struct cluster *c, struct sync *y, uint32_t peer)
{
	const struct sync_pair *p = &c->ikc.sync[peer];
	uint16_t bit = (uint16_t)(1u << sync_line(c, y));

	if (y->ep.kind == SYNC_OUT)
		y->missing -= (p->full & bit) != 0;
	else if (c->ikc.peer[peer].state == PEER_MEETING)
		y->missing += (p->pending & bit) != 0;
}

static void
end_told(struct cluster *c, struct sync *y, uint32_t peer)
{
	uint32_t state = c->ikc.peer[peer].state;

	if (!bitmap_test(y->partners, peer))
		return;
	if (state != PEER_UP)
		forget(c, y, peer);
	bitmap_clear(y->dead, peer);
	if (state == PEER_UP)
		bitmap_set(y->bound, peer);
	else if (state == PEER_DEAD)
		bitmap_set(y->dead, peer);
	else if (bitmap_test(y->bound, peer))
		y->ep.error = -E_CONNRESET;
	changed(c, y);
}

static void
point_told(struct cluster *c, uint32_t peer, unsigned line)
{
	struct sync *y = sync_at(c, peer, line);
	struct sync_pair *p = &c->ikc.sync[peer];
	uint16_t others = (uint16_t)~(1u << line);

	if (y != NULL)
		end_told(c, y, peer);
	if (c->ikc.peer[peer].state == PEER_UP)
		return;
	p->full &= others;
	p->late &= others;
	p->signal &= others;
	p->taken &= others;
	p->refused &= others;
	if (c->ikc.peer[peer].state == PEER_MEETING)
		p->pending &= others;
}

void
sync_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	point_told(c, peer, port);
	point_told(c, peer, port + SYNC_PORTS);
}
