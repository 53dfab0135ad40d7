/* SPDX-License-Identifier: MIT
 *
 * Requests: see protocol.h.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/cores.h>
#include <servers/file/locks.h>
#include <servers/file/messages.h>
#include <servers/file/operation.h>
#include <servers/file/places.h>

#define HOW_FLAGS (FILE_READABLE | FILE_WRITABLE | FILE_APPEND | FILE_NONBLOCK)

static bool
is_path(const struct serving *s)
{
	return str_len_max(s->path, FILE_PATH_MAX) < FILE_PATH_MAX;
}

/* May the node be opened so? */
static int
check_open(const struct node *n, uint32_t how)
{
	if ((how & FILE_DIRECTORY) != 0 && n->kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	if ((how & (FILE_WRITABLE | FILE_EMPTY)) != 0 && n->kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if ((how & (FILE_READABLE | FILE_WRITABLE | FILE_EMPTY)) == 0)
		return 0;
	return n->kind == FILE_KIND_SOCKET ? -FILE_ENXIO :
		n->kind == FILE_KIND_SYMLINK ? -FILE_ELOOP : 0;
}

/* The node that the path means, maybe a link itself. */
static int
find_meant(const struct serving *s)
{
	int n = tree_find(s->t, s->path);

	return n >= 0 && node_of(s->t, (uint32_t)n)->kind == FILE_KIND_SYMLINK &&
		last_of_path(s->r, 0) == LAST_FOLLOWED ? -FILE_LINKED : n;
}

/* The node to open: found, or made if there is none. */
static int
node_to_open(const struct serving *s)
{
	const struct file_request *r = s->r;
	int n;

	/* what is made is a file, and goes with its last handle: it must get one */
	if ((r->arg & FILE_NAMELESS) != 0)
		return (r->arg & FILE_DIRECTORY) != 0 ? -E_INVAL :
			tree_make_nameless(s->t, s->path, r->more);
	n = find_meant(s);
	if (n >= 0 && (r->arg & (FILE_CREATE | FILE_EXCLUSIVE)) == (FILE_CREATE | FILE_EXCLUSIVE))
		return -E_EXIST;
	return n == -E_NOENT && (r->arg & FILE_CREATE) != 0 ?
		tree_make(s->t, s->path, FILE_KIND_FILE, r->more) : n;
}

static int
serve_open(struct serving *s)
{
	struct tree *t = s->t;
	const struct file_request *r = s->r;
	struct description *d = description_find_free(t, 0);
	int n, result = handle_check_room(t, s->client, 1);

	if (!is_path(s))
		return -FILE_ENAMETOOLONG;
	if (result != 0 || d == NULL)
		return result != 0 ? result : -FILE_ENFILE;
	n = node_to_open(s);
	if (n < 0)
		return n;
	result = check_open(node_of(t, n), r->arg);
	if (result == 0 && (r->arg & FILE_EMPTY) != 0 &&
		node_of(t, n)->kind == FILE_KIND_FILE)
		result = node_resize(t, (uint32_t)n, 0);
	if (result != 0)
		return result;
	*d = (struct description){.object = (uint32_t)n, .flags = (uint16_t)(r->arg & HOW_FLAGS)};
	if (node_of(t, n)->kind == FILE_KIND_PIPE && (d->flags & (FILE_READABLE | FILE_WRITABLE)))
		result = pipe_open(t, s->client, (uint32_t)n, d);
	if (result != 0)
		return result;
	node_of(t, n)->opens++;
	s->reply->handle = handle_number(t, handle_open(t, s->client, d));
	file_describe(s, (uint32_t)n);
	return 0;
}

/* The entry of a directory at a position, which moves on behind it. 0; -E_NOENT: none is left. */
static int
entry_at(const struct tree *t, uint32_t dir, uint64_t *position, uint32_t *entry)
{
	uint64_t i = *position < t->nodes + 2 ? *position : t->nodes + 2;

	if (i < 2) {
		*entry = i == 0 ? dir : node_of(t, dir)->parent;
		*position = i + 1;
		return 0;
	}
	/* the root, node 0, has no entry: number n stands behind n others */
	for (i--; i < t->nodes; i++) {
		const struct node *n = node_of(t, i);

		if (n->kind == FILE_KIND_NONE || n->is_unlinked || n->parent != dir)
			continue;
		*entry = (uint32_t)i;
		*position = i + 2;
		return 0;
	}
	return -E_NOENT;
}

bool
file_put_entry(struct serving *s, const struct file_entry *e, const char *name, size_t len)
{
	uint32_t most = s->r->arg < FILE_DATA_MAX ? s->r->arg : (uint32_t)FILE_DATA_MAX;
	uint32_t bytes = ((uint32_t)(FILE_ENTRY_HEAD + len + 1) + 7) & ~7u;
	struct file_entry *to = (struct file_entry *)(void *)((char *)s->out + s->out_bytes);

	if (bytes > most - s->out_bytes)
		return false;
	*to = *e;
	to->bytes = (uint16_t)bytes;
	memcpy(to->name, name, len);
	memset(to->name + len, 0, bytes - FILE_ENTRY_HEAD - len);
	s->out_bytes += bytes;
	s->reply->count = s->out_bytes;
	s->reply->value = e->next;
	return true;
}

static bool
put_node(struct serving *s, uint64_t at, uint64_t next, uint32_t entry)
{
	const char *name = at == 0 ? "." : at == 1 ? ".." : node_of(s->t, entry)->name;
	uint32_t n = tree_node_of(s->t, entry);

	return file_put_entry(s, &(struct file_entry){.node = node_number(s->t, n), .next = next,
		.type = (uint8_t)(file_mode_of(node_of(s->t, n)->kind) >> MODE_KIND_SHIFT)},
		name, str_len(name));
}

static int
serve_list(struct serving *s, struct description *d)
{
	bool is_shared = s->r->offset == FILE_AT_OFFSET;
	uint64_t position = is_shared ? d->offset : s->r->offset, at = position;
	uint32_t entry;

	if (description_kind(s->t, d) != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	s->reply->value = position;
	while (entry_at(s->t, d->object, &position, &entry) == 0) {
		if (!put_node(s, at, position, entry)) {
			if (s->out_bytes == 0)
				return -E_INVAL;
			break;
		}
		at = position;
	}
	if (is_shared)
		d->offset = s->reply->value;
	return 0;
}

/* Of bytes that are to follow, those that are there, or for which there is room. */
static uint32_t
bytes_to_follow(const struct serving *s, const struct node *n, uint64_t end)
{
	uint64_t limit = s->r->op == FILE_READ && n->kind == FILE_KIND_FILE ? n->size :
		FILE_SIZE_MAX;
	uint64_t left = end < limit ? limit - end : 0;

	return left < s->r->more ? (uint32_t)left : s->r->more;
}

/* Bytes have been moved at `at`: the offset moves, and over those that are to follow, too. */
static void
move_on(struct serving *s, struct description *d, uint64_t at, uint32_t count)
{
	struct node *n = node_of(s->t, d->object);
	uint64_t end = at + count;

	s->reply->value = at;
	s->reply->count = count;
	if (count == s->r->arg)
		s->reply->more = bytes_to_follow(s, n, end);
	if (s->r->offset != FILE_AT_OFFSET)
		return;
	d->offset = end + s->reply->more;
	/* nobody else appends where these will be */
	if (s->r->op == FILE_WRITE && (d->flags & FILE_APPEND) != 0 && s->reply->more > 0)
		node_resize(s->t, d->object, d->offset);
}

/* What is written to some files is done, and is not in them. */
static long
write_node(struct serving *s, const struct description *d, uint64_t at)
{
	struct text text = {(const char *)s->data, s->r->arg};
	int32_t pid;

	if (d->object == s->t->cores)
		return cores_write(text);
	if (d->object == s->t->memory)
		return -E_ACCES;
	pid = ctl_of(s->t, d->object);
	return pid > 0 ? ctl_write(pid, client_from(s->client), text) :
		node_write(s->t, d->object, at, s->data, s->r->arg);
}

static int
serve_bytes(struct serving *s, struct description *d)
{
	const struct file_request *r = s->r;
	bool is_read = r->op == FILE_READ, is_shared = r->offset == FILE_AT_OFFSET;
	uint64_t at = !is_shared ? r->offset : !is_read && (d->flags & FILE_APPEND) != 0 ?
		node_of(s->t, d->object)->size : d->offset;
	long count;

	if (r->arg > FILE_DATA_MAX || at > INT64_MAX)
		return -E_INVAL;
	if (is_read)
		count = node_read(s->t, d->object, at, s->out, r->arg);
	else
		count = write_node(s, d, at);
	if (count < 0)
		return (int)count;
	if (is_read)
		s->out_bytes = (uint32_t)count;
	move_on(s, d, at, (uint32_t)count);
	return 0;
}

static int
serve_pipe(struct serving *s, struct description *d)
{
	struct pipe *p = &s->t->pipe[d->object];
	const struct file_request *r = s->r;
	struct pipe_taken taken = {.to = s->out, .len = r->arg, .more = r->more};
	long count;

	if (r->offset != FILE_AT_OFFSET)
		return -FILE_ESPIPE;
	if (r->arg > FILE_DATA_MAX)
		return -E_INVAL;
	count = r->op == FILE_READ ? pipe_read(s->t, p, s->client, &taken) :
		pipe_write(s->t, p, s->client, (struct pipe_put){s->data, r->arg});
	if (count == -FILE_LATER && d->object == PIPE_INPUT)
		input_want(r->more < PIPE_BYTES - r->arg ? r->arg + r->more : PIPE_BYTES);
	if (count == -FILE_LATER && (d->flags & FILE_NONBLOCK) != 0)
		return -E_AGAIN;
	if (count == -FILE_LATER)
		pipe_watch(p, r->op == FILE_READ ? PIPE_READ : PIPE_WRITE, s->client);
	if (count < 0)
		return (int)count;
	s->reply->count = (uint32_t)count;
	s->reply->more = taken.rest;
	if (r->op == FILE_READ)
		s->out_bytes = (uint32_t)count;
	return 0;
}

/* What the client's next write takes together with its own bytes. */
static int
serve_stage(struct serving *s)
{
	struct client_bytes *of = client_bytes(s->t, s->client);
	struct bytes *b = of != NULL ? &of->staged : NULL;
	int wrong = b == NULL ? -E_NOMEM : s->r->arg > FILE_DATA_MAX ? -E_INVAL :
		b->count + s->r->arg > FILE_STAGED_MAX ? -FILE_EMSGSIZE :
		bytes_put(s->t, b, s->data, s->r->arg) ? 0 : -E_NOMEM;

	if (wrong != 0 && b != NULL)
		bytes_drop(s->t, b);
	return wrong;
}

/* What of its last read had no room in the answer. */
static int
serve_rest(struct serving *s)
{
	struct client_bytes *of = client_bytes_there(s->t, s->client);
	struct bytes *b;

	if (s->r->arg > FILE_DATA_MAX)
		return -E_INVAL;
	if (of == NULL)
		return 0;
	b = &of->rest;
	s->out_bytes = s->reply->count = bytes_take(s->t, b, s->out, s->r->arg);
	s->reply->more = b->count;
	if (b->count == 0)
		bytes_drop(s->t, b);
	return 0;
}

static int
serve_contents(struct serving *s, struct description *d)
{
	uint32_t use = s->r->op == FILE_READ ? FILE_READABLE : FILE_WRITABLE;

	if (description_kind(s->t, d) == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if ((d->flags & use) == 0)
		return -E_BADF;
	if (s->r->op == FILE_RESIZE)
		return d->is_pipe ? -E_INVAL : node_resize(s->t, d->object, s->r->offset);
	if (d->is_pipe && pipe_is_event(&s->t->pipe[d->object]))
		return serve_event(s, d);
	if (d->is_pipe && s->r->arg <= FILE_DATA_MAX && s->r->offset == FILE_AT_OFFSET &&
		s->t->pipe[d->object].type != PIPE_PLAIN)
		return serve_message(s, d);
	return d->is_pipe ? serve_pipe(s, d) : serve_bytes(s, d);
}

static uint32_t
pages_of_file(const struct node *n)
{
	return (uint32_t)((n->size + SHARED_PAGE - 1) / SHARED_PAGE);
}

static int
serve_share(struct serving *s, const struct description *d)
{
	int result;

	if (d->is_host || description_kind(s->t, d) != FILE_KIND_FILE)
		return -FILE_ENODEV;
	result = node_share(s->t, d->object, client_from(s->client), s->r->offset);
	if (result == 0) {
		s->reply->value = node_of(s->t, d->object)->memory.key;
		s->reply->count = pages_of_file(node_of(s->t, d->object));
	}
	return result;
}

/* Who knows the key has mapped it. */
static int
serve_shared(const struct serving *s)
{
	for (uint32_t i = 1; i < s->t->nodes; i++) {
		const struct node *n = node_of(s->t, i);

		if (n->is_shared && n->memory.key == s->r->offset) {
			s->reply->count = pages_of_file(n);
			return 0;
		}
	}
	return -E_NOENT;
}

static int
serve_seek(struct serving *s, struct description *d)
{
	uint32_t from = s->r->arg;
	int64_t at = (int64_t)s->r->offset;
	uint64_t base;

	if (d->is_pipe)
		return -FILE_ESPIPE;
	base = from == FILE_FROM_OFFSET ? d->offset : from == FILE_FROM_END ?
		node_of(s->t, d->object)->size : 0;
	if (from > FILE_FROM_END || __builtin_add_overflow(at, (int64_t)base, &at) || at < 0)
		return -E_INVAL;
	s->reply->value = d->offset = (uint64_t)at;
	return 0;
}

static int
serve_flags(struct serving *s, struct description *d)
{
	uint32_t changes = s->r->more;

	if ((changes & ~(uint32_t)(FILE_APPEND | FILE_NONBLOCK)) != 0)
		return -E_INVAL;
	d->flags = (uint16_t)((d->flags & ~changes) | (s->r->arg & changes));
	s->reply->value = d->flags;
	return 0;
}

static int
serve_where(struct serving *s, const struct description *d)
{
	int bytes;

	if (description_kind(s->t, d) != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	bytes = d->is_host ? share_where(s->t, d, s->out) : node_path(s->t, d->object, s->out);
	if (bytes < 0)
		return bytes;
	s->reply->count = s->out_bytes = (uint32_t)bytes;
	return 0;
}

/* Who opens a pipe with a name waits until somebody has its other end. */
static int
serve_opened(const struct serving *s, const struct description *d)
{
	struct pipe *p = d->is_pipe ? &s->t->pipe[d->object] : NULL;

	if (p == NULL || (d->flags & FILE_NONBLOCK) != 0 || pipe_is_met(p, d))
		return 0;
	pipe_watch(p, end_of(d), s->client);
	return -FILE_LATER;
}

/* A request on a handle of a share that is not answered from what is known here. */
static bool
needs_host(const struct file_request *r)
{
	return r->op != FILE_CLOSE && r->op != FILE_SHARE && r->op != FILE_POLL &&
		r->op != FILE_WHERE && r->op != FILE_LOCK && r->op != FILE_ZIO_WRITE &&
		r->op != FILE_ZIO_READ && r->op != FILE_SET_FLAGS && r->op != FILE_OPENED &&
		(r->op != FILE_SEEK || r->arg == FILE_FROM_END);
}

static int
serve_handle(struct serving *s)
{
	struct handle *h = handle_find(s->t, s->client, s->r->handle);
	struct description *d;

	if (h == NULL)
		return handle_error(s->t, s->r->handle);
	if (h->description == DESCRIPTION_LOST && s->r->op != FILE_CLOSE)
		return -E_IO;
	d = &s->t->description[h->description];
	if (d->is_host && needs_host(s->r))
		return share_serve_open(s, d);
	switch (s->r->op) {
	case FILE_LOCK: return lock_serve(s, d);
	case FILE_CLOSE:
		locks_close(s->t, s->client, d);
		if (d->is_pipe && s->t->pipe[d->object].type == PIPE_QUEUE)
			queue_notify(s->t, s->client, &s->t->pipe[d->object], QUEUE_NOT_ANY_MORE,
				0);
		handle_close(s->t, h);
		return 0;
	case FILE_BIND:
	case FILE_LISTEN:
	case FILE_CONNECT:
	case FILE_ACCEPT:
	case FILE_SEND:
	case FILE_RECEIVE:
	case FILE_SHUTDOWN:
	case FILE_ENDPOINT:
	case FILE_QUEUE_STATE:
	case FILE_QUEUE_NOTIFY: return serve_message(s, d);
	case FILE_EVENT_SET:
	case FILE_LIST_CHANGE:
	case FILE_LIST_TAKE: return serve_event(s, d);
	case FILE_STAT_OPEN:
		file_describe_open(s, d);
		return 0;
	case FILE_SPACE_OPEN: return serve_space(s, d);
	case FILE_SET_TIME:
	case FILE_SET_MODE: return serve_status(s, d);
	case FILE_SHARE: return serve_share(s, d);
	case FILE_ZIO_WRITE:
	case FILE_ZIO_READ: return serve_zio_open(s, d);
	case FILE_POLL: return serve_poll(s, d);
	case FILE_LIST: return serve_list(s, d);
	case FILE_WHERE: return serve_where(s, d);
	case FILE_SYNC: return 0;
	case FILE_OPENED: return serve_opened(s, d);
	case FILE_SEEK: return serve_seek(s, d);
	case FILE_SET_FLAGS: return serve_flags(s, d);
	default: return serve_contents(s, d);
	}
}

/* The second of two texts is another path, or what a link is to say. */
static int
serve_two(const struct serving *s)
{
	const char *second = path_of_request(s, 1);
	int result = paths_check(s);

	if (result != 0)
		return result;
	if (s->r->op == FILE_RENAME)
		return tree_rename(s->t, s->path, second);
	if (s->r->op == FILE_SYMLINK)
		return second[0] == 0 ? -E_NOENT : tree_symlink(s->t, s->path, second);
	result = last_of_path(s->r, 0) == LAST_FOLLOWED ? find_meant(s) : 0;
	return result < 0 ? result : tree_link(s->t, s->path, second);
}

static int
serve_read_link(struct serving *s, uint32_t n)
{
	if (node_of(s->t, n)->kind != FILE_KIND_SYMLINK)
		return -E_INVAL;
	s->out_bytes = s->reply->count = (uint32_t)node_read(s->t, n, 0, s->out, FILE_DATA_MAX);
	return 0;
}

static int
serve_path(struct serving *s)
{
	const struct file_request *r = s->r;
	int n;

	if (!is_path(s))
		return -FILE_ENAMETOOLONG;
	if (r->op == FILE_REMOVE)
		return tree_remove(s->t, s->path, (r->arg & FILE_DIRECTORY) != 0);
	n = r->op != FILE_MAKE_DIRECTORY && r->op != FILE_MAKE_PIPE ? find_meant(s) :
		tree_make(s->t, s->path, r->op == FILE_MAKE_PIPE ? FILE_KIND_PIPE :
			FILE_KIND_DIRECTORY, r->more);
	if (n >= 0 && r->op == FILE_READ_LINK)
		return serve_read_link(s, (uint32_t)n);
	if (n >= 0 && r->op == FILE_SPACE)
		space_of_node(s, (uint32_t)n);
	else if (n >= 0)
		file_describe_all(s, (uint32_t)n);
	return n < 0 ? n : 0;
}

/* The numbers lie where the client can change them: these are copies. */
static int
serve_offer(struct serving *s)
{
	uint32_t numbers[FILE_OFFER_MAX], count = s->r->arg;

	if (count > FILE_OFFER_MAX)
		return -E_INVAL;
	memcpy(numbers, s->data, count * sizeof(numbers[0]));
	return offer_make(s->t, s->client, &(struct offer_what){numbers, count,
		(s->r->more & FILE_KEPT) != 0}, &s->reply->value);
}

static int
serve_claim(struct serving *s)
{
	int result = offer_claim(s->t, s->client, s->r->offset, s->out, &s->reply->count);

	if (result == 0)
		s->out_bytes = s->reply->count * (uint32_t)sizeof(struct file_claimed);
	return result;
}

static int
serve_new_pipe(struct serving *s)
{
	int result;

	if ((s->r->arg & ~(uint32_t)FILE_NONBLOCK) != 0)
		return -E_INVAL;
	result = pipe_make(s->t, s->client, s->r->arg, s->out);
	if (result == 0)
		s->out_bytes = 2 * (uint32_t)sizeof(struct file_claimed);
	return result;
}

/* Requests that name something which lies in memory. */
static int
serve_named(struct serving *s)
{
	int result = places_refer(s);

	if (result != 0)
		return result;
	if (s->t->show != NULL)
		s->t->show(s->t, s->client, s->r->op, s->path);
	switch (s->r->op) {
	case FILE_OPEN: return serve_open(s);
	case FILE_LINK:
	case FILE_SYMLINK:
	case FILE_RENAME: return serve_two(s);
	default: return serve_path(s);
	}
}

/*
 * The same of what is known of it so far. Paths lead on through links in memory, so that what they
 * name may be a host's after all; and two that seem to lie apart may not.
 */
static int
serve_in_memory(struct serving *s, int result)
{
	for (;;) {
		int changed;

		if (result == SHARE_MEMORY)
			result = serve_named(s);
		if (result != -FILE_LINKED && result != -FILE_EXDEV)
			return result;
		changed = links_follow(s);
		if (changed <= 0)
			return changed < 0 ? changed : result == -FILE_LINKED ? -FILE_ENOTDIR :
				result;
		result = share_serve_paths(s);
	}
}

/* Requests on what has no handle, and no name in the tree. */
static int
serve_others(struct serving *s)
{
	switch (s->r->op) {
	case FILE_SHARED: return serve_shared(s);
	case FILE_PIPE: return serve_new_pipe(s);
	case FILE_INPUT: return s->t->place.number > 0 ? -E_INVAL :
		input_open(s->t, s->client, &s->reply->handle);
	case FILE_OFFER: return serve_offer(s);
	case FILE_CLAIM: return serve_claim(s);
	case FILE_SOCKET: return serve_new_socket(s);
	case FILE_EVENT: return serve_new_event(s);
	case FILE_QUEUE:
	case FILE_QUEUE_REMOVE: return serve_queue(s);
	case FILE_STAGE: return serve_stage(s);
	case FILE_REST: return serve_rest(s);
	case FILE_ZIO_ALLOC:
	case FILE_ZIO_FREE:
	case FILE_ZIO_COUNT: return serve_zio(s);
	case FILE_WITHDRAW: return offer_withdraw(s->t, s->client, s->r->offset);
	default: return -E_INVAL;
	}
}

static int
serve(struct serving *s)
{
	struct client_bytes *of = client_bytes_there(s->t, s->client);

	if (s->r->op != FILE_REST && of != NULL)
		bytes_drop(s->t, &of->rest);
	switch (s->r->op) {
	case FILE_OPEN:
	case FILE_STAT:
	case FILE_SPACE:
	case FILE_REMOVE:
	case FILE_MAKE_DIRECTORY:
	case FILE_MAKE_PIPE:
	case FILE_LINK:
	case FILE_SYMLINK:
	case FILE_READ_LINK:
	case FILE_RENAME: return serve_in_memory(s, share_serve_paths(s));
	case FILE_CLOSE:
	case FILE_READ:
	case FILE_WRITE:
	case FILE_STAT_OPEN:
	case FILE_SPACE_OPEN:
	case FILE_RESIZE:
	case FILE_LIST:
	case FILE_WHERE:
	case FILE_SET_TIME:
	case FILE_SET_MODE:
	case FILE_SEEK:
	case FILE_SHARE:
	case FILE_ZIO_WRITE:
	case FILE_ZIO_READ:
	case FILE_BIND:
	case FILE_LISTEN:
	case FILE_CONNECT:
	case FILE_ACCEPT:
	case FILE_SEND:
	case FILE_RECEIVE:
	case FILE_SHUTDOWN:
	case FILE_ENDPOINT:
	case FILE_QUEUE_STATE:
	case FILE_QUEUE_NOTIFY:
	case FILE_EVENT_SET:
	case FILE_LIST_CHANGE:
	case FILE_LIST_TAKE:
	case FILE_POLL:
	case FILE_SYNC:
	case FILE_OPENED:
	case FILE_LOCK:
	case FILE_SET_FLAGS: return serve_handle(s);
	default: return serve_others(s);
	}
}
/*
 * The copy of a request: of its paths as much as came, and zero bytes that end them. 0; -E_INVAL:
 * the head is not whole, or bytes are to be written that did not come.
 */
static int
request_copy(struct file_request *r, char *to, const void *request, uint32_t bytes)
{
	uint32_t path;

	if (bytes < FILE_HEAD)
		return -E_INVAL;
	memcpy(r, request, FILE_HEAD);
	path = bytes - (uint32_t)FILE_HEAD;
	if (r->op == FILE_WRITE || r->op == FILE_STAGE)
		return r->arg > path ? -E_INVAL : 0;
	if (r->op == FILE_OFFER)
		return r->arg > path / sizeof(uint32_t) ? -E_INVAL : 0;
	if (path > FILE_PATH_MAX)
		path = FILE_PATH_MAX;
	memcpy(to, (const char *)request + FILE_HEAD, path);
	to[path] = to[path + 1] = 0;
	return 0;
}

/* A request that was put off, of which the operation has a copy. */
static int
go_on(struct serving *s, struct file_request *r)
{
	struct operation *o = s->t->operation[s->client];
	int result;

	*r = *share_request(o);
	result = share_go_on(s, o);
	return result == SHARE_MEMORY ? serve_in_memory(s, result) : result;
}

uint32_t
file_serve(struct tree *t, uint32_t client, const void *request, uint32_t bytes, void *answer)
{
	char path[FILE_PATH_MAX + 2];
	struct file_request r;
	struct file_reply reply = {0};
	struct serving s = {.t = t, .client = client, .r = &r, .path = path, .reply = &reply,
		.data = (const char *)request + FILE_HEAD,
		.data_bytes = bytes > FILE_HEAD ? bytes - (uint32_t)FILE_HEAD : 0,
		.out = (char *)answer + FILE_HEAD};

	r.op = 0;
	if (t->operation[client] != NULL) {
		reply.error = go_on(&s, &r);
	} else {
		reply.error = request_copy(&r, path, request, bytes);
		if (reply.error == 0)
			reply.error = serve(&s);
	}
	sockets_settle(t);
	if (reply.error == SHARE_LATER)
		return FILE_PUT_OFF;
	if (r.op != FILE_STAGE && client_bytes_there(t, client) != NULL)
		bytes_drop(t, &client_bytes_there(t, client)->staged);
	memcpy(answer, &reply, sizeof(reply));
	return (uint32_t)FILE_HEAD + s.out_bytes;
}
