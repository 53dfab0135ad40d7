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

void
contents_free(struct tree *t, uint32_t first)
{
	while (first != 0) {
		struct block *b = block_of(t, first);

		first = b->behind;
		b->next = t->free;
		t->free = b;
	}
}

/* One more block of a file, which is zero; 0: the memory ends. */
static uint32_t
block_add(struct tree *t)
{
	struct block *b = block_take(t);

	stored();
	return b != NULL ? block_number(t, b) : 0;
}

/*
 * Block number `index` of a file, NULL if the chain is shorter, made if `grow` says so and there is
 * memory.
 */
static struct block *
block_at(struct tree *t, struct node *n, uint64_t index, bool grow)
{
	uint32_t *link = &n->first;
	uint64_t i = 0;

	if (n->at != NULL && n->at_index == index)
		return n->at;
	if (n->at != NULL && n->at_index < index) {
		link = &n->at->behind;
		i = n->at_index + 1;
	}
	for (;; i++, link = &block_of(t, *link)->behind) {
		if (*link == 0 && grow)
			*link = block_add(t);
		if (*link == 0)
			return NULL;
		if (i == index)
			break;
	}
	n->at = block_of(t, *link);
	n->at_index = (uint32_t)index;
	return n->at;
}

void
node_end(struct tree *t, uint32_t n)
{
	struct node *node = node_of(t, n);

	if (!node->is_unlinked || node->opens > 0)
		return;
	t->ended = *node;
	*node = (struct node){0};
}

void
node_settle(struct tree *t, uint32_t n)
{
	if (!node_of(t, n)->is_unlinked || node_of(t, n)->opens > 0)
		return;
	node_save(t, n);
	node_end(t, n);
	tree_commit(t);
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
	result = memory_make(&m, 0);
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

/* What was cut off is zero when the file grows again. */
static int
cut_shared(const struct node *n, uint64_t before)
{
	uint64_t end = before < shared_bytes(n) ? before : shared_bytes(n);

	return n->size < end ? memory_write(&n->memory, n->size, NULL, (size_t)(end - n->size)) : 0;
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
shared_make(struct tree *t, struct shared_memory *m, uint32_t badge)
{
	tokens_stir(&t->tokens, time_now());
	m->key = tokens_next(&t->tokens);
	return memory_make(m, badge);
}

int
node_share(struct tree *t, uint32_t number, struct mail_sender who, uint64_t bytes)
{
	struct node *n = node_of(t, number);
	struct shared_memory m = {.home = who.cluster};
	int result;

	bytes = bytes > n->size ? bytes : n->size;
	if (n->is_shared)
		return n->memory.home != who.cluster ? -FILE_ENODEV : grow_shared(n, bytes);
	if (bytes > (uint64_t)SHARED_PAGES_MAX * SHARED_PAGE)
		return -E_NOMEM;
	m.pages = (uint32_t)((bytes + SHARED_PAGE - 1) / SHARED_PAGE);
	result = shared_make(t, &m, who.badge);
	if (result != 0)
		return result;
	result = fill_shared(t, number, &m);
	if (result != 0) {
		memory_end(&m);
		return result;
	}
	node_save(t, number);
	t->ended = *n;
	n->fixed = 0;
	n->memory = m;
	n->is_shared = true;
	tree_commit(t);
	return 0;
}

/* --- devices: files that end nowhere --- */

void
devices_make(struct tree *t)
{
	static const char name[][12] = {"dev/null", "dev/zero", "dev/full", "dev/random",
		"dev/urandom"};

	for (uint32_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		int n = tree_make(t, name[i], FILE_KIND_DEVICE, 0666);

		if (n > 0)
			node_of(t, (uint32_t)n)->target = i < MEMORY_RANDOM ? i : MEMORY_RANDOM;
	}
}

/* Bytes are different at every read; they are no secret. */
static long
device_read(struct tree *t, const struct node *n, unsigned char *to, size_t len)
{
	uint64_t state = t->random + time_now();

	if (n->target == MEMORY_NULL)
		return 0;
	memset(to, 0, len);
	for (size_t i = 0; n->target == MEMORY_RANDOM && i < len; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = (unsigned char)(state >> 56);
	}
	t->random = state;
	return (long)len;
}

long
node_read(struct tree *t, uint32_t number, uint64_t offset, void *to, size_t len)
{
	struct node *n = node_of(t, number);
	unsigned char *out = to;
	size_t done = 0;

	if (offset >= n->size)
		return n->kind == FILE_KIND_DEVICE ? device_read(t, n, to, len) : 0;
	if (len > n->size - offset)
		len = (size_t)(n->size - offset);
	if (n->fixed != 0) {
		memcpy(to, node_fixed(t, n) + offset, len);
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

/*
 * Cut the chain behind `size` bytes, and clear the rest of the last block; those that stay are
 * used. The number of the first block that was cut off.
 */
static uint32_t
cut_chain(struct tree *t, struct node *n, uint64_t size)
{
	uint32_t *link = &n->first, rest;
	uint64_t keep = (size + BLOCK_DATA - 1) / BLOCK_DATA;

	n->at = NULL;
	for (uint64_t i = 0; i < keep && *link != 0; i++) {
		struct block *b = block_of(t, *link);

		if (i + 1 == keep && size % BLOCK_DATA != 0)
			memset(b->data + size % BLOCK_DATA, 0,
				BLOCK_DATA - (size_t)(size % BLOCK_DATA));
		b->is_used = 1;
		link = &b->behind;
	}
	rest = *link;
	*link = 0;
	stored();
	return rest;
}

static void
cut(struct tree *t, struct node *n, uint64_t size)
{
	contents_free(t, cut_chain(t, n, size));
}

void
contents_begin(struct tree *t, struct node *n)
{
	cut_chain(t, n, n->size);
}

/* A file of the archive gets blocks for its first `size` bytes, as which it is not known yet. */
static int
thaw(struct tree *t, struct node *n, uint64_t size)
{
	size_t len = (size_t)(size < n->size ? size : n->size);

	if (n->fixed == 0)
		return 0;
	if (contents_put(t, n, 0, node_fixed(t, n), len) < len) {
		cut(t, n, 0);
		return -E_NOSPC;
	}
	stored();
	return 0;
}

long
node_write(struct tree *t, uint32_t number, uint64_t offset, const void *from, size_t len)
{
	struct node *n = node_of(t, number);
	size_t done;

	if (n->kind == FILE_KIND_DEVICE)
		return n->target == MEMORY_FULL ? -E_NOSPC : (long)len;
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
		n->fixed = 0;
		stored();
		done = contents_put(t, n, offset, from, len);
		if (done == 0) {
			cut(t, n, n->size);
			return -E_NOSPC;
		}
	}
	stored();
	if (offset + done > n->size)
		n->size = offset + done;
	stored();
	n->modified = time_now();
	return (long)done;
}

int
node_resize(struct tree *t, uint32_t number, uint64_t size)
{
	struct node *n = node_of(t, number);
	uint64_t before;

	if (size > FILE_SIZE_MAX || n->kind != FILE_KIND_FILE)
		return n->kind != FILE_KIND_FILE ? -E_INVAL : -FILE_EFBIG;
	if (!n->is_shared && thaw(t, n, size) != 0)
		return -E_NOSPC;
	before = n->size;
	node_save(t, number);
	n->fixed = 0;
	n->size = size;
	n->modified = time_now();
	tree_commit(t);
	if (n->is_shared)
		return cut_shared(n, before) != 0 ? -E_IO : 0;
	if (size < before)
		cut(t, n, size);
	return 0;
}
