/* SPDX-License-Identifier: MIT
 *
 * Channels: see channel.h. Whatever a peer sends names pages of its own window, or of channels that
 * this cluster has made for it: so it can spoil what it shares with us and nothing else.
 */
#include <hal/noc.h>
#include <kernel/ikc/channel.h>
#include <kernel/ikc/state.h>
#include <kernel/mem/calls.h>
#include <kernel/mem/mapping.h>
#include <kernel/proc/proc.h>

static struct channel *
channel_of(struct memory *m)
{
	return list_entry(m, struct channel, placed.memory);
}

static void *
page_at(uint32_t cluster, uint32_t page)
{
	return (char *)hal_noc_channels(cluster) + page * HAL_PAGE_BYTES;
}

static struct channel_far *
far_at(const struct cluster *c, uint32_t peer, uint32_t page)
{
	return &c->ikc.far[peer * c->ikc.channels + page];
}

/* The channel with a peer that begins at a page of the own window, or NULL. */
static struct channel *
own_at(const struct cluster *c, uint32_t peer, uint32_t page)
{
	struct channel *ch = c->ikc.own[page];

	return ch != NULL && ch->page == page && ch->peer == peer ? ch : NULL;
}

static void
wipe(uint32_t cluster, uint32_t page)
{
	void *at = page_at(cluster, page);

	hal_zero_pages(at, HAL_PAGE_BYTES);
	hal_publish(at, HAL_PAGE_BYTES);
}

void
channels_init(struct cluster *c)
{
	for (uint32_t i = 0; c->record->cluster[c->id].incarnation > 1 && i < c->ikc.channels; i++)
		wipe(c->id, i);
}

uint32_t
channel_pages(const struct cluster *c)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < c->ikc.channels; i++)
		used += c->ikc.own[i] != NULL;
	return used;
}

bool
channels_are_away(const struct cluster *c, uint32_t peer)
{
	return c->ikc.peer[peer].channels == 0;
}

/* --- events --- */

/* `channel`: its page, and WIRE_CHANNEL_OWNER if this cluster has made it. */
static void
send(struct cluster *c, uint32_t peer, enum wire_channel what, uint32_t channel)
{
	event_send(c, peer, wire_event(WIRE_CHANNEL, 0,
		(uint32_t)what << WIRE_CHANNEL_WHAT | channel));
}

static void
send_of(struct cluster *c, const struct channel *ch, enum wire_channel what)
{
	send(c, ch->peer, what, ch->page | (ch->is_own ? WIRE_CHANNEL_OWNER : 0));
}

/* About the channel that an event of the peer is about. */
static void
reply(struct cluster *c, uint32_t peer, enum wire_channel what, uint32_t event)
{
	send(c, peer, what, (event & (WIRE_CHANNEL_PAGE | WIRE_CHANNEL_OWNER)) ^
		WIRE_CHANNEL_OWNER);
}

/* The other side has done its part, or never will: it is not there any more. */
static void
broken(struct cluster *c, struct channel *ch, int error)
{
	if (ch->error == 0)
		ch->error = (int16_t)error;
	binding_signal(c, &ch->event);
}

/* Nobody shall reach its pages: nobody maps them from now on. */
static void
channel_leave(struct cluster *c, struct channel *ch)
{
	ch->placed.memory.count = 0;
	ch->epoch = c->sweeps.epoch;
	if (ch->is_leaving)
		return;
	ch->is_leaving = true;
	list_push_back(&c->ikc.leaving, &ch->link);
	c->chores++;
}

static void
offered(struct cluster *c, uint32_t peer, uint32_t event, struct channel_far *f)
{
	unsigned port = wire_event_port(event);

	if (f->pages != 0)
		return;
	if (c->ikc.in[port].endpoint == NULL) {
		reply(c, peer, WIRE_CHANNEL_GONE, event);
		return;
	}
	f->pages = (uint8_t)wire_channel_pages(event);
	f->port = (uint8_t)port;
	f->generation = (uint8_t)c->ikc.in[port].generation;
}

/* The maker wants its pages back. */
static void
closed(struct cluster *c, uint32_t peer, uint32_t event, struct channel_far *f)
{
	if (f->open != NULL) {
		broken(c, f->open, -E_PIPE);
		channel_leave(c, f->open);
	} else if (f->pages != 0) {
		*f = (struct channel_far){0};
		reply(c, peer, WIRE_CHANNEL_GONE, event);
	}
}

