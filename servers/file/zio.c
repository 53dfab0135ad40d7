/* SPDX-License-Identifier: MIT
 *
 * Buffers: memory of a cluster that one client has at a time (atoll/zio.h). It is lent to who has
 * it, and revoked when that one sends it or gives it back: so nobody can reach a buffer that he has
 * sent. Each belongs to the pool of the client that made it, to which it comes back, and from which
 * that takes it again; it ends with that client, or when who has it then gives it back. In a pipe
 * lie those that were sent, and behind each of them the bytes that were written after it.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/cores.h>
#include <servers/file/serving.h>

#define PULL_BYTES 3584			/* that become bytes together: as many as a message has */

_Static_assert(PULL_BYTES <= BLOCK_DATA, "they lie in a block");

/* The one with a key that a client has; NULL: there is none. */
static struct buffer *
buffer_find(struct tree *t, uint32_t client, uint64_t key)
{
	for (struct buffer *b = t->buffer; b < t->buffer + BUFFERS_MAX; b++)
		if (b->state == BUFFER_HELD && b->owner == client && b->memory.key == key)
			return b;
	return NULL;
}

static void
buffer_end(struct tree *t, struct buffer *b)
{
	memory_end(&b->memory);
	memset(b, 0, sizeof(*b));
	t->zio.buffers--;
}

/* It comes back to its maker's pool, or ends: also where its cluster is short of memory. */
static void
buffer_back(struct tree *t, struct buffer *b)
{
	uint32_t maker = b->maker;
	int32_t is_short = 0;

	bytes_drop(t, &b->behind);
	if (maker == NOBODY || (b->state == BUFFER_HELD &&
		(memory_revoke(&b->memory, &is_short) != 0 || is_short != 0))) {
		buffer_end(t, b);
		if (maker == NOBODY)
			return;
	} else {
		b->state = BUFFER_FREE;
	}
	if ((t->buffer_waits[maker / 32] & 1u << maker % 32) != 0) {
		t->buffer_waits[maker / 32] &= ~(1u << maker % 32);
		client_tell(maker);
	}
}

void
buffers_forget(struct tree *t, uint32_t client)
{
	t->buffer_waits[client / 32] &= ~(1u << client % 32);
	for (struct buffer *b = t->buffer; t->zio.buffers > 0 && b < t->buffer + BUFFERS_MAX; b++) {
		if (b->state == BUFFER_NONE)
			continue;
		if (b->maker == client)
			b->maker = NOBODY;
		if (b->state == BUFFER_HELD && b->owner == client)
			buffer_back(t, b);
		else if (b->state == BUFFER_FREE && b->maker == NOBODY)
			buffer_end(t, b);
	}
}

/* --- in pipes --- */

/* The first one has been read, and there are no bytes before it: what is behind it comes. */
static void
first_out(struct tree *t, struct pipe *p)
{
	struct buffer *b = p->buffer;

	bytes_drop(t, &p->bytes);
	p->bytes = b->behind;
	b->behind = (struct bytes){0};
	p->buffer = b->next;
	if (p->buffer == NULL)
		p->last_buffer = NULL;
	p->buffers--;
	b->next = NULL;
}

void
buffers_settle(struct tree *t, struct pipe *p)
{
	while (p->buffer != NULL && p->buffer->bytes == 0 && p->bytes.count == 0) {
		struct buffer *b = p->buffer;

		first_out(t, p);
		buffer_back(t, b);
	}
}

void
buffers_drop(struct tree *t, struct pipe *p)
{
	while (p->buffer != NULL) {
		struct buffer *b = p->buffer;

		first_out(t, p);
		buffer_back(t, b);
	}
}

int
buffers_pull(struct tree *t, struct pipe *p)
{
	struct buffer *b = p->buffer;
	struct block *to;
	uint32_t n;
	int wrong;

	if (b == NULL || p->bytes.count > 0)
		return 0;
	n = b->bytes < PULL_BYTES ? b->bytes : PULL_BYTES;
	to = block_take(t);
	if (to == NULL)
		return -E_NOMEM;
	wrong = memory_read(&b->memory, b->first, to->data, n);
	if (wrong != 0) {
		/* its cluster has died */
		chain_free(t, to);
		b->bytes = 0;
		buffers_settle(t, p);
		return wrong;
	}
	bytes_drop(t, &p->bytes);
	p->bytes = (struct bytes){.first = to, .last = to, .end = n, .count = n};
	b->first += n;
	b->bytes -= n;
	return 0;
}

