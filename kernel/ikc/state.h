/* SPDX-License-Identifier: MIT
 *
 * What the files of kernel/ikc share. Private to this folder. All of it is the home core's.
 */
#ifndef KERNEL_IKC_STATE_H
#define KERNEL_IKC_STATE_H

#include <abi/startup.h>
#include <kernel/cluster.h>
#include <kernel/thread/thread.h>
#include <kernel/ikc/wire.h>

/* --- life of the other clusters: peer.c --- */

enum peer_state {
	PEER_UNKNOWN,
	/* has restarted: what was between us and its past life is being dropped */
	PEER_MEETING,
	PEER_UP,
	PEER_DEAD,
};

/* Of a cluster that is to be started again: restart.c. */
enum restart { RESTART_NONE, RESTART_STOPS, RESTART_ASKS };

#define SILENT_BEATS 10		/* of our own, from which on a peer counts as silent */

struct ikc_peer {
	uint32_t state;
	uint32_t incarnation;		/* last one met, 0: none */
	uint32_t heartbeat;
	uint32_t heard;			/* own beats when it was last listened to */
	uint32_t backlog;		/* its events in the backlog */
	bool overrun;			/* more than the backlog holds */
	uint32_t silent;		/* own beats since the heartbeat last changed */
	uint32_t deaths;		/* so far */
	/* how many processes, and then ports, have been told of its present state */
	uint32_t walk;
	/* and of the last port's output portals those below this local port */
	uint32_t walk_local;
	struct list walking;		/* in ikc.walks, until all have */
	/*
	 * cores that may be putting a block into its window: portals out that move, or did at its
	 * death
	 */
	uint32_t moving;
	/* cluster 0: enum restart; of a cluster under ASKS: those that have not settled */
	uint8_t restart;
	bool starts;			/* it was started again, and was not met since */
	uint16_t started;		/* how often; modulo what SETTLE has room for */
	/* the cluster for whose restart it was asked to settle; 0: none */
	uint8_t asked;
	uint32_t unsettled[BITMAP_WORDS(CLUSTERS_MAX)];
	struct list watchers;		/* wait.on: its deaths before */
	struct binding end;		/* EVENT_CLUSTER */
	struct endpoint *syncs;		/* our ends of sync points whose ONE it is */
	/* of its window, which processes of ours may still have mapped */
	uint32_t channels;
};

/* --- endpoints: endpoint.c --- */

enum endpoint_kind { MAIL_IN = 1, MAIL_OUT = 2, PORTAL_IN = 4, PORTAL_OUT = 8, SYNC_IN = 16,
	SYNC_OUT = 32 };

/* Of a portal's side that is in use. */
enum portal_state {
	PORTAL_IDLE,
	/* in: allowed, no block yet; out: a writer waits for the allowance */
	PORTAL_ALLOWED,
	/* in: a block lies in the slot; nobody reads yet, or the reader was woken for it */
	PORTAL_FULL,
	PORTAL_MOVING,			/* the thread's core copies a block */
	/* in: the reader waits for the next block; out: the writer for leave to put it */
	PORTAL_WAITING,
	/* out: the thread may put the next block, when it comes */
	PORTAL_READY,
	/* out: it is over, `result` says how, when the thread comes */
	PORTAL_ENDED,
	/* it is over, `error` says why; the thread was not told yet */
	PORTAL_ABORTED,
	PORTAL_DRAINING,		/* in: revoked, the sender may still put */
};

/*
 * One side of a mailbox, a portal or a sync point: what a handle of the type OBJECT_PORT names.
 * Each opening of a mailbox for output makes one; of the output portals to a port those with
 * different local ports have one each.
 */
