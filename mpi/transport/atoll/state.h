/* SPDX-License-Identifier: MIT
 *
 * What the transport knows; seen by this folder only.
 */
#ifndef MPI_TRANSPORT_STATE_H
#define MPI_TRANSPORT_STATE_H

#include <abi/startup.h>
#include <mpi/core/rank.h>
#include <mpi/transport/inbox.h>
#include <mpi/transport/sync.h>
#include <servers/name/client.h>

/* An output portal that is open. */
struct portal_out {
	uint32_t peer;			/* rank of the job + 1; 0: none */
	int32_t handle;
};

/*
 * Output portals of a rank. The ranks of a cluster are one process, which has some 4,000 handles.
 */
#define PORTALS_KEPT 8

/* what a rank did, for comparison (counts.c) */
struct counts {
	uint64_t sends;			/* of the program */
	uint64_t near;			/* packets to ranks of the cluster */
	uint64_t mails;			/* mailbox messages */
	uint64_t channels;		/* packets through channels */
	uint64_t allows;		/* permissions to use a portal */
	uint64_t transfers;		/* through portals */
	uint64_t calls;			/* kernel calls for all this */
	uint64_t wakes;			/* and to wake ranks */
	uint64_t waits;			/* and to wait */
};

/*
 * Threads of a rank wait outside of its lock, and count there, too: one of two counts at the same
 * moment may be lost.
 */
static inline void
count_if(bool condition, uint64_t *counter)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + condition,
		__ATOMIC_RELAXED);
}

/* what ranks of a cluster use to talk, for comparison (seed 002 5.7) */
enum path {
	PATH_OPT,			/* shared memory */
	/* what goes between clusters, by the protocol of five messages */
	PATH_UNOPT,
	PATH_IPC			/* a mailbox message, or a portal for what is longer */
};

/*
 * Which ranks of the cluster sleep, and what is made of it when all do (deadlock.c). Zero is the
 * start.
 */
struct sleepers {
	/* ranks that sleep and that nobody has begun to wake */
	_Alignas(CACHE_LINE) uint32_t count;
	uint32_t several;		/* in some rank several threads may call */
	uint32_t found;			/* all sleep */
	uint32_t turn;			/* 1 + the local rank that is to say what it waits for */
};
/* bits of the notification of the thread that sleeps for a rank */
#define BIT_PEER 0			/* a peer of the cluster, or the rank's writer */
#define BIT_MAIL 1
#define BIT_ROOM 2
#define BIT_CHANNEL 4			/* 3 is that of names.c */
#define WOKEN_BY_PEER (1u << BIT_PEER)
#define WOKEN (WOKEN_BY_PEER | 1u << BIT_MAIL | 1u << BIT_ROOM | \
	1u << BIT_CHANNEL)

/* The client of the name daemon that the ranks of a cluster share (names.c). Zero is the start. */
struct finder {
	_Alignas(CACHE_LINE) uint32_t turn;
	uint32_t is_open;
	struct name_client names;
};

struct transport {
	const struct startup *startup;		/* NULL: not started by the system, a single rank */
	const struct placement *placement;	/* NULL: a single rank */
	int32_t tid;				/* the thread that called MPI_Init */
	uint32_t cluster;
	uint32_t local_rank;
	uint32_t local_ranks;
	bool all_far;				/* not PATH_OPT */
	struct counts counts;
	struct counts counts_before;		/* when counting began */
	bool counts_said;
	/* in the cluster */
	char *area;
	size_t inbox_stride;
	uint32_t cells;
	uint32_t *taken;			/* [source][sink] */
	struct sync *sync;
	struct sleepers *sleepers;
	uint32_t claimed;			/* position of the packet that is being filled */
	struct inbox_reader inbox;
	void *own_area;				/* to free: the area of a single rank */
	/* to other clusters; mailbox < 0 if there is none */
	int mailbox;
	int portal;
	uint32_t port;			/* of both */
	uint32_t arrivals_seen;
	const uint32_t *arrivals;		/* counters in the event page */
	const uint32_t *deaths;
	uint32_t deaths_seen;
	uint64_t dead;				/* clusters, by bit */
	/* channel/far_channel.c: those that are open, and how many this rank has made */
	struct far_channel *channels;
	uint32_t channels_made;
	bool leaves;			/* the library: all must be read before */
	/* in the area: handles, by rank of the job; 0: not open yet */
	uint32_t *mailboxes;
	struct portal_out kept[PORTALS_KEPT];
	/* where the next one is noted, and the oldest one is */
	uint32_t keep_next;
	/* ranks find each other by names (names.c); NULL: by the job's tables */
	struct finder *finder;
	uint32_t finder_flags;		/* of a look-up */
	struct name_place *places;	/* by rank of the job; port 0: not found yet */
	/* how to wait */
	unsigned polls;
	unsigned yields;
	uint32_t cores;			/* on which ranks of the cluster run */
	bool relaxes;
	bool threads;				/* several of the program's threads may call */
	uint32_t relaxed;		/* of several threads at a time */
	struct writer *writer;			/* NULL until the first bulk write */
};

