/* SPDX-License-Identifier: MIT
 *
 * Transport: the only tier that knows the OS. It carries packets between ranks, in order per pair,
 * loses none and needs bounded memory. A library has one of two: transport/atoll, where ranks are
 * threads (a ring of cells in shared memory inside a cluster, mailbox and portal between clusters),
 * and transport/process, where each rank is a process of its own on one Linux host.
 *
 * Every tier above may include this interface. A back end supplies it, and hands what arrives to
 * mpi_arrived, which takes what it needs before it returns.
 */
#ifndef MPI_TRANSPORT_TRANSPORT_H
#define MPI_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi/transport/packet.h>

struct inbox;
struct mpi_rank;
struct sync;

/* in the environment: what the launcher was told about the initial error handler */
#define INITIAL_ERRHANDLER "ATOLL_MPI_ERRHANDLER"

/*
 * Find out who and where this rank is: sets world_rank and world_size. Works before transport_init.
 */
void transport_identify(struct mpi_rank *self);

/*
 * Open this rank's inbox. Error class. No collective action: peers may send as soon as they know of
 * this rank.
 */
int transport_init(struct mpi_rank *self);

/* Close everything. Only after the last message was taken. */
void transport_exit(struct mpi_rank *self);

/*
 * From `held` on, until it is taken back, the end of this rank ends the job (as long as the library
 * has users).
 */
void transport_hold(struct mpi_rank *self, bool held);

/* May this rank and `peer` touch each other's memory? */
bool transport_is_near(const struct mpi_rank *self, uint32_t peer);

/* The cluster of a rank of the job. */
uint32_t transport_cluster_of(const struct mpi_rank *self, uint32_t peer);

/* Has this rank found out that a cluster is dead (mpi_cluster_died)? */
bool transport_is_lost(const struct mpi_rank *self, uint32_t cluster);

/*
 * A packet to fill for a peer, or NULL: no room now, try again after transport_poll. Every packet
 * that was given must be sent, and soon: in a cluster the receiver waits for it. Near peers only.
 */
struct packet *transport_claim(struct mpi_rank *self, uint32_t peer);
void transport_send_claimed(struct mpi_rank *self, uint32_t peer, struct packet *p);

/* The inbox of a near peer, all of which have as many cells as the rank's own. */
struct inbox *transport_inbox_of(const struct mpi_rank *self, uint32_t peer);

/*
 * Memory that near peers can reach without the system's help, and that they may write; zero at
 * first. NULL: none is left.
 */
void *transport_share(struct mpi_rank *self, size_t bytes);

/* Give it back. False: it is not such memory. */
bool transport_unshare(struct mpi_rank *self, void *memory);

/*
 * Do near peers have one address space, so that they reach all of one another's memory by its
 * address?
 */
bool transport_shares_memory(const struct mpi_rank *self);

/*
 * The program said MPI_Pcontrol(level): begin to count what messages cost (1), say what was counted
 * (0). If the user wants it.
 */
void transport_count(struct mpi_rank *self, int level);

/* How near peers name memory of this rank; valid as long as the memory is there. */
uint64_t transport_reference(const struct mpi_rank *self, const void *memory);

/* Memory from transport_share that a near peer refers to, as this rank reaches it. */
void *transport_reach(const struct mpi_rank *self, uint64_t reference);

/*
 * For a rank about to sleep, called from the `ready` of transport_idle: is there room for a packet
 * to a near peer? If not, it is woken when there is.
 */
bool transport_has_room(struct mpi_rank *self, uint32_t peer);

/*
 * Copy from what a near peer refers to. 0; -E_PERM: the system does not allow it, or it is faster
 * if the peer sends the data itself: ask it to.
 */
int transport_fetch(struct mpi_rank *self, uint32_t peer, uint64_t reference, void *to,
	size_t bytes);

/*
 * Set the shared word that a near peer refers to, to 1, after all that was read before; wake the
 * peer if `wakes`. False: that word is out of reach, the peer must set it when it is told by a
 * packet.
 */
bool transport_signal(struct mpi_rank *self, uint32_t peer, uint64_t reference, bool wakes);

/*
 * A part of a rank's memory, `most` bytes or less, for what the library would like to have room
 * for: the same on all ranks of the job.
 */
size_t transport_memory_part(const struct mpi_rank *self, unsigned part, size_t most);

/*
 * Bytes up to which a sender copies a message into memory of its own (from transport_share), rather
 * than wait for the receiver.
 */
size_t transport_copied_max(const struct mpi_rank *self);

/* Room for such copies. */
size_t transport_copies_bytes(const struct mpi_rank *self);

/*
 * Send a packet to a rank of another cluster. 0; -E_AGAIN: no room now; -E_HOSTDOWN and others:
 * never.
 */
int transport_send_far(struct mpi_rank *self, uint32_t peer, struct packet *p);

