/* SPDX-License-Identifier: MIT
 *
 * For the fuzz test: a cluster whose kernel is bad. It writes whatever it likes into its own
 * window, and in the windows of others into what is its own there: its event ring, its mailbox
 * slots and the credits that it has, the portal slots that it may be allowed, and it counts into
 * the words that all clusters count in. Most of what it writes is almost right. It cannot be kept
 * from writing to what belongs to two others or from clearing words that all share: only hardware
 * could (ADR 0045).
 */
#ifndef TESTS_HOSTILE_BADPEER_H
#define TESTS_HOSTILE_BADPEER_H

#include <hal/noc/shm/window.h>
#include <kernel/ikc/fake.h>

#define BAD (FAKE_CLUSTERS - 1)
#define HONEST BAD			/* clusters 0 .. HONEST - 1 */
#define BAD_PORTS 4			/* first portal port that is used with the bad cluster */

static uint32_t bad_state;		/* of its generator */
static struct window_geometry bad_geometry;
static unsigned bad_lives;		/* incarnations that it claimed */
static bool bad_reads;			/* it takes the events that come to it */
/* also sends what no kernel sends, which ends its life at once */
static bool bad_is_wild;
static uint32_t bad_habits;		/* which moves it makes: a bit each */
/* what it does most: the events that it floods others with, the mailbox port that it wants */
static uint32_t bad_flood, bad_port;

static inline uint32_t
draw(uint32_t n)
{
	bad_state = bad_state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)bad_state * n) >> 32);
}

static inline uint32_t
any_word(void)
{
	return draw(1u << 16) << 16 | draw(1u << 16);
}

/* Small, large, or around a power of two. */
static inline uint32_t
odd_word(void)
{
	switch (draw(4)) {
	case 0:
		return draw(4);
	case 1:
		return -draw(4);
	case 2:
		return (1u << draw(32)) + draw(3) - 1;
	default:
		return any_word();
	}
}

static inline struct window *
bad_window(unsigned cluster)
{
	return (struct window *)(void *)fake_window[cluster];
}

static inline struct window_ring *
bad_ring(unsigned owner, unsigned producer)
{
	return (struct window_ring *)(void *)(fake_window[owner] + bad_geometry.rings_at +
		producer * bad_geometry.ring_stride);
}

/* Where a message of a sender for a port lies. */
static inline struct wire_header *
bad_mail_slot(unsigned owner, unsigned place, unsigned port, unsigned sender)
{
	unsigned slot = place < WIRE_CREDIT ? place * FAKE_CLUSTERS + sender :
		bad_geometry.mailbox_connectors * FAKE_CLUSTERS + port * MAILBOX_CREDITS + place -
		WIRE_CREDIT;

	return (struct wire_header *)(void *)(fake_window[owner] + bad_geometry.mailbox_at + slot *
		WINDOW_MAIL_BYTES);
}

static inline bool
bad_shares_portals(void)
{
	return bad_geometry.portal_slots < bad_geometry.portal_ports;
}

/* Where it may put a block for a port, or NULL: what others have is left alone. */
static inline struct wire_header *
bad_portal_slot(unsigned owner, unsigned port)
{
	const struct portal_in *in = &fake[owner]->c.ikc.portal[port];
	unsigned slot = bad_shares_portals() ? in->connector - 1u : port;

	if (bad_shares_portals() && (in->connector == 0 || in->cluster != BAD))
		return NULL;
	return (struct wire_header *)(void *)(fake_window[owner] + bad_geometry.portal_at + slot *
		bad_geometry.portal_stride);
}

/* An event as a right kernel would send it, whatever it says. */
static inline void
bad_event(unsigned to, uint32_t event)
{
	struct window_ring *r = bad_ring(to, BAD);
	struct window_event *e = (struct window_event *)(void *)(r + 1);

	e[r->head & (bad_geometry.ring_entries - 1)] = (struct window_event){event,
		window_stamp(bad_window(BAD)->incarnation, fake_record.cluster[to].incarnation)};
	r->head++;
	bad_window(to)->activity += draw(8) != 0;
}

/* A place for a message, which may be there or not. */
static inline unsigned
likely_place(void)
{
	bool shared = bad_geometry.mailbox_connectors < FAKE_PORTS;

	return shared && draw(2) ? WIRE_CREDIT + draw(MAILBOX_CREDITS) :
		draw(bad_geometry.mailbox_connectors);
}

