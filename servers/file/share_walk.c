/* SPDX-License-Identifier: MIT
 *
 * Paths in a share. A walk takes up to 16 names, of which the host walks those that are
 * directories: a link, or a name that is not there, ends it, and which that is, and why, is asked
 * for by shorter walks. Dots are taken out of the text before the host sees it; a path that leaves
 * the share by them, or by a link, begins anew at the tree's root.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/operation.h>

/* Names of one walk. */
struct names {
	uint32_t count;
	uint32_t begin[NINEP_NAMES_MAX], bytes[NINEP_NAMES_MAX];
};

/* Does the request want the directory of the path's last name, and that name? */
static bool
wants_directory(const struct operation *o)
{
	return last_of_path(&o->r, o->which) == LAST_IN_DIRECTORY;
}

/* Does it want what a link leads to, where the path ends with one? */
static bool
follows(const struct operation *o)
{
	return last_of_path(&o->r, o->which) == LAST_FOLLOWED;
}

static uint32_t
skip_slashes(const char *text, uint32_t at)
{
	while (text[at] == '/')
		at++;
	return at;
}

static uint32_t
name_length(const char *text)
{
	uint32_t n = 0;

	while (text[n] != 0 && text[n] != '/')
		n++;
	return n;
}

static bool
is_last(const struct way *w, uint32_t at)
{
	return w->text[skip_slashes(w->text, at)] == 0;
}

static void
cut_out(struct way *w, uint32_t from, uint32_t to)
{
	memmove(w->text + from, w->text + to, str_len(w->text + to) + 1);
}

static bool
is_dots(const char *name, uint32_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

/*
 * The next names of a path. 1: the path leaves the share by dots that end at n->begin[0]; or a
 * negative error.
 */
static int
collect(struct operation *o, struct way *w, struct names *n)
{
	uint32_t at = w->at;

	n->count = 0;
	o->is_up = false;
	w->name_bytes = 0;
	for (;;) {
		uint32_t begin = skip_slashes(w->text, at), len = name_length(w->text + begin);
		bool is_wanted = wants_directory(o) && is_last(w, begin + len);

		if (len == 0 || (n->count > 0 && len == 2 && is_dots(w->text + begin, len)))
			return 0;
		if (is_wanted) {
			w->name = begin;
			w->name_bytes = len;
			return 0;
		}
		if (len == 1 && is_dots(w->text + begin, len)) {
			cut_out(w, begin, skip_slashes(w->text, begin + len));
			continue;
		}
		o->is_up = is_dots(w->text + begin, len);
		if (o->is_up && w->at == w->base) {
			n->begin[0] = begin + len;
			return 1;
		}
		n->begin[n->count] = begin;
		n->bytes[n->count++] = len;
		o->end = at = begin + len;
		if (o->is_up || n->count == o->most)
			return 0;
	}
}

/* The path begins anew: what it says leads somewhere else. */
static int
route(struct serving *s, struct operation *o)
{
	struct way *w = &o->way[o->which];
	uint32_t base = 0;
	int share;

	if (w->fid != SHARE_UNKNOWN && w->is_there)
		fid_release(s->t, o->share, w->fid);
	else if (w->fid != SHARE_UNKNOWN)
		o->share->fid[w->fid].state = FID_FREE;
	w->fid = SHARE_UNKNOWN;
	w->is_there = false;
	share = tree_enter(s->t, w->text, &base);
	if (share >= SHARES_MAX)
		share = -1;		/* another server's: see places.h */
	if (share >= 0 && s->t->share[share] == o->share) {
		w->base = w->at = base;
		o->stage = STAGE_WALK;
		return 1;
	}
	if (o->r.op == FILE_RENAME || o->r.op == FILE_LINK)
		return -FILE_EXDEV;
	if (share < 0)
		return SHARE_MEMORY;
	operation_move(s->t, o, s->t->share[share]);
	w->base = w->at = base;
	o->stage = STAGE_WALK;
	return 1;
}

/* The text up to `to` becomes another one. 0 or -FILE_ENAMETOOLONG. */
static int
way_replace(struct way *w, uint32_t from, uint32_t to, const char *text, size_t len)
{
	size_t rest = str_len(w->text + to) + 1;

	if (from + len + rest > FILE_PATH_MAX)
		return -FILE_ENAMETOOLONG;
	memmove(w->text + from + len, w->text + to, rest);
	memcpy(w->text + from, text, len);
	return 0;
}

/* ".." of the share's root is that of the directory where it begins. */
static int
leave_upwards(struct serving *s, struct operation *o, uint32_t end)
{
	char above[FILE_PATH_MAX];
	int bytes = node_path(s->t, node_of(s->t, o->share->node)->parent, above);
	int result = bytes < 0 ? bytes :
		way_replace(&o->way[o->which], 0, end, above, (size_t)bytes - 1);

	return result != 0 ? result : route(s, o);
}

int
walk_follow(struct serving *s, struct operation *o, const char *target, size_t len)
{
	struct way *w = &o->way[o->which];
	uint32_t name = w->at;
	int result;

	if (++o->links > FILE_LINKS_MAX)
		return -FILE_ELOOP;
	if (len == 0)
		return -E_NOENT;
	while (name > 0 && w->text[name - 1] != '/')
		name--;
	result = way_replace(w, target[0] == '/' ? 0 : name, w->at, target, len);
	return result != 0 ? result : route(s, o);
}

int
walk_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	struct way *w = &o->way[o->which];
	struct names n = {0};
	int result = o->is_missing ? 0 : collect(o, w, &n);

	if (result == 1)
		return leave_upwards(s, o, n.begin[0]);
	if (n.count == 0 && w->is_there) {
		result = stage_behind_walk(s, o);
		return result != 0 ? result : 1;
	}
	if (w->fid == SHARE_UNKNOWN) {
		result = fid_take(o->share);
		if (result < 0)
			return result;
		w->fid = (uint32_t)result;
	}
	o->names = (uint8_t)n.count;
	ninep_put(m, w->is_there ? w->fid : SHARE_ROOT, 4);
	ninep_put(m, w->fid, 4);
	ninep_put(m, n.count, 2);
	for (uint32_t i = 0; i < n.count; i++)
		ninep_put_text(m, w->text + n.begin[i], n.bytes[i]);
	return 0;
}

