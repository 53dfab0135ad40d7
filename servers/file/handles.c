/* SPDX-License-Identifier: MIT
 *
 * Descriptions of open files, and the handles of clients that stand for them. A handle's number is
 * its entry's, its server's, the life of the entry, and which life of the server it is: what was
 * open when the server before has ended is not open here, and no other handle is taken for it.
 */
#include <abi/errors.h>
#include <servers/file/locks.h>
#include <servers/file/messages.h>
#include <servers/file/share.h>

#define SERVER_BITS 3
#define LIFE_BITS 9			/* of an entry */
#define LIFE_SHIFT (FILE_HANDLE_SHIFT + SERVER_BITS)

_Static_assert(HANDLES_MAX == 1 << FILE_HANDLE_SHIFT, "entries that a number can name");
_Static_assert(FILE_SERVERS == 1 << SERVER_BITS, "servers that a number can name");

int
handle_check_room(const struct tree *t, uint32_t client, uint32_t count)
{
	if (t->handles_of[client] + count > HANDLES_OF_CLIENT_MAX)
		return -E_MFILE;
	return count > HANDLES_MAX - t->handles ? -FILE_ENFILE : 0;
}

struct description *
description_find_free(struct tree *t, uint32_t from)
{
	for (uint32_t i = from; i < DESCRIPTIONS_MAX; i++)
		if (t->description[i].handles == 0)
			return &t->description[i];
	return NULL;
}

struct handle *
handle_open(struct tree *t, uint32_t client, struct description *d)
{
	struct handle *h = t->handle;

	while (h->is_open)
		h++;
	*h = (struct handle){.life = h->life + 1, .is_open = true, .owner = (uint16_t)client,
		.description = (uint16_t)(d - t->description)};
	d->handles++;
	t->handles++;
	t->handles_of[client]++;
	return h;
}

uint32_t
handle_number(const struct tree *t, const struct handle *h)
{
	return t->life << (LIFE_SHIFT + LIFE_BITS) |
		(h->life & ((1u << LIFE_BITS) - 1)) << LIFE_SHIFT |
		t->place.number << FILE_HANDLE_SHIFT | (uint32_t)(h - t->handle);
}

int
handle_error(const struct tree *t, uint32_t number)
{
	uint32_t life = number >> (LIFE_SHIFT + LIFE_BITS);

	return life != 0 && life != t->life ? -E_IO : -E_BADF;
}

struct handle *
handle_find(struct tree *t, uint32_t client, uint32_t number)
{
	struct handle *h = &t->handle[number & (HANDLES_MAX - 1)];

	if (!h->is_open || h->is_offered || h->owner != client)
		return NULL;
	return handle_number(t, h) == number ? h : NULL;
}

enum file_kind
description_kind(const struct tree *t, const struct description *d)
{
	if (d->is_host)
		return share_kind(t, d);
	if (!d->is_pipe)
		return (enum file_kind)node_of(t, d->object)->kind;
	switch (t->pipe[d->object].type) {
	case PIPE_PLAIN: return FILE_KIND_PIPE;
	case PIPE_QUEUE: return FILE_KIND_QUEUE;
	case PIPE_COUNT:
	case PIPE_TIMER: return FILE_KIND_EVENT;
	case PIPE_SIGNALS: return FILE_KIND_SIGNALS;
	case PIPE_LIST: return FILE_KIND_LIST;
	default: return FILE_KIND_SOCKET;
	}
}

bool
description_is_socket(const struct tree *t, const struct description *d)
{
	return d->is_pipe && t->pipe[d->object].type >= PIPE_STREAM;
}

static void
description_close(struct tree *t, const struct description *d)
{
	struct pipe *p = d->is_pipe ? &t->pipe[d->object] : NULL;

	if (d->is_host) {
		share_close(t, d);
		return;
	}
	if (d->is_pipe && p->type == PIPE_QUEUE) {
		queue_close(t, p);
		return;
	}
	if (d->is_pipe && p->type >= PIPE_STREAM) {
		socket_close(t, p);
		return;
	}
	if (d->is_pipe && p->type == PIPE_LIST)
		list_drop(t, p);
	if (d->is_pipe) {
		pipe_close(t, d);
		return;
	}
	node_of(t, d->object)->opens--;
	node_settle(t, d->object);
}

void
handle_close(struct tree *t, struct handle *h)
{
	struct description *d = &t->description[h->description];

	h->is_open = false;
	t->handles--;
	t->handles_of[h->owner]--;
	if (--d->handles > 0) {
		t->may_be_lost |= t->sockets_sent > 0 && description_is_socket(t, d);
		return;
	}
	locks_end(t, d);
	listed_end(t, d);
	description_close(t, d);
}

void
file_forget(struct tree *t, uint32_t client)
{
	share_forget(t, client);
	locks_forget(t, client);
	offers_forget(t, client);
	pipes_forget(t, client);
	queues_forget(t, client);
	for (uint32_t i = 0; i < HANDLES_MAX && t->handles_of[client] > 0; i++)
		if (t->handle[i].is_open && t->handle[i].owner == client)
			handle_close(t, &t->handle[i]);
	listed_forget(t, client);
	buffers_forget(t, client);
	sockets_settle(t);
}
