/* SPDX-License-Identifier: MIT
 *
 * NoC over shared memory: the event rings, one per pair, and the count that makes polling 64 of them one load.
 *
 * A sender counts an event in `announced` first, then puts it into its ring, then rings. So `announced` never falls behind what lies in
 * the rings: equal to `taken` means that they are empty, and a sender that dies between the steps only costs a look.
 */
#include <abi/errors.h>
#include "shm.h"

static struct window_ring *
event_ring(struct window *owner, unsigned producer)
{
	const struct window_geometry *g = &window_own()->geometry;

	return window_part(owner, g->rings_at + producer * g->ring_stride);
}

static struct window_event *
event_at(struct window_ring *r, uint32_t position)
{
	struct window_event *first = ring_data(r);

	return &first[position & (window_own()->geometry.ring_entries - 1)];
}

/* Put an event into the own ring of a peer that is up; `living` is its incarnation. */
static int
event_send(struct window *peer, uint32_t living, uint32_t event)
{
	struct window *own = window_own();
	struct window_ring *r = event_ring(peer, own->geometry.self);
	uint32_t head = hal_load32(&r->head);
	struct window_event *e = event_at(r, head);

	if (head - hal_load32(&r->tail) >= own->geometry.ring_entries)
		return -E_AGAIN;
	hal_add32(&peer->announced, 1);
	e->event = event;
	e->stamp = window_stamp(hal_load32(&own->incarnation), living);
	hal_publish(e, sizeof(*e));
	hal_store32(&r->head, head + 1);
	hal_add32(&peer->activity, 1);
	return 0;
}

int
hal_noc_notify(unsigned cluster, uint32_t event)
{
	uint32_t living;
	int error;

	if (cluster >= window_own()->geometry.clusters || !window_is_up(window_of(cluster), &living))
		return -E_HOSTDOWN;
	error = event_send(window_of(cluster), living, event);
	if (error == 0)
		hal_notify(cluster, 0);
	return error;
}

/* Take one event of a producer; false if there is none. What belongs to an earlier life is dropped on the way. */
static bool
take_from(struct window *own, unsigned producer, uint32_t *event)
{
	struct window_ring *r = event_ring(own, producer);
	uint32_t tail = hal_load32(&r->tail), head = hal_load32(&r->head);
	uint32_t stamp = window_stamp(hal_noc_incarnation(producer), hal_load32(&own->incarnation));
	bool fresh = false;

	while (!fresh && tail != head) {
		struct window_event *e = event_at(r, tail);

		hal_acquire(e, sizeof(*e));
		fresh = e->stamp == stamp;
		*event = e->event;
		hal_store32(&r->tail, ++tail);
		own->taken++;
	}
	return fresh;
}

bool
hal_noc_poll(unsigned *cluster, uint32_t *event)
{
	struct window *own = window_own();
	uint32_t clusters = own->geometry.clusters;

	if (hal_load32(&own->announced) == own->taken)
		return false;
	for (uint32_t i = 0; i < clusters; i++) {
		uint32_t peer = own->next_peer;

		own->next_peer = peer + 1 < clusters ? peer + 1 : 0;
		if (take_from(own, peer, event)) {
			*cluster = peer;
			return true;
		}
	}
	return false;
}
