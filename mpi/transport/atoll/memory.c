/* SPDX-License-Identifier: MIT
 *
 * How much memory of a cluster its ranks left free, for people who ask (`run --memory`): the first
 * rank of each says it when it ends. What a job takes before its ranks run, the process server says
 * (servers/proc/ledger.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <mpi/transport/atoll/state.h>

#define KB 1024

/* Bytes of a rank's stack that were ever written: it was zero at the start. */
static uint64_t
depth(const struct job_rank *r)
{
	const uint64_t *at = (const uint64_t *)(uintptr_t)r->stack_first,
		*end = (const uint64_t *)(uintptr_t)r->stack_limit;

	while (at < end && *at == 0)
		at++;
	return (uint64_t)(end - at) * sizeof(*at);
}

static uint64_t
deepest(const struct job_control *control)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < control->ranks; i++) {
		uint64_t bytes = depth(&control->rank[i]);

		most = bytes > most ? bytes : most;
	}
	return most;
}

void
transport_memory_end(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;
	const struct job_control *control;
	struct cluster_info info;
	uint64_t left, all;

	if (t->placement == NULL || t->local_rank != 0 || getenv("ATOLL_MEMORY") == NULL)
		return;
	if (kstats(STATS_FRAMES_FREE, &left) < 0 || kstats(STATS_FRAMES_TOTAL, &all) < 0 ||
		kcluster_info(&info) < 0)
		return;
	control = (const struct job_control *)(uintptr_t)t->startup->control;
	printf("memory: cluster %u, KB: %u of %u free; deepest stack %u of %u\n", t->cluster,
		(unsigned)(left * info.page_bytes / KB),
		(unsigned)(all * info.page_bytes / KB), (unsigned)(deepest(control) / KB),
		(unsigned)((control->rank[0].stack_limit - control->rank[0].stack_first) / KB));
}