/* Names have been walked: the text says them without dots. */
static void
go_on_behind(struct operation *o, struct way *w)
{
	uint32_t at = w->at;

	if (!o->is_up) {
		w->at = o->names > 0 ? o->end : w->at;
		return;
	}
	while (at > w->base && w->text[at - 1] != '/')
		at--;
	while (at > w->base && w->text[at - 1] == '/')
		at--;
	cut_out(w, at, o->end);
	w->at = at;
}

int
walk_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	struct way *w = &o->way[o->which];
	uint32_t count = (uint32_t)ninep_get(m, 2);
	struct ninep_qid qid = {.type = w->is_there ? w->kind : NINEP_DIRECTORY, .path = w->file};

	(void)s;
	if (count > o->names || (count < o->names && o->names == 1)) {
		m->is_wrong = true;
		return 0;
	}
	for (uint32_t i = 0; i < count; i++)
		qid = ninep_get_qid(m);
	if (count < o->names) {
		o->most = (uint8_t)(count > 0 ? count : 1);
		return 0;
	}
	o->most = NINEP_NAMES_MAX;
	w->is_there = true;
	w->kind = qid.type;
	w->file = qid.path;
	go_on_behind(o, w);
	if ((qid.type & NINEP_LINK) != 0 && (w->text[w->at] == '/' || follows(o)))
		o->stage = STAGE_READLINK;
	else if ((qid.type & NINEP_DIRECTORY) == 0 && w->text[w->at] == '/')
		return -FILE_ENOTDIR;
	return 0;
}

/* The first name of the walk is not there: to be made is only what would be the path's last one. */
int
walk_fail(struct serving *s, struct operation *o, int error)
{
	const struct way *w = &o->way[o->which];

	(void)s;
	if (o->names > 1) {
		o->most = 1;		/* which of them? */
		return 0;
	}
	if (error != -E_NOENT || o->r.op != FILE_OPEN || (o->r.arg & FILE_CREATE) == 0 ||
		o->names == 0 || o->is_up || !is_last(w, o->end))
		return error;
	if (w->text[o->end] == '/')
		return -FILE_EISDIR;
	o->is_missing = true;
	return 0;
}