struct endpoint {
	struct object object;
	union {
		/* portal, out: of its port, by local port; sync: with the same ONE */
		struct endpoint *next;
		struct mail_out *slot;	/* mailbox, out */
	};
	struct quota *quota;		/* that it is charged to */
	struct thread *thread;		/* portal: that transfers, and names it as its `transfer` */
	struct binding event;		/* portal, out: EVENT_PORTAL; EVENT_SYNC */
	int owner;			/* id of the process that opened it */
	uint32_t incarnation;		/* out: of the peer at first use, 0: not used yet */
	int16_t error;			/* out, sync: why it does not work any more, or 0 */
	uint8_t kind;			/* enum endpoint_kind */
	uint8_t port;
	uint8_t cluster;		/* out: peer; sync: the ONE */
	uint8_t local_port;		/* portal, out */
	/* mailbox, out: life of the peer's port, 0: not known yet; sync, in: its own */
	uint8_t generation;
	uint8_t state;			/* portal, out: enum portal_state */
	bool revoked;			/* portal, out: end after this block */
	bool first;			/* the same, PORTAL_READY: no block was put yet */
	/* portal, out: the handle by which a write was started, or 0; its result */
	int started;
	int32_t result;
	/* port_stats */
	bool is_measured;		/* out: latency */
	uint32_t count;			/* messages, transfers, rounds */
	uint64_t volume;		/* portal */
	uint64_t since;			/* out: of the last write, or signal */
	uint64_t latency_ns;
};

static inline struct port_class *
class_of(struct cluster *c, unsigned kind)
{
	return &c->ikc.class[kind & (SYNC_IN | SYNC_OUT) ? CLASS_SYNC :
		kind & (MAIL_IN | MAIL_OUT) ? CLASS_MAILBOX : CLASS_PORTAL];
}

/* One more message, transfer or round. */
static inline void
count_read(struct cluster *c, struct endpoint *ep, unsigned class)
{
	ep->count++;
	c->ikc.class[class].reads++;
}

static inline void
count_write(struct cluster *c, struct endpoint *ep, unsigned class)
{
	ep->count++;
	c->ikc.class[class].writes++;
}

/* Bytes of a portal have been taken. */
static inline void
count_bytes(struct cluster *c, struct endpoint *ep, uint32_t bytes)
{
	ep->volume += bytes;
	c->ikc.class[CLASS_PORTAL].volume += bytes;
}

void latency_start(struct endpoint *ep);
void latency_stop(struct cluster *c, struct endpoint *ep);

/* A write or signal begins; all of it was taken. Only of ends that somebody looks at. stats.c */
static inline void
latency_begin(struct endpoint *ep)
{
	if (ep->is_measured)
		latency_start(ep);
}

static inline void
latency_end(struct cluster *c, struct endpoint *ep)
{
	if (ep->is_measured)
		latency_stop(c, ep);
}

/*
 * Make an endpoint, at a place in a list (NULL: in none), and a handle of it for the caller's
 * process. The handle; -E_NOMEM, -E_MFILE.
 */
long endpoint_new(struct thread *caller, struct endpoint what, struct endpoint **at);

/* One more handle of it for the caller's process; -E_NOMEM, -E_MFILE. */
long endpoint_name(struct thread *caller, struct endpoint *ep);

/*
 * The endpoint of one of these kinds that a handle with this right names. 0 and *ep; -E_BADF;
 * -E_ACCES.
 */
long endpoint_find(struct thread *caller, int handle, unsigned kinds, unsigned right,
	struct endpoint **ep);

/* --- life and events: peer.c --- */

/*
 * May an endpoint talk to its peer? Binds it to the peer's incarnation at first use. 0; -E_AGAIN:
 * not up yet; -E_HOSTDOWN; -E_CONNRESET: the peer has restarted since.
 */
long peer_check(struct cluster *c, struct endpoint *ep);

/* The NoC refused a put: look at the peer again. Returns what peer_check says now. */
long peer_look_again(struct cluster *c, struct endpoint *ep);

/* Look at a peer that was not up so far. */
void peer_look(struct cluster *c, uint32_t peer);