/* A number that an answer of the kind could carry: often what was really asked. */
static inline uint32_t
likely_argument(enum wire_kind kind, unsigned to, unsigned port)
{
	switch (kind) {
	case WIRE_ARRIVED:
	case WIRE_GRANT:
		return likely_place();
	case WIRE_WANT:
		return draw(3) << WIRE_GENERATION | draw(4);
	case WIRE_FREED:
	case WIRE_REFUSED:
		return draw(3) << WIRE_GENERATION |
			(bad_mail_slot(BAD, likely_place(), port, to)->sequence & WIRE_SEQUENCE);
	case WIRE_ALLOW:
		return draw(4) << 8 | draw(4);
	case WIRE_NEXT:
		return draw(bad_geometry.portal_slots) | draw(2) * WIRE_AGAIN;
	case WIRE_DONE:
		return draw(2) ? draw(FAKE_UNIT + 1) : odd_word();
	case WIRE_SYNC:
		return (1 + draw(3)) << WIRE_SYNC_WHAT | draw(2) * WIRE_SYNC_FROM_ONE | draw(3);
	case WIRE_CHANNEL:
		return (1 + draw(5)) << WIRE_CHANNEL_WHAT | draw(2) * WIRE_CHANNEL_OWNER |
			(1 + draw(2)) << WIRE_CHANNEL_PAGES | draw(FAKE_CHANNELS);
	default:
		return draw(6);
	}
}

/* A kind that kernels of this machine know. */
static inline enum wire_kind
likely_kind(enum wire_kind first)
{
	enum wire_kind kind = first + draw(WIRE_CHANNEL - first + 1);

	return kind >= WIRE_ASK && kind <= WIRE_RETURNED && !bad_shares_portals() ? WIRE_DATA :
		kind;
}

/* A port that something may be going on at. */
static inline unsigned
likely_port(enum wire_kind kind)
{
	if (bad_is_wild && draw(32) == 0)
		return draw(128);
	return kind > WIRE_REFUSED && kind < WIRE_SYNC && draw(4) != 0 ? BAD_PORTS + draw(2) :
		draw(FAKE_PORTS);
}

static inline void
send_likely_event(void)
{
	enum wire_kind kind = bad_is_wild && draw(16) == 0 ? draw(32) : likely_kind(WIRE_UP);
	unsigned to = draw(HONEST), port = likely_port(kind);
	bool is_odd = kind < WIRE_SYNC && (kind != WIRE_NEXT || bad_is_wild) && draw(4) == 0;

	bad_event(to, wire_event(kind, port, is_odd ? odd_word() :
		likely_argument(kind, to, port % FAKE_PORTS)));
}

static inline void
send_any_event(void)
{
	bad_event(draw(HONEST), any_word());
}

/* As many events at once as there may be in a ring. */
static inline void
flood(void)
{
	unsigned to = draw(HONEST);
	uint32_t event = wire_event(draw(4) ? bad_flood : likely_kind(WIRE_ARRIVED),
		draw(FAKE_PORTS), draw(1024));

	for (uint32_t n = draw(bad_geometry.ring_entries); n > 0; n--)
		bad_event(to, event);
}

/* One field of a header is not what it should be. */
static inline void
spoil_header(struct wire_header *h)
{
	uint32_t *word = (uint32_t *)(void *)h;

	if (draw(3) == 0)
		word[draw(sizeof(*h) / sizeof(*word))] = odd_word();
}

/* It may put a message there: a credit that others have is left alone, though it is spoken of. */
static inline bool
has_credit(unsigned at, unsigned port, unsigned place)
{
	return place < WIRE_CREDIT ||
		fake[at]->c.ikc.in[port].credit[place - WIRE_CREDIT] == BAD + 1;
}

static inline void
send_likely_mail(void)
{
	unsigned to = draw(HONEST), port = draw(FAKE_PORTS / 2);
	unsigned place = likely_place();
	struct wire_header *h = bad_mail_slot(to, has_credit(to, port, place) ? place : 0, port,
		BAD);

	*h = (struct wire_header){.magic = WIRE_MAIL, .incarnation = bad_window(BAD)->incarnation,
		.sequence = draw(9000),
		.length = MAILBOX_MSG_SIZE, .source = BAD, .port = (uint8_t)port,
		.generation = draw(3)};
	spoil_header(h);
	bad_event(to, wire_event(WIRE_ARRIVED, port, place));
}

