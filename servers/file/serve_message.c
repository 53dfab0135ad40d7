/* SPDX-License-Identifier: MIT
 *
 * Requests about sockets and message queues: see protocol.h.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/messages.h>
#include <servers/file/serving.h>

static bool
is_queue(const struct pipe *p)
{
	return p->type == PIPE_QUEUE;
}

/* A client that would wait is told when it is worth asking again, unless it does not wait. */
static int
later(const struct serving *s, const struct description *d, struct pipe *p, uint32_t flags)
{
	if ((d->flags & FILE_NONBLOCK) != 0 || (flags & FILE_DONT_WAIT) != 0)
		return -E_AGAIN;
	pipe_watch(p, s->r->op == FILE_SEND || s->r->op == FILE_WRITE || s->r->op == FILE_CONNECT ?
		PIPE_WRITE : PIPE_READ, s->client);
	return -FILE_LATER;
}

/* A copy of what the client gives as a name; false: it is none. */
static bool
read_address(const struct serving *s, struct file_address *a)
{
	if (s->data_bytes < sizeof(*a))
		return false;
	memcpy(a, s->data, sizeof(*a));
	return a->name.bytes <= FILE_ADDRESS_MAX &&
		str_len_max(a->path, FILE_ADDRESS_PATH) < FILE_ADDRESS_PATH;
}

/* The path has a link: 1, and another path; or an error. */
static int
follow_name(struct serving *s, struct file_address *a, enum last_name last)
{
	int result = link_follow(s->t, &(struct linked){a->path,
		(uint32_t)str_len(a->path) + 1, sizeof(a->path), &s->links}, last);

	return result != 0 ? result : -FILE_ENOTDIR;
}

static int
find_named(struct serving *s, const struct pipe *p, struct file_address *a, struct pipe **found)
{
	int result;

	while ((result = socket_find(s->t, p, a, found)) == -FILE_LINKED)
		if ((result = follow_name(s, a, LAST_FOLLOWED)) != 1)
			break;
	return result;
}

static void
put_out(struct serving *s, const void *from, uint32_t bytes)
{
	memcpy((char *)s->out + s->out_bytes, from, bytes);
	s->out_bytes += bytes;
}

/* --- made --- */

static struct file_claimed
open_pipe(struct tree *t, uint32_t client, const struct pipe *p, struct description *d,
	uint32_t flags)
{
	if (p->type == PIPE_DATAGRAM || p->type == PIPE_PACKETS)
		flags |= FILE_WHOLE;
	*d = (struct description){.object = pipe_number(t, p), .is_pipe = true,
		.flags = (uint16_t)flags};
	return (struct file_claimed){handle_number(t, handle_open(t, client, d)),
		(uint16_t)description_kind(t, d), (uint16_t)flags};
}

void
serve_claimed(struct serving *s, const struct pipe *p, struct description *d, uint32_t flags)
{
	const struct file_claimed end = open_pipe(s->t, s->client, p, d, flags);

	put_out(s, &end, sizeof(end));
}

static enum pipe_type
type_of_socket(uint32_t type)
{
	switch (type) {
	case FILE_STREAM: return PIPE_STREAM;
	case FILE_DATAGRAM: return PIPE_DATAGRAM;
	case FILE_PACKETS: return PIPE_PACKETS;
	default: return PIPE_PLAIN;
	}
}