/*
 * The life of a peer that sent an event is the present one, and up: false if the event is to be
 * dropped. It may be noticed only now.
 */
bool peer_accept(struct cluster *c, uint32_t peer, uint32_t incarnation);

/*
 * One step of telling all of a peer's new state. No event is taken before that is over. False if
 * there is nothing to tell.
 */
bool peers_walk(struct cluster *c);

/* Send an event, also to ourselves. It is never lost while the peer lives. */
void event_send(struct cluster *c, uint32_t peer, uint32_t event);

/* An event has arrived (ikc.c). */
void event_take(struct cluster *c, uint32_t peer, uint32_t event);

/* --- restart of clusters: restart.c --- */

/* Compare what we believe of a peer with what the NoC says. True: that has changed. */
bool peer_refresh(struct cluster *c, uint32_t peer);

#define RESTARTS_PER_STEP 2	/* that are looked at and do not get on */

/* One step, if there is one. With more restarts than that it wants to be asked again soon. */
bool restarts_poll(struct cluster *c);

/* SETTLE and SETTLED. */
void restart_event(struct cluster *c, uint32_t peer, uint32_t event);

/* A core may begin to put a block for this portal, or has come back from it. */
static inline void
portal_moves(struct cluster *c, const struct endpoint *ep)
{
	c->ikc.peer[ep->cluster].moving++;
}

static inline void
portal_moved(struct cluster *c, const struct endpoint *ep)
{
	c->ikc.peer[ep->cluster].moving--;
}

/* --- threads --- */

/* Run fn on the home core for the calling thread, with n <= 6 values. Calling core. */
long ikc_call_home(struct thread *caller, kcall_serve_fn *fn, const unsigned long *values,
	unsigned n);

/* --- mailboxes: mail_in.c, mail_out.c --- */

struct mail_in {
	struct endpoint *endpoint;	/* NULL: closed */
	uint32_t generation;		/* lives so far, 1..255 and round again; 0: never created */
	uint32_t pending[BITMAP_WORDS(CLUSTERS_MAX)];	/* clusters whose slot holds a message */
	/* those whose message in it nobody can read any more, and who will be told */
	uint32_t refused[BITMAP_WORDS(CLUSTERS_MAX)];
	bool refusing;			/* there may be some */
	bool wants;			/* also of the next: */
	/* those that have a message which waits at them for a credit */
	uint32_t wanted[BITMAP_WORDS(CLUSTERS_MAX)];
	uint8_t credit[MAILBOX_CREDITS];	/* cluster that has it, + 1; 0: it is free */
	uint32_t next;			/* cluster that is served first */
	uint32_t arrivals;
	struct binding event;		/* EVENT_MAILBOX */
	struct list waiters;
};

#define MAIL_WANTED 0x100u	/* in ikc.at, beside the bits WIRE_SEQUENCE */
#define MAIL_LEFT 0x8000u	/* in ikc.left, beside the place and the bits WIRE_SEQUENCE */
#define MAIL_LEFT_PLACE 7	/* shift */

/* A message for which no connector was free, until it was read. */
struct mail_kept {
	struct quota *quota;		/* of the process that wrote it */
	struct wire_mail mail;
};

/*
 * Our slot at a peer. There is one of these while an endpoint names the slot, or a thread still
 * waits for it or is to be told of it.
 */
struct mail_out {
	struct list waiters;
	struct list missed;		/* threads that found the slot full, and no other */
	struct endpoint *writer;	/* that wrote the message in flight; NULL: it is closed */
	/* the message in flight, or NULL: it lies in a connector's slot */
	struct mail_kept *kept;
	int writer_tid;
	uint32_t sequence;
	uint32_t endpoints;
	bool full;
	uint8_t place;			/* of the message in flight, once it was put */
	uint8_t peer;
	uint8_t port;
};

