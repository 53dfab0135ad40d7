/* SPDX-License-Identifier: MIT
 *
 * Checks of a boot record before anything is started, and where its cores run.
 */
#include <stddef.h>
#include "launch.h"

#define PAGE 4096

static const char *
check_cluster(const struct boot_record *r, const struct boot_cluster *c)
{
	if (c->cores < 1 || c->cores > CLUSTER_CORES_MAX)
		return "a cluster with an impossible number of cores";
	if (c->first_core > CORES_MAX || c->first_core + c->cores > CORES_MAX)
		return "too many cores";
	if (c->mem_bytes < PAGE || c->mem_bytes % PAGE != 0)
		return "cluster memory that is not whole pages";
	if (r->roles[c->first_core] == ROLE_IDLE || r->roles[c->first_core] == ROLE_AC)
		return "a cluster whose first core is neither TC nor KC";
	return NULL;
}

const char *
launch_check_record(const struct boot_record *r, size_t bytes)
{
	if (bytes < sizeof(*r) || r->magic != BOOT_MAGIC)
		return "not a boot record";
	if (r->version != BOOT_VERSION)
		return "a boot record of another version";
	if (r->clusters < 1 || r->clusters > CLUSTERS_MAX)
		return "an impossible number of clusters";
	if (r->noc_window_bytes == 0 || r->noc_window_bytes % PAGE != 0)
		return "NoC windows that are not whole pages";
	for (uint32_t i = 0; i < r->clusters; i++) {
		const char *why = check_cluster(r, &r->cluster[i]);

		if (why != NULL)
			return why;
	}
	return NULL;
}
