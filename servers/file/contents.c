/* SPDX-License-Identifier: MIT
 *
 * Contents of files: chains of blocks. Behind the end of a file its last block is zero, so that a
 * file that grows grows by zeroes.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

struct block *
block_take(struct tree *t)
{
	struct block *b;

	if (t->free == NULL)
		t->free = blocks_more();
	b = t->free;
	if (b == NULL)
		return NULL;
	t->free = b->next;
	memset(b, 0, sizeof(*b));
	return b;
}

void
chain_free(struct tree *t, struct block *b)
{
	while (b != NULL) {
		struct block *next = b->next;

		b->next = t->free;
		t->free = b;
		b = next;
	}
}

/*
 * Block number `index` of a file, NULL if the chain is shorter, made if `grow` says so and there is
 * memory.
 */
static struct block *
block_at(struct tree *t, struct node *n, uint64_t index, bool grow)
{
	struct block **link = &n->first;
	uint64_t i = 0;

	if (n->at != NULL && n->at_index < index) {
		link = &n->at->next;
		i = n->at_index + 1;
	}
	for (;; i++, link = &(*link)->next) {
		if (*link == NULL && grow)
			*link = block_take(t);
		if (*link == NULL)
			return NULL;
		if (i == index)
			break;
	}
	n->at = *link;
	n->at_index = index;
	return *link;
}

void
node_settle(struct tree *t, uint32_t n)
{
	struct node *node = node_of(t, n);

	if (!node->is_unlinked || node->opens > 0)
		return;
	chain_free(t, node->first);
	*node = (struct node){0};
}

long
node_read(struct tree *t, uint32_t number, uint64_t offset, void *to, size_t len)
{
	struct node *n = node_of(t, number);
	unsigned char *out = to;
	size_t done = 0;

	if (offset >= n->size)
		return 0;
	if (len > n->size - offset)
		len = (size_t)(n->size - offset);
	if (n->fixed != NULL) {
		memcpy(to, n->fixed + offset, len);
		return (long)len;
	}
	while (done < len) {
		uint64_t at = offset + done;
		size_t in = (size_t)(at % BLOCK_DATA), count = BLOCK_DATA - in;
		const struct block *b = block_at(t, n, at / BLOCK_DATA, false);

		if (count > len - done)
			count = len - done;
		if (b != NULL)
			memcpy(out + done, b->data + in, count);
		else
			memset(out + done, 0, count);
		done += count;
	}
	return (long)len;
}

/* Copy into blocks; returns how many bytes, fewer where the memory ends. */
static size_t
contents_put(struct tree *t, struct node *n, uint64_t offset, const unsigned char *from, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t at = offset + done;
		size_t in = (size_t)(at % BLOCK_DATA), count = BLOCK_DATA - in;
		struct block *b = block_at(t, n, at / BLOCK_DATA, true);

		if (b == NULL)
			break;
		if (count > len - done)
			count = len - done;
		memcpy(b->data + in, from + done, count);
		done += count;
	}
	return done;
}

/* Cut the chain behind `size` bytes, and clear the rest of the last block. */
static void
cut(struct tree *t, struct node *n, uint64_t size)
{
	struct block **link = &n->first;
	uint64_t keep = (size + BLOCK_DATA - 1) / BLOCK_DATA;

	n->at = NULL;
	for (uint64_t i = 0; i < keep && *link != NULL; i++) {
		if (i + 1 == keep && size % BLOCK_DATA != 0)
			memset((*link)->data + size % BLOCK_DATA, 0,
				BLOCK_DATA - (size_t)(size % BLOCK_DATA));
		link = &(*link)->next;
	}
	chain_free(t, *link);
	*link = NULL;
}

/* A file of the archive becomes an own one of its first `size` bytes. */
static int
thaw(struct tree *t, struct node *n, uint64_t size)
{
	size_t len = (size_t)(size < n->size ? size : n->size);

	if (n->fixed == NULL)
		return 0;
	if (contents_put(t, n, 0, n->fixed, len) < len) {
		cut(t, n, 0);
		return -E_NOSPC;
	}
	n->fixed = NULL;
	n->size = len;
	return 0;
}

long
node_write(struct tree *t, uint32_t number, uint64_t offset, const void *from, size_t len)
{
	struct node *n = node_of(t, number);
	size_t done;

	if (offset > FILE_SIZE_MAX - len)
		return -FILE_EFBIG;
	if (len == 0)
		return 0;
	if (thaw(t, n, UINT64_MAX) != 0)
		return -E_NOSPC;
	done = contents_put(t, n, offset, from, len);
	if (done == 0) {
		cut(t, n, n->size);
		return -E_NOSPC;
	}
	if (offset + done > n->size)
		n->size = offset + done;
	n->modified = time_now();
	return (long)done;
}

int
node_resize(struct tree *t, uint32_t number, uint64_t size)
{
	struct node *n = node_of(t, number);

	if (size > FILE_SIZE_MAX)
		return -FILE_EFBIG;
	if (thaw(t, n, size) != 0)
		return -E_NOSPC;
	if (size < n->size)
		cut(t, n, size);
	n->size = size;
	n->modified = time_now();
	return 0;
}
