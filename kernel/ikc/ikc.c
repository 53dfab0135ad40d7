/* SPDX-License-Identifier: MIT
 *
 * Inter-kernel communication as a whole: tables, the round of the home core. See ikc.h.
 */
#include <base/str.h>
#include <hal/noc.h>
#include <kernel/call/kcall_core.h>
#include <kernel/ikc/channel.h>
#include <kernel/ikc/state.h>

#define BACKLOG_GREETINGS 8		/* UP is not part of a protocol that counts */

/* --- threads --- */

long
ikc_call_home(struct thread *caller, kcall_serve_fn *fn, const unsigned long *values, unsigned n)
{
	struct kcall_args *args = kcall_args(core_self());

	args->caller = caller;
	for (unsigned i = 0; i < n; i++)
		args->a[i] = values[i];
	return am_call_kernel(core_self(), fn, args,
		(uint32_t)(offsetof(struct kcall_args, a) + n * sizeof(args->a[0])));
}

/* --- tables --- */

/* Memory handed out in order; without memory it only counts. */
struct carve {
	unsigned char *memory;
	size_t used;
};

static void *
carve(struct carve *from, size_t count, size_t bytes)
{
	void *piece = from->memory != NULL ? from->memory + from->used : NULL;

	from->used += (count * bytes + HAL_CACHE_LINE - 1) & ~(size_t)(HAL_CACHE_LINE - 1);
	return piece;
}

static void
lay_out(struct ikc_state *s, const struct boot_record *r, struct carve *from)
{
	s->clusters = r->clusters;
	s->mailbox_ports = r->mailbox_ports;
	s->connectors = r->mailbox_connectors == 0 || r->mailbox_connectors > s->mailbox_ports ?
		s->mailbox_ports : r->mailbox_connectors;
	s->portal_ports = r->portal_ports;
	s->unit = r->portal_unit_bytes < WIRE_BLOCK_MAX ? r->portal_unit_bytes : WIRE_BLOCK_MAX;
	s->portal_slots = r->portal_connectors == 0 || r->portal_connectors > s->portal_ports ?
		s->portal_ports : r->portal_connectors;
	s->backlog_max = (s->portal_slots < s->portal_ports ? 4 : 2) * s->portal_ports +
		BACKLOG_GREETINGS;
	s->peer = carve(from, s->clusters, sizeof(*s->peer));
	s->backlog = carve(from, (size_t)s->clusters * s->backlog_max, sizeof(*s->backlog));
	s->in = carve(from, s->mailbox_ports, sizeof(*s->in));
	s->at = carve(from, (size_t)s->clusters * s->mailbox_ports, sizeof(*s->at));
	s->out = carve(from, (size_t)s->clusters * s->mailbox_ports, sizeof(*s->out));
	s->left = carve(from, (size_t)s->clusters * s->mailbox_ports, sizeof(*s->left));
	s->connected = carve(from, (size_t)s->clusters * BITMAP_WORDS(s->connectors),
		sizeof(*s->connected));
	s->portal = carve(from, s->portal_ports, sizeof(*s->portal));
	s->allow = carve(from, (size_t)s->clusters * s->portal_ports, sizeof(*s->allow));
	s->sync = carve(from, s->clusters, sizeof(*s->sync));
	s->channels = r->channel_bytes / HAL_PAGE_BYTES;
	s->own = carve(from, s->channels, sizeof(struct channel *));
	s->far = carve(from, (size_t)s->clusters * s->channels, sizeof(*s->far));
	s->look = carve(from, BITMAP_WORDS(queues_of(s)), sizeof(*s->look));
}

size_t
ikc_bytes(const struct boot_record *record)
{
	struct ikc_state s;
	struct carve from = {NULL, 0};

	lay_out(&s, record, &from);
	return from.used;
}

static void
ports_init(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;

	for (uint32_t i = 0; i < s->mailbox_ports; i++)
		list_init(&s->in[i].waiters);
	for (uint32_t i = 0; i < s->portal_ports; i++)
		list_init(&s->portal[i].link);
	for (uint32_t i = 0; i < s->portal_slots; i++)
		bitmap_set(s->idle, i);
}

/* Whoever is up learns that we are; whoever comes up later tells us. */
static void
greet(struct cluster *c)
{
	for (uint32_t peer = 0; peer < c->ikc.clusters; peer++) {
		list_init(&c->ikc.peer[peer].watchers);
		list_init(&c->ikc.peer[peer].walking);
		if (peer == c->id) {
			c->ikc.peer[peer].state = PEER_UP;
			c->ikc.peer[peer].incarnation = c->record->cluster[peer].incarnation;
		}
	}
	hal_fence();
	for (uint32_t peer = 0; peer < c->ikc.clusters; peer++) {
		if (peer != c->id && hal_noc_alive(peer))
			event_send(c, peer, wire_event(WIRE_UP, 0, 0));
		peer_look(c, peer);
	}
}

