/* SPDX-License-Identifier: MIT
 *
 * Requests: see protocol.h. A handle's number is its entry's and the life of that.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

#define HANDLE_BITS 9

_Static_assert(HANDLES_MAX == 1 << HANDLE_BITS, "entries that a number can name");

/*
 * A request that is served. The head is a copy, and so is the path; the bytes of a file lie where
 * the client can change them.
 */
struct serving {
	struct tree *t;
	uint32_t client;
	const struct file_request *r;
	const void *data;		/* FILE_WRITE */
	struct file_reply *reply;
	void *out;			/* FILE_DATA_MAX bytes behind the answer's head */
	uint32_t out_bytes;		/* of them that are used */
};

static struct handle *
handle_of(const struct serving *s)
{
	uint32_t number = s->r->handle;
	struct handle *h = &s->t->handle[number & (HANDLES_MAX - 1)];

	if (!h->is_open || h->owner != s->client)
		return NULL;
	return (h->life & (UINT32_MAX >> HANDLE_BITS)) == number >> HANDLE_BITS ? h : NULL;
}

static void
handle_close(struct tree *t, struct handle *h)
{
	h->is_open = false;
	t->handles--;
	t->node[h->node].opens--;
	node_settle(t, h->node);
}

void
file_forget(struct tree *t, uint32_t client)
{
	for (uint32_t i = 0; i < HANDLES_MAX; i++)
		if (t->handle[i].is_open && t->handle[i].owner == client)
			handle_close(t, &t->handle[i]);
}

static bool
is_path(const struct file_request *r)
{
	return str_len_max(r->path, FILE_PATH_MAX) < FILE_PATH_MAX;
}

static void
file_describe(const struct serving *s, uint32_t n)
{
	s->reply->kind = s->t->node[n].kind;
	s->reply->value = s->t->node[n].size;
	s->reply->node = n + 1;
}

