/* SPDX-License-Identifier: MIT
 *
 * Inter-kernel communication: mailboxes, portals, life and death of the other clusters. The kernel
 * calls mailbox_*, portal_*, sync_*, channel_* and cluster_watch of abi/kcalls.tbl live here
 * (mailbox.c, portal.c, sync.c, channel.c, watch.c); they say what each does. Everything below is
 * the home core's unless it says otherwise. What crosses the NoC is in wire.h.
 *
 * Source: seed 000 III-B (communication facilities), seed 002 4.1.1, 4.3.
 */
#ifndef KERNEL_IKC_IKC_H
#define KERNEL_IKC_IKC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <abi/limits.abi.h>
#include <base/bitmap.h>
#include <base/list.h>
#include <hal/atomic.h>
#include <kernel/object/object.h>

struct cluster;
struct process;
struct thread;

struct ikc_peer;
struct endpoint;
struct mail_in;
struct mail_out;
struct portal_in;
struct portal_allow;
struct sync_pair;
struct channel;
struct channel_far;

/* What the home core tells the core that moves the data, for each block. */
struct portal_info {
	uint8_t cluster;
	uint8_t port;			/* of the receiver */
	/* port, or connector; writer: WIRE_AGAIN: for the block that was put last */
	uint8_t slot;
	uint8_t sequence;
	uint32_t incarnation;		/* of the peer */
};

/* A transfer, as the core that moves the data sees it: that of its thread. */
struct portal_move {
	struct portal_info info;
	int handle;
	uint32_t block;			/* bytes of the block under way */
	uintptr_t addr;
	uint64_t len;
	uint64_t done;			/* bytes that arrived */
};

/* All ends of a class so far. */
struct port_class {
	uint64_t volume;		/* portals only */
	uint64_t latency_ns;
	uint32_t reads;
	uint32_t writes;
	uint32_t creates;
	uint32_t opens;
	uint32_t closes;
};

struct ikc_state {
	/* constant after boot */
	uint32_t clusters;
	uint32_t mailbox_ports;
	uint32_t connectors;		/* of mailboxes, towards each peer */
	uint32_t portal_ports;
	uint32_t portal_slots;		/* as many as ports, unless these share connectors */
	uint32_t unit;			/* bytes of a portal block */
	uint64_t period_ns;		/* of the heartbeat; 0: none */
	/* tables */
	struct ikc_peer *peer;		/* [clusters] */
	/* [clusters * backlog_max]: events that found a full ring */
	uint32_t *backlog;
	/* per peer; what the protocols have in flight beyond a ring */
	uint32_t backlog_max;
	struct mail_in *in;		/* [mailbox_ports] */
	/*
	 * [mailbox_ports * clusters]: where the message of a cluster lies, or MAIL_WANTED and its
	 * sequence
	 */
	uint16_t *at;
	/* [clusters * mailbox_ports]: our slots at the peers, or NULL */
	struct mail_out **out;
	/*
	 * the same: MAIL_LEFT, place and sequence of the message that lies in a slot that none of
	 * our mailboxes names any more
	 */
	uint16_t *left;
	uint32_t *connected;		/* [clusters * words of connectors] */
	uint32_t kept;			/* messages that wait here for a place at their receiver */
	struct portal_in *portal;	/* [portal_ports] */
	/* [clusters * portal_ports]: what the peers' portals allow us */
	struct portal_allow *allow;
	struct sync_pair *sync;		/* [clusters] */
	uint32_t channels;		/* pages of each window that are for channels */
	struct channel **own;		/* [channels]: whose page of our window it is; NULL: free */
	struct channel_far *far;	/* [clusters * channels]: pages of the others' windows */
	const volatile uint32_t *activity;	/* hal_noc_activity; shared word */
	/* home */
	uint32_t looked;		/* activity when home last found nothing to do */
	struct port_class class[CLASSES];
	uint32_t deaths;		/* hal_noc_deaths when the last look at the peers began */
	uint32_t clusters_dead;		/* deaths of peers so far */
	uint32_t peer_next;		/* that is looked at next */
	uint32_t peers_left;		/* of the look at them all that is under way */
	uint32_t beats;			/* of our own heart */
	uint32_t backlog_count;		/* of all peers */
	uint64_t next_beat;
	uint32_t restarts;		/* cluster 0: clusters on their way to a new start */
	uint32_t settling;		/* the cluster for which cluster 0 waits for us; 0: none */
	uint32_t settling_number;
	/* cluster 0: that is looked at next, if it is one of them */
	uint32_t restart_next;
	struct list walks;		/* peers of whose new state not everybody has been told */
	bool held;			/* an event that came in the middle of that */
	unsigned held_peer;
	uint32_t held_incarnation;
	uint32_t held_event;
	uint32_t *look;			/* bitmap: queues that are to be looked through: wait.c */
	uint32_t looks;			/* bits in it */
	uint32_t looking;		/* queue that is looked through, or was last */
	/*
	 * in that: behind the threads that have been looked at; among `missed`: behind those to be
	 * told
	 */
	struct list mark;
	struct list missed;		/* threads that found several output slots full */
	/* sync points: clusters to which events are still to be sent */
	uint32_t owed[BITMAP_WORDS(CLUSTERS_MAX)];
	bool owes;			/* there may be some */
	uint8_t sync_life;		/* of the waiting end that was made last */
	/* portals that share connectors */
	uint32_t idle[BITMAP_WORDS(PORTS_MAX)];	/* connectors */
	struct list queue;		/* ports that wait for one */
	uint64_t turn_at;		/* the next look at who has one, if somebody waits */
	struct list leaving;		/* channels whose pages nobody shall reach any more */
};

