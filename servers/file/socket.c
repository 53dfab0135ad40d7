/* SPDX-License-Identifier: MIT
 *
 * Sockets: see tree.h. What is sent to one lies in the pipe with its number; a connection is two
 * that know each other. A connection that has not been accepted hangs on who listens, and has no
 * description.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/messages.h>

#define AUTO_DIGITS 5			/* of a name that the server makes */

uint32_t
pipe_number(const struct tree *t, const struct pipe *p)
{
	return (uint32_t)(p - t->pipe);
}

static struct endpoint *
endpoint_at(const struct tree *t, uint32_t number)
{
	return &t->endpoints[number / TABLE_ENDPOINTS][number % TABLE_ENDPOINTS];
}

struct endpoint *
endpoint_of(const struct tree *t, const struct pipe *p)
{
	return endpoint_at(t, pipe_number(t, p));
}

bool
endpoint_has_place(struct tree *t, const struct pipe *p)
{
	struct endpoint **table = &t->endpoints[pipe_number(t, p) / TABLE_ENDPOINTS];
	struct block *b = *table == NULL ? block_take(t) : NULL;

	if (b != NULL) {
		t->kept_blocks++;
		*table = (struct endpoint *)(void *)b->data;
	}
	return *table != NULL;
}

struct pipe *
endpoint_peer(struct tree *t, const struct pipe *p)
{
	uint16_t peer = endpoint_of(t, p)->peer;

	return peer != 0 ? &t->pipe[peer - 1] : NULL;
}

static bool
is_connected_type(const struct pipe *p)
{
	return p->type == PIPE_STREAM || p->type == PIPE_PACKETS;
}

static void
tell_all(struct pipe *p)
{
	pipe_tell(p, PIPE_READ);
	pipe_tell(p, PIPE_WRITE);
}

/* --- made and connected --- */

struct pipe *
socket_make(struct tree *t, uint32_t client, enum pipe_type type, int32_t pid)
{
	struct pipe *p = pipe_begin(t, client, type);

	if (p != NULL)
		*endpoint_of(t, p) = (struct endpoint){.pid = pid};
	return p;
}

void
socket_join(struct tree *t, struct pipe *p, struct pipe *q)
{
	struct endpoint *a = endpoint_of(t, p), *b = endpoint_of(t, q);

	a->peer = (uint16_t)(pipe_number(t, q) + 1);
	b->peer = (uint16_t)(pipe_number(t, p) + 1);
	a->state = b->state = ENDPOINT_CONNECTED;
	a->peer_pid = b->pid;
	b->peer_pid = a->pid;
}

/* --- names --- */

bool
file_name_is(const struct file_name *a, const struct file_name *b)
{
	return a->bytes == b->bytes && memcmp(a->at, b->at, a->bytes) == 0;
}

/* Of an abstract name, of which each type has its own; NULL: nobody has it. */
static struct pipe *
find_abstract(struct tree *t, uint8_t type, const struct file_name *name)
{
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		if (t->pipe[i].type == type && endpoint_at(t, i)->node == 0 &&
			file_name_is(&endpoint_at(t, i)->name, name))
			return &t->pipe[i];
	return NULL;
}

static int
find_path(struct tree *t, const char *path, struct pipe **found)
{
	uint32_t base;
	int n = tree_enter(t, path, &base) >= SHARES_MAX ? -FILE_ECONNREFUSED :
		tree_find(t, path);
	const struct node *node;
	const struct endpoint *e;

	if (n < 0)
		return n;
	node = node_of(t, n);
	if (node->kind != FILE_KIND_SOCKET)
		return node->kind == FILE_KIND_SYMLINK ? -FILE_LINKED : -FILE_ECONNREFUSED;
	if (t->pipe[node->target].type < PIPE_STREAM)
		return -FILE_ECONNREFUSED;
	e = endpoint_at(t, node->target);
	if (e->node != (uint32_t)n ||
		e->life != node->life)
		return -FILE_ECONNREFUSED;
	*found = &t->pipe[node->target];
	return 0;
}