/* Where the address of one stands; NULL there: nobody uses the slot. */
static inline struct mail_out **
mail_out_at(struct cluster *c, uint32_t peer, uint32_t port)
{
	return &c->ikc.out[peer * c->ikc.mailbox_ports + port];
}

/* Bitmap: a peer's connectors that hold a message of ours. */
static inline uint32_t *
connected_at(const struct cluster *c, uint32_t peer)
{
	return &c->ikc.connected[peer * BITMAP_WORDS(c->ikc.connectors)];
}

/* One endpoint more names the slot: NULL if there is no memory for it; and one less does. */
struct mail_out *mail_out_get(struct thread *caller, uint32_t peer, uint32_t port);
void mail_out_put(struct cluster *c, struct mail_out *o);

/* The memory for a slot that nobody uses any more, if there is any, is given back. */
void mail_out_forget(struct cluster *c, uint32_t peer, uint32_t port);

/* Something has changed for those who wait for a slot, or for a port: they are looked at. */
void mail_out_look(struct cluster *c, const struct mail_out *o);
void mail_in_look(struct cluster *c, uint32_t port);

/* Events. */
void mail_arrived(struct cluster *c, uint32_t source, uint32_t event);
void mail_wanted(struct cluster *c, uint32_t source, uint32_t event);
void mail_granted(struct cluster *c, uint32_t peer, uint32_t event);
void mail_freed(struct cluster *c, uint32_t peer, uint32_t event);
void mail_refused(struct cluster *c, uint32_t peer, uint32_t event);

/* One port, or our slot for it, and the new state of a peer. */
void mail_in_peer_changed(struct cluster *c, uint32_t peer, uint32_t port);
void mail_out_peer_changed(struct cluster *c, uint32_t peer, uint32_t port);

/* The process that has made the port may see how many messages have arrived there. */
void mail_in_count(struct cluster *c, uint32_t port);

/* Is there a message (of `source`, or of any) for the port in its present life? */
bool mail_in_is_pending(struct cluster *c, uint32_t port, int source);

struct mail_senders {
	struct mail_sender sender;
	struct mail_sender origin;	/* as the sender's kernel says */
};

/* Take a message of `source` (or of any) from an open port: its source and *by, or -E_AGAIN. */
long mail_in_take(struct cluster *c, uint32_t port, int source, void *msg, struct mail_senders *by);

/*
 * Close a port; the messages that nobody has read are refused. Some of them, and some of the
 * credits that are free are given: what is left of `cost`.
 */
void mail_in_close(struct cluster *c, const struct endpoint *ep);
int mail_in_serve(struct cluster *c, uint32_t port, int cost);

/* --- messages that wait for a credit: mail_credit.c --- */

/* Does ARRIVED name a slot of its sender, or a credit? Does GRANT name a credit? */
static inline bool
mail_is_place(const struct ikc_state *s, enum wire_kind kind, uint32_t event)
{
	uint32_t place = wire_event_argument(event) & WIRE_PLACE;

	if (kind == WIRE_WANT)
		return true;
	return (kind == WIRE_ARRIVED && place < s->connectors) ||
		(place - WIRE_CREDIT < MAILBOX_CREDITS && s->connectors < s->mailbox_ports);
}

static inline uint16_t *
mail_at(struct cluster *c, uint32_t source, uint32_t port)
{
	return &c->ikc.at[port * c->ikc.clusters + source];
}

/* A cluster's message has left the slot that it lay in: its credit, if it had one, is free. */
void mail_credit_put(struct cluster *c, uint32_t source, uint32_t port);

/* Does a cluster have one, for a message that has come or not? It gets no second one. */
bool mail_has_credit(const struct mail_in *in, uint32_t source);

/* Give credits that are free to clusters that want one. What is left of `cost`. */
int mail_credits_give(struct cluster *c, uint32_t port, int cost);

/*
 * Somebody waits for a message of this cluster and no other: if it waits for a credit it gets one,
 * that of another cluster's message if need be, which then waits again.
 */
