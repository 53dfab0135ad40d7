/* SPDX-License-Identifier: MIT
 *
 * Placement of ranks.
 */
#include <abi/errors.h>
#include <servers/proc/place.h>

/*
 * How many ranks each cluster gets. In a round a cluster takes one rank per core, as long as it has
 * ports and ranks are left.
 */
static void
count_ranks(const struct place_request *q, uint32_t *counts)
{
	uint32_t left = q->ranks;

	for (uint32_t c = 0; c < q->clusters; c++)
		counts[c] = 0;
	while (left > 0)
		for (uint32_t c = 0; c < q->clusters && left > 0; c++) {
			uint32_t room = q->cores[c] > 0 ? q->ranks_max - counts[c] : 0;
			uint32_t take = q->cores[c] < room ? q->cores[c] : room;

			take = take < left ? take : left;
			counts[c] += take;
			left -= take;
		}
}

static void
number_compact(const struct place_request *q, struct placement *place, const uint32_t *counts)
{
	uint32_t rank = 0;

	for (uint32_t c = 0; c < q->clusters; c++)
		for (uint32_t i = 0; i < counts[c]; i++)
			place[rank++] = (struct placement){(uint16_t)c, (uint16_t)i};
}

/* Rank by rank to the next cluster that still has room in this round. */
static void
deal_scatter(const struct place_request *q, struct placement *place, uint32_t *counts)
{
	uint32_t limit[CLUSTERS_MAX];
	uint32_t rank = 0;

	for (uint32_t c = 0; c < q->clusters; c++)
		counts[c] = limit[c] = 0;
	while (rank < q->ranks) {
		bool dealt = false;

		for (uint32_t c = 0; c < q->clusters && rank < q->ranks; c++)
			if (counts[c] < limit[c]) {
				place[rank++] =
					(struct placement){(uint16_t)c, (uint16_t)counts[c]++};
				dealt = true;
			}
		for (uint32_t c = 0; c < q->clusters && !dealt; c++) {
			limit[c] += q->cores[c];
			if (limit[c] > q->ranks_max)
				limit[c] = q->ranks_max;
		}
	}
}

/* How many clusters take ranks. */
static uint32_t
takers(const struct place_request *q)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < q->clusters; c++)
		n += q->cores[c] > 0;
	return n;
}

int
place_ranks(const struct place_request *request, struct placement *place, uint32_t *counts)
{
	struct place_request q = *request;
	uint32_t clusters = takers(&q);

	if (clusters == 1)
		q.ranks_max = q.ranks;
	if (clusters == 0 || q.ranks_max == 0)
		return -E_INVAL;
	if (q.ranks > (uint64_t)clusters * q.ranks_max)
		return -E_NOSPC;
	if (q.policy == MAP_SCATTER) {
		deal_scatter(&q, place, counts);
	} else {
		count_ranks(&q, counts);
		number_compact(&q, place, counts);
	}
	return 0;
}

bool
place_has_ports(const uint32_t *counts, uint32_t clusters, uint32_t ports)
{
	for (uint32_t c = 0; c < clusters; c++)
		if (counts[c] > ports)
			return false;
	return true;
}
