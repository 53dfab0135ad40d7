/* SPDX-License-Identifier: MIT
 *
 * Messages in a pipe of a socket or a message queue: see tree.h. What is known of a message lies in
 * a record of its own, its bytes in a chain as those of any pipe. Descriptors on their way are
 * handles of nobody's.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/messages.h>

/* --- records: pieces of blocks, which they keep --- */

static struct message *
record_take(struct tree *t)
{
	struct message *m = t->free_message;

	if (m == NULL) {
		struct block *b = block_take(t);

		if (b == NULL)
			return NULL;
		t->kept_blocks++;
		m = (struct message *)(void *)b->data;
		for (uint32_t i = 0; i + 1 < BLOCK_DATA / sizeof(*m); i++)
			m[i].next = &m[i + 1];
	}
	t->free_message = m->next;
	*m = (struct message){0};
	return m;
}

static void
message_free(struct tree *t, struct message *m)
{
	bytes_drop(t, &m->bytes);
	m->next = t->free_message;
	t->free_message = m;
}

/* --- descriptors on their way --- */

/* Copies of a client's handles, for nobody. 0 or a negative error. */
static int
rights_take(struct tree *t, uint32_t client, const struct message_put *what, struct message *m)
{
	int wrong = handle_check_room(t, NOBODY, what->rights);

	for (uint32_t i = 0; i < what->rights; i++) {
		if (handle_find(t, client, what->right[i]) == NULL)
			return handle_error(t, what->right[i]);
	}
	if (wrong != 0)
		return wrong;
	for (uint32_t i = what->rights; i-- > 0;) {
		const struct handle *from = handle_find(t, client, what->right[i]);
		struct handle *h = handle_open(t, NOBODY, &t->description[from->description]);

		t->sockets_sent += description_is_socket(t, &t->description[h->description]);
		h->is_offered = true;
		h->next = m->first_right;
		m->first_right = (uint16_t)(h - t->handle);
		m->rights++;
	}
	return 0;
}

/* A descriptor is nobody's any more. The end of a socket may be that of others: it comes later. */
static void
right_drop(struct tree *t, struct handle *h)
{
	if (!description_is_socket(t, &t->description[h->description])) {
		handle_close(t, h);
		return;
	}
	h->next = t->dropped;
	t->dropped = (uint16_t)(h - t->handle + 1);
}

/* They become a client's, as many as it may have; the rest is closed. */
static uint32_t
rights_give(struct tree *t, uint32_t client, struct message *m, struct file_claimed *to,
	uint32_t room)
{
	uint32_t given = 0;

	for (; m->rights > 0; m->rights--) {
		struct handle *h = &t->handle[m->first_right];
		const struct description *d = &t->description[h->description];

		m->first_right = h->next;
		if (given == room || t->handles_of[client] == HANDLES_OF_CLIENT_MAX) {
			right_drop(t, h);
			continue;
		}
		t->sockets_sent -= description_is_socket(t, d);
		t->handles_of[NOBODY]--;
		t->handles_of[client]++;
		h->owner = (uint16_t)client;
		h->is_offered = false;
		to[given++] = (struct file_claimed){handle_number(t, h),
			(uint16_t)description_kind(t, d), d->flags};
	}
	return given;
}

/* --- in and out --- */

static struct message *
message_last(const struct pipe *p)
{
	struct message *m = p->messages;

	while (m != NULL && m->next != NULL)
		m = m->next;
	return m;
}

static void
message_link(struct pipe *p, struct message *m)
{
	struct message **link = &p->messages;

	while (*link != NULL && (*link)->priority >= m->priority)
		link = &(*link)->next;
	m->next = *link;
	*link = m;
	p->message_count++;
}

static bool
pipe_takes(const struct pipe *p, uint32_t len)
{
	if (p->type == PIPE_QUEUE)
		return p->message_count < p->limit;
	return p->message_bytes + len <= SOCKET_BYTES &&
		(p->type == PIPE_STREAM || p->message_count < SOCKET_MESSAGES);
}

