/* SPDX-License-Identifier: MIT
 *
 * See token.h. SipHash: Aumasson and Bernstein, 2012.
 */
#include <servers/file/protocol.h>
#include <servers/file/token.h>

static uint64_t
rotated(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void
sip_rounds(uint64_t v[4], int rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] = rotated(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[2] = rotated(v[2], 32);
	}
}

static void
sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

uint64_t
siphash(const uint64_t key[2], uint64_t word)
{
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};

	sip_word(v, word);
	sip_word(v, (uint64_t)8 << 56);	/* bytes in all */
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void
tokens_stir(struct tokens *s, uint64_t secret)
{
	uint64_t first = siphash(s->key, secret);

	s->key[1] = siphash(s->key, ~secret);
	s->key[0] = first;
}

uint64_t
tokens_next(struct tokens *s)
{
	uint64_t token;

	do
		token = (siphash(s->key, ++s->count) & ~((uint64_t)(FILE_SERVERS - 1) <<
			FILE_HANDLE_SHIFT)) | s->maker << FILE_HANDLE_SHIFT;
	while (token == 0);
	return token;
}