int
socket_find(struct tree *t, const struct pipe *p, const struct file_address *a,
	struct pipe **found)
{
	if (a->name.bytes > 0 && a->name.at[0] != 0)
		return find_path(t, a->path, found);
	*found = find_abstract(t, p->type, &a->name);
	return *found != NULL ? 0 : -FILE_ECONNREFUSED;
}

/* A name that nobody has. */
static void
name_itself(struct tree *t, const struct pipe *p)
{
	struct endpoint *e = endpoint_of(t, p);
	struct file_name name = {.bytes = AUTO_DIGITS + 1};

	do {
		uint32_t number = t->names_made++;

		for (int i = AUTO_DIGITS; i > 0; i--, number /= 16)
			name.at[i] = "0123456789abcdef"[number % 16];
	} while (find_abstract(t, p->type, &name) != NULL);
	e->name = name;
}

int
socket_bind(struct tree *t, struct pipe *p, const struct file_address *a, uint32_t mode)
{
	struct endpoint *e = endpoint_of(t, p);
	uint32_t base;
	int n;

	if (e->name.bytes > 0)
		return a->name.bytes == 0 ? 0 : -E_INVAL;
	if (a->name.bytes == 0) {
		name_itself(t, p);
		return 0;
	}
	if (a->name.at[0] == 0) {
		if (find_abstract(t, p->type, &a->name) != NULL)
			return -FILE_EADDRINUSE;
		e->name = a->name;
		return 0;
	}
	/* what another server has can have no names of sockets here */
	n = tree_enter(t, a->path, &base) >= SHARES_MAX ? -E_PERM :
		tree_make(t, a->path, FILE_KIND_SOCKET, mode);
	if (n < 0)
		return n == -E_EXIST ? -FILE_EADDRINUSE : n;
	node_of(t, n)->target = pipe_number(t, p);
	e->node = (uint32_t)n;
	e->life = node_of(t, n)->life;
	e->name = a->name;
	return 0;
}

/* --- connections --- */

int
socket_listen(struct tree *t, struct pipe *p, uint32_t backlog, int32_t pid)
{
	struct endpoint *e = endpoint_of(t, p);

	if (!is_connected_type(p))
		return -FILE_EOPNOTSUPP;
	if (e->name.bytes == 0 || e->state == ENDPOINT_CONNECTED)
		return -E_INVAL;
	e->state = ENDPOINT_LISTENS;
	e->backlog = (uint16_t)(backlog < PIPES_OF_CLIENT_MAX ? backlog : PIPES_OF_CLIENT_MAX);
	e->pid = pid;
	pipe_tell(p, PIPE_WRITE);
	return 0;
}

/* Behind those that wait already. */
static void
wait_for_accept(struct tree *t, struct endpoint *listener, struct pipe *s)
{
	uint16_t *link = &listener->next;

	while (*link != 0)
		link = &endpoint_at(t, *link - 1u)->next;
	*link = (uint16_t)(pipe_number(t, s) + 1);
	listener->waiting++;
}

static int
connect_stream(struct tree *t, uint32_t client, struct pipe *p, struct pipe *l)
{
	struct endpoint *e = endpoint_of(t, p), *listener = endpoint_of(t, l);
	struct pipe *s;

	if (e->state != ENDPOINT_NEW)
		return e->state == ENDPOINT_LISTENS ? -E_INVAL : -FILE_EISCONN;
	if (l->type != p->type)
		return -FILE_EPROTOTYPE;
	if (listener->state != ENDPOINT_LISTENS || (listener->shut & SHUT_READ) != 0)
		return -FILE_ECONNREFUSED;
	if (listener->waiting > listener->backlog)
		return -FILE_LATER;
	s = socket_make(t, client, (enum pipe_type)p->type, listener->pid);
	if (s == NULL)
		return -E_AGAIN;
	endpoint_of(t, s)->name = listener->name;
	/* the name stays the listener's */
	endpoint_of(t, s)->node = UINT32_MAX;
	socket_join(t, p, s);
	wait_for_accept(t, listener, s);
	pipe_tell(l, PIPE_READ);
	return 0;
}