int
serve_new_socket(struct serving *s)
{
	struct tree *t = s->t;
	bool is_pair = (s->r->more & FILE_PAIR) != 0;
	enum pipe_type type = type_of_socket(s->r->arg);
	struct description *d = description_find_free(t, 0), *e = d == NULL || !is_pair ? d :
		description_find_free(t, (uint32_t)(d - t->description) + 1);
	uint32_t flags = FILE_READABLE | FILE_WRITABLE | (s->r->more & FILE_NONBLOCK);
	struct file_claimed ends[2];
	struct pipe *p, *q;
	int wrong = handle_check_room(t, s->client, is_pair ? 2 : 1);

	if (type == PIPE_PLAIN || (s->r->more & ~(uint32_t)(FILE_NONBLOCK | FILE_PAIR)) != 0)
		return -E_INVAL;
	if (wrong != 0 || e == NULL)
		return wrong != 0 ? wrong : -FILE_ENFILE;
	p = socket_make(t, s->client, type, (int32_t)s->r->offset);
	q = p != NULL && is_pair ? socket_make(t, s->client, type, (int32_t)s->r->offset) : p;
	if (q == NULL && p != NULL)
		socket_close(t, p);
	if (q == NULL)
		return -FILE_ENFILE;
	ends[0] = open_pipe(t, s->client, p, d, flags);
	if (is_pair) {
		ends[1] = open_pipe(t, s->client, q, e, flags);
		socket_join(t, p, q);
	}
	put_out(s, ends, (is_pair ? 2 : 1) * (uint32_t)sizeof(ends[0]));
	return 0;
}

/* The queue of that name, made if that is asked for. */
static int
queue_to_open(struct serving *s, const struct file_name *name, struct pipe **p)
{
	const struct file_request *r = s->r;
	const struct queue_what what = {name, (uint32_t)(r->offset >> 32), (uint32_t)r->offset,
		r->more & FILE_MODE_BITS};

	*p = queue_find(s->t, name);
	if (*p != NULL)
		return (r->arg & (FILE_CREATE | FILE_EXCLUSIVE)) ==
			(FILE_CREATE | FILE_EXCLUSIVE) ? -E_EXIST : 0;
	return (r->arg & FILE_CREATE) == 0 ? -E_NOENT : queue_make(s->t, s->client, &what, p);
}

int
serve_queue(struct serving *s)
{
	struct description *d = description_find_free(s->t, 0);
	int wrong = handle_check_room(s->t, s->client, 1);
	struct file_claimed end;
	struct file_name name;
	struct pipe *p;

	if (s->data_bytes < sizeof(name))
		return -E_INVAL;
	memcpy(&name, s->data, sizeof(name));
	if (name.bytes == 0 || name.bytes > FILE_ADDRESS_MAX)
		return -E_INVAL;
	if (s->r->op == FILE_QUEUE_REMOVE)
		return queue_unlink(s->t, &name);
	if (wrong != 0 || d == NULL)
		return wrong != 0 ? wrong : -FILE_ENFILE;
	wrong = queue_to_open(s, &name, &p);
	if (wrong != 0)
		return wrong;
	endpoint_of(s->t, p)->opens++;
	end = open_pipe(s->t, s->client, p, d, s->r->arg &
		(FILE_READABLE | FILE_WRITABLE | FILE_NONBLOCK));
	put_out(s, &end, sizeof(end));
	return 0;
}

/* --- connections --- */

static int
serve_bind(struct serving *s, struct pipe *p)
{
	struct file_address a;
	int result;

	if (!read_address(s, &a))
		return -E_INVAL;
	while ((result = socket_bind(s->t, p, &a, s->r->more)) == -FILE_LINKED)
		if ((result = follow_name(s, &a, LAST_IN_DIRECTORY)) != 1)
			break;
	return result;
}

static int
serve_connect(struct serving *s, const struct description *d, struct pipe *p)
{
	struct file_address a;
	struct pipe *to;
	int result;

	if (!read_address(s, &a))
		return -E_INVAL;
	if (a.name.bytes == 0) {
		if (p->type != PIPE_DATAGRAM)
			return -E_INVAL;
		socket_disconnect(s->t, p);
		return 0;
	}
	result = find_named(s, p, &a, &to);
	if (result == 0)
		result = socket_connect(s->t, s->client, p, to);
	return result == -FILE_LATER ? later(s, d, to, 0) : result;
}

