/* SPDX-License-Identifier: MIT
 *
 * The names that are linked, which clusters know them, and what is to be said to these. No kernel
 * calls: tested on its own.
 */
#ifndef SERVERS_NAME_TABLE_H
#define SERVERS_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/limits.abi.h>
#include <servers/name/protocol.h>

#define NAMES_MAX 256
#define NAME_CHAINS 128

/*
 * Sets of clusters, a bit each. An entry with no bit and no link is free. One that is not linked
 * and that some cluster knows is on its way out; one that is not linked and that some wait for is
 * wanted.
 */
struct name_entry {
	char name[NAME_LENGTH_MAX + 1];	/* empty: free */
	uint64_t knows;			/* have been told the place, and have not dropped it */
	uint64_t waits;			/* are to be told when it is linked, or gone */
	uint64_t again;			/* are to be told now */
	uint64_t asks;			/* whose daemon the owner's is to tell the port */
	uint32_t cluster, port;		/* of the owner */
	uint16_t next;			/* in its chain, and 1; 0: none */
	bool is_linked;
};

struct name_table {
	struct name_entry entry[NAMES_MAX];
	uint16_t chain[NAME_CHAINS];	/* first entry, and 1; 0: none */
	uint16_t gone[CLUSTERS_MAX];	/* entry, and 1, whose NAME_GONE was not answered yet */
	uint32_t names;			/* that are linked */
	/* of a table that begins again: clusters whose names are not all linked anew */
	uint64_t awaited;
	uint64_t to_tell;		/* clusters for which there may be something to say */
};

/*
 * Answer one request of a cluster's daemon. Whatever the message contains, `reply` is filled and
 * nothing else happens on an error but that who got -E_AGAIN is told NAME_AGAIN.
 */
void name_serve(struct name_table *t, uint32_t cluster, const struct name_message *request,
	struct name_message *reply);

/*
 * Does a request have to wait for clusters that are awaited? What says that one is not awaited any
 * more, has been done then.
 */
bool name_is_early(struct name_table *t, uint32_t cluster, const struct name_message *request);

/* What is to be said to a cluster next. False: nothing. */
bool name_tell(struct name_table *t, uint32_t cluster, struct name_message *m);

/* A cluster is gone: its names, and what it knew. It is not awaited. */
void name_forget(struct name_table *t, uint32_t cluster);

#endif
