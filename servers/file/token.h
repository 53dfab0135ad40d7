/* SPDX-License-Identifier: MIT
 *
 * Tokens that cannot be guessed from others: numbers through SipHash with a key of the server's.
 *
 * What the key is worth: a machine has no source of randomness that every port has. The key is made
 * of times, at the server's start and at each token. Who knows them to the nanosecond knows the
 * key, and a machine that counts instructions instead of time repeats its tokens. Within one run
 * a client that sees as many tokens as it likes cannot tell another one.
 */
#ifndef SERVERS_FILE_TOKEN_H
#define SERVERS_FILE_TOKEN_H

#include <stdint.h>

struct tokens {
	uint64_t key[2];
	uint64_t count;
	uint32_t maker;			/* the server, whose number all have */
};

/* Something that others do not know goes into the key, in addition to what is there. */
void tokens_stir(struct tokens *s, uint64_t secret);

/* The next token; not 0, and no two within a run are the same but by chance. */
uint64_t tokens_next(struct tokens *s);

/* SipHash-2-4 of one word. */
uint64_t siphash(const uint64_t key[2], uint64_t word);

#endif
