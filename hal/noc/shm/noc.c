/* SPDX-License-Identifier: MIT
 *
 * NoC over shared memory: windows, slots, life and death. The contract is hal/noc.h, the layout
 * window.h. Independent of the CPU: everything that crosses a border goes through hal_publish,
 * hal_acquire and the 32-bit operations.
 */
#include <abi/errors.h>
#include <hal/trap.h>
#include "shm.h"

#define check_or_panic(condition) \
	((condition) ? (void)0 : hal_panic(__FILE__, __LINE__, #condition))

/*
 * Forget what is in the rings from an earlier life: the producers' counters go on, ours catch up
 * with them.
 */
static void
drop_old_events(struct noc_own *own, struct window *w)
{
	for (uint32_t i = 0; i < own->geometry.clusters; i++) {
		struct window_ring *r = window_part(w,
			own->geometry.rings_at + i * own->geometry.ring_stride);

		own->tail[i] = hal_load32(&r->head);
		hal_store32(&r->tail, own->tail[i]);
	}
	own->looked = hal_load32(&w->activity) - 1;
	own->next_peer = 0;
}

static void
reset_doorbells(const struct window_geometry *g)
{
	for (uint32_t i = 0; i < g->cores; i++) {
		struct hal_doorbell *d = hal_noc_doorbell(g->self, i);

		hal_store32(&d->waiting, 0);
		hal_store32(&d->rung, 0);
	}
}

void
hal_noc_attach(const struct boot_record *record)
{
	window_geometry_init(&noc_own()->geometry, record, hal_cluster_id());
}

void
noc_ring_home(unsigned cluster)
{
	if (hal_peek32(&window_of(cluster)->home_runs_users) != 0)
		hal_interrupt_home(cluster);
	else
		hal_notify(cluster, 0);
}

void
hal_noc_home_runs_users(bool yes)
{
	hal_store32(&window_own()->home_runs_users, yes);
}

void
hal_noc_init(const struct boot_record *record)
{
	struct noc_own *own = noc_own();
	struct window *w = window_own();

	hal_store32(&w->state, WINDOW_DOWN);
	hal_noc_attach(record);
	check_or_panic(own->geometry.bytes <= record->noc_window_bytes);
	own->incarnation = record->cluster[own->geometry.self].incarnation;
	reset_doorbells(&own->geometry);
	drop_old_events(own, w);
	hal_noc_home_runs_users(record->roles[record->cluster[own->geometry.self].first_core] ==
		ROLE_TC);
	hal_store32(&w->heartbeat, 0);
	hal_store32(&w->incarnation, own->incarnation);
	hal_store32(&w->magic, WINDOW_MAGIC);
	hal_store32(&w->state, WINDOW_UP);
}

struct hal_doorbell *
hal_noc_doorbell(unsigned cluster, unsigned core)
{
	struct hal_doorbell *first = window_part(window_of(cluster), sizeof(struct window));

	return &first[core];
}

unsigned
hal_noc_mailbox_slot(unsigned connector, unsigned sender)
{
	return connector * noc_own()->geometry.clusters + sender;
}

unsigned
hal_noc_credit_slot(unsigned port, unsigned credit)
{
	const struct window_geometry *g = &noc_own()->geometry;

	return g->mailbox_connectors * g->clusters + port * MAILBOX_CREDITS + credit;
}

unsigned
hal_noc_portal_slot(unsigned connector)
{
	return noc_own()->geometry.mailbox_slots + connector;
}

/* Offset and length of a slot; the length is 0 if there is no such slot. */
static uint32_t
slot_find(const struct window_geometry *g, unsigned slot, size_t *len)
{
	if (slot < g->mailbox_slots) {
		*len = WINDOW_MAIL_BYTES;
		return g->mailbox_at + slot * WINDOW_MAIL_BYTES;
	}
	slot -= g->mailbox_slots;
	*len = slot < g->portal_slots ? g->portal_bytes : 0;
	return g->portal_at + slot * g->portal_stride;
}

size_t
hal_noc_slot_bytes(unsigned slot)
{
	size_t len;

	slot_find(&noc_own()->geometry, slot, &len);
	return len;
}

/* Where a block of so many bytes for a slot goes. 0, or what hal_noc_put says. */
static int
slot_place(unsigned cluster, unsigned slot, uint32_t incarnation, size_t len, unsigned char **place)
{
	const struct window_geometry *g = &noc_own()->geometry;
	uint32_t living, offset;
	size_t room;

	offset = slot_find(g, slot, &room);
	if (cluster >= g->clusters || room == 0 || len > room)
		return -E_INVAL;
	if (!window_is_up(window_of(cluster), &living))
		return -E_HOSTDOWN;
	if (living != incarnation)
		return -E_STALE;
	*place = window_part(window_of(cluster), offset);
	return 0;
}

int
hal_noc_put(unsigned cluster, unsigned slot, uint32_t incarnation, const void *block, size_t len)
{
	unsigned char *place;
	int e = slot_place(cluster, slot, incarnation, len, &place);

	if (e != 0)
		return e;
	__builtin_memcpy(place, block, len);
	hal_publish(place, len);
	return 0;
}

int
hal_noc_put_user(unsigned cluster, unsigned slot, uint32_t incarnation,
	const struct hal_noc_block *b)
{
	unsigned char *place;
	size_t len = b->head_bytes + b->user_bytes;
	int e = b->user_bytes <= len ? slot_place(cluster, slot, incarnation, len, &place) :
		-E_INVAL;

	if (e != 0)
		return e;
	__builtin_memcpy(place, b->head, b->head_bytes);
	if (b->user_bytes > 0 && hal_copy_in(place + b->head_bytes, b->user, b->user_bytes) != 0)
		return -E_FAULT;
	hal_publish(place, len);
	return 0;
}

const void *
hal_noc_slot(unsigned slot)
{
	size_t len;
	const void *place = window_part(window_own(), slot_find(&noc_own()->geometry, slot, &len));

	if (len == 0)
		return NULL;
	hal_acquire(place, len);
	return place;
}

void *
hal_noc_channels(unsigned cluster)
{
	return window_part(window_of(cluster), noc_own()->geometry.channels_at);
}

bool
hal_noc_alive(unsigned cluster)
{
	uint32_t incarnation;

	return cluster < noc_own()->geometry.clusters &&
		window_is_up(window_of(cluster), &incarnation);
}

uint32_t
hal_noc_incarnation(unsigned cluster)
{
	if (cluster >= noc_own()->geometry.clusters)
		return 0;
	return hal_load32(&window_of(cluster)->incarnation);
}

/*
 * Whatever the state was, it becomes dead; false if it changed meanwhile or was dead: somebody else
 * does the telling.
 */
static bool
dies(struct window *w)
{
	uint32_t state = hal_load32(&w->state);

	return state != WINDOW_DEAD && hal_cas32(&w->state, state, WINDOW_DEAD);
}

void
hal_noc_mark_dead(unsigned cluster)
{
	uint32_t clusters = noc_own()->geometry.clusters;

	if (cluster >= clusters || !dies(window_of(cluster)))
		return;
	for (uint32_t i = 0; i < clusters; i++) {
		hal_add32(&window_of(i)->deaths, 1);
		hal_add32(&window_of(i)->activity, 1);
		noc_ring_home(i);
	}
}

void
hal_noc_mark_down(unsigned cluster)
{
	hal_store32(&window_of(cluster)->state, WINDOW_DOWN);
	hal_fence();
}

const volatile uint32_t *
hal_noc_activity(void)
{
	return &window_own()->activity;
}

uint32_t
hal_noc_deaths(void)
{
	return hal_load32(&window_own()->deaths);
}

bool
hal_noc_is_dead(unsigned cluster)
{
	return cluster < noc_own()->geometry.clusters &&
		hal_load32(&window_of(cluster)->state) == WINDOW_DEAD;
}

void
hal_noc_heartbeat(void)
{
	hal_add32(&window_own()->heartbeat, 1);
}

uint32_t
hal_noc_heartbeat_of(unsigned cluster)
{
	return hal_load32(&window_of(cluster)->heartbeat);
}
