/* SPDX-License-Identifier: MIT
 *
 * See places.h. A server of a part believes no path that does not begin with its place's, letter by
 * letter: the leader's makes others so. It says that a path leads out of its part where that does,
 * so the leader's never has to know what is in there, and each of such answers makes the path
 * shorter.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <servers/file/places.h>

#define PLACE_MODE 01777

/* Where a path leads, and what it is there: `head` and what is left of it. */
struct led {
	uint32_t server;
	const char *head;
	size_t head_bytes;
	const char *rest;
};

uint32_t
places_number(uint32_t cluster)
{
	const struct file_place *p;

	for (uint32_t i = 0; cluster != FILE_CLUSTER && (p = file_place(i)) != NULL; i++)
		if (p->cluster == cluster)
			return i + 1;
	return 0;
}

static bool
has_names(const char *path)
{
	while (*path == '/')
		path++;
	return *path != 0;
}

static int
make_place(struct tree *t, const struct file_place *p)
{
	int n = tree_make_above(t, p->path);

	if (n == 0)
		n = tree_find(t, p->path);
	if (n == -E_NOENT)
		n = tree_make(t, p->path, FILE_KIND_DIRECTORY, PLACE_MODE);
	return n >= 0 && node_of(t, (uint32_t)n)->kind != FILE_KIND_DIRECTORY ? -FILE_ENOTDIR : n;
}

int
places_begin(struct tree *t)
{
	const struct file_place *p;

	t->tokens.maker = t->place.number;
	t->place.count = 0;
	for (uint32_t number = 1; (p = file_place(number - 1)) != NULL; number++) {
		int n = t->place.number == 0 || t->place.number == number ? make_place(t, p) : ROOT;

		t->place.at[number - 1] = p;
		t->place.count = number;
		if (n < 0)
			return n;
		if (t->place.number == number)
			t->place.node = (uint32_t)n;
		else if (t->place.number == 0)
			node_of(t, (uint32_t)n)->share = (uint8_t)(SHARES_MAX + number);
	}
	return 0;
}

uint32_t
places_find(const struct tree *t, const char *path)
{
	for (uint32_t i = 0; i < t->place.count; i++) {
		struct file_place p = *t->place.at[i];

		if (path[0] != '/')
			memmove(p.path, p.path + 1, p.bytes--);
		if (file_place_has(&p, path))
			return i + 1;
	}
	return 0;
}

/* The leader's: a path that is another server's begins with that one's place. */
static struct led
lead_below(const struct tree *t, const char *path)
{
	struct led l = {.rest = path};
	uint32_t base = 0;
	int part = tree_enter(t, path, &base);
	const struct file_place *p;

	if (part < SHARES_MAX)
		return l;
	l.server = (uint32_t)part - SHARES_MAX + 1;
	p = t->place.at[l.server - 1];
	if (file_place_has(p, path))
		return l;
	l.head = p->path;
	l.head_bytes = p->bytes;
	l.rest = path + base;
	return l;
}

/* That of a part: a path that leaves it begins with the directory that has the place. */
static struct led
lead_above(const struct tree *t, const char *path)
{
	const struct file_place *p = t->place.at[t->place.number - 1];
	uint32_t end = 0;

	if (!file_place_has(p, path))
		return (struct led){.rest = path};
	if (!tree_leaves(t, t->place.node, path + p->bytes, &end))
		return (struct led){.server = t->place.number, .rest = path};
	path += p->bytes + end;
	end = (uint32_t)p->bytes;
	while (p->path[end - 1] != '/')
		end--;
	/* a path that ends with dots still does */
	return (struct led){.head = p->path, .head_bytes = end - 1,
		.rest = has_names(path) ? path : "/."};
}

/* What is to be asked there instead is what its client asks for next. */
static int
put_paths(struct serving *s, const struct led *l, uint32_t count)
{
	struct client_bytes *of = client_bytes(s->t, s->client);
	size_t bytes = 0;
	bool is_well = of != NULL;

	for (uint32_t i = 0; i < count && is_well; i++) {
		uint32_t rest = (uint32_t)str_len(l[i].rest) + 1;

		bytes += l[i].head_bytes + rest;
		is_well = bytes <= FILE_PATH_MAX &&
			bytes_put(s->t, &of->rest, l[i].head, (uint32_t)l[i].head_bytes) &&
			bytes_put(s->t, &of->rest, l[i].rest, rest);
	}
	if (is_well)
		s->reply->more = of->rest.count;
	else if (of != NULL)
		bytes_drop(s->t, &of->rest);
	return is_well ? -FILE_ELSEWHERE : bytes > FILE_PATH_MAX ? -FILE_ENAMETOOLONG : -E_NOMEM;
}

int
places_refer(struct serving *s)
{
	bool has_two = paths_of_request(s->r) == 2;
	uint32_t count = has_two || s->r->op == FILE_SYMLINK ? 2 : 1;
	uint32_t own = s->t->place.number;
	struct led l[2] = {0};

	if (s->t->place.count == 0 || (!s->is_moved && paths_check(s) != 0))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *path = path_of_request(s, (int)i);

		/* what a new link is to say leads nowhere yet */
		l[i] = i == 1 && !has_two ? (struct led){.server = l[0].server, .rest = path} :
			own == 0 ? lead_below(s->t, path) : lead_above(s->t, path);
	}
	if (l[0].server == own && (count == 1 || l[1].server == own))
		return 0;
	if (own == 0 && has_two && l[0].server != l[1].server)
		return -FILE_EXDEV;
	s->reply->value = own == 0 ? l[0].server : 0;
	return s->is_moved || l[0].head != NULL || l[1].head != NULL ? put_paths(s, l, count) :
		-FILE_ELSEWHERE;
}