/* Ends of a class that are open. */
static inline uint32_t
ikc_ends(const struct ikc_state *s, unsigned class)
{
	return s->class[class].creates + s->class[class].opens - s->class[class].closes;
}

/* Bytes of cluster memory that the tables need. */
size_t ikc_bytes(const struct boot_record *record);

/*
 * Set up c->ikc in `memory` (ikc_bytes, aligned to HAL_CACHE_LINE, any content) and say hello to
 * the clusters that are up. After hal_noc_init; c->record, id and cores must be set.
 */
void ikc_init(struct cluster *c, void *memory);

/* Has nothing come since home last found nothing to do? Costs a look at one word. */
static inline bool
ikc_is_quiet(const struct ikc_state *s)
{
	return hal_load32(s->activity) == s->looked;
}

/*
 * Take one event, or do one step of what the last one made necessary. Never blocks. False if there
 * was none.
 */
bool ikc_poll(struct cluster *c);

/* Look at some of the threads for which something has changed. False if there was nothing to do. */
bool ikc_look(struct cluster *c);

/*
 * Deaths, the heartbeat, events that found a full ring: look at some of the peers, if there is a
 * reason to look at them, from where the last look stopped. False if nothing was done and all have
 * been looked at.
 */
bool peers_poll(struct cluster *c);

/* When peers_poll wants to run even if nothing arrives (hal_clock_ns), or HAL_FOREVER. */
uint64_t peers_deadline(struct cluster *c);

/*
 * An event of this folder that event_bind names (EVENT_MAILBOX, ROOM, PORTAL, CLUSTER, SYNC,
 * CHANNEL). 0; -E_INVAL; -E_BADF; -E_BUSY.
 */
struct event;
long ikc_event(struct thread *caller, int event, int object, struct event *e);

/*
 * A handle of a mailbox or portal is gone, or dead: threads that wait through it get -E_BADF. No
 * handle names it any more: it is closed.
 */
void ikc_handle_gone(struct cluster *c, struct object *o);
void ikc_unreferenced(struct cluster *c, struct object *o);

/*
 * A thread gives up the transfer that it takes part in: before the first block the receiver's
 * allowance stays, later the transfer ends on both sides. The thread does not move data any more.
 * If no handle names the portal, it is closed. Returns `wrong`.
 */
long portal_abandon(struct thread *t, long wrong);

/*
 * A peer did what no right kernel does (`what`: "sent ..."): its present life counts as dead for
 * everybody, and one message says why. Not in the middle of something that belongs to the peer.
 */
void ikc_condemn(struct cluster *c, uint32_t peer, const char *what);

#endif
