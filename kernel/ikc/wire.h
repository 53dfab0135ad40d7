/* SPDX-License-Identifier: MIT
 *
 * What two kernels say to each other: the header at the start of every NoC slot and the events
 * between home cores. Explicit widths, no pointers; every header carries the sender's incarnation.
 *
 * Towards the owner of mailbox port or portal port P (which travels in the event):
 *	ARRIVED		a message lies in the slot of the sending cluster
 *	DATA seq	a block lies in the portal slot
 *	ABORT seq	the sender ended the transfer
 *	REVOKED		answer to REVOKE: the sender will not put any more
 * From the owner of P:
 *	FREED gen seq	message seq was read; the port is in its gen-th life
 *	REFUSED seq	message seq was dropped: the port it was meant for is closed
 *	ALLOW lport seq	the sender behind lport may transfer once
 *	NEXT seq	the portal slot is free again
 *	DONE bytes	the transfer is over; of its last block so many bytes were taken
 *	REVOKE		forget ALLOW
 * UP says that the sending cluster has come up. Between the ONE of a sync point and another of its
 * clusters, in either direction: SYNC what gen: a signal, or what became of the last one.
 */
#ifndef KERNEL_IKC_WIRE_H
#define KERNEL_IKC_WIRE_H

#include <stdint.h>
#include <abi/limits.abi.h>
#include <hal/noc.h>

#define WIRE_MAIL 0x4c49414du		/* "MAIL" */
#define WIRE_BLOCK 0x4b434c42u		/* "BLCK" */
#define WIRE_BLOCK_MAX ((1u << 20) - 1)	/* largest portal unit: DONE says how much of one was taken */

struct wire_header {
	uint32_t magic;
	uint32_t incarnation;		/* of the sender */
	/* mailbox: of this slot's messages; portal: of the transfer */
	uint32_t sequence;
	uint32_t length;		/* payload bytes that follow */
	uint16_t source;		/* sending cluster */
	uint8_t port;			/* of the receiver */
	uint8_t local_port;		/* portal: of the sender */
	/* mailbox: life of the port that this is meant for; 0: any */
	uint32_t generation;
	uint64_t offset;		/* portal: of this block in the transfer */
	uint64_t total;			/* portal: bytes that the sender has in all */
	uint32_t badge;			/* mailbox: of the process that sent it */
	uint8_t reserved[20];
};

_Static_assert(sizeof(struct wire_header) == HAL_NOC_HEADER_BYTES, "slot header");

struct wire_mail {
	struct wire_header head;
	unsigned char payload[MAILBOX_MSG_SIZE];
};

/*
 * In flight per pair and direction: 2 per mailbox port, at most 3 per portal port of each side (2
 * unless processes are killed), 2 per sync port of each side.
 */
enum wire_kind {
	WIRE_UP = 1,
	WIRE_ARRIVED,
	WIRE_FREED,
	WIRE_REFUSED,
	WIRE_ALLOW,
	WIRE_DATA,
	WIRE_NEXT,
	WIRE_DONE,
	WIRE_ABORT,
	WIRE_REVOKE,
	WIRE_REVOKED,
	WIRE_SYNC,
};

/* What a WIRE_SYNC event is. A signal is answered once, before the next one is sent. */
enum wire_sync {
	WIRE_SYNC_SIGNAL = 1,		/* for the gen-th life of the waiting end; 0: for any */
	WIRE_SYNC_TAKEN,		/* by the gen-th life */
	WIRE_SYNC_REFUSED,		/* that life is over */
};

#define WIRE_SYNC_GENERATION 0xffu
#define WIRE_SYNC_WHAT 8		/* shift */
#define WIRE_SYNC_FROM_ONE 0x400u	/* the sender of the event is the ONE */

#define WIRE_SEQUENCE 0xfffu		/* sequence bits of FREED and REFUSED */

static inline uint32_t
wire_event(enum wire_kind kind, unsigned port, uint32_t argument)
{
	return (uint32_t)kind << 28 | (uint32_t)port << 20 | (argument & 0xfffff);
}

static inline enum wire_kind
wire_event_kind(uint32_t event)
{
	return (enum wire_kind)(event >> 28);
}

static inline unsigned
wire_event_port(uint32_t event)
{
	return event >> 20 & 0xff;
}

static inline enum wire_sync
wire_sync_what(uint32_t event)
{
	return (enum wire_sync)(event >> WIRE_SYNC_WHAT & 3);
}

static inline uint32_t
wire_event_argument(uint32_t event)
{
	return event & 0xfffff;
}

#endif