int
socket_connect(struct tree *t, uint32_t client, struct pipe *p, struct pipe *to)
{
	struct endpoint *e = endpoint_of(t, p), *other = endpoint_of(t, to);

	if (is_connected_type(p))
		return connect_stream(t, client, p, to);
	if (to->type != p->type)
		return -FILE_EPROTOTYPE;
	if (other->peer != 0 && endpoint_peer(t, to) != p)
		return -E_PERM;
	e->peer = (uint16_t)(pipe_number(t, to) + 1);
	e->peer_pid = other->pid;
	e->is_peer_gone = false;
	e->state = ENDPOINT_CONNECTED;
	return 0;
}

void
socket_disconnect(struct tree *t, struct pipe *p)
{
	struct endpoint *e = endpoint_of(t, p);

	e->peer = 0;
	e->is_peer_gone = false;
	e->state = ENDPOINT_NEW;
}

struct pipe *
socket_accept(struct tree *t, struct pipe *l)
{
	struct endpoint *listener = endpoint_of(t, l), *e;
	uint16_t first = listener->next;

	if (first == 0)
		return NULL;
	e = endpoint_at(t, first - 1u);
	listener->next = e->next;
	listener->waiting--;
	e->next = 0;
	pipe_tell(l, PIPE_WRITE);
	return &t->pipe[first - 1];
}

int
socket_shutdown(struct tree *t, struct pipe *p, uint32_t how)
{
	struct endpoint *e = endpoint_of(t, p);
	struct pipe *peer = endpoint_peer(t, p);

	e->shut |= (uint8_t)how;
	if (peer != NULL && is_connected_type(p)) {
		endpoint_of(t, peer)->shut |= (uint8_t)(((how & SHUT_READ) != 0 ? SHUT_WRITE : 0) |
			((how & SHUT_WRITE) != 0 ? SHUT_READ : 0));
		tell_all(peer);
	}
	tell_all(p);
	return 0;
}

/* --- the end --- */

/* The other side of a connection: what it had not read is lost to its peer. */
static void
leave_peer(struct tree *t, const struct pipe *p, bool is_lost)
{
	struct pipe *peer = endpoint_peer(t, p);
	struct endpoint *other;

	if (peer == NULL)
		return;
	other = endpoint_of(t, peer);
	if (is_connected_type(p)) {
		other->shut = SHUT_READ | SHUT_WRITE;
		if (is_lost)
			other->error = FILE_ECONNRESET;
	}
}

/* Nobody is connected to it any more. */
static void
forget_peers(struct tree *t, const struct pipe *p)
{
	uint16_t number = (uint16_t)(pipe_number(t, p) + 1);

	for (uint32_t i = 0; i < PIPES_MAX; i++) {
		struct endpoint *e = t->pipe[i].type < PIPE_STREAM ? NULL : endpoint_at(t, i);

		if (e == NULL || e->peer != number)
			continue;
		e->peer = 0;
		e->is_peer_gone = true;
		tell_all(&t->pipe[i]);
	}
}

static void
socket_end(struct tree *t, struct pipe *p, bool is_lost)
{
	leave_peer(t, p, is_lost || p->message_count > 0);
	messages_drop(t, p);
	forget_peers(t, p);
	tell_all(p);
	*endpoint_of(t, p) = (struct endpoint){0};
	pipe_free(t, p);
}

void
socket_close(struct tree *t, struct pipe *p)
{
	struct pipe *s;

	while ((s = socket_accept(t, p)) != NULL)
		socket_end(t, s, true);
	socket_end(t, p, false);
}

/* --- messages --- */

/* What a call says first, and once. */
static int
take_error(struct endpoint *e)
{
	int error = e->error;

	e->error = 0;
	return -error;
}

