/* SPDX-License-Identifier: MIT
 *
 * How large the parts of a NoC window are. Pure numbers and formulas: the writer of boot records
 * (tools/bootrec.py) reads this file too, and so reserves what hal/noc/shm lays out.
 * hal/noc/shm/window.h says what each part is and in which order they lie.
 */
#ifndef ABI_WINDOW_H
#define ABI_WINDOW_H

#include <abi/limits.abi.h>

#define WINDOW_LINE 64
/* windows are multiples of this many bytes: of a page, on every port */
#define WINDOW_ALIGN 8192
#define WINDOW_HEAD_BYTES 128
#define WINDOW_DOORBELL_BYTES 64
#define WINDOW_RING_BYTES 128		/* before the entries of a ring */
#define WINDOW_EVENT_BYTES 8
#define WINDOW_CONSOLE_BYTES 4096
#define WINDOW_HEADER_BYTES 64		/* before what a mailbox or portal slot carries */
#define WINDOW_MAIL_BYTES (WINDOW_HEADER_BYTES + MAILBOX_MSG_SIZE)

/*
 * Events that the protocols have in flight towards one receiver: arrived and freed, four per
 * portal, four per sync port, four and three per page of channels of the two windows.
 */
#define WINDOW_EVENTS_PER_MAILBOX 2
#define WINDOW_EVENTS_PER_PORTAL 4
#define WINDOW_EVENTS_SYNC (4 * SYNC_PORTS)
#define WINDOW_EVENTS_PER_PAGE 7
#define WINDOW_PAGE 4096		/* the smallest page of any port */

#define WINDOW_LINE_UP(bytes) (((bytes) + WINDOW_LINE - 1) / WINDOW_LINE * WINDOW_LINE)
#define WINDOW_ALIGN_UP(bytes) (((bytes) + WINDOW_ALIGN - 1) / WINDOW_ALIGN * WINDOW_ALIGN)

/* A ring has the smallest power of two that is at least this many entries. */
#define WINDOW_EVENTS(mailbox_ports, portal_ports, channel_bytes) \
	(WINDOW_EVENTS_PER_MAILBOX * (mailbox_ports) + WINDOW_EVENTS_PER_PORTAL * (portal_ports) + \
	WINDOW_EVENTS_SYNC + WINDOW_EVENTS_PER_PAGE * ((channel_bytes) / WINDOW_PAGE))
#define WINDOW_RING_STRIDE(entries) (WINDOW_RING_BYTES + \
	WINDOW_LINE_UP(WINDOW_EVENT_BYTES * (entries)))
#define WINDOW_PORTAL_STRIDE(unit_bytes) WINDOW_LINE_UP(WINDOW_HEADER_BYTES + (unit_bytes))

/* The parts, in their order. `cores`: of the largest cluster of the machine. */
#define WINDOW_DOORBELLS(cores) (WINDOW_DOORBELL_BYTES * (cores))
#define WINDOW_RINGS(clusters, entries) ((clusters) * WINDOW_RING_STRIDE(entries))
#define WINDOW_CONSOLE (WINDOW_RING_BYTES + WINDOW_CONSOLE_BYTES)
/* Of each sending cluster, and the credits of the ports, if those share connectors. */
#define WINDOW_MAIL_CREDITS(ports, connectors) \
	(((connectors) < (ports)) * MAILBOX_CREDITS * (ports))
#define WINDOW_MAILBOXES(ports, connectors, clusters) \
	(((connectors) * (clusters) + WINDOW_MAIL_CREDITS(ports, connectors)) * WINDOW_MAIL_BYTES)
#define WINDOW_PORTALS(connectors, unit_bytes) ((connectors) * WINDOW_PORTAL_STRIDE(unit_bytes))

#endif
