/* SPDX-License-Identifier: MIT
 *
 * Point-to-point messages below the API: arguments are right, types are turned into bytes.
 * Collectives stand on this, too.
 *
 * Protocols: eager (the data travels in the packet, or waits in a copy of the sender's), single
 * copy (near ranks: the receiver copies from the sender's buffer and says so; if the system does
 * not allow that, the sender sends chunks), bulk (between clusters: request, allow, start, and the
 * data through a portal).
 *
 * Flow control: a sender has at most `window` eager messages at a peer that the peer has not
 * matched. After that its sends wait for their receives, and only their envelopes travel: a
 * receiver's memory is bounded by the window and by the sends that its peers have in hand, it can
 * always take what arrives, and no receive waits for one that comes after it.
 */
#ifndef MPI_PT2PT_PT2PT_H
#define MPI_PT2PT_PT2PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/list.h>
#include <mpi.h>
#include <mpi/core/peer.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/match.h>
#include <mpi/transport/packet.h>

/*
 * messages that a rank may have at a peer, and those that the peer may have matched without telling
 * it
 */
#define CREDIT_WINDOW 128
#define CREDIT_REPORT (CREDIT_WINDOW / 4)

/* Set up and tear down. Error class. */
int mpi_pt2pt_init(struct mpi_rank *self);
void mpi_pt2pt_exit(struct mpi_rank *self);

/* Fill in a request. `rank` is one of the communicator. */
void mpi_send_prepare(struct request *r, struct comm *c, const void *buffer, size_t bytes, int rank,
	int tag);
void mpi_recv_prepare(struct request *r, struct comm *c, void *buffer, size_t bytes, int rank,
	int tag);

/* Start a prepared request; it may be done on return. */
void mpi_send_start(struct mpi_rank *self, struct request *r);
void mpi_recv_start(struct mpi_rank *self, struct request *r);

/* Move whatever can be moved, without waiting. True if anything was. */
bool mpi_progress(struct mpi_rank *self);

/* Wait until a request is done; returns its error class. */
int mpi_wait_longer(struct mpi_rank *self, struct request *r);

static inline int
mpi_wait(struct mpi_rank *self, struct request *r)
{
	return mpi_request_is_done(r) ? r->error : mpi_wait_longer(self, r);
}

/*
 * The program asks again and again whether something is done, and it is not: let others run who may
 * be needed for that.
 */
void mpi_relax(struct mpi_rank *self);

/* What a rank waits for. */
struct waiting {
	struct mpi_rank *self;
	bool (*ready)(const void *arg);
	const void *arg;
};

/* Is that request done? Argument of mpi_wait_until. */
bool mpi_request_is_ready(const void *request);

/* Wait until ready(arg). */
void mpi_wait_until(struct mpi_rank *self, bool (*ready)(const void *arg), const void *arg);

/*
 * One step of waiting when nothing has moved: transport_idle for a rank whose pending operations,
 * and other threads, are to go on, and for which room for what wants to go out may come up.
 */
void mpi_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg),
	const void *arg);

/*
 * Ask to cancel it: a receive that is not matched is cancelled, everything else goes on. Error
 * class, of a callback.
 */
int mpi_request_cancel(struct mpi_rank *self, struct request *r);

/*
 * Whole blocking operations on a context of the communicator (context or context + 1). Error class.
 */
int mpi_send_bytes(struct mpi_rank *self, struct request *prepared);
int mpi_recv_bytes(struct mpi_rank *self, struct request *prepared);

/* Inside this tier. */
void mpi_deliver(struct mpi_rank *self, struct request *r, const struct packet *p);
void mpi_answer(struct mpi_rank *self, uint32_t peer, struct packet *p);
bool mpi_answers_have_room(struct mpi_rank *self);
bool mpi_answers_flush(struct mpi_rank *self);
bool mpi_sends_flush(struct mpi_rank *self);
void mpi_bulk_request(struct mpi_rank *self, struct request *r, const struct packet *p);
void mpi_bulk_allowed(struct mpi_rank *self, const struct packet *p);
void mpi_bulk_started(struct mpi_rank *self, const struct packet *p);
bool mpi_bulk_progress(struct mpi_rank *self);
void mpi_bulk_done(struct mpi_rank *self, struct request *r, int error);
void mpi_pull(struct mpi_rank *self, struct request *r, const struct packet *p);
void mpi_push_asked(struct mpi_rank *self, const struct packet *p);
void mpi_push_arrived(struct mpi_rank *self, const struct packet *p);
bool mpi_push_progress(struct mpi_rank *self);

/* Is there room for a chunk that found none? */
bool mpi_push_has_room(struct mpi_rank *self);
void mpi_push_exit(struct mpi_rank *self);
int mpi_far_error(int err);
void mpi_bulk_cluster_died(struct mpi_rank *self, uint32_t cluster);

/*
 * Is the cluster of this rank of a group dead, as this one knows? Then nothing comes from there but
 * what has arrived. MPI_ANY_SOURCE: no.
 */
bool mpi_source_is_lost(const struct mpi_rank *self, const struct group *g, int32_t source);
uint32_t mpi_bulk_name(struct mpi_rank *self, struct request *r);
void mpi_credit_report(struct mpi_rank *self, uint32_t peer);
bool mpi_credit_left(struct mpi_rank *self, uint32_t peer);

/* A message from a rank of the job was matched. */
static inline void
mpi_credit_matched(struct mpi_rank *self, uint32_t peer)
{
	struct peer *p = &self->peers[peer];

	if (++p->matched - p->reported >= CREDIT_REPORT)
		mpi_credit_report(self, peer);
}

#endif
