/* SPDX-License-Identifier: MIT
 *
 * Schedules in two tiers. The communicator's locality, which the choice of an algorithm needs
 * anyhow, says who is where.
 */
#include <mpi/coll/choose.h>
#include <mpi/coll/clusters.h>

bool
mpi_clusters_fit(const struct sched *s, const struct work *w)
{
	const struct locality *v = s->c->locality;

	(void)w;
	return s->size == s->c->size && v != NULL && v->clusters > 1 && v->largest > 1;
}

bool
mpi_clusters_fit_in_order(const struct sched *s, const struct work *w)
{
	return mpi_clusters_fit(s, w) &&
		(s->c->locality->consecutive || mpi_operation_commutes(&s->op));
}

void
mpi_clusters_inside(struct sched *s)
{
	const struct locality *v = s->c->locality;

	mpi_locality_among(v, s);
}

int
mpi_clusters_leader(const struct sched *s, int root)
{
	int position = mpi_locality_position(s->c->locality, root);

	return position > 0 ? position : 0;
}

void
mpi_clusters_between(struct sched *s, int root)
{
	const struct locality *v = s->c->locality;
	int *map = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*map));

	if (map == NULL)
		return;
	memcpy(map, v->leaders, (size_t)v->clusters * sizeof(*map));
	map[mpi_locality_cluster(s->self, s->c, root)] = root;
	mpi_sched_among(s, map, v->clusters, v->rank == mpi_clusters_leader(s, root) ? v->cluster :
		-1);
}

bool
mpi_clusters_have_room(const struct sched *s, size_t bytes)
{
	return bytes <= CLUSTERS_COPIES_MAX / (size_t)s->c->locality->largest;
}

int
mpi_clusters_ranks(const struct sched *s, int cluster)
{
	const struct locality *v = s->c->locality;

	return v->first[cluster + 1] - v->first[cluster];
}

bool
mpi_clusters_follow(const struct sched *s, int cluster)
{
	const struct locality *v = s->c->locality;

	int ranks = mpi_clusters_ranks(s, cluster);

	return mpi_locality_member(v, cluster, ranks - 1) - v->leaders[cluster] == ranks - 1;
}

const int *
mpi_clusters_order(struct sched *s)
{
	int *order = mpi_sched_scratch(s, (size_t)s->c->size * sizeof(*order));

	for (int i = 0; order != NULL && i < s->c->size; i++)
		order[i] = mpi_locality_ordered(s->c->locality, i);
	return order;
}

struct span
mpi_clusters_whole(const struct side *side, int n, size_t block)
{
	return side->counts.array ? span_bytes(side->buffer, (size_t)n * block) :
		side_whole(side, n);
}

/* Does a run end with this rank? */
static bool
ends_run(const struct sched *s, int rank)
{
	return rank + 1 == s->c->size || !mpi_locality_together(s->self, s->c, rank, rank + 1);
}

bool
mpi_clusters_fit_in_runs(const struct sched *s, const struct work *w)
{
	bool some = false;

	for (int i = 0; mpi_clusters_fit(s, w) && !some && i < s->c->size; i++)
		some = !ends_run(s, i);
	return some;
}

int
mpi_clusters_inside_run(struct sched *s)
{
	int me = s->c->rank, first = me, last = me, number = 0, *map;

	while (first > 0 && !ends_run(s, first - 1))
		first--;
	while (!ends_run(s, last))
		last++;
	for (int i = 0; i < first; i++)
		number += ends_run(s, i);
	map = mpi_sched_scratch(s, (size_t)(last - first + 1) * sizeof(*map));
	if (map == NULL)
		return -1;
	for (int i = first; i <= last; i++)
		map[i - first] = i;
	mpi_sched_among(s, map, last - first + 1, me - first);
	return number;
}

void
mpi_clusters_between_runs(struct sched *s)
{
	int runs = 0, own = -1, *map = mpi_sched_scratch(s, (size_t)s->c->size * sizeof(*map));

	for (int i = 0; map != NULL && i < s->c->size; i++) {
		if (!ends_run(s, i))
			continue;
		own = i == s->c->rank ? runs : own;
		map[runs++] = i;
	}
	mpi_sched_among(s, map, runs, own);
}

void
mpi_clusters_part(struct sched *s, enum coll_kind kind, const struct work *w, bool near)
{
	struct collective k = {.kind = kind};
	struct work part = *w;

	part.k = &k;
	if (s->rank >= 0 && s->size > 1)
		mpi_choose_write_part(s, &part, near);
	else if (s->rank >= 0 && kind == COLL_REDUCE)
		mpi_sched_copy(s, w->out, w->in);
	mpi_sched_round(s);
}

void
mpi_clusters_tier(struct sched *s, enum coll_kind kind, struct work w, bool near)
{
	int root = w.root;

	w.root = near ? mpi_clusters_leader(s, root) : mpi_locality_cluster(s->self, s->c, root);
	if (near)
		mpi_clusters_inside(s);
	else
		mpi_clusters_between(s, root);
	mpi_clusters_part(s, kind, &w, near);
}
