/* SPDX-License-Identifier: MIT
 *
 * The table of names of a cluster: its name daemon writes it, programs have it mapped read-only. A
 * name has two slots where it can be. Each slot has a version, which is odd while the slot is
 * written: who has read a slot looks at its version again, and has read nothing if that has
 * changed. So a reader never waits, and a name that it does not find it asks for by a message.
 *
 * Words are looked at as in atoll/channel.h: a test has other ones (tests/coroutine/names.c).
 */
#ifndef SERVERS_NAME_CACHE_H
#define SERVERS_NAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <servers/name/client.h>

struct name_slot {
	uint32_t version;		/* shared word */
	uint32_t place;			/* cluster and port, 16 bits each */
	unsigned long word[NAME_WORDS];	/* the name, filled with zeros; the first is 0: none */
};

struct name_cache {
	uint32_t slots;			/* that a hash leads to; one more is behind them */
	uint32_t reserved[15];
	struct name_slot slot[];
};

/* The place of a name; false: it is not there, or being written. */
bool name_cache_find(const struct name_cache *c, const struct name_key *k,
	struct name_place *place);

/* The writer's: begin with memory of zeros, put a name or change its place, take it away. */
void name_cache_begin(struct name_cache *c, uint32_t bytes);
void name_cache_put(struct name_cache *c, const struct name_key *k,
	const struct name_place *place);
void name_cache_drop(struct name_cache *c, const struct name_key *k);
void name_cache_drop_all(struct name_cache *c);

#endif
