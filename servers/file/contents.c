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
	n->at_index = (uint32_t)index;
	return *link;
}

void
node_settle(struct tree *t, uint32_t n)
{
	struct node *node = node_of(t, n);

	if (!node->is_unlinked || node->opens > 0)
		return;
	if (node->is_shared)
		memory_end(&node->memory);
	else
		chain_free(t, node->first);
	*node = (struct node){0};
}

/* --- contents that are memory of a cluster: see ADR 0103 --- */

static uint64_t
shared_bytes(const struct node *n)
{
	return (uint64_t)n->memory.pages * SHARED_PAGE;
}

/* There are zeros behind the memory. */
static long
read_shared(const struct node *n, uint64_t offset, unsigned char *to, size_t len)
{
	size_t there = offset >= shared_bytes(n) ? 0 : shared_bytes(n) - offset < len ?
		(size_t)(shared_bytes(n) - offset) : len;
	int result = there > 0 ? memory_read(&n->memory, offset, to, there) : 0;

	memset(to + there, 0, len - there);
	return result < 0 ? result : (long)len;
}

static int
grow_shared(struct node *n, uint64_t bytes)
{
	struct shared_memory m = n->memory;
	int result;

	if (bytes <= shared_bytes(n))
		return 0;
	if (bytes > (uint64_t)SHARED_PAGES_MAX * SHARED_PAGE)
		return -E_NOMEM;
	m.pages = (uint32_t)((bytes + SHARED_PAGE - 1) / SHARED_PAGE);
	result = memory_make(&m);
	if (result == 0)
		n->memory.pages = m.pages;
	return result;
}

static long
write_shared(struct node *n, uint64_t offset, const void *from, size_t len)
{
	int result = grow_shared(n, offset + len);

	if (result == 0)
		result = memory_write(&n->memory, offset, from, len);
	return result == -E_NOMEM ? -E_NOSPC : result < 0 ? result : (long)len;
}

/* What is cut off is zero when the file grows again. */
static int
cut_shared(const struct node *n, uint64_t size)
{
	uint64_t end = n->size < shared_bytes(n) ? n->size : shared_bytes(n);

	return size < end ? memory_write(&n->memory, size, NULL, (size_t)(end - size)) : 0;
}

/* What the file has now goes into the memory. */
static int
fill_shared(struct tree *t, uint32_t number, const struct shared_memory *m)
{
	unsigned char piece[512];
	uint64_t at = 0;
	int result = 0;

	while (result == 0 && at < node_of(t, number)->size) {
		long count = node_read(t, number, at, piece, sizeof(piece));

		result = memory_write(m, at, piece, (size_t)count);
		at += (uint64_t)count;
	}
	return result;
}

int
shared_make(struct tree *t, struct shared_memory *m)
{
	tokens_stir(&t->tokens, time_now());
	m->key = tokens_next(&t->tokens);
	return memory_make(m);
}

int
node_share(struct tree *t, uint32_t number, uint32_t home, uint64_t bytes)
{
	struct node *n = node_of(t, number);
	struct shared_memory m = {.home = home};
	int result;

	bytes = bytes > n->size ? bytes : n->size;
	if (n->is_shared)
		return n->memory.home != home ? -FILE_ENODEV : grow_shared(n, bytes);
	if (bytes > (uint64_t)SHARED_PAGES_MAX * SHARED_PAGE)
		return -E_NOMEM;
	m.pages = (uint32_t)((bytes + SHARED_PAGE - 1) / SHARED_PAGE);
	result = shared_make(t, &m);
	if (result != 0)
		return result;
	result = fill_shared(t, number, &m);
	if (result != 0) {
		memory_end(&m);
		return result;
	}
	if (n->fixed == NULL)
		chain_free(t, n->first);
	n->fixed = NULL;
	n->memory = m;
	n->is_shared = true;
	return 0;
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
	if (n->is_shared)
		return read_shared(n, offset, to, len);
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
	if (n->is_shared) {
		long result = write_shared(n, offset, from, len);

		if (result < 0)
			return result;
		done = len;
	} else {
		if (thaw(t, n, UINT64_MAX) != 0)
			return -E_NOSPC;
		done = contents_put(t, n, offset, from, len);
		if (done == 0) {
			cut(t, n, n->size);
			return -E_NOSPC;
		}
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
	if (n->is_shared && cut_shared(n, size) != 0)
		return -E_IO;
	if (!n->is_shared && thaw(t, n, size) != 0)
		return -E_NOSPC;
	if (!n->is_shared && size < n->size)
		cut(t, n, size);
	n->size = size;
	n->modified = time_now();
	return 0;
}
