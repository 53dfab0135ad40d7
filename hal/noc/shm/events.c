/* SPDX-License-Identifier: MIT
 *
 * NoC over shared memory: the event rings, one per pair, and the count that makes polling 64 of
 * them one load.
 *
 * A sender puts an event into its ring, then counts it in `activity`, then rings. So a look at all
 * rings that finds nothing holds for as long as `activity` is what it was before that look. Nothing
 * here depends on what a count is, only on whether it has changed: a sender that counts too much
 * costs looks, and one that does not count hides nobody's events but its own.
 */
#include <abi/errors.h>
#include "shm.h"

static struct window_ring *
event_ring(const struct window_geometry *g, struct window *owner, unsigned producer)
{
	return window_part(owner, g->rings_at + producer * g->ring_stride);
}

static struct window_event *
event_at(struct window_ring *r, uint32_t position)
{
	struct window_event *first = ring_data(r);

	return &first[position & (noc_own()->geometry.ring_entries - 1)];
}

/* Put an event into the own ring of a peer that is up; `living` is its incarnation. */
static int
event_send(struct window *peer, uint32_t living, uint32_t event)
{
	const struct noc_own *own = noc_own();
	struct window_ring *r = event_ring(&own->geometry, peer, own->geometry.self);
	uint32_t head = hal_load32(&r->head);
	struct window_event *e = event_at(r, head);

	if (head - hal_load32(&r->tail) >= own->geometry.ring_entries)
		return -E_AGAIN;
	e->event = event;
	e->stamp = window_stamp(own->incarnation, living);
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

	if (cluster >= noc_own()->geometry.clusters || !window_is_up(window_of(cluster), &living))
		return -E_HOSTDOWN;
	error = event_send(window_of(cluster), living, event);
	if (error == 0)
		noc_ring_home(cluster);
	return error;
}

/* A producer's counter that cannot be: all that its ring holds is dropped. */
static void
ring_drop(struct window_ring *r, uint32_t *tail, uint32_t head)
{
	*tail = head;
	hal_store32(&r->tail, head);
}

void
hal_noc_forget(unsigned cluster)
{
	struct window_ring *r = event_ring(&noc_own()->geometry, window_own(), cluster), *console =
		window_part(window_of(cluster), noc_own()->geometry.console_at);
	uint32_t head = hal_load32(&console->head);

	ring_drop(r, &noc_own()->tail[cluster], hal_load32(&r->head));
	if (hal_cluster_id() == 0 && head - hal_load32(&console->tail) > WINDOW_CONSOLE_BYTES)
		hal_store32(&console->tail, head);
}

/*
 * Take one event of a producer, whose ring is not empty; false if there is none. What belongs to an
 * earlier life is dropped on the way.
 */
static bool
take_from(struct noc_own *own, struct window_ring *r, unsigned producer, uint32_t *incarnation,
	uint32_t *event)
{
	uint32_t *tail = &own->tail[producer], head = hal_load32(&r->head), stamp;
	bool fresh = false;

	*incarnation = hal_noc_incarnation(producer);
	if (head - *tail > own->geometry.ring_entries) {
		ring_drop(r, tail, head);
		*event = HAL_NOC_NONSENSE;
		return true;
	}
	stamp = window_stamp(*incarnation, own->incarnation);
	while (!fresh && *tail != head) {
		struct window_event *e = event_at(r, *tail);

		hal_acquire(e, sizeof(*e));
		fresh = e->stamp == stamp;
		*event = e->event;
		hal_store32(&r->tail, ++*tail);
	}
	return fresh;
}

bool
hal_noc_poll(unsigned *cluster, uint32_t *incarnation, uint32_t *event)
{
	struct noc_own *own = noc_own();
	struct window *window = window_own();
	uint32_t clusters = own->geometry.clusters, activity = hal_load32(&window->activity);

	if (activity == own->looked)
		return false;
	for (uint32_t i = 0; i < clusters; i++) {
		uint32_t peer = own->next_peer;
		struct window_ring *r = event_ring(&own->geometry, window, peer);

		own->next_peer = peer + 1 < clusters ? peer + 1 : 0;
		if (hal_load32(&r->head) != own->tail[peer] &&
			take_from(own, r, peer, incarnation, event)) {
			*cluster = peer;
			return true;
		}
	}
	own->looked = activity;
	return false;
}