void mail_demand(struct cluster *c, uint32_t source, uint32_t port);

/* A message that lies in a credit waits at its sender again: false if it is none. mail_in.c */
bool mail_wants_again(struct cluster *c, uint32_t source, uint32_t port);

/* What a peer whose life ends has of the port's credits. */
void mail_credits_forget(struct cluster *c, uint32_t peer, uint32_t port);

/* Keep the message that is written to a slot for which no connector is free: 0, or -E_NOMEM. */
long mail_keep(struct thread *caller, struct mail_out *o, struct wire_mail **mail);

/* It was read, or dropped. */
void mail_kept_free(struct cluster *c, struct mail_out *o);

/*
 * Write to a slot that the caller may use, for another first sender or itself: 0, -E_AGAIN, or why
 * not.
 */
long mail_out_write(struct thread *caller, struct endpoint *ep, const void *msg,
	const struct mail_sender *origin);

/*
 * What the wait for an output mailbox comes to now: 0: the slot is free; -E_PARK: it goes on; or
 * why it will never be.
 */
long mail_out_result(struct cluster *c, struct endpoint *ep);

void mail_out_close(struct cluster *c, const struct endpoint *ep);

/* May somebody try to write? Also if that fails for good, as when the last endpoint is closed. */
static inline bool
mail_out_is_free(const struct cluster *c, const struct mail_out *o)
{
	return o->endpoints == 0 || (!o->full && c->ikc.peer[o->peer].state >= PEER_UP);
}

/* --- waiting: wait.c --- */

/*
 * Numbers of the queues: those who missed several slots, who wait for a cluster's death, for an
 * input port, for an output slot.
 */
#define QUEUE_MISSED 0u

static inline uint32_t
queue_watchers(uint32_t peer)
{
	return 1 + peer;
}

static inline uint32_t
queue_in(const struct cluster *c, uint32_t port)
{
	return queue_watchers(c->ikc.clusters) + port;
}

static inline uint32_t
queue_out(const struct cluster *c, uint32_t peer, uint32_t port)
{
	return queue_in(c, (1 + peer) * c->ikc.mailbox_ports + port);
}

/* How many there are. */
static inline uint32_t
queues_of(const struct ikc_state *s)
{
	return queue_watchers(s->clusters) + (1 + s->clusters) * s->mailbox_ports;
}

/* thread->wait.on of a wait for a message of this source. */
uintptr_t mail_wait_for(const struct cluster *c, int source);

/*
 * What the wait of a thread through its wait.handle comes to now, and its mailbox: 0, an error, or
 * -E_PARK: it goes on.
 */
long mail_wait_result(struct thread *t, struct endpoint **ep);

/*
 * Something has changed for the threads of a queue: they are looked at, from the first on. The
 * first look is now, unless another is under way.
 */
void look_at(struct cluster *c, uint32_t queue);

/* The same without a look now, for what a look may call. */
void look_later(struct cluster *c, uint32_t queue);

/* --- portals: portal.c, portal_event.c, portal_move.c, portal_turn.c --- */

struct portal_in {
	struct endpoint *endpoint;	/* NULL: closed */
	uint8_t state;			/* enum portal_state */
	uint8_t cluster;		/* allowed sender */
	uint8_t local_port;
	uint8_t sequence;		/* of the transfer */
	bool told;			/* ALLOW was sent */
	/* PORTAL_ABORTED; PORTAL_MOVING: it is over after this block */
	int16_t error;
	struct binding event;		/* EVENT_PORTAL */
	/* where ports share connectors: portal_turn.c */
	struct list link;		/* in ikc.queue */
	uint16_t age;			/* looks since it has a connector */
	uint8_t connector;		/* + 1; 0: none */
	struct {
		uint8_t patience;	/* a turn may last 2^patience looks */
		bool wanted;		/* the sender has a block */
		bool again;		/* the block that was put last was dropped */
		bool recalled;		/* the sender was told to give it back */
	} turn;
};