/* --- requests --- */

/* It is the client's, and the answer says so. */
static int
buffer_give(struct serving *s, struct buffer *b)
{
	struct file_zio *z = s->out;
	int32_t handle;
	int wrong = memory_lend(&b->memory, client_from(s->client).badge, &handle);

	if (wrong != 0)
		return wrong;
	b->state = BUFFER_HELD;
	b->owner = (uint16_t)s->client;
	z->kind = FILE_ZIO_BUFFER;
	z->handle = handle;
	z->key = b->memory.key;
	z->first = b->first;
	z->bytes = b->bytes;
	z->pages = b->memory.pages;
	return 0;
}

/* What a client has made. */
struct pool {
	struct buffer *fits, *other;	/* free ones: of that many pages, and of others */
	struct buffer *unused;		/* a place for one that nobody has made */
	uint32_t count, pages;
	bool is_elsewhere;		/* some of them are not the client's now */
};

static void
pool_look(struct tree *t, uint32_t client, uint32_t pages, struct pool *o)
{
	memset(o, 0, sizeof(*o));
	for (struct buffer *b = t->buffer; b < t->buffer + BUFFERS_MAX; b++) {
		if (b->state == BUFFER_NONE)
			o->unused = b;
		if (b->state == BUFFER_NONE || b->maker != client)
			continue;
		o->count++;
		o->pages += b->memory.pages;
		if (b->state == BUFFER_FREE && b->memory.pages == pages)
			o->fits = b;
		else if (b->state == BUFFER_FREE)
			o->other = b;
		else if (b->state == BUFFER_SENT || b->owner != client)
			o->is_elsewhere = true;
	}
}

/* It is the one that fits then. */
static int
buffer_make(struct tree *t, uint32_t client, uint32_t pages, struct pool *o)
{
	struct buffer *b = o->unused;
	int wrong;

	if (b == NULL || o->count == BUFFERS_OF_CLIENT_MAX ||
		o->pages + pages > BUFFER_PAGES_OF_CLIENT_MAX)
		return -E_NOMEM;
	b->memory.home = client_from(client).cluster;
	b->memory.pages = pages;
	wrong = shared_make(t, &b->memory, client_from(client).badge);
	if (wrong != 0)
		return wrong;
	b->maker = (uint16_t)client;
	b->state = BUFFER_FREE;
	t->zio.buffers++;
	o->fits = b;
	return 0;
}

/*
 * One of the client's that is free, or a new one, for which others that are free make room. As long
 * as somebody else has one of them, that is waited for.
 */
static int
serve_alloc(struct serving *s)
{
	uint32_t pages = (s->r->arg + SHARED_PAGE - 1) / SHARED_PAGE;
	struct pool o;
	int wrong = -E_NOMEM;

	if (s->r->arg == 0 || s->r->arg > FILE_ZIO_MAX)
		return -E_INVAL;
	do {
		pool_look(s->t, s->client, pages, &o);
		if (o.fits != NULL || (wrong = buffer_make(s->t, s->client, pages, &o)) == 0) {
			o.fits->first = 0;
			o.fits->bytes = s->r->arg;
			return buffer_give(s, o.fits);
		}
		if (o.other != NULL)
			buffer_end(s->t, o.other);
	} while (o.other != NULL);
	if (wrong != -E_NOMEM || !o.is_elsewhere)
		return wrong;
	if (s->r->more != 0)
		return -E_AGAIN;
	s->t->buffer_waits[s->client / 32] |= 1u << s->client % 32;
	return -FILE_LATER;
}

/* The client has it no more. */
static int
serve_free(struct serving *s)
{
	struct buffer *b = buffer_find(s->t, s->client, s->r->offset);

	if (b == NULL)
		return -E_INVAL;
	buffer_back(s->t, b);
	return 0;
}

int
serve_zio(struct serving *s)
{
	s->out_bytes = sizeof(struct file_zio);
	if (s->r->op == FILE_ZIO_ALLOC)
		return serve_alloc(s);
	if (s->r->op == FILE_ZIO_FREE)
		return serve_free(s);
	memcpy(s->out, &s->t->zio, sizeof(s->t->zio));
	return 0;
}

