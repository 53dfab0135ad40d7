/* SPDX-License-Identifier: MIT
 *
 * Flow control: how many eager messages a rank may have at a peer that the peer has not matched
 * yet. In a cluster the peer writes its count into a shared word now and then; between clusters the
 * count rides in the header of every packet, or in a packet of its own.
 */
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

#define REPORT_FAR (CREDIT_WINDOW / 2)

bool
mpi_credit_left(struct mpi_rank *self, uint32_t peer)
{
	struct peer *p = &self->peers[peer];

	if (p->sent - p->taken < CREDIT_WINDOW)
		return true;
	if (!transport_is_near(self, peer))
		return false;
	p->taken = load_acquire(transport_taken_word(self, (uint32_t)self->world_rank, peer));
	return p->sent - p->taken < CREDIT_WINDOW;
}

static void
report_near(struct mpi_rank *self, uint32_t peer)
{
	struct peer *p = &self->peers[peer];

	exchange_total(transport_taken_word(self, peer, (uint32_t)self->world_rank), p->matched);
	p->reported = p->matched;
	transport_wake(self, peer);
}

void
mpi_credit_report(struct mpi_rank *self, uint32_t peer)
{
	const struct peer *p = &self->peers[peer];

	if (transport_is_near(self, peer)) {
		report_near(self, peer);
	} else if (p->matched - p->reported >= REPORT_FAR) {
		struct packet credit = {.kind = PACKET_CREDIT};

		mpi_answer(self, peer, &credit);
	}
}