/*
 * The rank leaves the library: has everything been read that would be lost with its process? Peers
 * read it when they are in the library; who asks waits as for anything else.
 */
bool transport_all_is_read(struct mpi_rank *self);

/* Hand over what has arrived. True if there was something. */
bool transport_poll(struct mpi_rank *self);

/* Tell a near peer that a word it waits for was changed. */
void transport_wake(struct mpi_rank *self, uint32_t peer);

/*
 * One step of waiting, when nothing has arrived: polls, lets another rank have the core, or sleeps,
 * the longer the more `idle` steps went before. Returns early when something arrives for this rank
 * or `ready` turns true (`ready` may be called several times).
 */
void transport_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg),
	const void *arg);

/* Do ranks of this one's core run only when it lets them? Then this does; nothing is looked at. */
bool transport_shares_core(const struct mpi_rank *self);
void transport_yield(struct mpi_rank *self);

/* Would transport_idle sleep at this step? */
bool transport_sleeps_at(const struct mpi_rank *self, unsigned idle);

/*
 * This rank waits inside the library from now on, and peers' requests are answered at once; or no
 * longer. A hint for transport_fetch.
 */
void transport_attend(struct mpi_rank *self, bool attends);

/* Wake all ranks of the cluster that sleep. */
void transport_wake_all(const struct mpi_rank *self);

/*
 * Ranks of a cluster with the same number share a core as a rule; numbers are 0 ..
 * transport_cores() - 1.
 */
uint32_t transport_core(const struct mpi_rank *self, uint32_t peer);
uint32_t transport_cores(const struct mpi_rank *self);

/* The central barrier of all ranks of the job, or NULL if they are not all in this cluster. */
struct sync *transport_sync(const struct mpi_rank *self);

/*
 * The program asks again and again whether something is done, and it is not: let others run who may
 * be needed for that.
 */
void transport_relax(struct mpi_rank *self);

/*
 * Messages from `source` that `sink` has matched so far: word shared between two near ranks.
 * `source` reads, `sink` writes.
 */
uint32_t *transport_taken_word(struct mpi_rank *self, uint32_t source, uint32_t sink);

/*
 * Bulk data between clusters. The receiver allows a peer to write, once; the peer starts to write,
 * which goes on beside the rank until transport_bulk_written says that it is over (one at a time);
 * the receiver then reads, which waits for the data: it must know that the peer has started. 0 or
 * -E_NAME.
 */
int transport_bulk_allow(struct mpi_rank *self, uint32_t peer);
int transport_bulk_write(struct mpi_rank *self, uint32_t peer, const void *data, size_t len);
bool transport_bulk_written(struct mpi_rank *self, int *result);
int transport_bulk_read(struct mpi_rank *self, void *data, size_t len);

/* Seconds since some fixed moment, and the clock's resolution. */
double transport_seconds(void);
double transport_tick(void);

/* Name of the place where the rank runs, for people. */
void transport_place_name(const struct mpi_rank *self, char *name, size_t len);

/*
 * Prepare for several threads of the program. The thread level that it gets, `required` or less;
 * before another thread calls MPI.
 */
int transport_thread_level(struct mpi_rank *self, int required);

/*
 * The calling thread of the program is about to use the transport, for the first time. With
 * MPI_THREAD_MULTIPLE only.
 */
void transport_thread_enter(struct mpi_rank *self);

/*
 * Can all threads of this process be made to have done, as others see it, what they have begun; and
 * do it. For what is hardly ever done, so that what is often done need not.
 */
bool transport_can_fence(const struct mpi_rank *self);
void transport_fence(struct mpi_rank *self);

/*
 * Sleep if a word of this rank has a value, until it is woken or for no reason; wake so many that
 * sleep on it. Any thread of the program.
 */
void transport_futex_wait(uint32_t *word, uint32_t value);
void transport_futex_wake(uint32_t *word, int count);

/* Is the calling thread the one that called transport_init? */
bool transport_is_first_thread(const struct mpi_rank *self);

/* What the program has printed leaves the process, as far as no other thread holds the stream. */
void transport_flush(void);

/* End the job with this exit status. */
void transport_abort(struct mpi_rank *self, int status) __attribute__((noreturn));

/*
 * Upcalls: what the transport calls, and the tiers above supply.
 */

/* A packet has come from another rank (mpi/pt2pt). It is valid until this returns. */
void mpi_arrived(struct mpi_rank *self, const struct packet *p);

/* A cluster is dead (mpi/pt2pt): what needs a rank there ends with an error. */
void mpi_cluster_died(struct mpi_rank *self, uint32_t cluster);

/*
 * Describe for people what the calling rank waits for, in the MPI function of this name (mpi/api;
 * NULL: unknown): peers, tags, communicators, and the messages that have arrived and that nobody
 * has received. Only while no other thread is in the library.
 */
void mpi_describe_wait(struct mpi_rank *self, const char *function, char *text, size_t room);

#endif
