/* SPDX-License-Identifier: MIT
 *
 * Geometry of the NoC windows. See window.h.
 */
#include "window.h"

static uint32_t
line_up(uint32_t bytes)
{
	return (bytes + WINDOW_LINE - 1) & ~(uint32_t)(WINDOW_LINE - 1);
}

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

void
window_geometry_init(struct window_geometry *g, const struct boot_record *record, unsigned self)
{
	uint32_t events = WINDOW_EVENTS_PER_MAILBOX * record->mailbox_ports + WINDOW_EVENTS_PER_PORTAL * record->portal_ports;

	g->clusters = record->clusters;
	g->cores = largest_cluster(record);
	g->mailbox_ports = record->mailbox_ports;
	g->portal_ports = record->portal_ports;
	g->portal_bytes = HAL_NOC_HEADER_BYTES + record->portal_unit_bytes;
	g->portal_stride = line_up(g->portal_bytes);
	g->ring_entries = power_of_two_from(events);
	g->ring_stride = sizeof(struct window_ring) + line_up(g->ring_entries * sizeof(struct window_event));
	g->rings_at = sizeof(struct window) + g->cores * sizeof(struct hal_doorbell);
	g->console_at = g->rings_at + g->clusters * g->ring_stride;
	g->mailbox_at = g->console_at + sizeof(struct window_ring) + WINDOW_CONSOLE_BYTES;
	g->portal_at = g->mailbox_at + g->mailbox_ports * g->clusters * WINDOW_MAIL_BYTES;
	g->bytes = g->portal_at + g->portal_ports * g->portal_stride;
	g->bytes = (g->bytes + WINDOW_ALIGN - 1) & ~(uint32_t)(WINDOW_ALIGN - 1);
	g->self = self;
}

size_t
noc_window_bytes(const struct boot_record *record)
{
	struct window_geometry g;

	window_geometry_init(&g, record, 0);
	return g.bytes;
}