/* What writes bulk data beside the rank (transport/writer.c). */
int transport_writer_start(struct transport *t, int portal, const void *data, size_t len);
bool transport_writer_is_busy(const struct transport *t);
bool transport_writer_is_over(const struct transport *t);	/* in total order */
bool transport_writer_done(struct transport *t, int *result);
void transport_writer_exit(struct transport *t);

/*
 * A rank that sleeps, or has looked in vain before it sleeps, has set its `sleeping`. It then
 * either falls asleep and wakes up, or stays awake. Who wants to wake it takes it off; false:
 * somebody else does, or it is awake.
 */
void transport_falls_asleep(const struct mpi_rank *self);
void transport_woke_up(struct mpi_rank *self);
void transport_stays_awake(const struct transport *t);
bool transport_take_off(const struct transport *t, struct inbox *box);

/*
 * Does the user want ranks to find each other by names, and with which flags? Link the own name to
 * a port, and end; the place of a peer. What fails ends the job.
 */
/*
 * Weak: only programs that are linked with `-u transport_names_begin` have these, and can find
 * ranks by names. They are 8 KB.
 */
bool transport_names_are_used(uint32_t *flags) __attribute__((weak));
void transport_names_begin(struct mpi_rank *self, uint32_t port) __attribute__((weak));
void transport_names_end(struct transport *t) __attribute__((weak));
struct name_place transport_names_place(struct mpi_rank *self, uint32_t peer)
	__attribute__((weak));
struct name_place transport_place(struct mpi_rank *self, uint32_t peer);

/* The inbox of a rank of this cluster. */
struct inbox *transport_inbox(const struct transport *t, uint32_t local_rank);

/* Lay out the shared area. Error class. */
int transport_area_init(struct transport *t);

/*
 * The path to other clusters: open, close, take what has come (true if anything), anything there?
 */
int transport_far_init(struct mpi_rank *self);
void transport_far_exit(struct mpi_rank *self);
bool transport_far_poll(struct mpi_rank *self);
bool transport_far_is_empty(const struct transport *t);

/* By mailbox: the handle of that of a peer; a packet, as transport_send_far. */
int transport_mailbox_to(struct mpi_rank *self, uint32_t peer);
int transport_mail(struct mpi_rank *self, uint32_t peer, const struct packet *p);

/*
 * Channels to ranks of other clusters: channel/far_channel.c, which is 3 KB of a program; where
 * that is too much, no_channel.c (mk/user.mk).
 */
#define BY_MAILBOX 1			/* this packet has to go that way */
int transport_channel_send(struct mpi_rank *self, uint32_t peer, const struct packet *p);

/* A PACKET_CHANNEL of a rank in this cluster. */
void transport_channel_heard(struct mpi_rank *self, uint32_t cluster, const struct packet *p);
bool transport_channels_poll(struct mpi_rank *self);

/*
 * Before the rank sleeps: it is told of what comes from now on; then, in total order: is nothing
 * there? After the sleep.
 */
void transport_channels_listen(struct transport *t);
bool transport_channels_are_quiet(const struct transport *t);
void transport_channels_wake(const struct transport *t);

/* The rank leaves the library: has all been read that would be lost with its process? */
bool transport_channels_are_read(struct transport *t);
void transport_channels_exit(struct transport *t);

/* From now on the calling thread is told of messages and of room for more. */
void transport_far_listen(struct transport *t);

/* The rank ends: say what was counted, if nobody has asked before. */
void transport_counts_end(struct mpi_rank *self);

/* The same for memory: the first rank of each cluster says how much was left. */
void transport_memory_end(const struct mpi_rank *self);

/* Choose how to wait. */
void transport_wait_init(struct transport *t);

#endif