void
ikc_init(struct cluster *c, void *memory)
{
	struct ikc_state *s = &c->ikc;
	struct carve from = {memory, 0};

	memset(s, 0, sizeof(*s));
	memset(memory, 0, ikc_bytes(c->record));
	lay_out(s, c->record, &from);
	list_init(&s->walks);
	list_init(&s->mark);
	list_init(&s->missed);
	list_init(&s->leaving);
	list_init(&s->queue);
	s->period_ns = (uint64_t)c->record->heartbeat_ms * 1000000;
	c->chores += s->period_ns != 0;
	s->deaths = hal_noc_deaths();
	s->activity = hal_noc_activity();
	s->looked = hal_load32(s->activity) - 1;
	ports_init(c);
	channels_init(c);
	greet(c);
}

/* --- the round of the home core --- */

/* Cluster 0 asks, and is answered. */
static bool
is_restart_event(const struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t of = wire_event_port(event);

	if (of == 0 || of == peer || of == c->id || of >= c->ikc.clusters || peer == c->id)
		return false;
	return (wire_event_kind(event) == WIRE_SETTLE ? peer : c->id) == 0;
}

static bool
is_channel_event(const struct cluster *c, uint32_t event)
{
	uint32_t page = event & WIRE_CHANNEL_PAGE, pages = wire_channel_pages(event);
	enum wire_channel what = wire_channel_what(event);
	bool is_owner = (event & WIRE_CHANNEL_OWNER) != 0;

	if (page >= c->ikc.channels || what < WIRE_CHANNEL_OFFER || what > WIRE_CHANNEL_WOKEN)
		return false;
	if (what == WIRE_CHANNEL_OFFER && (wire_event_port(event) >= c->ikc.mailbox_ports ||
		pages < 1 || pages > CHANNEL_PAGES_MAX || pages > c->ikc.channels - page))
		return false;
	return what >= WIRE_CHANNEL_WAKE || is_owner == (what != WIRE_CHANNEL_GONE);
}

/* Is it an event that a kernel of this machine sends? */
static bool
is_event(const struct cluster *c, uint32_t peer, uint32_t event)
{
	enum wire_kind kind = wire_event_kind(event);

	if (kind == WIRE_UP)
		return true;
	if (kind < WIRE_UP || kind > WIRE_CHANNEL)
		return false;
	if (kind == WIRE_CHANNEL)
		return is_channel_event(c, event);
	if (kind >= WIRE_SETTLE)
		return is_restart_event(c, peer, event);
	if (kind == WIRE_SYNC)
		return wire_event_port(event) < SYNC_PORTS && wire_sync_what(event) != 0;
	if (kind > WIRE_REFUSED)
		return wire_event_port(event) < c->ikc.portal_ports &&
			(portal_shares(c) ? kind != WIRE_NEXT ||
			(event & WIRE_CONNECTOR) < c->ikc.portal_slots : kind < WIRE_ASK);
	return wire_event_port(event) < c->ikc.mailbox_ports &&
		(kind > WIRE_GRANT || mail_is_place(&c->ikc, kind, event));
}

void
event_take(struct cluster *c, uint32_t peer, uint32_t event)
{
	switch (wire_event_kind(event)) {
	case WIRE_UP:
		break;
	case WIRE_ARRIVED:
		mail_arrived(c, peer, event);
		break;
	case WIRE_WANT:
		mail_wanted(c, peer, event);
		break;
	case WIRE_GRANT:
		mail_granted(c, peer, event);
		break;
	case WIRE_FREED:
		mail_freed(c, peer, event);
		break;
	case WIRE_REFUSED:
		mail_refused(c, peer, event);
		break;
	case WIRE_SYNC:
		sync_event(c, peer, event);
		break;
	default:
		if (wire_event_kind(event) == WIRE_CHANNEL)
			channel_event(c, peer, event);
		else if (wire_event_kind(event) > WIRE_SYNC)
			restart_event(c, peer, event);
		else
			portal_event(c, peer, event);
	}
}

static void
event_receive(struct cluster *c, uint32_t peer, uint32_t event)
{
	if (is_event(c, peer, event))
		event_take(c, peer, event);
	else
		ikc_condemn(c, peer, event == HAL_NOC_NONSENSE ? "has spoilt its event ring" :
			"sent an event that does not exist");
}

/* An event by which a new life is noticed is taken when all have been told of that. */
bool
ikc_poll(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	bool right;

	if (peers_walk(c))
		return true;
	if (!s->held && !hal_noc_poll(&s->held_peer, &s->held_incarnation, &s->held_event))
		return false;
	right = peer_accept(c, s->held_peer, s->held_incarnation);
	s->held = !list_is_empty(&s->walks);
	if (right && !s->held)
		event_receive(c, s->held_peer, s->held_event);
	return true;
}