bool
message_has_room(const struct pipe *p)
{
	return pipe_takes(p, p->type == PIPE_STREAM ? FILE_PIECE_MAX : 1);
}

static int
put_new(struct tree *t, struct pipe *p, uint32_t client, const struct message_put *what)
{
	struct message *m = record_take(t);
	struct bytes *staged = &client_bytes_there(t, client)->staged;
	int result;

	if (m == NULL)
		return -E_NOMEM;
	m->priority = what->priority;
	m->pid = what->pid;
	m->name = *what->name;
	result = rights_take(t, client, what, m);
	if (result == 0 && !bytes_move(t, staged, &m->bytes, staged->count)) {
		rights_give(t, client, m, NULL, 0);
		result = -E_NOMEM;
	}
	if (result != 0)
		message_free(t, m);
	else
		message_link(p, m);
	return result;
}

long
message_put(struct tree *t, struct pipe *p, uint32_t client, const struct message_put *what)
{
	struct client_bytes *of = client_bytes(t, client);
	struct bytes *staged = of != NULL ? &of->staged : NULL;
	struct message *last = p->type == PIPE_STREAM && what->rights == 0 ? message_last(p) : NULL;
	uint32_t len;
	int result = 0;

	if (staged == NULL)
		return -E_NOMEM;
	if (!pipe_takes(p, staged->count + what->len))
		return -FILE_LATER;
	if (!bytes_put(t, staged, what->from, what->len))
		return p->message_count > 0 ? -FILE_LATER : -E_NOMEM;
	len = staged->count;
	if (p->type == PIPE_STREAM && len == 0)
		return 0;
	if (last != NULL && last->rights == 0 && last->pid == what->pid)
		result = bytes_move(t, staged, &last->bytes, len) ? 0 : -E_NOMEM;
	else
		result = put_new(t, p, client, what);
	if (result != 0)
		return result == -E_NOMEM && p->message_count > 0 ? -FILE_LATER : result;
	p->message_bytes += len;
	return len;
}

/* The first message is gone. */
static void
first_gone(struct tree *t, struct pipe *p)
{
	struct message *m = p->messages;

	p->messages = m->next;
	p->message_count--;
	p->message_bytes -= m->bytes.count;
	rights_give(t, NOBODY, m, NULL, 0);
	message_free(t, m);
}

/* Bytes of one message: to memory, then to the client's rest, up to what they are to have. */
static bool
take_bytes(struct tree *t, uint32_t client, struct message *m, struct message_taken *what)
{
	uint32_t first = what->len - what->done, rest = what->more - what->rest;
	uint32_t count = m->bytes.count;
	struct client_bytes *of = client_bytes(t, client);

	if (of == NULL)
		return false;
	first = first < count ? first : count;
	rest = rest < count - first ? rest : count - first;
	if (what->is_peek) {
		if (!bytes_copy(t, &m->bytes, (char *)what->to + what->done, first,
			&of->rest, rest))
			return false;
		what->done += first;
	} else if (first > 0) {
		what->done += bytes_take(t, &m->bytes, (char *)what->to + what->done, first);
	}
	if (!what->is_peek && rest > 0 && !bytes_move(t, &m->bytes, &of->rest, rest))
		return first > 0;
	what->rest += rest;
	return true;
}

static void
take_rights(struct tree *t, uint32_t client, struct message *m, struct message_taken *what)
{
	if (what->rights_room > 0 && !what->is_peek)
		what->rights = rights_give(t, client, m, what->right, what->rights_room);
}

