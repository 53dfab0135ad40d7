/* SPDX-License-Identifier: MIT
 *
 * See cache.h. tests/models/names.pml shows that a reader finds what was written together.
 */
#include <base/str.h>
#include <servers/name/cache.h>
#include "cache_words.h"

#define WORD_BYTES sizeof(unsigned long)
#define PLACE_BITS 16

/* Odd, with bits everywhere: 2 to the power of 32 divided by the golden ratio. */
#define SPREAD 0x9e3779b1u

/* The next bytes of a name as a word, filled with zeros behind its end: true: it has ended. */
static inline bool
word_next(const char *name, unsigned long *word)
{
	unsigned long w = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < WORD_BYTES; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == 0) {
			*word = w;
			return true;
		}
		w |= (unsigned long)c << 8 * i;
	}
	*word = w;
	return false;
}

bool
name_key_make(struct name_key *k, const char *name)
{
	unsigned long word, sum = 0;
	uint32_t n = 0;
	bool has_ended;

	do {
		has_ended = word_next(name, &word);
		name += WORD_BYTES;
		k->word[n++] = word;
		sum = sum * SPREAD + word;
	} while (!has_ended && n < NAME_WORDS);
	k->words = n;
	sum ^= sum >> (4 * WORD_BYTES);
	k->hash = (uint32_t)sum * SPREAD >> 16;
	return has_ended && k->word[0] != 0;
}

/* The slot that a hash leads to; the one behind it is the second. */
static uint32_t
first_slot(const struct name_cache *c, const struct name_key *k)
{
	return k->hash * c->slots >> 16;
}

static bool
slot_matches(const struct name_slot *s, const struct name_key *k)
{
	uint32_t i = 0;

	while (i < k->words && slot_look(&s->word[i]) == k->word[i])
		i++;
	return i == k->words;
}

/* Who reads half of one name and half of another has read none. */
static bool
slot_read(const struct name_slot *s, const struct name_key *k, struct name_place *place)
{
	uint32_t version = version_look(&s->version), found;

	slot_read_begins(s);
	if ((version & 1) != 0 || !slot_matches(s, k))
		return false;
	found = slot_look(&s->place);
	slot_read_ends(s);
	if (version_look(&s->version) != version)
		return false;
	*place = (struct name_place){found >> PLACE_BITS, found & ((1u << PLACE_BITS) - 1)};
	return true;
}

bool
name_cache_find(const struct name_cache *c, const struct name_key *k, struct name_place *place)
{
	const struct name_slot *s = &c->slot[first_slot(c, k)];

	return slot_read(s, k, place) || slot_read(s + 1, k, place);
}

/* --- the writer --- */

/* `k` NULL: the slot is free. */
static void
slot_write(struct name_slot *s, const struct name_key *k, uint32_t place)
{
	uint32_t version = version_look(&s->version);

	version_put(&s->version, version + 1);
	slot_write_begins(s);
	slot_put(&s->place, place);
	for (uint32_t i = 0; i < NAME_WORDS; i++)
		slot_put(&s->word[i], k != NULL && i < k->words ? k->word[i] : 0);
	slot_write_ends(s);
	version_put(&s->version, version + 2);
}

void
name_cache_begin(struct name_cache *c, uint32_t bytes)
{
	c->slots = (bytes - (uint32_t)sizeof(*c)) / (uint32_t)sizeof(c->slot[0]) - 1;
}

void
name_cache_put(struct name_cache *c, const struct name_key *k, const struct name_place *place)
{
	struct name_slot *s = &c->slot[first_slot(c, k)];

	/* where it is already; else a free one; else what is in the first goes */
	if (!slot_matches(s, k) && (slot_matches(s + 1, k) ||
		(s->word[0] != 0 && s[1].word[0] == 0)))
		s++;
	slot_write(s, k, place->cluster << PLACE_BITS | place->port);
}

void
name_cache_drop(struct name_cache *c, const struct name_key *k)
{
	struct name_slot *s = &c->slot[first_slot(c, k)];

	for (int i = 0; i < 2; i++)
		if (slot_matches(s + i, k))
			slot_write(s + i, NULL, 0);
}

void
name_cache_drop_all(struct name_cache *c)
{
	for (struct name_slot *s = c->slot; s <= c->slot + c->slots; s++)
		if (s->word[0] != 0)
			slot_write(s, NULL, 0);
}
