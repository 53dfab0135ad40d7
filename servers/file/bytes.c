/* SPDX-License-Identifier: MIT
 *
 * Bytes in a chain of blocks, first in, first out: see tree.h. A chain that becomes empty keeps one
 * block, so that short messages cost no new ones.
 */
#include <base/str.h>
#include <servers/file/tree.h>

/* Blocks for so many bytes more. False: the memory ends; nothing happened. */
static bool
has_blocks(struct tree *t, struct bytes *b, uint32_t len)
{
	uint32_t room = b->first != NULL ? (uint32_t)BLOCK_DATA - b->end : 0;
	struct block *more = NULL, **link = b->first != NULL ? &b->last->next : &b->first;

	for (; *link != NULL; link = &(*link)->next)
		room += (uint32_t)BLOCK_DATA;
	for (; room < len; room += (uint32_t)BLOCK_DATA) {
		struct block *one = block_take(t);

		if (one == NULL) {
			chain_free(t, more);
			return false;
		}
		one->next = more;
		more = one;
	}
	*link = more;
	if (b->last == NULL)
		b->last = b->first;
	return true;
}

bool
bytes_put(struct tree *t, struct bytes *b, const void *from, uint32_t len)
{
	uint32_t done = 0;

	if (len == 0)
		return true;
	if (!has_blocks(t, b, len))
		return false;
	while (done < len) {
		uint32_t n;

		if (b->end == BLOCK_DATA) {
			b->last = b->last->next;
			b->end = 0;
		}
		n = (uint32_t)BLOCK_DATA - b->end < len - done ? (uint32_t)BLOCK_DATA - b->end :
			len - done;
		memcpy(b->last->data + b->end, (const char *)from + done, n);
		b->end += n;
		b->count += n;
		done += n;
	}
	return true;
}

/* The first block has been read; the only one stays, and is begun anew. */
static void
first_end(struct tree *t, struct bytes *b)
{
	struct block *first = b->first;

	b->begin = 0;
	if (first == b->last) {
		b->end = 0;
		return;
	}
	b->first = first->next;
	first->next = NULL;
	chain_free(t, first);
}

/* The next piece that lies together, up to `len` bytes. */
static uint32_t
piece(const struct bytes *b, uint32_t len)
{
	uint32_t end = b->first == b->last ? b->end : (uint32_t)BLOCK_DATA;

	return end - b->begin < len ? end - b->begin : len;
}

static void
pass(struct tree *t, struct bytes *b, uint32_t n)
{
	uint32_t end = b->first == b->last ? b->end : (uint32_t)BLOCK_DATA;

	b->begin += n;
	b->count -= n;
	if (b->begin == end)
		first_end(t, b);
}

uint32_t
bytes_take(struct tree *t, struct bytes *b, void *to, uint32_t len)
{
	uint32_t done = 0;

	while (done < len && b->count > 0) {
		uint32_t n = piece(b, len - done);

		memcpy((char *)to + done, b->first->data + b->begin, n);
		pass(t, b, n);
		done += n;
	}
	return done;
}

bool
bytes_move(struct tree *t, struct bytes *from, struct bytes *to, uint32_t len)
{
	if (to->count == 0 && len == from->count) {
		bytes_drop(t, to);
		*to = *from;
		*from = (struct bytes){0};
		return true;
	}
	if (!has_blocks(t, to, len))
		return false;
	while (len > 0 && from->count > 0) {
		uint32_t n = piece(from, len);

		bytes_put(t, to, from->first->data + from->begin, n);
		pass(t, from, n);
		len -= n;
	}
	return true;
}

bool
bytes_copy(struct tree *t, const struct bytes *from, void *to, uint32_t len, struct bytes *behind,
	uint32_t more)
{
	uint32_t at = 0, in = from->begin;

	if (!has_blocks(t, behind, more))
		return false;
	for (const struct block *b = from->first; b != NULL && at < len + more; b = b->next) {
		uint32_t end = b == from->last ? from->end : (uint32_t)BLOCK_DATA, n;

		for (; in < end && at < len; in += n, at += n) {
			n = end - in < len - at ? end - in : len - at;
			memcpy((char *)to + at, b->data + in, n);
		}
		n = end - in < len + more - at ? end - in : len + more - at;
		if (at >= len && n > 0) {
			bytes_put(t, behind, b->data + in, n);
			at += n;
		}
		in = 0;
	}
	return true;
}

void
bytes_drop(struct tree *t, struct bytes *b)
{
	chain_free(t, b->first);
	*b = (struct bytes){0};
}

/* --- of clients: pieces of blocks, which they keep --- */

struct client_bytes *
client_bytes(struct tree *t, uint32_t client)
{
	struct client_bytes *b = t->of_client[client] != NULL ? NULL : t->free_client;

	if (t->of_client[client] != NULL)
		return t->of_client[client];
	if (b == NULL) {
		struct block *table = block_take(t);

		if (table == NULL)
			return NULL;
		t->kept_blocks++;
		b = (struct client_bytes *)(void *)table->data;
		for (uint32_t i = 0; i + 1 < BLOCK_DATA / sizeof(*b); i++)
			b[i].next = &b[i + 1];
	}
	t->free_client = b->next;
	t->of_client[client] = b;
	return b;
}

void
client_bytes_forget(struct tree *t, uint32_t client)
{
	struct client_bytes *b = t->of_client[client];

	if (b == NULL)
		return;
	bytes_drop(t, &b->staged);
	bytes_drop(t, &b->rest);
	b->next = t->free_client;
	t->free_client = b;
	t->of_client[client] = NULL;
}
