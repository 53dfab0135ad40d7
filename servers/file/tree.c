/* SPDX-License-Identifier: MIT
 *
 * Names: see tree.h.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

bool
tree_init(struct tree *t)
{
	struct lasting *l = t->lasting;
	bool was_there = l->is_begun;

	t->table[0] = l->first;
	t->life = 1;
	t->description[DESCRIPTION_LOST].handles = 1;
	t->pipe[PIPE_INPUT] = (struct pipe){.ends = {0, 1}, .maker = CLIENTS_MAX};
	if (!was_there) {
		memset(l, 0, sizeof(*l));
		l->nodes = TABLE_NODES;
		l->first[ROOT].kind = FILE_KIND_DIRECTORY;
		l->first[ROOT].mode = FILE_MODE_FIRST;
	}
	tree_take_up(t);
	return was_there;
}

void
tree_begun(struct tree *t)
{
	stored();
	t->lasting->is_begun = true;
}

/* The next name of a path: its start, *len and *rest behind it. NULL: none is left. */
static const char *
next_name(const char *path, size_t *len, const char **rest)
{
	while (*path == '/')
		path++;
	for (*len = 0; path[*len] != 0 && path[*len] != '/'; ++*len)
		continue;
	*rest = path + *len;
	return *len > 0 ? path : NULL;
}

static bool
is_name(const struct node *n, const char *name, size_t len)
{
	return memcmp(n->name, name, len) == 0 && n->name[len] == 0;
}

