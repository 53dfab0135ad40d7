/* SPDX-License-Identifier: MIT
 *
 * Messages between the name server, in cluster 0, and the name daemons: the process server of each
 * cluster is one. Both directions have the same message, in a channel of a service
 * (atoll/service.h). The daemon asks for what programs ask it (client.h), and each request has one
 * answer. What the name server says without being asked are NAME_GONE and those behind it.
 *
 * The server knows which clusters have been told a name, and a name that is unlinked is gone when
 * each of these has said that it is told so to nobody any more: until then who links it again, or
 * unlinks it, waits (-E_AGAIN, then NAME_AGAIN).
 *
 * A server that has ended is followed by one that knows which daemons there are, and nothing else.
 * Each of them drops all that it was told by the old one, links the names of its cluster anew, and
 * says that this was all (NAME_SETTLED). Until the last one has, nothing else is answered.
 */
#ifndef SERVERS_NAME_PROTOCOL_H
#define SERVERS_NAME_PROTOCOL_H

#include <stdint.h>
#include <servers/name/client.h>

#define NAME_CLUSTER 0
#define NAME_PORT 0
#define NAME_MAGIC 0x454d414eu		/* "NAME" */
#define NAME_PAGES 1			/* of a channel */
#define NAME_SERVER "bin/name"		/* in the boot archive */

enum name_op {
	/* name, port -> nothing; EXIST; NOSPC; INVAL; AGAIN: it is on its way out */
	NAME_LINK = 1,
	/* name, flags -> cluster, port; NOENT; AGAIN: with NAME_WAIT or NAME_FORWARD */
	NAME_LOOKUP,
	/* name, flags -> nothing; NOENT; ACCES: another cluster's; AGAIN */
	NAME_UNLINK,
	NAME_COUNT,			/* nothing -> names */
	/* names: entries of the table to leave out -> name, cluster, port, names: for the next */
	NAME_NEXT,
	/* nothing -> nothing: the daemon has done what the last NAME_GONE wants */
	NAME_DROPPED,
	/* of a program only: all its names live for another period each -> names: how many */
	NAME_HEARTBEAT,
	/* of a program only: nothing -> handle in `port`: of its cluster's table (cache.h) */
	NAME_TABLE,
	/* nothing -> nothing, when all daemons have said so: to a server that begins again */
	NAME_SETTLED,

	/* name: tell this place to nobody any more; to be followed by NAME_DROPPED */
	NAME_GONE,
	/* name: ask once more, who was told -E_AGAIN */
	NAME_AGAIN,
	/* name, cluster: its daemon asks for the port of this name of yours (NAME_FORWARD) */
	NAME_ASKED,
};

/* flags of the daemons, beside those of client.h */
#define NAME_OF_DEAD 0x100		/* UNLINK: never -E_AGAIN */
#define NAME_WHERE 0x200		/* LOOKUP: the cluster alone, which nobody keeps */
#define NAME_ANEW 0x400			/* LINK: the server before this one knew it */

struct name_message {
	uint32_t op;
	uint32_t flags;
	int32_t error;			/* of an answer: 0 or -E_NAME */
	uint32_t cluster;
	uint32_t port;
	uint32_t period;		/* LINK, of a program: milliseconds; 0: no heartbeat */
	uint32_t names;			/* of an answer */
	uint32_t reserved;		/* so that names are copied in words */
	char name[NAME_LENGTH_MAX + 1];
};

#endif