/* The other cluster does not reach the pages of an own one any more. */
static void
come_back(struct cluster *c, struct channel *ch)
{
	if (!ch->is_away)
		return;
	ch->is_away = false;
	if (ch->is_named)
		broken(c, ch, -E_PIPE);
	else
		channel_leave(c, ch);
}

static void
woken(struct cluster *c, uint32_t peer, uint32_t event, struct channel *ch)
{
	if (ch != NULL && ch->event.tid != 0)
		binding_signal(c, &ch->event);
	else if (ch != NULL)
		ch->is_woken = true;
	else if (event & WIRE_CHANNEL_OWNER)
		far_at(c, peer, event & WIRE_CHANNEL_PAGE)->woken = true;
	reply(c, peer, WIRE_CHANNEL_WOKEN, event);
}

static void
answered(struct cluster *c, struct channel *ch)
{
	if (!ch->wakes)
		return;
	ch->wakes = ch->wakes_again;
	ch->wakes_again = false;
	if (ch->wakes)
		send_of(c, ch, WIRE_CHANNEL_WAKE);
}

void
channel_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t page = event & WIRE_CHANNEL_PAGE;
	enum wire_channel what = wire_channel_what(event);
	struct channel_far *f = far_at(c, peer, page);
	struct channel *ch = event & WIRE_CHANNEL_OWNER ? f->open : own_at(c, peer, page);

	if (what == WIRE_CHANNEL_OFFER)
		offered(c, peer, event, f);
	else if (what == WIRE_CHANNEL_CLOSE)
		closed(c, peer, event, f);
	else if (what == WIRE_CHANNEL_WAKE)
		woken(c, peer, event, ch);
	else if (ch != NULL && what == WIRE_CHANNEL_GONE)
		come_back(c, ch);
	else if (ch != NULL)
		answered(c, ch);
}

void
channel_peer_changed(struct cluster *c, uint32_t peer, uint32_t page)
{
	struct channel_far *f = far_at(c, peer, page);
	struct channel *ch = own_at(c, peer, page);

	if (c->ikc.peer[peer].state == PEER_UP)
		return;
	if (f->open != NULL) {
		broken(c, f->open, -E_HOSTDOWN);
		channel_leave(c, f->open);
	}
	*f = (struct channel_far){0};
	if (ch == NULL)
		return;
	broken(c, ch, -E_HOSTDOWN);
	if (c->ikc.peer[peer].state == PEER_MEETING)
		come_back(c, ch);
}

/* --- the end --- */

void
channel_handle_gone(struct cluster *c, struct memory *m)
{
	binding_handle_gone(c, &channel_of(m)->event, &m->object);
}

void
channel_unreferenced(struct cluster *c, struct memory *m)
{
	struct channel *ch = channel_of(m);

	ch->is_named = false;
	if (!ch->is_open) {
		m->count = 0;
		memory_gone(c, m);
	} else if (ch->is_away) {
		send_of(c, ch, WIRE_CHANNEL_CLOSE);
	} else {
		channel_leave(c, ch);
	}
}

/* Nobody in this cluster reaches its pages any more. */
static void
channel_left(struct cluster *c, struct channel *ch)
{
	struct memory *m = &ch->placed.memory;

	ch->is_open = ch->is_leaving = false;
	if (ch->is_own) {
		for (uint32_t i = ch->page; i < (uint32_t)ch->page + ch->pages; i++)
			c->ikc.own[i] = NULL;
		quota_refund(m->quota, QUOTA_BYTES, ch->pages * HAL_PAGE_BYTES);
	} else {
		struct channel_far *f = far_at(c, ch->peer, ch->page);

		c->ikc.peer[ch->peer].channels--;
		if (f->open == ch) {
			*f = (struct channel_far){0};
			send_of(c, ch, WIRE_CHANNEL_GONE);
		}
	}
	if (!ch->is_named)
		memory_gone(c, m);
}

static void
taken_away(struct cluster *c, struct sweep *s)
{
	(void)c;
	proc_sweep_ended(s->proc);
}

/*
 * One step of what it takes until no core can reach the pages. True: something was done; *is_over:
 * that was all.
 */