/* What one port of a peer allows us. */
struct portal_allow {
	struct endpoint *endpoints;	/* ours for it */
	uint8_t valid;
	uint8_t local_port;
	uint8_t sequence;
	/* where ports share connectors */
	bool asked;			/* for a turn, and it was not given back */
	uint8_t granted;		/* what NEXT said, or NO_CONNECTOR */
};

#define NO_CONNECTOR 0xffu

/* Do the ports share connectors? */
static inline bool
portal_shares(const struct cluster *c)
{
	return c->ikc.portal_slots < c->ikc.portal_ports;
}

static inline struct portal_allow *
portal_allow_at(struct cluster *c, uint32_t peer, uint32_t port)
{
	return &c->ikc.allow[peer * c->ikc.portal_ports + port];
}

/* The output that a peer's allowance is for, or NULL. */
struct endpoint *portal_allowed(struct cluster *c, uint32_t peer, uint32_t port);

/* A transfer may go on or begin: what its core needs to know. */
struct portal_info portal_info_out(struct cluster *c, const struct endpoint *ep);
struct portal_info portal_info_in(struct cluster *c, uint32_t port);

/*
 * What portal_abandon does while a handle names the portal: for deadlines, and for handles that are
 * gone.
 */
void portal_leave(struct thread *t);

/* Does it wait in the middle of its transfer? Else it moves data, or has started a write. */
static inline bool
portal_is_parked(const struct thread *t)
{
	return t->state == THREAD_WAITING && t->wait.kind == WAIT_PORTAL;
}

/* A thread takes part in a transfer, and does so no more. */
void portal_enter(struct thread *t, struct endpoint *ep);
void portal_done(struct endpoint *ep);

void portal_event(struct cluster *c, uint32_t peer, uint32_t event);

/* One port and the new state of a peer. True: that was all of this port. */
bool portal_peer_changed(struct cluster *c, uint32_t peer, uint32_t port);

/* Tell the sender that a port of ours allows, unless it is told already. */
void portal_tell(struct cluster *c, uint32_t port);

/* Where the output portal with this local port stands among those to a port, or would. */
struct endpoint **portal_place(struct cluster *c, uint32_t peer, uint32_t port,
	uint32_t local_port);
void portal_close_in(struct cluster *c, const struct endpoint *ep);
void portal_close_out(struct cluster *c, const struct endpoint *ep);

/* Home halves of the transfer (portal.c): see there. */
long portal_write_start(struct kcall_args *args);
long portal_write_step(struct kcall_args *args);
long portal_read_start(struct kcall_args *args);
long portal_read_step(struct kcall_args *args);
long portal_start_home(struct kcall_args *args);
long portal_wait_home(struct kcall_args *args);

/*
 * What the core that moves data is told: copy a block, or (writer) the transfer is over and so many
 * bytes of the last block were taken.
 */
#define PORTAL_GO 0
#define PORTAL_OVER 1			/* + bytes */
#define PORTAL_TURN 0x40000000		/* it may be its turn: it asks home when its core runs it */

_Static_assert(PORTAL_OVER + WIRE_BLOCK_MAX < PORTAL_TURN, "no number of bytes");

/* --- portals that share connectors: portal_turn.c --- */

/* The port queues, if its reader waits, the sender has a block, and it has no connector. */
void portal_turn_wait(struct cluster *c, struct portal_in *in);

/* It does not any more, if it did. */
void portal_turn_leave(struct cluster *c, struct portal_in *in);

/* Its connector, if it has one, is for the next: nobody puts a block there. */
void portal_turn_put(struct cluster *c, struct portal_in *in);

/* DATA, ASK or RETURNED, of the transfer of a port that is ALLOWED or WAITING. */
void portal_turn_event(struct cluster *c, struct portal_in *in, enum wire_kind kind);