/* May it be sent to that one, and to whom? */
static int
check_send(struct tree *t, struct pipe *p, struct pipe **to)
{
	struct endpoint *e = endpoint_of(t, p);

	if (*to == NULL)
		*to = endpoint_peer(t, p);
	if (is_connected_type(p)) {
		if (e->state != ENDPOINT_CONNECTED)
			return -FILE_ENOTCONN;
		return (e->shut & SHUT_WRITE) != 0 || *to == NULL ? -E_PIPE : take_error(e);
	}
	if ((e->shut & SHUT_WRITE) != 0)
		return -E_PIPE;
	if (*to == NULL) {
		bool was_there = e->is_peer_gone;

		e->is_peer_gone = false;
		return was_there ? -FILE_ECONNREFUSED : -FILE_ENOTCONN;
	}
	if ((*to)->type != p->type)
		return -FILE_EPROTOTYPE;
	if ((endpoint_of(t, *to)->shut & SHUT_READ) != 0)
		return -E_PIPE;
	return endpoint_of(t, *to)->peer != 0 && endpoint_peer(t, *to) != p ? -E_PERM : 0;
}

long
socket_send(struct tree *t, uint32_t client, struct pipe *p, struct pipe *to,
	struct message_put *what)
{
	long result = check_send(t, p, &to);

	if (result != 0)
		return result;
	what->name = &endpoint_of(t, p)->name;
	result = message_put(t, to, client, what);
	if (result >= 0)
		pipe_tell(to, PIPE_READ);
	return result;
}

long
socket_receive(struct tree *t, uint32_t client, struct pipe *p, struct message_taken *what)
{
	struct endpoint *e = endpoint_of(t, p);

	if (is_connected_type(p) && e->state != ENDPOINT_CONNECTED)
		return p->type == PIPE_STREAM ? -E_INVAL : -FILE_ENOTCONN;
	if (p->messages == NULL) {
		int error = take_error(e);

		if (error != 0)
			return error;
		return (e->shut & SHUT_READ) != 0 ? 0 : -FILE_LATER;
	}
	if (p->type == PIPE_STREAM && what->len + what->more == 0)
		return 0;
	message_take(t, p, client, what);
	if (message_has_room(p))
		pipe_tell(p, PIPE_WRITE);
	return what->is_short ? -E_NOMEM : (long)(what->done + what->rest);
}

/* Is there room for what is written? */
static bool
can_send(struct tree *t, const struct pipe *p)
{
	const struct endpoint *e = endpoint_of(t, p);
	struct pipe *peer = endpoint_peer(t, p);

	return e->state != ENDPOINT_LISTENS && (peer == NULL || message_has_room(peer) ||
		(is_connected_type(p) && (e->shut & SHUT_WRITE) != 0));
}

uint32_t
socket_poll(struct tree *t, const struct pipe *p)
{
	const struct endpoint *e = endpoint_of(t, p);
	bool is_new = is_connected_type(p) && e->state == ENDPOINT_NEW;
	bool is_shut = e->shut == (SHUT_READ | SHUT_WRITE);

	return (p->messages != NULL || e->waiting > 0 || (e->shut & SHUT_READ) != 0 ?
			FILE_POLL_READ : 0) |
		(can_send(t, p) ? FILE_POLL_WRITE : 0) |
		(is_new || is_shut ? FILE_POLL_HUNG_UP : 0) |
		(e->error != 0 ? FILE_POLL_BROKEN : 0) |
		((e->shut & SHUT_READ) != 0 ? FILE_POLL_ENDED : 0);
}

void
socket_watch(struct tree *t, struct pipe *p, uint32_t client)
{
	struct pipe *peer = endpoint_peer(t, p);

	pipe_watch(p, PIPE_READ, client);
	pipe_watch(p, PIPE_WRITE, client);
	if (peer != NULL)
		pipe_watch(peer, PIPE_WRITE, client);
}
