/* SPDX-License-Identifier: MIT
 *
 * The death of a cluster. Sends to it fail by themselves, when they are tried; here end the
 * operations that wait for something which will not come: receives from its ranks or from anybody,
 * and bulk transfers in the middle. Whoever asks its ranks for something later hears it at once.
 */
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

static bool
waits_for(const struct mpi_rank *self, const struct request *r, uint32_t cluster)
{
	return r->source == MPI_ANY_SOURCE ||
		transport_cluster_of(self, (uint32_t)mpi_group_world(r->group, r->source)) ==
		cluster;
}

static void
fail_posted(struct mpi_rank *self, struct list *list, uint32_t cluster)
{
	for (struct list *l = list->next, *next; l != list; l = next) {
		struct request *r = list_entry(l, struct request, link);

		next = l->next;
		if (!waits_for(self, r, cluster))
			continue;
		mpi_match_withdraw(&self->match, r);
		mpi_request_complete(r, MPI_ERR_PROC_ABORTED);
	}
}

bool
mpi_source_is_lost(const struct mpi_rank *self, const struct group *g, int32_t source)
{
	return self->lost_cluster && source != MPI_ANY_SOURCE && transport_is_lost(self,
		transport_cluster_of(self, (uint32_t)mpi_group_world(g, source)));
}

void
mpi_cluster_died(struct mpi_rank *self, uint32_t cluster)
{
	self->lost_cluster = true;
	for (int i = 0; i < MATCH_BINS; i++)
		fail_posted(self, &self->match.posted[i], cluster);
	fail_posted(self, &self->match.posted_any, cluster);
	mpi_bulk_cluster_died(self, cluster);
}
