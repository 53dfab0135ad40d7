/* SPDX-License-Identifier: MIT
 *
 * What two kernels say to each other: the header at the start of every NoC slot and the events
 * between home cores. Explicit widths, no pointers; every header carries the sender's incarnation.
 *
 * Towards the owner of mailbox port or portal port P (which travels in the event):
 *	ARRIVED place	a message lies in a slot of the sending cluster, or in a credit of the port
 *	WANT gen seq	message seq waits at the sender: no connector was free
 *	DATA seq	a block lies in the portal slot
 *	ABORT seq	the sender ended the transfer
 *	REVOKED		answer to REVOKE: the sender will not put any more
 * From the owner of P:
 *	GRANT credit	the message that waits may be put into this credit of the port
 *	FREED gen seq	message seq was read; the port is in its gen-th life
 *	REFUSED seq	message seq was dropped: the port it was meant for is closed
 *	ALLOW lport seq	the sender behind lport may transfer once
 *	NEXT seq	the portal slot is free again
 *	DONE bytes	the transfer is over; of its last block so many bytes were taken
 *	REVOKE		forget ALLOW
 */
#ifndef KERNEL_IKC_WIRE_H
#define KERNEL_IKC_WIRE_H

#include <stdint.h>
#include <abi/limits.abi.h>
#include <hal/noc.h>

#define WIRE_MAIL 0x4c49414du		/* "MAIL" */
#define WIRE_BLOCK 0x4b434c42u		/* "BLCK" */
/* largest portal unit: DONE says how much of one was taken */
#define WIRE_BLOCK_MAX ((1u << 20) - 1)

struct wire_header {
	uint32_t magic;
	uint32_t incarnation;		/* of the sender */
	/* mailbox: of this slot's messages; portal: of the transfer */
	uint32_t sequence;
	uint32_t length;		/* payload bytes that follow */
	uint16_t source;		/* sending cluster */
	uint8_t port;			/* of the receiver */
	uint8_t reserved1;
	/* mailbox: life of the port that this is meant for; 0: any */
	uint32_t generation;
	uint64_t offset;		/* portal: of this block in the transfer */
	uint64_t total;			/* portal: bytes that the sender has in all */
	uint32_t badge;			/* mailbox: of the process that sent it */
	/* mailbox: the first sender of what was forwarded; else the same */
	uint32_t origin_badge;
	uint8_t origin;			/* its cluster */
	uint8_t reserved2[15];
};

_Static_assert(sizeof(struct wire_header) == HAL_NOC_HEADER_BYTES, "slot header");

struct wire_mail {
	struct wire_header head;
	unsigned char payload[MAILBOX_MSG_SIZE];
};

/*
 * Where portal ports share connectors: ASK seq: the sender has a block; NEXT connector, with or
 * without WIRE_AGAIN: a block may be put there, the next one or the last one again; RETURN: if none
 * was, give the grant back; RETURNED seq: the answer, and the sender asks again when it has a use.
 *
 * UP says that the sending cluster has come up. SYNC and CHANNEL: see enum wire_sync and
 * wire_channel.
 *
 * In flight per pair and direction: 2 per mailbox port, at most 3 per portal port of each side (2
 * unless processes are killed; 4 where ports share connectors), 2 per sync port of each side, 4 per
 * own page of channels and 3 per page of the other's. Of SETTLE and SETTLED there is one, which
 * waits outside the backlog until the ring has room.
 */
enum wire_kind {
	WIRE_UP = 1,
	WIRE_ARRIVED,
	WIRE_WANT,
	WIRE_GRANT,
	WIRE_FREED,
	WIRE_REFUSED,
	WIRE_ALLOW,
	WIRE_DATA,
	WIRE_NEXT,
	WIRE_DONE,
	WIRE_ABORT,
	WIRE_REVOKE,
	WIRE_REVOKED,
	WIRE_ASK,
	WIRE_RETURN,
	WIRE_RETURNED,
	WIRE_SYNC,
	/*
	 * from cluster 0 before cluster P starts again: is anything left of yours from P's dead
	 * life?
	 */
	WIRE_SETTLE,
	/* the answer, when there is not */
	WIRE_SETTLED,
	WIRE_CHANNEL,
};

/*
 * What a WIRE_SYNC event is, between the ONE of a sync point and another of its clusters. A signal
 * is answered once, before the next one is sent.
 */
enum wire_sync {
	WIRE_SYNC_SIGNAL = 1,		/* for the gen-th life of the waiting end; 0: for any */
	WIRE_SYNC_TAKEN,		/* by the gen-th life */
	WIRE_SYNC_REFUSED,		/* that life is over */
};

#define WIRE_SYNC_GENERATION 0xffu
#define WIRE_SYNC_WHAT 8		/* shift */
#define WIRE_SYNC_FROM_ONE 0x400u	/* the sender of the event is the ONE */

/*
 * What a WIRE_CHANNEL event is, of the channel that begins at a page of the window of the cluster
 * that made it: the argument is page | pages | what.
 */
enum wire_channel {
	/* from the maker: whoever reads at the port may map so many pages; nobody may any more */
	WIRE_CHANNEL_OFFER = 1,
	WIRE_CHANNEL_CLOSE,
	/* to the maker: nobody does, for good: the answer to CLOSE, or without it */
	WIRE_CHANNEL_GONE,
	/* who sleeps there shall wake up; the answer */
	WIRE_CHANNEL_WAKE,
	WIRE_CHANNEL_WOKEN,
};

#define WIRE_CHANNEL_PAGE 0xffu
#define WIRE_CHANNEL_PAGES 8		/* shift */
#define WIRE_CHANNEL_WHAT 14		/* shift */
#define WIRE_CHANNEL_OWNER 0x20000u	/* the sender of the event has made the channel */

#define WIRE_SEQUENCE 0x7fu		/* sequence bits of WANT, FREED and REFUSED */
#define WIRE_GENERATION 8		/* shift, of WANT and FREED */

/* Where a message lies at its receiver: below WIRE_CREDIT a connector, from there on a credit. */
#define WIRE_PLACE 0xffu
#define WIRE_CREDIT 128u

#define WIRE_CONNECTOR 0x7fu		/* of NEXT */
#define WIRE_AGAIN 0x80u		/* the same */

_Static_assert(PORTS_MAX <= 128 && CLUSTERS_MAX <= 128, "an event has seven bits for a port");

static inline uint32_t
wire_event(enum wire_kind kind, unsigned port, uint32_t argument)
{
	return (uint32_t)kind << 27 | (uint32_t)port << 20 | (argument & 0xfffff);
}

static inline enum wire_kind
wire_event_kind(uint32_t event)
{
	return (enum wire_kind)(event >> 27);
}

static inline unsigned
wire_event_port(uint32_t event)
{
	return event >> 20 & 0x7f;
}

static inline enum wire_sync
wire_sync_what(uint32_t event)
{
	return (enum wire_sync)(event >> WIRE_SYNC_WHAT & 3);
}

static inline enum wire_channel
wire_channel_what(uint32_t event)
{
	return (enum wire_channel)(event >> WIRE_CHANNEL_WHAT & 7);
}

static inline unsigned
wire_channel_pages(uint32_t event)
{
	return event >> WIRE_CHANNEL_PAGES & 0x1f;
}

static inline uint32_t
wire_event_argument(uint32_t event)
{
	return event & 0xfffff;
}

#endif
