/* SPDX-License-Identifier: MIT
 *
 * Requests: see protocol.h. A handle's number is its entry's and the life of that.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

#define HANDLE_BITS 9

_Static_assert(HANDLES_MAX == 1 << HANDLE_BITS, "entries that a number can name");

static struct handle *
handle_of(struct tree *t, const struct mail_sender *from, uint32_t number)
{
	struct handle *h = &t->handle[number & (HANDLES_MAX - 1)];

	if (!h->is_open || h->owner.cluster != from->cluster || h->owner.badge != from->badge)
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
file_forget(struct tree *t, uint32_t cluster, uint32_t badge)
{
	for (uint32_t i = 0; i < HANDLES_MAX; i++) {
		const struct mail_sender *owner = &t->handle[i].owner;

		if (t->handle[i].is_open && owner->cluster == cluster &&
			(badge == 0 || owner->badge == badge))
			handle_close(t, &t->handle[i]);
	}
}

static bool
is_path(const struct file_request *r)
{
	return str_len_max(r->data, FILE_DATA_MAX) < FILE_DATA_MAX;
}

static void
file_describe(const struct tree *t, uint32_t n, struct file_reply *reply)
{
	reply->kind = t->node[n].kind;
	reply->value = t->node[n].size;
	reply->node = n + 1;
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
	int n = tree_find(t, r->data);

	if (n >= 0 && (r->arg & (FILE_CREATE | FILE_EXCLUSIVE)) == (FILE_CREATE | FILE_EXCLUSIVE))
		return -E_EXIST;
	return n == -E_NOENT && (r->arg & FILE_CREATE) != 0 ?
		tree_make(t, r->data, FILE_KIND_FILE) : n;
}

static int
serve_open(struct tree *t, const struct mail_sender *from, const struct file_request *r,
	struct file_reply *reply)
{
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
	t->handle[i] = (struct handle){(uint32_t)n, *from, t->handle[i].life + 1, true,
		(r->arg & FILE_WRITABLE) != 0};
	t->handles++;
	t->node[n].opens++;
	reply->handle = (t->handle[i].life << HANDLE_BITS) | i;
	file_describe(t, (uint32_t)n, reply);
	return 0;
}

static int
serve_list(const struct tree *t, uint32_t dir, uint64_t position, struct file_reply *reply)
{
	if (t->node[dir].kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	for (uint64_t i = position < 1 ? 1 : position; i < NODES_MAX; i++) {
		const struct node *n = &t->node[i];

		if (n->kind == FILE_KIND_NONE || n->is_unlinked || n->parent != dir)
			continue;
		file_describe(t, (uint32_t)i, reply);
		reply->value = i + 1;
		str_copy(reply->data, sizeof(reply->data), n->name);
		return 0;
	}
	return -E_NOENT;
}

static int
serve_contents(struct tree *t, const struct handle *h, const struct file_request *r,
	struct file_reply *reply)
{
	long count;

	if (t->node[h->node].kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if (r->op != FILE_READ && !h->is_writable)
		return -E_BADF;
	if (r->op == FILE_RESIZE)
		return node_resize(t, h->node, r->offset);
	if (r->arg > FILE_DATA_MAX)
		return -E_INVAL;
	if (r->op == FILE_READ)
		count = node_read(t, h->node, r->offset, reply->data, r->arg);
	else
		count = node_write(t, h->node, r->offset, r->data, r->arg);
	if (count < 0)
		return (int)count;
	reply->value = (uint64_t)count;
	return 0;
}

static int
serve_handle(struct tree *t, const struct mail_sender *from, const struct file_request *r,
	struct file_reply *reply)
{
	struct handle *h = handle_of(t, from, r->handle);

	if (h == NULL)
		return -E_BADF;
	switch (r->op) {
	case FILE_CLOSE:
		handle_close(t, h);
		return 0;
	case FILE_STAT_OPEN:
		file_describe(t, h->node, reply);
		return 0;
	case FILE_LIST:
		return serve_list(t, h->node, r->offset, reply);
	default:
		return serve_contents(t, h, r, reply);
	}
}

static int
serve_rename(struct tree *t, const struct file_request *r)
{
	size_t first = str_len_max(r->data, FILE_DATA_MAX), second;

	if (first >= FILE_DATA_MAX - 1)
		return -FILE_ENAMETOOLONG;
	second = str_len_max(r->data + first + 1, FILE_DATA_MAX - first - 1);
	if (second == FILE_DATA_MAX - first - 1)
		return -FILE_ENAMETOOLONG;
	return tree_rename(t, r->data, r->data + first + 1);
}

static int
serve_path(struct tree *t, const struct file_request *r, struct file_reply *reply)
{
	int n;

	if (!is_path(r))
		return -FILE_ENAMETOOLONG;
	if (r->op == FILE_REMOVE)
		return tree_remove(t, r->data, (r->arg & FILE_DIRECTORY) != 0);
	n = r->op == FILE_STAT ? tree_find(t, r->data) : tree_make(t, r->data, FILE_KIND_DIRECTORY);
	if (n >= 0)
		file_describe(t, (uint32_t)n, reply);
	return n < 0 ? n : 0;
}

static int
serve(struct tree *t, const struct mail_sender *from, const struct file_request *r,
	struct file_reply *reply)
{
	switch (r->op) {
	case FILE_OPEN: return serve_open(t, from, r, reply);
	case FILE_CLOSE:
	case FILE_READ:
	case FILE_WRITE:
	case FILE_STAT_OPEN:
	case FILE_RESIZE:
	case FILE_LIST: return serve_handle(t, from, r, reply);
	case FILE_STAT:
	case FILE_REMOVE:
	case FILE_MAKE_DIRECTORY: return serve_path(t, r, reply);
	case FILE_RENAME: return serve_rename(t, r);
	default: return -E_INVAL;
	}
}

bool
file_serve(struct tree *t, const struct mail_sender *from, const struct file_request *request,
	struct file_reply *reply)
{
	*reply = (struct file_reply){.magic = FILE_MAGIC, .id = request->id, .error = -E_INVAL};
	if (request->magic != FILE_MAGIC)
		return true;
	if (request->op == FILE_FORGET) {
		if (from->badge == BADGE_INIT &&
			(from->cluster == FILE_CLUSTER || from->cluster == request->arg))
			file_forget(t, request->arg, request->handle);
		return false;
	}
	reply->error = serve(t, from, request, reply);
	return true;
}
