/* SPDX-License-Identifier: MIT
 *
 * Symbolic links in memory. Who finds one on a path says so (FILE_LINKED) and has changed nothing:
 * then the text of the path is another one, and the request begins anew with it, maybe in a share
 * or at another server. A path without links costs nothing.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/serving.h>

uint32_t
paths_of_request(const struct file_request *r)
{
	return r->op == FILE_RENAME || r->op == FILE_LINK ? 2 : 1;
}

enum last_name
last_of_path(const struct file_request *r, uint32_t number)
{
	uint32_t anew = FILE_CREATE | FILE_EXCLUSIVE;

	switch (r->op) {
	case FILE_REMOVE:
	case FILE_MAKE_DIRECTORY:
	case FILE_MAKE_PIPE:
	case FILE_RENAME:
	case FILE_SYMLINK: return LAST_IN_DIRECTORY;
	case FILE_READ_LINK: return LAST_ITSELF;
	default:
		if (r->op == FILE_LINK && number == 1)
			return LAST_IN_DIRECTORY;
		return (r->arg & FILE_NO_FOLLOW) != 0 ||
			(r->op == FILE_OPEN && (r->arg & anew) == anew) ? LAST_ITSELF :
			LAST_FOLLOWED;
	}
}

int
link_follow(struct tree *t, struct linked *l, enum last_name last)
{
	uint32_t span[2], n = tree_find_link(t, l->path, last, span);
	uint32_t len = (uint32_t)node_of(t, n)->size, from, behind;
	char first = 0;

	if (n == 0)
		return 0;
	if (++*l->links > FILE_LINKS_MAX)
		return -FILE_ELOOP;
	node_read(t, n, 0, &first, 1);
	from = first == '/' ? 0 : span[0];
	behind = l->bytes - span[1];
	if (from + len + behind > l->room)
		return -FILE_ENAMETOOLONG;
	memmove(l->path + from + len, l->path + span[1], behind);
	node_read(t, n, 0, l->path + from, len);
	l->bytes = from + len + behind;
	return 1;
}

/* Where all of the request's texts end. */
static const char *
end_of_texts(const struct serving *s)
{
	const char *last = path_of_request(s, paths_of_request(s->r) == 2 ||
		s->r->op == FILE_SYMLINK);

	return last + str_len(last) + 1;
}

int
links_follow(struct serving *s)
{
	int changed = 0, result;

	for (uint32_t i = 0; i < paths_of_request(s->r); i++) {
		char *path = s->path + (path_of_request(s, (int)i) - s->path);
		struct linked l = {path, (uint32_t)(end_of_texts(s) - path),
			(uint32_t)(s->path + FILE_PATH_MAX - path), &s->links};

		while ((result = link_follow(s->t, &l, last_of_path(s->r, i))) == 1)
			changed = 1;
		if (result < 0)
			return result;
	}
	s->is_moved |= changed != 0;
	return changed;
}
