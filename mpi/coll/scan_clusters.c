/* SPDX-License-Identifier: MIT
 *
 * Scans in two tiers: inside each run of ranks that follow one another in one cluster; among the
 * last ranks of the runs, which then know what lies before theirs; and that into the runs. With
 * consecutive clusters these are the runs. Operands stay in the order of the ranks.
 *
 * Cost: those of the scan and the broadcast that are chosen inside the longest run, and of the
 * exclusive scan between c runs, with as many messages between them as that one has (doubling: c -
 * 1, and c - d for each power of two d < c), and m g; exclusive: a + m b more.
 */
#include <mpi/coll/clusters.h>

static bool
scan_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_have_runs(s);
}

/* After the scan inside the runs: what lies before the own run, at each of its ranks. */
static struct span
before_run(struct sched *s, struct span sum)
{
	struct span before = mpi_sched_room(s, sum.count, sum.type);

	mpi_sched_round(s);
	mpi_clusters_between_runs(s);
	mpi_clusters_exscan(s, &(struct work){.out = before, .in = sum});
	mpi_sched_round(s);
	if (mpi_clusters_inside_run(s) > 0)
		mpi_clusters_bcast(s, before, s->size - 1, true);
	mpi_sched_round(s);
	return before;
}

static void
write_scan(struct sched *s, const struct work *w)
{
	int run = mpi_clusters_inside_run(s);

	mpi_clusters_scan(s, w->out);
	if (run >= 0) {
		struct span before = before_run(s, w->out);

		if (run > 0)
			mpi_sched_reduce(s, before, w->out);
	}
	mpi_sched_round(s);
	mpi_sched_all(s);
}

static void
write_exscan(struct sched *s, const struct work *w)
{
	struct span sum = mpi_sched_room(s, w->in.count, w->in.type), before;
	int run = mpi_clusters_inside_run(s);

	mpi_sched_copy(s, sum, w->in);
	mpi_sched_round(s);
	mpi_clusters_scan(s, sum);
	mpi_sched_round(s);
	if (s->rank > 0)
		mpi_sched_recv(s, w->out, s->rank - 1);
	if (s->rank + 1 < s->size)
		mpi_sched_send(s, sum, s->rank + 1);
	if (run >= 0) {
		before = before_run(s, sum);
		if (run > 0 && s->rank == 0)
			mpi_sched_copy(s, w->out, before);
		else if (run > 0)
			mpi_sched_reduce(s, before, w->out);
	}
	mpi_sched_round(s);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_scan_clusters = {.fits = scan_clusters_fits, .write = write_scan};
const struct algorithm mpi_algorithm_exscan_clusters = {.fits = scan_clusters_fits, .write = write_exscan};
