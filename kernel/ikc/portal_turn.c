/* SPDX-License-Identifier: MIT
 *
 * Portal ports that share connectors: the slots of our window for blocks are fewer than the ports.
 * A port has one only for its turn, from the grant (NEXT, which names the connector) until its
 * reader has taken the block. It waits for a turn, in a queue with all others, while somebody waits
 * in portal_read and the allowed sender has a block (ASK, once for a transfer).
 *
 * Both sides may be slow: the core of the thread that writes or reads may run others. So a thread
 * whose turn has come is only woken, and asks its home when its core runs it. Until then the turn
 * can be taken from it, which happens when others wait and it has lasted too long: the block that
 * lies there is dropped and put again in another turn, for its writer still has it; a sender is
 * asked to give the grant back (RETURN), which its home does at once unless a block is being put,
 * and then a block comes. Who lost its turn asks again when it comes, and has twice the time then,
 * so that it gets there however slow it is. This file is the receiver's part. Home core.
 *
 * Source: seed 002 4.3.1, 4.3.2. Differs: no table of buffers: what has no connector stays in the
 * memory of its writer.
 */
#include <hal/noc.h>
#include <hal/timer.h>
#include <kernel/ikc/state.h>

#define TURN_NS 1000000			/* from look to look while somebody waits for a turn */
#define PATIENCE_MAX 10			/* a turn lasts 2^10 looks at most */
/* looks until who does not give its turn back is condemned */
#define LATE 5000
#define TURNS_PER_LOOK 4		/* that end */

/* A turn begins, if a connector is free and a port waits. */
static void
turn_begin(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	uint32_t connector = bitmap_find_set(s->idle, s->portal_slots, 0);
	struct portal_in *in = list_entry(s->queue.next, struct portal_in, link);

	if (connector == s->portal_slots || list_is_empty(&s->queue))
		return;
	portal_turn_leave(c, in);
	bitmap_clear(s->idle, connector);
	in->connector = (uint8_t)(connector + 1);
	in->turn.recalled = false;
	in->age = 0;
	event_send(c, in->cluster, wire_event(WIRE_NEXT, in->endpoint->port,
		connector | (in->turn.again ? WIRE_AGAIN : 0)));
}

void
portal_turn_wait(struct cluster *c, struct portal_in *in)
{
	struct thread *reader = in->endpoint->thread;

	if (!in->turn.wanted || in->connector != 0 || !list_is_empty(&in->link) ||
		reader == NULL || !portal_is_parked(reader))
		return;
	list_push_back(&c->ikc.queue, &in->link);
	c->chores++;
	turn_begin(c);
}

void
portal_turn_leave(struct cluster *c, struct portal_in *in)
{
	if (list_is_empty(&in->link))
		return;
	list_remove(&in->link);
	c->chores--;
}

void
portal_turn_put(struct cluster *c, struct portal_in *in)
{
	if (in->connector == 0)
		return;
	bitmap_set(c->ikc.idle, in->connector - 1u);
	in->connector = 0;
	turn_begin(c);
}

/* Nobody came: the next turn of the port may last longer. */
static void
turn_lost(struct cluster *c, struct portal_in *in)
{
	in->turn.patience += in->turn.patience < PATIENCE_MAX;
	portal_turn_put(c, in);
}

void
portal_turn_event(struct cluster *c, struct portal_in *in, enum wire_kind kind)
{
	struct thread *reader = in->endpoint->thread;

	if (kind == WIRE_ASK) {
		in->turn.wanted = in->told;
		portal_turn_wait(c, in);
		if (reader == NULL)
			binding_signal(c, &in->event);
		return;
	}
	if (in->connector == 0)
		return;
	if (kind == WIRE_DATA) {
		in->turn.again = reader == NULL;
		if (reader != NULL) {
			in->state = PORTAL_FULL;
			thread_ready(reader, PORTAL_TURN);
			return;
		}
	} else {
		in->turn.wanted = false;
	}
	turn_lost(c, in);
}

/* A turn has lasted too long. While a core takes the block nobody has to be asked. */
static void
turn_ends(struct cluster *c, struct portal_in *in)
{
	in->age = 0;
	if (in->state == PORTAL_FULL) {
		in->state = PORTAL_WAITING;
		in->turn.again = true;
		turn_lost(c, in);
	} else if (in->state != PORTAL_MOVING) {
		if (in->turn.recalled)
			ikc_condemn(c, in->cluster, "does not give a connector back");
		else if (in->state != PORTAL_DRAINING)
			event_send(c, in->cluster,
				wire_event(WIRE_RETURN, in->endpoint->port, 0));
		in->turn.recalled = true;
	}
}

bool
portal_turns_poll(struct cluster *c)
{
	struct ikc_state *s = &c->ikc;
	unsigned ended = 0;
	uint64_t now;

	if (list_is_empty(&s->queue) || (now = hal_clock_ns()) < s->turn_at)
		return false;
	s->turn_at = now + TURN_NS;
	for (uint32_t port = 0; port < s->portal_ports && ended < TURNS_PER_LOOK; port++) {
		struct portal_in *in = &s->portal[port];

		if (in->connector != 0 &&
			in->age++ >= (in->turn.recalled ? LATE : 1 << in->turn.patience)) {
			turn_ends(c, in);
			ended++;
		}
	}
	return true;
}
