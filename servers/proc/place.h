/* SPDX-License-Identifier: MIT
 *
 * Where ranks go. Ranks are dealt in rounds: in a round each cluster takes as many as it has
 * application cores, so that more ranks than cores are spread evenly. Compact numbers the ranks
 * cluster by cluster, scatter deals them out one by one over the clusters.
 */
#ifndef SERVERS_PROC_PLACE_H
#define SERVERS_PROC_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/limits.abi.h>
#include <abi/startup.h>

struct place_request {
	uint32_t ranks;
	uint32_t policy;			/* MAP_* */
	uint32_t clusters;
	/* of one cluster, if several take ranks: each rank needs a port */
	uint32_t ranks_max;
	/* application cores of each cluster; 0: takes no ranks */
	uint32_t cores[CLUSTERS_MAX];
};

/*
 * Fill place[ranks] and counts[clusters] (ranks of each cluster). 0; -E_NOSPC: more ranks than
 * ports (a cluster that takes all ranks needs none); -E_INVAL: no cluster takes ranks.
 */
int place_ranks(const struct place_request *q, struct placement *place, uint32_t *counts);

/*
 * Does each rank own a port, by the counts of place_ranks and the ports a cluster has for ranks?
 * Only a job that lives in one cluster may have more ranks than ports.
 */
bool place_has_ports(const uint32_t *counts, uint32_t clusters, uint32_t ports);

#endif