/* Turns that last too long end, if somebody waits. False: nothing was due. */
bool portal_turns_poll(struct cluster *c);

/* Ask for a turn, if we may put and have not asked yet: portal_event.c. It may be there at once. */
void portal_ask(struct cluster *c, const struct endpoint *ep);

/* --- sync points: sync.c, sync_event.c --- */

#define SYNC_WAITERS 16		/* that go on in one step */

/*
 * One end of a sync point: SYNC_IN waits, SYNC_OUT signals. Its partners are the clusters at the
 * other end: of the ONE all others, of another the ONE.
 */
struct sync {
	struct endpoint ep;
	uint32_t partners[BITMAP_WORDS(CLUSTERS_MAX)];
	/* those that were up at some time since it was made: their restart ends it */
	uint32_t bound[BITMAP_WORDS(CLUSTERS_MAX)];
	uint32_t dead[BITMAP_WORDS(CLUSTERS_MAX)];	/* those that are */
	uint32_t missing;		/* partners that did not signal, or answer, yet */
	struct list waiters;		/* SYNC_WAITERS threads at most */
};

/*
 * What is between us and one other cluster: a bit per sync port whose ONE we are, then one per port
 * whose ONE the other is.
 */
struct sync_pair {
	uint16_t pending;		/* its signal was not taken yet */
	uint16_t full;			/* ours was not answered yet */
	uint16_t late;			/* that signal is of an end that is closed */
	/* events that are to be sent */
	uint16_t signal;
	uint16_t taken;
	uint16_t refused;
	/* life of the waiting end, ours or the other's; 0: not known */
	uint8_t generation[2 * SYNC_PORTS];
};

_Static_assert(2 * SYNC_PORTS <= 16, "bits of struct sync_pair");

static inline struct sync *
sync_of(struct endpoint *ep)
{
	return list_entry(ep, struct sync, ep);
}

/* The bit of an end in the pairs with its partners. */
static inline unsigned
sync_line(const struct cluster *c, const struct sync *y)
{
	return y->ep.port + (y->ep.cluster != c->id ? SYNC_PORTS : 0u);
}

/*
 * What a wait at an end comes to now: 0: the round is complete, or the next signal may be given;
 * -E_PARK: it goes on; or why neither will ever be.
 */
long sync_result(const struct sync *y);

/* Take a complete round; give a signal that may be given. */
void sync_take(struct cluster *c, struct sync *y);
void sync_give(struct cluster *c, struct sync *y);

/* An end is new (its partners are known), or is closed. */
void sync_begin(struct cluster *c, struct sync *y);
void sync_end(struct cluster *c, struct sync *y);

/* Send some of the events that are owed. False: there are none. */
bool sync_send(struct cluster *c);

void sync_event(struct cluster *c, uint32_t peer, uint32_t event);

/* The ends with one port and the new state of a peer. */
void sync_peer_changed(struct cluster *c, uint32_t peer, uint32_t port);

/* A handle of an end is gone; the last one is. */
void sync_handle_gone(struct endpoint *ep);
void sync_close(struct cluster *c, struct endpoint *ep);

/* --- channels: channel.c --- */

/* A page of another cluster's window: of a channel that it offers, if it is the first of one. */
struct channel_far {
	struct channel *open;		/* NULL: nobody has opened it */
	uint8_t pages;			/* 0: it is not offered */
	uint8_t port;			/* whoever reads there may open it */
	uint8_t generation;		/* of that port */
	bool woken;
};

void channel_event(struct cluster *c, uint32_t peer, uint32_t event);

/* A page of the own window and of the peer's, and the new state of that. */
void channel_peer_changed(struct cluster *c, uint32_t peer, uint32_t page);

/*
 * What event_bind needs to know. 0 and *e; -E_BADF; -E_ACCES; -E_INVAL; or why the other side is
 * gone.
 */
long channel_bind(struct thread *caller, int handle, struct event *e);

#endif
