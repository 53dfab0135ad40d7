/* SPDX-License-Identifier: MIT
 *
 * Schedules in two tiers. The communicator's venue, which the choice of an algorithm needs anyhow, says who is where.
 */
#include <mpi/coll/choose.h>
#include <mpi/coll/clusters.h>

bool
mpi_clusters_fit(const struct sched *s)
{
	const struct venue *v = s->c->venue;

	return s->map == NULL && v != NULL && v->clusters > 1 && v->largest > 1;
}

bool
mpi_clusters_are_in_order(const struct sched *s)
{
	return s->c->venue->consecutive || mpi_operation_commutes(&s->op);
}

void
mpi_clusters_inside(struct sched *s)
{
	const struct venue *v = s->c->venue;

	mpi_sched_among(s, v->members, v->ranks, v->rank);
}

void
mpi_clusters_between(struct sched *s)
{
	const struct venue *v = s->c->venue;

	mpi_sched_among(s, v->leaders, v->clusters, v->rank == 0 ? v->cluster : -1);
}

int
mpi_clusters_number(const struct sched *s, int root)
{
	return mpi_venue_cluster(s->self, s->c, root);
}

int
mpi_clusters_speaker(const struct sched *s, int root)
{
	int position = mpi_venue_position(s->c->venue, root);

	return position > 0 ? position : 0;
}

void
mpi_clusters_between_with(struct sched *s, int root)
{
	const struct venue *v = s->c->venue;
	int *map = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*map));

	if (map == NULL)
		return;
	memcpy(map, v->leaders, (size_t)v->clusters * sizeof(*map));
	map[mpi_clusters_number(s, root)] = root;
	mpi_sched_among(s, map, v->clusters, v->rank == mpi_clusters_speaker(s, root) ? v->cluster : -1);
}

static void
part(struct sched *s, enum coll_kind kind, struct work w, bool near)
{
	struct collective k = {.kind = kind};

	w.k = &k;
	if (s->rank >= 0 && s->size > 1)
		mpi_choose_write_part(s, &w, near);
}

void
mpi_clusters_bcast(struct sched *s, struct span data, int root, bool near)
{
	part(s, COLL_BCAST, (struct work){.out = data, .root = root}, near);
}

void
mpi_clusters_reduce(struct sched *s, const struct work *w, bool near)
{
	if (s->size > 1)
		part(s, COLL_REDUCE, *w, near);
	else if (s->rank >= 0)
		mpi_sched_copy(s, w->out, w->in);
	mpi_sched_round(s);
}

void
mpi_clusters_allreduce(struct sched *s, struct span out, bool near)
{
	part(s, COLL_ALLREDUCE, (struct work){.out = out}, near);
}