static int
serve_accept(struct serving *s, const struct description *l, struct pipe *p)
{
	struct description *d = description_find_free(s->t, 0);
	int wrong = handle_check_room(s->t, s->client, 1);
	struct file_accepted a = {0};
	struct pipe *new, *peer;

	if (p->type != PIPE_STREAM && p->type != PIPE_PACKETS)
		return -FILE_EOPNOTSUPP;
	if (endpoint_of(s->t, p)->state != ENDPOINT_LISTENS)
		return -E_INVAL;
	if (wrong != 0 || d == NULL)
		return wrong != 0 ? wrong : -FILE_ENFILE;
	new = socket_accept(s->t, p);
	if (new == NULL)
		return later(s, l, p, 0);
	peer = endpoint_peer(s->t, new);
	if (peer != NULL)
		a.name = endpoint_of(s->t, peer)->name;
	endpoint_of(s->t, new)->tells = endpoint_of(s->t, p)->tells;
	a.end = open_pipe(s->t, s->client, new, d, FILE_READABLE | FILE_WRITABLE |
		(s->r->more & FILE_NONBLOCK));
	put_out(s, &a, sizeof(a));
	return 0;
}

static int
serve_endpoint(struct serving *s, struct pipe *p)
{
	struct endpoint *e = endpoint_of(s->t, p);
	struct pipe *peer = endpoint_peer(s->t, p);
	struct file_endpoint out = {.type = p->type == PIPE_STREAM ? FILE_STREAM :
		p->type == PIPE_PACKETS ? FILE_PACKETS : FILE_DATAGRAM, .error = e->error,
		.listens = e->state == ENDPOINT_LISTENS, .pid = e->state == ENDPOINT_NEW ? 0 :
		e->state == ENDPOINT_LISTENS ? e->pid : e->peer_pid, .name = e->name,
		.has_peer = peer != NULL, .tells = e->tells};

	if (peer != NULL)
		out.peer = endpoint_of(s->t, peer)->name;
	if ((s->r->arg & FILE_ENDPOINT_ERROR) != 0)
		e->error = 0;
	if ((s->r->arg & (FILE_ENDPOINT_TELLS | FILE_ENDPOINT_TELLS_NOT)) != 0)
		e->tells = (s->r->arg & FILE_ENDPOINT_TELLS) != 0;
	put_out(s, &out, sizeof(out));
	return 0;
}

/* --- messages --- */

/* FILE_WRITE, FILE_SEND: also descriptors, to another one. */
static int
serve_out(struct serving *s, const struct description *d, struct pipe *p)
{
	const struct file_request *r = s->r;
	bool is_write = r->op == FILE_WRITE;
	uint32_t right[FILE_RIGHTS_MAX];
	struct message_put what = {.right = right};
	struct file_address a;
	struct pipe *to = NULL;
	long result = 0;

	if (is_write) {
		what.from = s->data;
		what.len = r->arg;
		what.pid = endpoint_of(s->t, p)->pid;
	} else if (!read_address(s, &a) || r->more > FILE_RIGHTS_MAX ||
		s->data_bytes < sizeof(a) + r->more * sizeof(right[0])) {
		return -E_INVAL;
	} else {
		what.priority = is_queue(p) ? r->arg : 0;
		what.rights = r->more;
		what.pid = (int32_t)(r->offset >> 32);
		memcpy(right, (const char *)s->data + sizeof(a), r->more * sizeof(right[0]));
		if (a.name.bytes > 0 && p->type == PIPE_DATAGRAM)
			result = find_named(s, p, &a, &to);
	}
	if (result == 0)
		result = is_queue(p) ? queue_send(s->t, s->client, p, &what) :
			socket_send(s->t, s->client, p, to, &what);
	if (result == -FILE_LATER)
		return later(s, d, is_queue(p) ? p : to != NULL ? to : endpoint_peer(s->t, p),
			is_write ? 0 : (uint32_t)r->offset);
	s->reply->count = result > 0 ? (uint32_t)result : 0;
	return result < 0 ? (int)result : 0;
}