static bool
part(struct cluster *c, struct channel *ch, bool *is_over)
{
	struct memory *m = &ch->placed.memory;
	struct sweep *s = &c->taking;
	const struct list *oldest = c->sweeps.running.next;

	if (!list_is_empty(&m->mappings)) {
		if (!c->is_taking) {
			s->fn = shoot_down;
			s->done = taken_away;
			s->proc = c->proc;	/* it does not end before */
			s->caller = NULL;
			sweep_begin(c, s);
			c->is_taking = true;
		}
		mappings_take_away(c, m, s);
		return true;
	}
	if (c->is_taking) {
		c->is_taking = false;
		ch->epoch = c->sweeps.epoch;
		if (sweep_send(c, s))
			taken_away(c, s);
		return true;
	}
	if (oldest != &c->sweeps.running &&
		(int32_t)(list_entry(oldest, struct sweep, link)->epoch - ch->epoch) <= 0)
		return false;
	*is_over = !ch->is_own || ch->wiped == ch->pages;
	if (!*is_over)
		wipe(c->id, (uint32_t)ch->page + ch->wiped++);
	return true;
}

bool
channels_poll(struct cluster *c)
{
	struct list *first = c->ikc.leaving.next;
	struct channel *ch = list_entry(first, struct channel, link);
	bool is_over = false;

	if (first == &c->ikc.leaving || !part(c, ch, &is_over))
		return false;
	if (is_over) {
		list_remove(first);
		c->chores--;
		channel_left(c, ch);
	}
	return true;
}

/* --- calls --- */

/* The record of one, which nobody uses yet, and the handle of it; or why there is none. */
static long
channel_new(struct process *p, struct channel what, uint32_t cluster, struct channel **made)
{
	struct placed *at, place = {.memory = {.kind = MEMORY_CHANNEL, .count = what.pages},
		.base = hal_paddr(page_at(cluster, what.page))};
	long handle = placed_new(p, sizeof(struct channel), place, &at);
	struct channel *ch;

	if (handle < 0)
		return handle;
	ch = channel_of(&at->memory);
	ch->peer = what.peer;
	ch->page = what.page;
	ch->pages = what.pages;
	ch->is_own = ch->is_away = what.is_own;
	ch->is_woken = what.is_woken;
	ch->is_open = ch->is_named = true;
	*made = ch;
	return handle;
}

/* So many free pages of the own window in a row: the first; ikc.channels: there are not. */
static uint32_t
run_find(const struct ikc_state *s, uint32_t count)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < s->channels; i++) {
		run = s->own[i] == NULL ? run + 1 : 0;
		if (run == count)
			return i + 1 - count;
	}
	return s->channels;
}

/* The output mailbox that says to whom, and whether there can be a channel. */
static long
create_check(struct thread *caller, int mailbox, int count, struct endpoint **ep)
{
	long wrong = endpoint_find(caller, mailbox, MAIL_OUT, RIGHT_WRITE, ep);

	if (wrong != 0)
		return wrong;
	if (count < 1 || count > CHANNEL_PAGES_MAX)
		return -E_INVAL;
	return peer_check(caller->cluster, *ep);
}

/*
 * kc_channel_create: make a channel of `count` pages of this cluster's window, at most
 * CHANNEL_PAGES_MAX, filled with zeros, and offer it to whoever reads at the port of an output
 * mailbox (RIGHT_WRITE), in this cluster or another one. *number: what that passes to
 * channel_open; a message that is sent afterwards arrives after the offer. The handle is one of
 * memory, which page_map maps. The pages are charged to the process's account. If nobody has the
 * port the other side is gone at once. Runs: home. Returns the handle; -E_BADF; -E_ACCES; -E_INVAL:
 * no such count; -E_AGAIN: the other one is not up yet; -E_HOSTDOWN, -E_CONNRESET: as
 * mailbox_write; -E_NOSPC: the window has not so many pages left; -E_NOMEM; -E_MFILE.
 */