/* May the node be opened so? */
static int
check_open(const struct node *n, uint32_t how)
{
	if ((how & FILE_DIRECTORY) != 0 && n->kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	if ((how & (FILE_WRITABLE | FILE_EMPTY)) != 0 && n->kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	return 0;
}

/* The node to open: found, or made if there is none. */
static int
node_to_open(struct tree *t, const struct file_request *r)
{
	int n = tree_find(t, r->path);

	if (n >= 0 && (r->arg & (FILE_CREATE | FILE_EXCLUSIVE)) == (FILE_CREATE | FILE_EXCLUSIVE))
		return -E_EXIST;
	return n == -E_NOENT && (r->arg & FILE_CREATE) != 0 ?
		tree_make(t, r->path, FILE_KIND_FILE) : n;
}

static int
serve_open(struct serving *s)
{
	struct tree *t = s->t;
	const struct file_request *r = s->r;
	uint32_t i = 0;
	int n, result;

	if (!is_path(r))
		return -FILE_ENAMETOOLONG;
	while (i < HANDLES_MAX && t->handle[i].is_open)
		i++;
	if (i == HANDLES_MAX)
		return -E_MFILE;
	n = node_to_open(t, r);
	if (n < 0)
		return n;
	result = check_open(&t->node[n], r->arg);
	if (result == 0 && (r->arg & FILE_EMPTY) != 0)
		result = node_resize(t, (uint32_t)n, 0);
	if (result != 0)
		return result;
	t->handle[i] = (struct handle){(uint32_t)n, s->client, t->handle[i].life + 1, true,
		(r->arg & FILE_WRITABLE) != 0};
	t->handles++;
	t->node[n].opens++;
	s->reply->handle = (t->handle[i].life << HANDLE_BITS) | i;
	file_describe(s, (uint32_t)n);
	return 0;
}

static int
serve_list(struct serving *s, uint32_t dir)
{
	uint64_t position = s->r->offset;

	if (s->t->node[dir].kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	for (uint64_t i = position < 1 ? 1 : position; i < NODES_MAX; i++) {
		const struct node *n = &s->t->node[i];

		if (n->kind == FILE_KIND_NONE || n->is_unlinked || n->parent != dir)
			continue;
		file_describe(s, (uint32_t)i);
		s->reply->value = i + 1;
		s->out_bytes = (uint32_t)str_len(n->name) + 1;
		memcpy(s->out, n->name, s->out_bytes);
		return 0;
	}
	return -E_NOENT;
}

static int
serve_contents(struct serving *s, const struct handle *h)
{
	const struct file_request *r = s->r;
	long count;

	if (s->t->node[h->node].kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if (r->op != FILE_READ && !h->is_writable)
		return -E_BADF;
	if (r->op == FILE_RESIZE)
		return node_resize(s->t, h->node, r->offset);
	if (r->arg > FILE_DATA_MAX)
		return -E_INVAL;
	if (r->op == FILE_READ)
		count = node_read(s->t, h->node, r->offset, s->out, r->arg);
	else
		count = node_write(s->t, h->node, r->offset, s->data, r->arg);
	if (count < 0)
		return (int)count;
	s->reply->value = (uint64_t)count;
	if (r->op == FILE_READ)
		s->out_bytes = (uint32_t)count;
	return 0;
}

static int
serve_handle(struct serving *s)
{
	struct handle *h = handle_of(s);

	if (h == NULL)
		return -E_BADF;
	switch (s->r->op) {
	case FILE_CLOSE:
		handle_close(s->t, h);
		return 0;
	case FILE_STAT_OPEN:
		file_describe(s, h->node);
		return 0;
	case FILE_LIST:
		return serve_list(s, h->node);
	default:
		return serve_contents(s, h);
	}
}

static int
serve_rename(struct tree *t, const struct file_request *r)
{
	size_t first = str_len_max(r->path, FILE_PATH_MAX), second;

	if (first >= FILE_PATH_MAX - 1)
		return -FILE_ENAMETOOLONG;
	second = str_len_max(r->path + first + 1, FILE_PATH_MAX - first - 1);
	if (second == FILE_PATH_MAX - first - 1)
		return -FILE_ENAMETOOLONG;
	return tree_rename(t, r->path, r->path + first + 1);
}

static int
serve_path(struct serving *s)
{
	const struct file_request *r = s->r;
	int n;

	if (!is_path(r))
		return -FILE_ENAMETOOLONG;
	if (r->op == FILE_REMOVE)
		return tree_remove(s->t, r->path, (r->arg & FILE_DIRECTORY) != 0);
	n = r->op == FILE_STAT ? tree_find(s->t, r->path) :
		tree_make(s->t, r->path, FILE_KIND_DIRECTORY);
	if (n >= 0)
		file_describe(s, (uint32_t)n);
	return n < 0 ? n : 0;
}

static int
serve(struct serving *s)
{
	switch (s->r->op) {
	case FILE_OPEN: return serve_open(s);
	case FILE_CLOSE:
	case FILE_READ:
	case FILE_WRITE:
	case FILE_STAT_OPEN:
	case FILE_RESIZE:
	case FILE_LIST: return serve_handle(s);
	case FILE_STAT:
	case FILE_REMOVE:
	case FILE_MAKE_DIRECTORY: return serve_path(s);
	case FILE_RENAME: return serve_rename(s->t, s->r);
	default: return -E_INVAL;
	}
}

/*
 * The copy of a request: of its path as much as came, and nothing behind it. 0; -E_INVAL: the head
 * is not whole, or bytes are to be written that did not come.
 */
static int
request_copy(struct file_request *r, const void *request, uint32_t bytes)
{
	uint32_t path;

	if (bytes < FILE_HEAD)
		return -E_INVAL;
	memcpy(r, request, FILE_HEAD);
	path = bytes - (uint32_t)FILE_HEAD;
	if (r->op == FILE_WRITE)
		return r->arg > path ? -E_INVAL : 0;
	if (path > FILE_PATH_MAX)
		path = FILE_PATH_MAX;
	memcpy(r->path, (const char *)request + FILE_HEAD, path);
	memset(r->path + path, 0, FILE_PATH_MAX - path);
	return 0;
}

uint32_t
file_serve(struct tree *t, uint32_t client, const void *request, uint32_t bytes, void *answer)
{
	struct file_request r;
	struct file_reply reply = {0};
	struct serving s = {.t = t, .client = client, .r = &r, .reply = &reply,
		.data = (const char *)request + FILE_HEAD, .out = (char *)answer + FILE_HEAD};

	reply.error = request_copy(&r, request, bytes);
	if (reply.error == 0)
		reply.error = serve(&s);
	memcpy(answer, &reply, sizeof(reply));
	return (uint32_t)FILE_HEAD + s.out_bytes;
}