static bool
is_dot_dot(const char *name, size_t len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

/* The entry of a directory, or -E_NOENT: of a node, or a link to one. */
static int
entry_in(const struct tree *t, uint32_t dir, const char *name, size_t len)
{
	if (len > FILE_NAME_MAX)
		return -FILE_ENAMETOOLONG;
	if (len == 1 && name[0] == '.')
		return (int)dir;
	if (is_dot_dot(name, len))
		return (int)node_of(t, dir)->parent;
	for (uint32_t i = 0; i < t->nodes; i += TABLE_NODES) {
		const struct node *first = node_of(t, i);

		/* the root, whose name is empty, is none */
		for (const struct node *n = first; n < first + TABLE_NODES; n++)
			if (n->parent == dir && n->kind != FILE_KIND_NONE && !n->is_unlinked &&
				is_name(n, name, len))
				return (int)(i + (uint32_t)(n - first));
	}
	return -E_NOENT;
}

/* The node that an entry stands for. */
static int
find_in(const struct tree *t, uint32_t dir, const char *name, size_t len)
{
	int n = entry_in(t, dir, name, len);

	return n < 0 ? n : (int)tree_node_of(t, (uint32_t)n);
}

/* What is no directory is in the place of one. */
static int
no_directory(const struct node *n)
{
	return n->kind == FILE_KIND_SYMLINK ? -FILE_LINKED : -FILE_ENOTDIR;
}

/*
 * Where a path leads: the directory of its last name, and that name (len 0: the path is the root).
 */
struct place {
	uint32_t dir;
	const char *name;
	size_t len;
};

static int
walk(const struct tree *t, const char *path, struct place *p)
{
	const char *rest = path, *name;
	size_t len;

	if (path[0] == 0)
		return -E_NOENT;
	*p = (struct place){.dir = ROOT};
	while ((name = next_name(rest, &len, &rest)) != NULL) {
		if (p->len > 0) {
			int dir = find_in(t, p->dir, p->name, p->len);

			if (dir < 0)
				return dir;
			p->dir = (uint32_t)dir;
		}
		if (node_of(t, p->dir)->kind != FILE_KIND_DIRECTORY)
			return no_directory(node_of(t, p->dir));
		p->name = name;
		p->len = len;
	}
	return 0;
}

int
tree_find(const struct tree *t, const char *path)
{
	struct place p;
	int result = walk(t, path, &p);

	if (result != 0)
		return result;
	result = p.len == 0 ? ROOT : find_in(t, p.dir, p.name, p.len);
	if (result >= 0 && path[str_len(path) - 1] == '/' &&
		node_of(t, result)->kind != FILE_KIND_DIRECTORY)
		return no_directory(node_of(t, result));
	return result;
}

uint32_t
tree_find_link(const struct tree *t, const char *path, enum last_name last, uint32_t span[2])
{
	const char *rest = path, *name;
	bool is_last, has_slash;
	int n = ROOT;
	size_t len;

	while (n >= 0 && node_of(t, (uint32_t)n)->kind == FILE_KIND_DIRECTORY &&
		(name = next_name(rest, &len, &rest)) != NULL) {
		n = find_in(t, (uint32_t)n, name, len);
		span[0] = (uint32_t)(name - path);
		span[1] = (uint32_t)(rest - path);
	}
	if (n < 0 || node_of(t, (uint32_t)n)->kind != FILE_KIND_SYMLINK)
		return 0;
	has_slash = *rest == '/';
	is_last = next_name(rest, &len, &rest) == NULL;
	return is_last && (last == LAST_IN_DIRECTORY || (last == LAST_ITSELF && !has_slash)) ?
		0 : (uint32_t)n;
}

int
tree_enter(const struct tree *t, const char *path, uint32_t *base)
{
	const char *rest = path, *name;
	int n = ROOT, part = -1;
	size_t len;

	while ((name = next_name(rest, &len, &rest)) != NULL) {
		bool is_dot = len == 1 && name[0] == '.';

		/* a server that has a part need not be asked what is above that */
		if (part >= 0 && (part < SHARES_MAX || (!is_dot && !is_dot_dot(name, len))))
			break;
		n = find_in(t, (uint32_t)n, name, len);
		if (n < 0 || node_of(t, (uint32_t)n)->kind != FILE_KIND_DIRECTORY)
			break;
		if (part >= 0 && is_dot)
			continue;
		part = node_of(t, (uint32_t)n)->share - 1;
		*base = (uint32_t)(rest - path);
	}
	return part;
}

bool
tree_leaves(const struct tree *t, uint32_t dir, const char *path, uint32_t *end)
{
	const char *rest = path, *name;
	int n = (int)dir;
	size_t len;

	while (n >= 0 && node_of(t, (uint32_t)n)->kind == FILE_KIND_DIRECTORY &&
		(name = next_name(rest, &len, &rest)) != NULL) {
		*end = (uint32_t)(rest - path);
		if ((uint32_t)n == dir && is_dot_dot(name, len))
			return true;
		n = find_in(t, (uint32_t)n, name, len);
	}
	return false;
}

int
node_path(const struct tree *t, uint32_t dir, char *to)
{
	uint32_t at = FILE_PATH_MAX - 1;

	to[at] = 0;
	to[--at] = '/';
	for (uint32_t n = dir; n != ROOT; n = node_of(t, n)->parent) {
		uint32_t len = (uint32_t)str_len(node_of(t, n)->name);

		if (node_of(t, n)->is_unlinked)
			return -E_NOENT;
		if (len + 1 > at)
			return -FILE_ENAMETOOLONG;
		at -= len;
		memcpy(to + at, node_of(t, n)->name, len);
		to[--at] = '/';
	}
	memmove(to, to + at, FILE_PATH_MAX - at);
	return (int)(FILE_PATH_MAX - at);
}

static bool
is_dots(const struct place *p)
{
	return p->len == 0 || (p->name[0] == '.' && p->len == 1) || is_dot_dot(p->name, p->len);
}

static void
note_change(struct tree *t, uint32_t dir)
{
	node_save(t, dir);
	node_of(t, dir)->modified = time_now();
}

static void
name_node(struct node *n, const struct place *p)
{
	memcpy(n->name, p->name, p->len);
	n->name[p->len] = 0;
	n->parent = p->dir;
}

/* A free node, its number; -E_NOSPC: there are as many as there may be, or the memory ends. */
static int
node_find_free(struct tree *t)
{
	for (uint32_t i = 1; i < t->nodes; i++)
		if (node_of(t, i)->kind == FILE_KIND_NONE)
			return (int)i;
	return nodes_add(t) ? (int)(t->nodes - TABLE_NODES) : -E_NOSPC;
}

/* A node that has the kind, the mode and the contents of this one. */
static int
node_make(struct tree *t, const char *path, struct node as)
{
	struct place p;
	int result = walk(t, path, &p);

	if (result != 0)
		return result;
	result = is_dots(&p) ? -E_EXIST : find_in(t, p.dir, p.name, p.len);
	if (result != -E_NOENT)
		return result >= 0 ? -E_EXIST : result;
	if (as.kind != FILE_KIND_DIRECTORY && path[str_len(path) - 1] == '/')
		return as.kind == FILE_KIND_FILE ? -FILE_EISDIR : -E_NOENT;
	if (node_of(t, p.dir)->is_unlinked)
		return -E_NOENT;
	if (node_of(t, p.dir)->is_shown && !t->is_showing)
		return -E_ACCES;
	result = node_find_free(t);
	if (result < 0)
		return result;
	node_save(t, (uint32_t)result);
	as.modified = time_now();
	as.life = t->lasting->lives++;
	as.is_shown = t->is_showing;
	name_node(&as, &p);
	*node_of(t, (uint32_t)result) = as;
	note_change(t, p.dir);
	tree_commit(t);
	return result;
}

int
tree_make(struct tree *t, const char *path, enum file_kind kind, uint32_t mode)
{
	return node_make(t, path, (struct node){.kind = (uint8_t)kind,
		.mode = mode & FILE_MODE_BITS});
}

/* What it says lies in a block before there is a link. */
int
tree_symlink(struct tree *t, const char *path, const char *to)
{
	struct node link = {.kind = FILE_KIND_SYMLINK, .mode = 0777, .size = str_len(to)};
	struct block *b = block_take(t);
	int n;

	if (b == NULL)
		return -E_NOSPC;
	memcpy(b->data, to, (size_t)link.size);
	stored();
	link.first = block_number(t, b);
	n = node_make(t, path, link);
	if (n < 0)
		contents_free(t, link.first);
	return n < 0 ? n : 0;
}

int
tree_make_nameless(struct tree *t, const char *path, uint32_t mode)
{
	int dir = tree_find(t, path), made;

	if (dir < 0)
		return dir;
	if (node_of(t, (uint32_t)dir)->kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	if (node_of(t, (uint32_t)dir)->is_shown)
		return -E_ACCES;
	made = node_find_free(t);
	if (made < 0)
		return made;
	node_save(t, (uint32_t)made);
	*node_of(t, (uint32_t)made) = (struct node){.kind = FILE_KIND_FILE, .is_unlinked = true,
		.mode = mode & FILE_MODE_BITS, .modified = time_now(), .parent = (uint32_t)dir,
		.life = t->lasting->lives++};
	tree_commit(t);
	return made;
}

int
tree_link(struct tree *t, const char *from, const char *to)
{
	struct place q;
	int n = tree_find(t, from), result = n < 0 ? n : walk(t, to, &q);

	if (result != 0)
		return result;
	if (node_of(t, n)->kind == FILE_KIND_DIRECTORY)
		return -E_PERM;
	result = is_dots(&q) ? -E_EXIST : entry_in(t, q.dir, q.name, q.len);
	if (result != -E_NOENT)
		return result >= 0 ? -E_EXIST : result;
	if (to[str_len(to) - 1] == '/' || node_of(t, q.dir)->is_unlinked)
		return -E_NOENT;
	if (node_of(t, n)->is_shown || node_of(t, q.dir)->is_shown)
		return -E_ACCES;
	result = node_find_free(t);
	if (result < 0)
		return result;
	node_save(t, (uint32_t)result);
	node_save(t, (uint32_t)n);
	*node_of(t, result) = (struct node){.kind = FILE_KIND_LINK, .target = (uint32_t)n};
	name_node(node_of(t, result), &q);
	node_of(t, n)->links++;
	note_change(t, q.dir);
	tree_commit(t);
	return 0;
}

static bool
is_empty(const struct tree *t, uint32_t dir)
{
	for (uint32_t i = 1; i < t->nodes; i++)
		if (node_of(t, i)->kind != FILE_KIND_NONE && !node_of(t, i)->is_unlinked &&
			node_of(t, i)->parent == dir)
			return false;
	return true;
}

/* A link gives its name to the node, which has lost its own. */
static void
name_as_link(struct tree *t, uint32_t n)
{
	struct node *node = node_of(t, n), *link;
	uint32_t i = 1;

	while (node_of(t, i)->kind != FILE_KIND_LINK || node_of(t, i)->target != n)
		i++;
	link = node_of(t, i);
	node_save(t, i);
	memcpy(node->name, link->name, sizeof(node->name));
	node->parent = link->parent;
	node->is_renamed = true;
	node->links--;
	*link = (struct node){0};
}

/* An entry goes, and with the last one of a node its name. */
static void
unlink_entry(struct tree *t, uint32_t n)
{
	struct node *node = node_of(t, n);

	note_change(t, node->parent);
	node_save(t, n);
	if (node->kind == FILE_KIND_LINK) {
		node_save(t, node->target);
		node_of(t, node->target)->links--;
		*node = (struct node){0};
	} else if (node->links > 0) {
		name_as_link(t, n);
	} else {
		node->is_unlinked = true;
		node_end(t, n);
	}
}

/* Is `dir` the node itself or below it? */
static bool
is_within(const struct tree *t, uint32_t dir, uint32_t n)
{
	while (dir != n && dir != ROOT)
		dir = node_of(t, dir)->parent;
	return dir == n;
}

/* Does what a server has begin there, or below it? Others know where that is. */
static bool
holds_place(const struct tree *t, uint32_t n)
{
	bool holds = t->place.number != 0 && is_within(t, t->place.node, n);

	for (uint32_t i = 1; t->place.count > 0 && i < t->nodes && !holds; i++)
		holds = node_of(t, i)->kind != FILE_KIND_NONE &&
			node_of(t, i)->share > SHARES_MAX && is_within(t, i, n);
	return holds;
}

/* The change is not done yet. */
static int
remove_path(struct tree *t, const char *path, bool is_directory)
{
	struct place p;
	int n = tree_find(t, path);

	if (n < 0)
		return n;
	if (walk(t, path, &p) != 0 || is_dots(&p))
		return is_directory ? (n == ROOT ? -E_BUSY : -E_INVAL) : -FILE_EISDIR;
	if (node_of(t, n)->is_shown)
		return -E_ACCES;
	if ((node_of(t, n)->kind == FILE_KIND_DIRECTORY) != is_directory)
		return is_directory ? -FILE_ENOTDIR : -FILE_EISDIR;
	/* no place of a server is empty where the leader's is asked */
	if ((uint32_t)n == t->place.node && n != ROOT)
		return -E_BUSY;
	if (is_directory && !is_empty(t, (uint32_t)n))
		return -FILE_ENOTEMPTY;
	unlink_entry(t, (uint32_t)entry_in(t, p.dir, p.name, p.len));
	return 0;
}

int
tree_remove(struct tree *t, const char *path, bool is_directory)
{
	int result = remove_path(t, path, is_directory);

	if (result == 0)
		tree_commit(t);
	return result;
}

int
tree_rename(struct tree *t, const char *from, const char *to)
{
	struct place p, q;
	int n = tree_find(t, from), entry, old, result = n < 0 ? n : walk(t, to, &q);

	if (result != 0)
		return result;
	if (walk(t, from, &p) != 0 || is_dots(&p) || is_dots(&q))
		return -E_BUSY;
	if (q.len > FILE_NAME_MAX)
		return -FILE_ENAMETOOLONG;
	if (node_of(t, n)->is_shown || node_of(t, q.dir)->is_shown)
		return -E_ACCES;
	if (holds_place(t, (uint32_t)n))
		return -E_BUSY;
	if (is_within(t, q.dir, (uint32_t)n))
		return -E_INVAL;
	old = find_in(t, q.dir, q.name, q.len);
	if (old == n)
		return 0;
	if (old >= 0) {
		bool is_directory = node_of(t, n)->kind == FILE_KIND_DIRECTORY;

		result = remove_path(t, to, is_directory);
		if (result != 0)
			return result;
	} else if (to[str_len(to) - 1] == '/' && node_of(t, n)->kind != FILE_KIND_DIRECTORY) {
		return -FILE_ENOTDIR;
	}
	note_change(t, p.dir);
	note_change(t, q.dir);
	entry = entry_in(t, p.dir, p.name, p.len);
	node_save(t, (uint32_t)entry);
	name_node(node_of(t, entry), &q);
	node_of(t, entry)->is_renamed = true;
	tree_commit(t);
	return 0;
}

int
tree_make_above(struct tree *t, const char *path)
{
	char part[FILE_PATH_MAX];
	size_t len = str_len_max(path, sizeof(part));
	int n;

	if (len >= sizeof(part))
		return -FILE_ENAMETOOLONG;
	for (size_t i = 1; i < len; i++)
		if (path[i] == '/') {
			str_copy(part, i + 1, path);
			n = tree_make(t, part, FILE_KIND_DIRECTORY, FILE_MODE_FIRST);
			if (n < 0 && n != -E_EXIST)
				return n;
		}
	return 0;
}

int
tree_add_fixed(struct tree *t, const char *path, const void *data, uint64_t bytes)
{
	int n = tree_make_above(t, path);

	if (n == 0)
		n = tree_make(t, path, FILE_KIND_FILE, FILE_MODE_FIRST);
	if (n < 0)
		return n;
	node_of(t, n)->fixed = (uintptr_t)data - (uintptr_t)t->archive;
	node_of(t, n)->modified = 0;
	node_of(t, n)->size = bytes;
	return 0;
}