long
kc_channel_create(struct thread *caller, int mailbox, int count, void *number)
{
	struct cluster *c = caller->cluster;
	struct process *p = caller->proc;
	size_t bytes = (size_t)(unsigned)count * HAL_PAGE_BYTES;
	struct endpoint *ep;
	struct channel *ch;
	uint32_t page;
	long handle = create_check(caller, mailbox, count, &ep);

	if (handle != 0)
		return handle;
	page = run_find(&c->ikc, (uint32_t)count);
	if (page == c->ikc.channels)
		return -E_NOSPC;
	if (!quota_charge(p->quota, QUOTA_BYTES, bytes))
		return -E_NOMEM;
	handle = channel_new(p, (struct channel){.peer = ep->cluster, .page = (uint8_t)page,
		.pages = (uint8_t)count, .is_own = true}, c->id, &ch);
	if (handle < 0) {
		quota_refund(p->quota, QUOTA_BYTES, bytes);
		return handle;
	}
	for (uint32_t i = page; i < page + (uint32_t)count; i++)
		c->ikc.own[i] = ch;
	event_send(c, ep->cluster, wire_event(WIRE_CHANNEL, ep->port, WIRE_CHANNEL_OWNER |
		(uint32_t)WIRE_CHANNEL_OFFER << WIRE_CHANNEL_WHAT |
		(uint32_t)count << WIRE_CHANNEL_PAGES | page));
	__builtin_memcpy(number, &page, sizeof(page));
	return handle;
}

/*
 * kc_channel_open: take the channel with this number that a process of `cluster` has offered to
 * whoever reads at the port of an input mailbox (RIGHT_READ). Once. Runs: home. Returns the handle,
 * of memory; -E_BADF; -E_ACCES; -E_INVAL: no such cluster; -E_NOENT: no such channel is offered to
 * this port in its present life, or it is open; -E_NOMEM; -E_MFILE.
 */
long
kc_channel_open(struct thread *caller, int mailbox, int cluster, uint32_t number)
{
	struct cluster *c = caller->cluster;
	struct channel_far *f;
	struct channel *ch;
	struct endpoint *ep;
	long handle = endpoint_find(caller, mailbox, MAIL_IN, RIGHT_READ, &ep);

	if (handle != 0)
		return handle;
	if ((uint32_t)cluster >= c->ikc.clusters)
		return -E_INVAL;
	if (number >= c->ikc.channels)
		return -E_NOENT;
	f = far_at(c, (uint32_t)cluster, number);
	if (f->pages == 0 || f->open != NULL || f->port != ep->port ||
		c->ikc.peer[cluster].state != PEER_UP ||
		f->generation != (uint8_t)c->ikc.in[ep->port].generation)
		return -E_NOENT;
	handle = channel_new(caller->proc, (struct channel){.peer = (uint8_t)cluster,
		.page = (uint8_t)number, .pages = f->pages, .is_woken = f->woken},
		(uint32_t)cluster, &ch);
	if (handle < 0)
		return handle;
	f->open = ch;
	c->ikc.peer[cluster].channels++;
	return handle;
}

/* The channel that a handle names; NULL and *wrong: -E_BADF; -E_ACCES; -E_INVAL: other memory. */
static struct channel *
channel_find(struct thread *caller, int handle, unsigned right, long *wrong)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *o = handle_get_far(handles, handle, HANDLE_KIND(OBJECT_MEMORY, right));
	struct memory *m = list_entry(o, struct memory, object);

	*wrong = o == NULL ? handle_error(handles, handle, OBJECT_MEMORY) : -E_INVAL;
	return o != NULL && m->kind == MEMORY_CHANNEL ? channel_of(m) : NULL;
}

long
channel_bind(struct thread *caller, int handle, struct event *e)
{
	long wrong;
	struct channel *ch = channel_find(caller, handle, RIGHT_WAIT, &wrong);

	if (ch == NULL || ch->error != 0)
		return ch == NULL ? wrong : ch->error;
	*e = (struct event){&ch->event, ch->is_woken};
	ch->is_woken = false;
	return 0;
}

/*
 * kc_channel_wake: set the bit that the other side has bound to the channel (EVENT_CHANNEL), now or
 * when it binds one (RIGHT_WRITE). What is written before the call is there when the bit is. Runs:
 * home. Returns 0; -E_BADF; -E_ACCES; -E_INVAL: other memory; -E_PIPE: the other side has given it
 * up; -E_HOSTDOWN: it has died.
 */
long
kc_channel_wake(struct thread *caller, int channel)
{
	long wrong;
	struct channel *ch = channel_find(caller, channel, RIGHT_WRITE, &wrong);

	if (ch == NULL)
		return wrong;
	if (ch->error != 0)
		return ch->error;
	if (ch->wakes) {
		ch->wakes_again = true;
		return 0;
	}
	ch->wakes = true;
	send_of(caller->cluster, ch, WIRE_CHANNEL_WAKE);
	return 0;
}
