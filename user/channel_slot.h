/* SPDX-License-Identifier: MIT
 *
 * A slot of a ring, and whether the next one holds a message: what user/channel.c and a server that
 * looks at many channels have in common. Behind channel_words.h.
 */
#ifndef USER_CHANNEL_SLOT_H
#define USER_CHANNEL_SLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <atoll/channel.h>

struct slot {
	uint32_t number;		/* shared word */
	uint32_t bytes;
	unsigned char text[];
};

static inline bool
channel_has_come(const struct channel *ch)
{
	const struct slot *slot = (const struct slot *)(const void *)ch->in.next;

	return word_look(&slot->number) == ch->in.count + 1;
}

#endif