static int
serve_send(struct serving *s, struct pipe *p)
{
	struct buffer *b = buffer_find(s->t, s->client, s->r->offset);
	uint32_t bytes = s->r->arg, first = s->r->more, room;

	if (b == NULL)
		return -E_INVAL;
	room = b->memory.pages * SHARED_PAGE;
	if (bytes == 0 || bytes > room || first > room - bytes)
		return -E_INVAL;
	if (p->ends[PIPE_READ] == 0)
		return -E_PIPE;
	if (p->buffers == BUFFERS_OF_PIPE_MAX)
		return -FILE_LATER;
	if (memory_revoke(&b->memory, NULL) != 0)
		return -E_IO;
	b->state = BUFFER_SENT;
	b->first = first;
	b->bytes = bytes;
	if (p->last_buffer != NULL)
		p->last_buffer->next = b;
	else
		p->buffer = b;
	p->last_buffer = b;
	p->buffers++;
	pipe_tell(p, PIPE_READ);
	return 0;
}

/* The first buffer, if the client can have it as it is. */
static int
serve_take(struct serving *s, struct pipe *p)
{
	struct file_zio *z = s->out;
	struct buffer *b = p->buffer;
	int wrong;

	if (p->bytes.count > 0)
		return 0;
	if (b == NULL && p->ends[PIPE_WRITE] > 0)
		return -FILE_LATER;
	if (b == NULL) {
		z->kind = FILE_ZIO_BUFFER;
		return 0;
	}
	if (b->bytes > s->r->arg || b->memory.home != client_from(s->client).cluster)
		return 0;
	wrong = buffer_give(s, b);
	if (wrong != 0)
		return wrong;
	s->t->zio.moved += b->bytes;
	first_out(s->t, p);
	pipe_tell(p, PIPE_WRITE);
	return 0;
}

/* A file that lies in pages, or in the archive. */
static int
serve_view(struct serving *s, struct description *d)
{
	const struct node *n = node_of(s->t, d->object);
	struct file_zio *z = s->out;
	bool is_shared = s->r->offset == FILE_AT_OFFSET;
	uint64_t at = is_shared ? d->offset : s->r->offset;
	uint64_t left = at < n->size ? n->size - at : 0;
	uint32_t bytes = left < s->r->arg ? (uint32_t)left : s->r->arg;

	if (n->kind != FILE_KIND_FILE || n->is_shown || cores_have(s->t, d->object) ||
		(n->fixed == 0 && bytes < SHARED_PAGE))
		return 0;
	z->kind = FILE_ZIO_MEMORY;
	if (n->fixed != 0) {
		z->kind = FILE_ZIO_ARCHIVE;
		z->first = n->fixed + at;
	}
	z->bytes = bytes;
	s->reply->value = at;
	if (is_shared)
		d->offset = at + bytes;
	return 0;
}

/* Unless it is said otherwise bytes are to be read as usual. */
int
serve_zio_open(struct serving *s, struct description *d)
{
	enum pipe_end end = s->r->op == FILE_ZIO_READ ? PIPE_READ : PIPE_WRITE;
	struct pipe *p = &s->t->pipe[d->object];
	int result;

	memset(s->out, 0, sizeof(struct file_zio));
	s->out_bytes = sizeof(struct file_zio);
	if ((d->flags & (end == PIPE_READ ? FILE_READABLE : FILE_WRITABLE)) == 0)
		return -E_BADF;
	if (!d->is_pipe || p->type != PIPE_PLAIN || d->object == PIPE_INPUT)
		return end == PIPE_WRITE ? -FILE_ENODEV :
			d->is_pipe || d->is_host ? 0 : serve_view(s, d);
	if (end == PIPE_READ && s->r->offset != FILE_AT_OFFSET)
		return -FILE_ESPIPE;
	result = end == PIPE_READ ? serve_take(s, p) : serve_send(s, p);
	if (result != -FILE_LATER)
		return result;
	if ((d->flags & FILE_NONBLOCK) != 0 || (end == PIPE_READ && s->r->more != 0))
		return -E_AGAIN;
	pipe_watch(p, end, s->client);
	return result;
}