static long
take(struct serving *s, struct pipe *p, struct message_taken *what)
{
	return is_queue(p) ? queue_receive(s->t, s->client, p, what) :
		socket_receive(s->t, s->client, p, what);
}

static int
serve_read(struct serving *s, const struct description *d, struct pipe *p)
{
	struct message_taken what = {.to = s->out, .len = s->r->arg, .more = s->r->more};
	long result = take(s, p, &what);

	if (result == -FILE_LATER)
		return later(s, d, p, 0);
	if (result < 0)
		return (int)result;
	s->reply->count = s->out_bytes = what.done;
	s->reply->more = what.rest;
	return 0;
}

/* All bytes are the rest. */
static int
serve_receive(struct serving *s, const struct description *d, struct pipe *p)
{
	struct file_received out = {0};
	uint32_t flags = s->r->more;
	bool tells = !is_queue(p) && endpoint_of(s->t, p)->tells;
	struct message_taken what = {.more = s->r->arg, .is_peek = (flags & FILE_PEEK) != 0,
		.is_of_one = tells,
		.right = out.right, .rights_room = (flags & FILE_WITH_RIGHTS) != 0 ?
		FILE_RIGHTS_MAX : 0};
	long result = take(s, p, &what);

	if (result == -FILE_LATER)
		return later(s, d, p, flags);
	if (result < 0)
		return (int)result;
	s->reply->more = what.rest;
	s->reply->value = is_queue(p) ? what.priority : what.whole;
	out.name = what.name;
	out.pid = tells ? what.pid : 0;
	out.rights = what.rights;
	out.is_cut = p->type != PIPE_STREAM && what.whole > what.rest;
	put_out(s, &out, sizeof(out));
	return 0;
}

/* --- message queues --- */

static int
serve_queue_state(struct serving *s, const struct pipe *p)
{
	const struct file_queue out = {.messages = p->limit, .bytes = p->size,
		.count = p->message_count};

	put_out(s, &out, sizeof(out));
	return 0;
}

static int
serve_of_queue(struct serving *s, struct description *d, struct pipe *p)
{
	switch (s->r->op) {
	case FILE_QUEUE_STATE: return serve_queue_state(s, p);
	case FILE_QUEUE_NOTIFY: return queue_notify(s->t, s->client, p, (int32_t)s->r->arg,
		(int32_t)s->r->offset);
	case FILE_RECEIVE: return (d->flags & FILE_READABLE) != 0 ? serve_receive(s, d, p) :
		-E_BADF;
	case FILE_SEND: return (d->flags & FILE_WRITABLE) != 0 ? serve_out(s, d, p) : -E_BADF;
	case FILE_READ:
	case FILE_WRITE: return -E_INVAL;
	default: return -FILE_ENOTSOCK;
	}
}

int
serve_message(struct serving *s, struct description *d)
{
	struct pipe *p = d->is_pipe ? &s->t->pipe[d->object] : NULL;
	bool is_about_queues = s->r->op == FILE_QUEUE_STATE || s->r->op == FILE_QUEUE_NOTIFY;

	if (p != NULL && is_queue(p))
		return serve_of_queue(s, d, p);
	if (p == NULL || p->type < PIPE_STREAM || is_about_queues)
		return is_about_queues ? -E_BADF : -FILE_ENOTSOCK;
	switch (s->r->op) {
	case FILE_BIND: return serve_bind(s, p);
	case FILE_LISTEN: return socket_listen(s->t, p, s->r->arg, (int32_t)s->r->offset);
	case FILE_CONNECT: return serve_connect(s, d, p);
	case FILE_ACCEPT: return serve_accept(s, d, p);
	case FILE_SHUTDOWN: return s->r->arg < 1 || s->r->arg > 3 ? -E_INVAL :
		socket_shutdown(s->t, p, s->r->arg);
	case FILE_ENDPOINT: return serve_endpoint(s, p);
	case FILE_RECEIVE: return serve_receive(s, d, p);
	case FILE_READ: return serve_read(s, d, p);
	default: return serve_out(s, d, p);
	}
}
