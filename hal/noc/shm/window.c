/* SPDX-License-Identifier: MIT
 *
 * Geometry of the NoC windows. See window.h.
 */
#include "window.h"

_Static_assert(sizeof(struct window) == WINDOW_HEAD_BYTES, "abi/window.abi.h");
_Static_assert(sizeof(struct window_ring) == WINDOW_RING_BYTES, "abi/window.abi.h");
_Static_assert(sizeof(struct window_event) == WINDOW_EVENT_BYTES, "abi/window.abi.h");
_Static_assert(sizeof(struct hal_doorbell) == WINDOW_DOORBELL_BYTES, "abi/window.abi.h");
_Static_assert(HAL_NOC_HEADER_BYTES == WINDOW_HEADER_BYTES, "abi/window.abi.h");

static uint32_t
power_of_two_from(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static uint32_t
largest_cluster(const struct boot_record *record)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < record->clusters; i++)
		if (record->cluster[i].cores > most)
			most = record->cluster[i].cores;
	return most;
}

/* As many as the record says, but no more than there are ports. */
static uint32_t
connectors(uint32_t said, uint32_t ports)
{
	return said == 0 || said > ports ? ports : said;
}

void
window_geometry_init(struct window_geometry *g, const struct boot_record *record, unsigned self)
{
	g->clusters = record->clusters;
	g->cores = largest_cluster(record);
	g->mailbox_ports = record->mailbox_ports;
	g->mailbox_connectors = connectors(record->mailbox_connectors, record->mailbox_ports);
	g->mailbox_slots = g->mailbox_connectors * g->clusters +
		WINDOW_MAIL_CREDITS(g->mailbox_ports, g->mailbox_connectors);
	g->portal_ports = record->portal_ports;
	g->portal_slots = connectors(record->portal_connectors, record->portal_ports);
	g->portal_bytes = WINDOW_HEADER_BYTES + record->portal_unit_bytes;
	g->portal_stride = WINDOW_PORTAL_STRIDE(record->portal_unit_bytes);
	g->ring_entries = power_of_two_from(WINDOW_EVENTS(g->mailbox_ports, g->portal_ports,
		record->channel_bytes));
	g->ring_stride = WINDOW_RING_STRIDE(g->ring_entries);
	g->rings_at = WINDOW_HEAD_BYTES + WINDOW_DOORBELLS(g->cores);
	g->console_at = g->rings_at + WINDOW_RINGS(g->clusters, g->ring_entries);
	g->mailbox_at = g->console_at + WINDOW_CONSOLE;
	g->portal_at = g->mailbox_at + WINDOW_MAIL_BYTES * g->mailbox_slots;
	g->channels_at = WINDOW_ALIGN_UP(g->portal_at + WINDOW_PORTALS(g->portal_slots,
		record->portal_unit_bytes));
	g->bytes = WINDOW_ALIGN_UP(g->channels_at + record->channel_bytes);
	g->self = self;
}

size_t
noc_window_bytes(const struct boot_record *record)
{
	struct window_geometry g;

	window_geometry_init(&g, record, 0);
	return g.bytes;
}
