/* SPDX-License-Identifier: MIT
 *
 * Placing grids. Works where each cluster has the same number of ranks, and that number is the
 * volume of a block into which the grid can be cut; else, and where it would be no better,
 * everything stays in its order.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/place.h>
#include <mpi/transport/transport.h>

#define DIMS_MAX 16		/* with more, nothing is reordered */

struct placing {
	struct mpi_rank *self;
	const struct comm *c;
	int ndims;
	const int *dims;
	int ranks;
	int clusters;
	int each;			/* ranks of a cluster */
	int block[DIMS_MAX];		/* best so far */
	int now[DIMS_MAX];
	double cut;			/* faces of the best block that are cut */
};

static uint32_t
cluster_of(const struct placing *p, int32_t world)
{
	return transport_cluster_of(p->self, (uint32_t)world);
}

/*
 * Sort the members by cluster, in the order in which clusters first appear. False: not all clusters
 * have the same number of them.
 */
static bool
sort_by_cluster(struct placing *p, const int32_t *world, int32_t *sorted)
{
	char *taken = calloc((size_t)p->ranks, 1);
	int n = 0;
	bool even = taken != NULL;

	p->clusters = p->each = 0;
	for (int i = 0; even && i < p->ranks; i++) {
		int first = n;

		if (taken[i])
			continue;
		for (int k = i; k < p->ranks; k++) {
			if (!taken[k] && cluster_of(p, world[k]) == cluster_of(p, world[i])) {
				taken[k] = 1;
				sorted[n++] = world[k];
			}
		}
		if (p->clusters++ == 0)
			p->each = n;
		even = n - first == p->each;
	}
	free(taken);
	return even && p->clusters > 1 && p->each > 1;
}

/* Try all shapes of a block; `left` is the volume that the dimensions from `at` on must have. */
static void
find_block(struct placing *p, int at, int left)
{
	double cut = 0;

	if (at < p->ndims) {
		for (int b = 1; b <= left && b <= p->dims[at]; b++) {
			if (left % b != 0 || p->dims[at] % b != 0)
				continue;
			p->now[at] = b;
			find_block(p, at + 1, left / b);
		}
		return;
	}
	for (int i = 0; i < p->ndims; i++)
		cut += p->now[i] < p->dims[i] ? (double)p->each / p->now[i] : 0;
	if (left == 1 && (p->cut < 0 || cut < p->cut)) {
		p->cut = cut;
		memcpy(p->block, p->now, sizeof(p->block));
	}
}

/*
 * Which block a place belongs to, and which place of the block it is: position in the sorted
 * members.
 */
static int
position_of(const struct placing *p, int place)
{
	int coords[DIMS_MAX], block = 0, inside = 0;

	for (int i = p->ndims - 1; i >= 0; i--) {
		coords[i] = place % p->dims[i];
		place /= p->dims[i];
	}
	for (int i = 0; i < p->ndims; i++) {
		block = block * (p->dims[i] / p->block[i]) + coords[i] / p->block[i];
		inside = inside * p->block[i] + coords[i] % p->block[i];
	}
	return block * p->each + inside;
}

/* Pairs of neighbours in different clusters. */
static long
pairs_cut(const struct placing *p, const int32_t *world)
{
	long cut = 0;

	for (int i = p->ndims - 1, step = 1; i >= 0; step *= p->dims[i], i--)
		for (int place = 0; place < p->ranks; place++)
			if (place / step % p->dims[i] + 1 < p->dims[i])
				cut += cluster_of(p, world[place]) != cluster_of(p,
					world[place + step]);
	return cut;
}

/* Reorder world[] if that is better. False: no memory. */
static bool
reorder(struct placing *p, int32_t *world)
{
	int32_t *sorted = malloc((size_t)p->ranks * 2 * sizeof(*sorted)),
		*placed = sorted ? sorted + p->ranks : NULL;

	if (sorted == NULL)
		return false;
	p->cut = -1;
	if (sort_by_cluster(p, world, sorted))
		find_block(p, 0, p->each);
	if (p->cut >= 0) {
		for (int i = 0; i < p->ranks; i++)
			placed[i] = sorted[position_of(p, i)];
		if (pairs_cut(p, placed) < pairs_cut(p, world))
			memcpy(world, placed, (size_t)p->ranks * sizeof(*world));
	}
	free(sorted);
	return true;
}

struct group *
place_grid(struct mpi_rank *self, const struct comm *c, int ndims, const int dims[], int ranks)
{
	struct placing p = {.self = self, .c = c, .ndims = ndims, .dims = dims, .ranks = ranks};
	int32_t *world = malloc((size_t)ranks * sizeof(*world));

	if (world == NULL)
		return NULL;
	for (int i = 0; i < ranks; i++)
		world[i] = mpi_group_world(c->group, i);
	if (ndims > 0 && ndims <= DIMS_MAX && !reorder(&p, world)) {
		free(world);
		return NULL;
	}
	return mpi_group_of(self, world, ranks);
}
