/* SPDX-License-Identifier: MIT
 *
 * The geometry of the windows that a boot record describes, whose numbers are as large as they may
 * be: no sum or product leaves 32 bits, and all parts lie inside the window.
 */
#include "unknown.h"
#include "../../hal/noc/shm/window.c"

#define PORTS_MAX 256
#define UNIT_MAX (1u << 20)
#define CHANNEL_BYTES_MAX (1u << 20)
#define CLUSTER_CORES_MAX 256

static struct boot_record record;

int
main(void)
{
	struct window_geometry g;

	unknown_bytes(&record, sizeof(record));
	record.clusters = (uint32_t)unknown(1, CLUSTERS_MAX);
	record.mailbox_ports = (uint32_t)unknown(1, PORTS_MAX);
	record.portal_ports = (uint32_t)unknown(1, PORTS_MAX);
	record.mailbox_connectors = (uint32_t)unknown(0, 0xffffffff);
	record.portal_connectors = (uint32_t)unknown(0, 0xffffffff);
	record.channel_bytes = (uint32_t)unknown(0, CHANNEL_BYTES_MAX);
	record.portal_unit_bytes = (uint32_t)unknown(1, UNIT_MAX);
	for (unsigned i = 0; i < CLUSTERS_MAX; i++)
		record.cluster[i].cores = (uint32_t)unknown(1, CLUSTER_CORES_MAX);
	window_geometry_init(&g, &record, (unsigned)unknown(0, CLUSTERS_MAX - 1));
	//@ assert grows: g.rings_at > 0 && g.bytes > 0;
	return (int)(noc_window_bytes(&record) > 0);
}