/* Asks for all that a port has, and more. */
static inline void
want_credits(void)
{
	unsigned to = draw(HONEST), port = draw(4) ? bad_port : draw(FAKE_PORTS / 2);

	for (uint32_t n = 0; n <= MAILBOX_CREDITS; n++)
		bad_event(to, wire_event(WIRE_WANT, port, n));
}

static inline void
send_likely_block(void)
{
	unsigned to = draw(HONEST), port = BAD_PORTS + draw(FAKE_PORTS - BAD_PORTS);
	struct wire_header nowhere, *h = bad_portal_slot(to, port);

	if (h == NULL)
		h = &nowhere;
	*h = (struct wire_header){.magic = WIRE_BLOCK, .incarnation = bad_window(BAD)->incarnation,
		.sequence = 1 + draw(3),
		.length = draw(2) ? FAKE_UNIT : draw(FAKE_UNIT), .source = BAD,
		.port = (uint8_t)port, .offset = draw(3) * FAKE_UNIT,
		.total = draw(4 * FAKE_UNIT)};
	spoil_header(h);
	bad_event(to, wire_event(WIRE_DATA, port, h->sequence));
}

static inline void
spoil_ring(void)
{
	struct window_ring *r = draw(2) ? bad_ring(draw(HONEST), BAD) :
		bad_ring(BAD, draw(FAKE_CLUSTERS));
	uint32_t *place = draw(2) ? &r->head : &r->tail;

	*place = draw(2) ? *place + odd_word() : odd_word();
	bad_window(draw(HONEST))->activity++;
}

static inline void
spoil_entry(void)
{
	uint32_t *word = (uint32_t *)(void *)(bad_ring(draw(HONEST), BAD) + 1);

	word[draw(2 * bad_geometry.ring_entries)] = odd_word();
}

static inline void
spoil_descriptor(void)
{
	struct window *w = bad_window(BAD);
	uint32_t *word[] = {&w->magic, &w->incarnation, &w->state, &w->heartbeat, &w->deaths,
		&w->activity};

	*word[draw(6)] = draw(2) ? draw(4) : odd_word();
	bad_lives++;
}

/* A new life, as far as others can see. */
static inline void
claim_life(void)
{
	struct window *w = bad_window(BAD);

	w->magic = WINDOW_MAGIC;
	w->incarnation++;
	w->state = WINDOW_UP;
	bad_lives++;
	for (unsigned to = 0; to < HONEST; to++)
		bad_event(to, wire_event(WIRE_UP, 0, 0));
}

static inline void
spoil_own_window(void)
{
	char *at = fake_window[BAD] + draw(bad_geometry.bytes - 64);

	for (uint32_t i = draw(64); i > 0; i--)
		at[i] = (char)draw(256);
	bad_lives++;
}

static inline void
count_for_nothing(void)
{
	struct window *w = bad_window(draw(HONEST));

	if (draw(2))
		w->deaths += draw(3);
	w->activity += 1 + draw(3);
}

static inline void
spoil_console(void)
{
	struct window_ring *r =
		(struct window_ring *)(void *)(fake_window[BAD] + bad_geometry.console_at);

	*(draw(2) ? &r->head : &r->tail) = odd_word();
	bad_window(0)->activity++;
}

static inline void
take_events(void)
{
	for (unsigned from = 0; from < FAKE_CLUSTERS; from++)
		bad_ring(BAD, from)->tail = bad_ring(BAD, from)->head;
}

static inline void
bad_start(void)
{
	window_geometry_init(&bad_geometry, &fake_record, BAD);
	bad_lives = 1;
	bad_reads = draw(4) != 0;
	bad_is_wild = draw(4) == 0;
	bad_habits = any_word() & any_word();
	/* REVOKE is always answered */
	bad_flood = draw(2) ? WIRE_REVOKE : likely_kind(WIRE_ARRIVED);
	bad_port = draw(FAKE_PORTS / 2);
}

static inline void
bad_move(void)
{
	static void (*const move[])(void) =
		{claim_life, send_any_event, flood, spoil_ring, spoil_entry, spoil_descriptor,
		spoil_own_window,
		count_for_nothing, spoil_console, want_credits, send_likely_mail, send_likely_block,
		send_likely_event};
	unsigned moves = sizeof(move) / sizeof(move[0]), choice = draw(2 * moves);

	if (choice >= moves || (choice != 0 && !(bad_habits >> choice & 1)))
		choice = moves - 1 - draw(3);
	move[choice]();
	if (bad_reads)
		take_events();
}

#endif
