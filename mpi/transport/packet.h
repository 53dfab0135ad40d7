/* SPDX-License-Identifier: MIT
 *
 * The packet: what ranks send each other, the same in a cluster (one cell of the inbox) and between
 * clusters (one mailbox message). 32 bytes of header and up to 96 of data, so that header and 32
 * bytes of data share a cache line. Explicit widths. Addresses stand only in packets that stay in a
 * cluster.
 */
#ifndef MPI_TRANSPORT_PACKET_H
#define MPI_TRANSPORT_PACKET_H

#include <stdint.h>
#include <string.h>
#include <base/copy.h>
#include <mpi/transport/shared.h>

#define PACKET_BYTES 128
#define PACKET_INLINE 96	/* data bytes that travel inside */

enum packet_kind {
	PACKET_NOTHING,		/* to see whether it is refused; nobody looks at it */
	PACKET_EAGER = 1,	/* the data is inside */
	/* the data is at `address` of the sender's; `flag` says when it was taken */
	PACKET_NEAR,
	PACKET_DONE,		/* answer: it was taken, set the word at `flag` yourself */
	/*
	 * answer: cannot read it, send `bytes` in chunks to `peer_request`; `request` is the
	 * sender's
	 */
	PACKET_PULL,
	/* the next bytes are at `address`, as with PACKET_NEAR; `peer_request` names the receive */
	PACKET_CHUNK,
	/* between clusters: wants to send `bytes`; `request` names the sender's request */
	PACKET_REQUEST,
	/* answer: send `bytes` through the portal; `peer_request` names the receiver's */
	PACKET_ALLOW,
	PACKET_START,		/* the sender is writing: read now */
	PACKET_CREDIT,		/* nothing but the credit in its header */
	/* of the transport: about the channel between the two ranks, which `request` names */
	PACKET_CHANNEL
};

/* flags */
/* the data lies in a copy of the sender's; nobody waits for `flag` */
#define PACKET_BOUNCED 1
#define PACKET_TYPED 2		/* the sender's data is in pieces: where, its `request` says */
#define PACKET_MORE 4		/* in PACKET_ALLOW: the message goes on after these bytes */

struct packet_bulk {
	/* name at the rank that the packet goes to; in PACKET_REQUEST the sender's own */
	uint32_t request;
	uint32_t peer_request;	/* name at the rank that it comes from */
};

/* addresses are references, as transport_reference makes them */
struct packet_near {
	uint64_t address;
	uint64_t flag;		/* a shared word that becomes 1 */
	uint64_t request;	/* the sender's own address of its request */
	uint32_t peer_request;	/* name of the receiver's, once it has one */
};

struct packet {
	/*
	 * inbox: position + 1 when complete; mailbox: messages the sender has matched from the
	 * receiver
	 */
	uint32_t word;
	uint8_t kind;
	uint8_t flags;
	uint16_t reserved;
	int32_t context;
	int32_t source;		/* the sender's rank in the communicator */
	int32_t tag;
	uint32_t origin;	/* the sender's rank in the job */
	uint64_t bytes;		/* of the message */
	union {
		uint8_t data[PACKET_INLINE];
		struct packet_near near;
		struct packet_bulk bulk;
	};
};

_Static_assert(sizeof(struct packet) == PACKET_BYTES, "a packet is one mailbox message");

/* memcpy which knows that nothing may have no address. */
static inline void
bytes_copy(void *to, const void *from, size_t len)
{
	if (len > 0)
		memcpy(to, from, len);
}

/* The same for few bytes, as packets have them. */
static inline __attribute__((always_inline)) void
bytes_copy_few(void *to, const void *from, size_t len)
{
	if (len > 16)
		memcpy(to, from, len);
	else
		copy_few(to, from, len, 16);
}

/* Copy what is meaningful of a packet. */
static inline void
packet_copy(struct packet *to, const struct packet *from)
{
	size_t data = from->kind == PACKET_EAGER ? (size_t)from->bytes : sizeof(struct packet_near);

	memcpy((char *)to + sizeof(to->word), (const char *)from + sizeof(from->word),
		offsetof(struct packet, data) - sizeof(to->word) + data);
}

#endif
