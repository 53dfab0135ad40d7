/* SPDX-License-Identifier: MIT
 *
 * Events from another cluster: any 32 bits. Only those of a kind and a port that exist are taken;
 * their handlers are reached with a port inside the tables.
 */
#include "unknown.h"
#include "../../kernel/ikc/ikc.c"

#define CLUSTERS_HERE 16
#define CHANNELS_HERE 20
#define MAILBOX_PORTS_HERE 24
#define PORTAL_PORTS_HERE 20

static struct cluster cluster;
static unsigned condemned;

void
mail_freed(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);

	(void)peer;
	//@ assert freed_port: port < c->ikc.mailbox_ports;
}

void
mail_refused(struct cluster *c, uint32_t peer, uint32_t event)
{
	mail_freed(c, peer, event);
}

void
mail_arrived(struct cluster *c, uint32_t source, uint32_t event)
{
	mail_freed(c, source, event);
}

void
mail_wanted(struct cluster *c, uint32_t source, uint32_t event)
{
	mail_freed(c, source, event);
}

void
mail_granted(struct cluster *c, uint32_t peer, uint32_t event)
{
	mail_freed(c, peer, event);
}

void
restart_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t of = wire_event_port(event);

	(void)peer;
	//@ assert restarted: 0 < of < c->ikc.clusters;
}

void
channel_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	(void)c, (void)peer, (void)event;
}

void
portal_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event), kind = wire_event_kind(event);

	(void)peer;
	//@ assert portal_port: port < c->ikc.portal_ports;
	//@ assert portal_kind: WIRE_ALLOW <= kind <= WIRE_RETURNED;
}

void
sync_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event), what = wire_sync_what(event);

	(void)c, (void)peer;
	//@ assert sync_port: port < SYNC_PORTS;
	//@ assert sync_what: WIRE_SYNC_SIGNAL <= what <= WIRE_SYNC_REFUSED;
}

void
ikc_condemn(struct cluster *c, uint32_t peer, const char *what)
{
	(void)c, (void)peer;
	read_all(what, 1);
	condemned++;
}

/*
 * Any event of a kind and a port from low to high. Of a sync point: what it is, and where it comes
 * from, in turn, so that the analyser knows these bits.
 */
static void
receive(uint32_t kind, uint32_t low, uint32_t high, uint32_t what)
{
	uint32_t rest = kind == WIRE_SYNC ? (what << WIRE_SYNC_WHAT) + (uint32_t)unknown(0, 0xff) :
		(uint32_t)unknown(0, 0xfffff);

	event_receive(&cluster, (uint32_t)unknown(0, CLUSTERS_MAX - 1),
		(kind << 27) + ((uint32_t)unknown(low, high) << 20) + rest);
}

int
main(void)
{
	cluster.id = (uint32_t)unknown(0, CLUSTERS_HERE - 1);
	cluster.ikc.clusters = CLUSTERS_HERE;
	cluster.ikc.mailbox_ports = MAILBOX_PORTS_HERE;
	cluster.ikc.portal_ports = PORTAL_PORTS_HERE;
	cluster.ikc.connectors = (uint32_t)unknown(1, MAILBOX_PORTS_HERE);
	cluster.ikc.portal_slots = (uint32_t)unknown(1, PORTAL_PORTS_HERE);
	cluster.ikc.channels = CHANNELS_HERE;
	//@ loop unroll 32;
	for (uint32_t kind = 0; kind < 32; kind++)
		//@ loop unroll 8;
		for (uint32_t what = 0; what < (kind == WIRE_SYNC ? 8 : 1); what++) {
			//@ loop unroll 32;
			for (uint32_t port = 0; port < 32; port++)
				receive(kind, port, port, what);
			receive(kind, 32, 127, what);
		}
	return 0;
}
