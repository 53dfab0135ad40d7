/* SPDX-License-Identifier: MIT
 *
 * The NoC window of a cluster in memory that every cluster can reach: layout and geometry. Explicit
 * widths, no pointers.
 *
 *	head		struct window: descriptor, and a word that counts what came
 *	doorbells	one line per core, as many as the largest cluster of the machine has cores
 *	rings		one struct window_ring per peer with `ring_entries` events: peer to owner
 *	console		one struct window_ring with WINDOW_CONSOLE_BYTES: owner to cluster 0
 *	mailbox slots	connector * clusters + sender, then those of the credits: port *
 *			MAILBOX_CREDITS + credit; WINDOW_MAIL_BYTES each
 *	portal slots	connector (without shared ones: port), portal_stride each
 *	channels	channel_bytes, in whole pages: kernels give them to processes to map
 *
 * Every part starts on a cache line, and no line has two writers except the descriptor's (state,
 * deaths) and the activity's. Offsets are equal in all windows of a machine. Every cluster can
 * write to every window, so nothing in it is believed: what a cluster must be sure of (geometry,
 * its own incarnation, how far it has read) it keeps in memory of its own (struct noc_own, shm.h).
 */
#ifndef NOC_WINDOW_H
#define NOC_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <abi/window.abi.h>
#include <hal/noc.h>

#define WINDOW_MAGIC 0x444e4957u	/* "WIND" */
enum window_state { WINDOW_DOWN, WINDOW_UP, WINDOW_DEAD };

struct window_geometry {
	uint32_t clusters;
	uint32_t cores;			/* of the largest cluster */
	uint32_t mailbox_ports;
	uint32_t mailbox_connectors;
	uint32_t mailbox_slots;
	uint32_t portal_ports;
	uint32_t portal_slots;
	uint32_t portal_bytes;		/* header and payload */
	uint32_t portal_stride;		/* from slot to slot */
	uint32_t ring_entries;		/* a power of two */
	uint32_t ring_stride;
	uint32_t rings_at;		/* offsets from the start of the window */
	uint32_t console_at;
	uint32_t mailbox_at;
	uint32_t portal_at;
	uint32_t channels_at;
	uint32_t bytes;			/* of the whole window */
	uint32_t self;			/* the owner's number */
};

struct window {
	/* descriptor; 32-bit operations only */
	uint32_t magic;
	uint32_t incarnation;
	uint32_t state;			/* enum window_state; written by whoever notices a death */
	uint32_t heartbeat;
	uint32_t deaths;		/* that the owner was told of */
	uint32_t home_runs_users;	/* events interrupt the owner's core 0 */
	uint32_t reserved1[10];
	/* counts everything that came, after it is there: see hal_noc_activity */
	uint32_t activity;
	uint32_t reserved2[15];
};

/* Head and tail count up for ever, modulo 2^32; the entries or bytes follow. */
struct window_ring {
	uint32_t head;			/* producer; 32-bit operations only */
	uint32_t reserved1[15];
	uint32_t tail;			/* consumer; 32-bit operations only */
	uint32_t reserved2[15];
};

struct window_event {
	uint32_t event;
	/* window_stamp(sender's incarnation, owner's incarnation) */
	uint32_t stamp;
};

/* Who sent to whom, as far as restarts matter: an event from or to an earlier life is dropped. */
static inline uint32_t
window_stamp(uint32_t sender, uint32_t owner)
{
	return sender << 16 | (owner & 0xffff);
}

/* Compute the geometry of a machine's windows; `self` is the owner. */
void window_geometry_init(struct window_geometry *g, const struct boot_record *record,
	unsigned self);

/*
 * Bytes of one window of the machine that a record describes: its noc_window_bytes must be at least
 * this. `noc_test CLUSTERS CORES ...` prints it, for comparison with tools/bootrec.py.
 */
size_t noc_window_bytes(const struct boot_record *record);

#endif