/* A stream goes on with the next message, but not behind descriptors, or with another's. */
static void
take_stream(struct tree *t, struct pipe *p, uint32_t client, struct message_taken *what)
{
	struct message *m = p->messages;
	bool goes_on = true;

	while (m != NULL && goes_on) {
		struct message *next = m->next;
		uint32_t before = m->bytes.count;
		bool has_rights = m->rights > 0;

		if (!take_bytes(t, client, m, what)) {
			what->is_short = what->done + what->rest == 0;
			return;
		}
		take_rights(t, client, m, what);
		goes_on = !has_rights;
		p->message_bytes -= before - m->bytes.count;
		if (!what->is_peek && m->bytes.count == 0)
			first_gone(t, p);
		else if (!what->is_peek)
			break;
		m = next;
		goes_on &= what->done + what->rest < what->len + what->more &&
			(!what->is_of_one || m == NULL || m->pid == what->pid);
	}
}

void
message_take(struct tree *t, struct pipe *p, uint32_t client, struct message_taken *what)
{
	struct message *m = p->messages;
	uint32_t before = m->bytes.count;

	what->whole = before;
	what->priority = m->priority;
	what->name = m->name;
	what->pid = m->pid;
	if (p->type == PIPE_STREAM) {
		take_stream(t, p, client, what);
		return;
	}
	what->is_short = !take_bytes(t, client, m, what);
	if (what->is_short)
		return;
	take_rights(t, client, m, what);
	p->message_bytes -= before - m->bytes.count;
	if (!what->is_peek)
		first_gone(t, p);
}

void
messages_drop(struct tree *t, struct pipe *p)
{
	while (p->messages != NULL)
		first_gone(t, p);
}

/* --- sockets in messages --- */

#define PIPE_WORDS (PIPES_MAX / 32)

struct found {
	uint32_t pipes[PIPE_WORDS];	/* a bit for each that somebody can use, or receive */
	uint32_t looked[PIPE_WORDS];	/* and in which we have looked what lies there */
};

static void
found_one(struct found *f, uint32_t number)
{
	f->pipes[number / 32] |= 1u << number % 32;
}

static void
look_into(struct tree *t, struct found *f, struct pipe *p)
{
	uint16_t waiting = endpoint_of(t, p)->next;

	for (const struct message *m = p->messages; m != NULL; m = m->next) {
		uint16_t at = m->first_right;

		for (uint32_t i = 0; i < m->rights; i++, at = t->handle[at].next) {
			const struct description *d = &t->description[t->handle[at].description];

			if (description_is_socket(t, d))
				found_one(f, d->object);
		}
	}
	/* connections that are to be accepted there */
	for (; waiting != 0; waiting = endpoint_of(t, &t->pipe[waiting - 1])->next)
		found_one(f, waiting - 1u);
}

/* From those of which a client has a handle. */
static void
find_all(struct tree *t, struct found *f)
{
	bool is_more = true;

	for (uint32_t i = 0; i < HANDLES_MAX; i++) {
		const struct handle *h = &t->handle[i];
		const struct description *d = &t->description[h->description];

		if (h->is_open && h->owner != NOBODY && description_is_socket(t, d))
			found_one(f, d->object);
	}
	while (is_more) {
		is_more = false;
		for (uint32_t i = 0; i < t->pipes; i++) {
			uint32_t bit = 1u << i % 32;

			if ((f->pipes[i / 32] & ~f->looked[i / 32] & bit) == 0)
				continue;
			f->looked[i / 32] |= bit;
			look_into(t, f, &t->pipe[i]);
			is_more = true;
		}
	}
}

/* What lies in messages to sockets that nobody can receive any more, and these with it. */
static void
drop_lost(struct tree *t)
{
	struct found f = {0};

	t->may_be_lost = false;
	find_all(t, &f);
	for (uint32_t i = 0; i < t->pipes; i++)
		if (t->pipe[i].type >= PIPE_STREAM && (f.pipes[i / 32] & 1u << i % 32) == 0)
			messages_drop(t, &t->pipe[i]);
}

void
sockets_settle(struct tree *t)
{
	while (t->dropped != 0 || t->may_be_lost) {
		struct handle *h = &t->handle[t->dropped > 0 ? t->dropped - 1 : 0];

		if (t->dropped == 0) {
			drop_lost(t);
			continue;
		}
		t->dropped = h->next;
		t->sockets_sent--;
		handle_close(t, h);
	}
}
