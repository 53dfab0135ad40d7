/* SPDX-License-Identifier: MIT
 *
 * Names: a text of 1 to NAME_LENGTH_MAX bytes stands for a mailbox or portal port of a cluster. A
 * program asks the name daemon of its cluster, which is its process server, and this the name
 * server of the machine. What the daemon has been told it keeps in a table that programs read
 * without a message.
 *
 * A name belongs to the process that has linked it: all threads of that (the ranks of a job in a
 * cluster are one process). It goes when that unlinks it, ends, or has given no sign of life for
 * the period that it has stated; with its cluster, too. When name_unlink has returned, no look-up
 * anywhere in the machine that begins then finds the name. Of an owner that has died the name is
 * found until the process server of its cluster has taken its end and each daemon that knows the
 * name has read one message.
 *
 * One thread uses a client at a time.
 */
#ifndef SERVERS_NAME_CLIENT_H
#define SERVERS_NAME_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <atoll/channel.h>

#define NAME_LENGTH_MAX 63

struct name_cache;

struct name_client {
	struct channel ch;		/* to the daemon */
	const struct name_cache *cache;	/* mapped read-only; NULL: there is none */
	int pages;			/* of it */
};

#define NAME_WORDS ((NAME_LENGTH_MAX + 1) / sizeof(unsigned long))

/* A name in words, for who asks for it again and again. */
struct name_key {
	uint32_t hash;			/* 16 bits */
	uint32_t words;			/* with the one that has its zero byte */
	unsigned long word[NAME_WORDS];
};

struct name_place {
	uint32_t cluster, port;
};

/* flags of a look-up; without any, what the daemon keeps is enough */
#define NAME_WAIT 1			/* until somebody links the name */
#define NAME_FRESH 2			/* ask the name server, whatever is known here */
/*
 * For comparison (seed 002 5.6 and 8): the name server says the cluster only, and the daemon there
 * the port, when this one asks it; or the name server asks that daemon to tell this one.
 */
#define NAME_TWO_STEPS 4
#define NAME_FORWARD 8

/*
 * Open a client; `bit` is that of its channel (atoll/service.h), for whichever thread waits in one
 * of the calls below. 0 or what process_open says (servers/proc/client.h).
 */
int name_open(struct name_client *c, int bit);
void name_close(struct name_client *c);

/*
 * Link a name to a port of this cluster. With a period, in milliseconds, it is unlinked when there
 * was no name_heartbeat for so long. Linked again to the same port by the same process it has the
 * new period. 0; -E_EXIST: it is another one's, or another port's; -E_NOSPC: there are too many
 * names; -E_INVAL: the name is empty or too long, or there is no such port; -E_NOENT: the machine
 * has no name server; or what service_call says.
 */
int name_link(struct name_client *c, const char *name, uint32_t port, uint32_t period);

/* 0; -E_NOENT; -E_ACCES: another process's; -E_INVAL; or what service_call says. */
int name_unlink(struct name_client *c, const char *name);

/*
 * All names of this process live for another period. How many have one; or what service_call says.
 */
int name_heartbeat(struct name_client *c);

/* 0 and the place; -E_NOENT; -E_INVAL; or what service_call says. */
int name_lookup(struct name_client *c, const char *name, uint32_t flags, struct name_place *place);

/* The same by the table alone, without a message: false: it is not there, which says nothing. */
bool name_is_known(const struct name_client *c, const char *name, struct name_place *place);

/* The same in two halves, of which the first is done once. False: it is empty or too long. */
bool name_key_make(struct name_key *k, const char *name);
bool name_is_known_by(const struct name_client *c, const struct name_key *k,
	struct name_place *place);

/* How many names the machine has; or an error as above. */
int name_count(struct name_client *c);

/*
 * List all names: begin with *at 0. 0 and a name, which has room for NAME_LENGTH_MAX + 1 bytes;
 * -E_NOENT: there are no more; or an error as above. A name that is there all the time is listed.
 */
int name_next(struct name_client *c, uint32_t *at, char *name, struct name_place *place);

#endif
