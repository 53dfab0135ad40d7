/* SPDX-License-Identifier: MIT
 *
 * What is asked of a host behind a path, or about what is open: each stage's message, what its
 * answer means, and which stage is next.
 *
 * What is open keeps the host's number of the file. A host that knows files by their paths says
 * something else, or nothing, when the name was removed or taken by another file: then what we know
 * of it counts, which is right as long as it is changed from here.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/operation.h>

#define LINUX_WRITE_ONLY 1
#define LINUX_READ_WRITE 2
#define LINUX_EXCLUSIVE 0200
#define LINUX_EMPTY 01000
#define REMOVE_DIRECTORY 0x200		/* of unlinkat */
#define NS_PER_S 1000000000ull
#define OFFSET_MAX ((uint64_t)INT64_MAX)
#define HOW_FLAGS (FILE_READABLE | FILE_WRITABLE | FILE_APPEND | FILE_NONBLOCK)

static struct share_fid *
fid_of(const struct operation *o)
{
	return &o->share->fid[o->d->object % SHARE_FIDS];
}

/* The fid that a message is about. */
static uint32_t
fid_number(const struct operation *o)
{
	return o->d != NULL ? o->d->object % SHARE_FIDS : o->way[o->which].fid;
}

static int
take_nothing(struct serving *s, struct operation *o, struct ninep_in *m)
{
	(void)s;
	(void)m;
	o->stage = STAGE_DONE;
	return 0;
}

static enum file_kind
kind_of(uint32_t mode)
{
	switch (mode & MODE_KIND) {
	case MODE_DIRECTORY: return FILE_KIND_DIRECTORY;
	case MODE_FILE: return FILE_KIND_FILE;
	case MODE_LINK: return FILE_KIND_SYMLINK;
	default: return FILE_KIND_OTHER;
	}
}

/* Every fid of a file learns how large it is, or that it is at least so large. */
static void
note_size(struct share *sh, uint64_t file, uint64_t size, bool is_least)
{
	for (uint32_t i = 1; i < SHARE_FIDS; i++) {
		struct share_fid *f = &sh->fid[i];

		if (f->state == FID_USED && f->file == file && (!is_least || f->size < size))
			f->size = size;
	}
}

/* --- attributes --- */

static int
getattr_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, NINEP_BASIC, 8);
	return 0;
}

static void
describe(struct serving *s, const struct operation *o)
{
	const struct ninep_attributes *a = &o->a;
	const struct file_status status = {.modified = a->modified, .mode = a->mode,
		.links = (uint32_t)a->links, .node = a->qid.path, .accessed = a->accessed,
		.changed = a->changed, .blocks = a->blocks, .device = o->share->number + 1u};

	*s->reply = (struct file_reply){.kind = kind_of(a->mode), .value = a->size,
		.node = (uint32_t)(a->qid.path ^ a->qid.path >> 32)};
	memcpy(s->out, &status, sizeof(status));
	s->out_bytes = sizeof(status);
}

static int
check_kind(const struct operation *o)
{
	enum file_kind kind = kind_of(o->a.mode);
	uint32_t how = o->r.arg;

	if ((how & (FILE_CREATE | FILE_EXCLUSIVE)) == (FILE_CREATE | FILE_EXCLUSIVE))
		return -E_EXIST;
	if ((how & FILE_DIRECTORY) != 0 && kind != FILE_KIND_DIRECTORY)
		return -FILE_ENOTDIR;
	if ((how & (FILE_WRITABLE | FILE_EMPTY)) != 0 && kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if (kind == FILE_KIND_SYMLINK)
		return (how & (FILE_READABLE | FILE_WRITABLE | FILE_EMPTY)) != 0 ? -FILE_ELOOP : 0;
	/* a host would wait for who opens the other end of a pipe, and devices are the host's */
	return kind == FILE_KIND_OTHER && (how & (FILE_READABLE | FILE_WRITABLE)) != 0 ?
		-FILE_ENXIO : 0;
}

/* The text of a path below the root, with one slash between names. NULL: the memory ends. */
static struct block *
path_keep(struct tree *t, const struct way *w)
{
	struct block *b = block_take(t);
	uint32_t n = 0;

	for (uint32_t i = w->base; b != NULL && i < w->at; i++)
		if (w->text[i] != '/' || (n > 0 && b->data[n - 1] != '/'))
			b->data[n++] = (unsigned char)w->text[i];
	if (n > 0 && b->data[n - 1] == '/')
		b->data[n - 1] = 0;
	return b;
}

/* The fid becomes an open file's: a description, and a handle for it. */
static int
finish_open(struct serving *s, struct operation *o)
{
	struct way *w = &o->way[0];
	struct share_fid *f = &o->share->fid[w->fid];
	struct description *d = description_find_free(s->t, 0);
	int result = handle_check_room(s->t, s->client, 1);

	if (result != 0 || d == NULL)
		return result != 0 ? result : -FILE_ENFILE;
	*f = (struct share_fid){.state = FID_USED, .kind = (uint8_t)kind_of(o->a.mode),
		.mode = o->a.mode, .file = o->a.qid.path, .size = o->a.size};
	if (f->kind == FILE_KIND_DIRECTORY) {
		f->path = path_keep(s->t, w);
		if (f->path == NULL)
			return -E_NOMEM;
	}
	*d = (struct description){.object = o->share->number * SHARE_FIDS + w->fid,
		.flags = (uint16_t)(o->r.arg & HOW_FLAGS), .is_host = true};
	describe(s, o);
	s->out_bytes = 0;
	s->reply->handle = handle_number(s->t, handle_open(s->t, s->client, d));
	w->fid = SHARE_UNKNOWN;
	w->is_there = false;
	o->stage = STAGE_DONE;
	return 0;
}

static int
attributes_of_open(struct serving *s, struct operation *o)
{
	const struct file_request *r = &o->r;
	int64_t at;

	switch (r->op) {
	case FILE_SEEK:
		if (__builtin_add_overflow((int64_t)o->a.size, (int64_t)r->offset, &at) || at < 0)
			return -E_INVAL;
		s->reply->value = o->d->offset = (uint64_t)at;
		o->stage = STAGE_DONE;
		return 0;
	case FILE_WRITE:
		o->place = o->a.size;
		o->stage = STAGE_WRITE;
		return 0;
	case FILE_STAT_OPEN:
		describe(s, o);
		o->stage = STAGE_DONE;
		return 0;
	default:
		o->stage = STAGE_SETATTR;
		return 0;
	}
}

static int
getattr_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	int result;

	ninep_get_attributes(m, &o->a);
	if (m->is_wrong)
		return 0;
	if (o->d != NULL && o->a.qid.path != fid_of(o)->file)
		return share_stage[STAGE_GETATTR].fail(s, o, -E_NOENT);
	if (o->d != NULL) {
		note_size(o->share, fid_of(o)->file, o->a.size, false);
		fid_of(o)->mode = o->a.mode;
		return attributes_of_open(s, o);
	}
	if (o->r.op == FILE_STAT) {
		describe(s, o);
		o->stage = STAGE_DONE;
		return 0;
	}
	result = check_kind(o);
	if (result != 0)
		return result;
	o->stage = STAGE_OPEN;
	return (o->r.arg & (FILE_READABLE | FILE_WRITABLE | FILE_EMPTY)) == 0 ?
		finish_open(s, o) : 0;
}

/* What is open has no name any more. */
static int
getattr_fail(struct serving *s, struct operation *o, int error)
{
	const struct share_fid *f;

	if (o->d == NULL || error != -E_NOENT)
		return error;
	f = fid_of(o);
	o->a = (struct ninep_attributes){.qid.path = f->file, .mode = f->mode, .size = f->size,
		.blocks = (f->size + 511) / 512};
	if (o->r.op == FILE_RESIZE || o->r.op == FILE_SET_TIME || o->r.op == FILE_SET_MODE)
		return -E_NOENT;
	return attributes_of_open(s, o);
}

static int
setattr_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	const struct file_request *r = &o->r;
	bool has_time = r->op == FILE_SET_TIME && r->arg != FILE_NOW;
	uint32_t what = r->op == FILE_SET_MODE ? NINEP_SET_MODE : r->op == FILE_SET_TIME ?
		NINEP_SET_MTIME | (has_time ? NINEP_MTIME_GIVEN : 0) : NINEP_SET_SIZE;

	(void)s;
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, what, 4);
	ninep_put(m, r->arg & FILE_MODE_BITS, 4);
	ninep_put(m, NINEP_NO_FID, 4);
	ninep_put(m, NINEP_NO_FID, 4);
	ninep_put(m, r->op == FILE_WRITE ? o->d->offset : r->offset, 8);
	ninep_put(m, 0, 8);
	ninep_put(m, 0, 8);
	ninep_put(m, r->offset / NS_PER_S, 8);
	ninep_put(m, r->offset % NS_PER_S, 8);
	return 0;
}

/* Room was made behind what has been written, all of which there was. */
static void
reply_write(const struct serving *s, const struct operation *o)
{
	s->reply->value = o->place;
	s->reply->count = o->r.arg;
	s->reply->more = o->r.more;
}

static int
setattr_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	if (o->r.op == FILE_RESIZE)
		note_size(o->share, fid_of(o)->file, o->r.offset, false);
	if (o->r.op == FILE_WRITE) {
		note_size(o->share, fid_of(o)->file, o->d->offset, true);
		reply_write(s, o);
	}
	return take_nothing(s, o, m);
}

/* There is no room for what is to follow: the client learns that when it writes it. */
static int
setattr_fail(struct serving *s, struct operation *o, int error)
{
	if (o->r.op != FILE_WRITE)
		return error;
	reply_write(s, o);
	return take_nothing(s, o, NULL);
}

/* --- open, create --- */

static uint32_t
host_flags(uint32_t how)
{
	return ((how & FILE_WRITABLE) == 0 ? 0 : (how & FILE_READABLE) != 0 ? LINUX_READ_WRITE :
		LINUX_WRITE_ONLY) | ((how & FILE_EMPTY) != 0 ? LINUX_EMPTY : 0);
}

static int
open_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, host_flags(o->r.arg), 4);
	return 0;
}

static int
open_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	ninep_get_qid(m);
	if (m->is_wrong)
		return 0;
	if ((o->r.arg & FILE_EMPTY) != 0) {
		o->a.size = 0;
		note_size(o->share, o->a.qid.path, 0, false);
	}
	return finish_open(s, o);
}

static int
create_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	const struct way *w = &o->way[0];
	uint32_t begin = w->at;

	(void)s;
	while (w->text[begin] == '/')
		begin++;
	ninep_put(m, w->fid, 4);
	ninep_put_text(m, w->text + begin, o->end - begin);
	ninep_put(m, host_flags(o->r.arg) |
		((o->r.arg & FILE_EXCLUSIVE) != 0 ? LINUX_EXCLUSIVE : 0), 4);
	ninep_put(m, o->r.more & FILE_MODE_BITS, 4);
	ninep_put(m, NINEP_NO_FID, 4);
	return 0;
}

static int
create_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	o->a = (struct ninep_attributes){.qid = ninep_get_qid(m), .links = 1,
		.mode = MODE_FILE | (o->r.more & FILE_MODE_BITS)};
	return m->is_wrong ? 0 : finish_open(s, o);
}

/* --- bytes --- */

static int
read_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	if (o->place > OFFSET_MAX - FILE_DATA_MAX) {
		take_nothing(s, o, NULL);
		return 1;
	}
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, o->place, 8);
	ninep_put(m, o->r.arg, 4);
	return 0;
}

/* Bytes have been moved: the offset moves, and over those that are to follow, too. */
static void
share_move_on(struct serving *s, struct operation *o, uint32_t count)
{
	s->reply->value = o->place;
	s->reply->count = count;
	s->reply->more = count == o->r.arg ? o->r.more : 0;
	if (o->r.offset == FILE_AT_OFFSET)
		o->d->offset = o->place + count + s->reply->more;
}

static int
read_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	uint32_t count = (uint32_t)ninep_get(m, 4);
	const void *data = ninep_get_data(m, count);

	if (data == NULL || count > o->r.arg) {
		m->is_wrong = true;
		return 0;
	}
	memcpy(s->out, data, count);
	s->out_bytes = count;
	share_move_on(s, o, count);
	return take_nothing(s, o, m);
}

static int
write_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	if (o->place > OFFSET_MAX - FILE_DATA_MAX)
		return -FILE_EFBIG;
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, o->place, 8);
	ninep_put(m, o->r.arg, 4);
	ninep_put_data(m, s->data, o->r.arg);
	return 0;
}

static int
write_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	uint32_t count = (uint32_t)ninep_get(m, 4);

	if (m->is_wrong || count > o->r.arg) {
		m->is_wrong = true;
		return 0;
	}
	share_move_on(s, o, count);
	note_size(o->share, fid_of(o)->file, o->place + count, true);
	/* nobody else appends where what is to follow will be */
	o->stage = (o->d->flags & FILE_APPEND) != 0 && o->r.offset == FILE_AT_OFFSET &&
		s->reply->more > 0 ? STAGE_SETATTR : STAGE_DONE;
	return 0;
}

/* --- directories --- */

static int
list_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	ninep_put(m, fid_number(o), 4);
	ninep_put(m, o->place, 8);
	ninep_put(m, FILE_DATA_MAX, 4);
	return 0;
}

static bool
is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] == '/')
			return false;
	return len > 0;
}

/* As many entries as have room. */
static int
list_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	struct ninep_in in = {.bytes = (uint32_t)ninep_get(m, 4)};

	in.at = ninep_get_data(m, in.bytes);
	s->reply->value = o->place;
	while (!m->is_wrong && in.bytes > 0) {
		struct file_entry e = {.node = ninep_get_qid(&in).path};
		const char *name;
		size_t len;

		e.next = ninep_get(&in, 8);
		e.type = (uint8_t)ninep_get(&in, 1);
		name = ninep_get_text(&in, FILE_ENTRY_NAME_MAX, &len);
		if (name == NULL || !is_name(name, len)) {
			m->is_wrong = true;
			return 0;
		}
		if (!file_put_entry(s, &e, name, len)) {
			if (s->out_bytes == 0)
				return -E_INVAL;
			break;
		}
	}
	if (o->r.offset == FILE_AT_OFFSET && !m->is_wrong)
		o->d->offset = s->reply->value;
	return take_nothing(s, o, m);
}

/* --- names --- */

static void
put_place(struct ninep_out *m, const struct way *w)
{
	ninep_put(m, w->fid, 4);
	ninep_put_text(m, w->text + w->name, w->name_bytes);
}

static int
mkdir_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	put_place(m, &o->way[0]);
	ninep_put(m, o->r.more & FILE_MODE_BITS, 4);
	ninep_put(m, NINEP_NO_FID, 4);
	return 0;
}

static int
symlink_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	put_place(m, &o->way[0]);
	ninep_put_text(m, o->way[1].text, str_len(o->way[1].text));
	ninep_put(m, NINEP_NO_FID, 4);
	return 0;
}

static int
remove_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	put_place(m, &o->way[0]);
	ninep_put(m, (o->r.arg & FILE_DIRECTORY) != 0 ? REMOVE_DIRECTORY : 0, 4);
	return 0;
}

static int
rename_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	put_place(m, &o->way[0]);
	put_place(m, &o->way[1]);
	return 0;
}

static int
link_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	ninep_put(m, o->way[1].fid, 4);
	ninep_put(m, o->way[0].fid, 4);
	ninep_put_text(m, o->way[1].text + o->way[1].name, o->way[1].name_bytes);
	return 0;
}

/* The path of a way's last name, as open directories have theirs. */
static size_t
path_of(const struct way *w, char *to)
{
	size_t n = 0;

	for (uint32_t i = w->base; i < w->name + w->name_bytes; i++)
		if (w->text[i] != '/' || (n > 0 && to[n - 1] != '/'))
			to[n++] = w->text[i];
	to[n] = 0;
	return n;
}

/* A directory that is open where `from` was: the rest of its path; NULL: it is none. */
static const char *
rest_behind(const struct share_fid *f, const char *from, size_t len)
{
	const char *path = (const char *)f->path->data;

	if (str_len_max(path, len) < len || memcmp(path, from, len) != 0)
		return NULL;
	return path[len] == 0 || path[len] == '/' ? path + len : NULL;
}

/* What is open at a path that is gone has another one; with `to` NULL none any more. */
static void
move_paths(struct tree *t, struct share *sh, const char *from, const char *to)
{
	size_t len = str_len(from);

	for (uint32_t i = 1; i < SHARE_FIDS; i++) {
		struct share_fid *f = &sh->fid[i];
		const char *rest = f->path != NULL ? rest_behind(f, from, len) : NULL;
		size_t new;

		if (rest == NULL)
			continue;
		new = to != NULL ? str_len(to) : 0;
		if (to == NULL || new + str_len(rest) >= BLOCK_DATA) {
			chain_free(t, f->path);
			f->path = NULL;
			continue;
		}
		memmove(f->path->data + new, rest, str_len(rest) + 1);
		memcpy(f->path->data, to, new);
	}
}

static int
remove_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	char path[FILE_PATH_MAX];

	path_of(&o->way[0], path);
	move_paths(s->t, o->share, path, NULL);
	return take_nothing(s, o, m);
}

static int
rename_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	char from[FILE_PATH_MAX], to[FILE_PATH_MAX];

	path_of(&o->way[0], from);
	path_of(&o->way[1], to);
	if (!str_is_equal(from, to)) {
		move_paths(s->t, o->share, to, NULL);
		move_paths(s->t, o->share, from, to);
	}
	return take_nothing(s, o, m);
}

static int
mkdir_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	o->a = (struct ninep_attributes){.qid = ninep_get_qid(m), .links = 1,
		.mode = MODE_DIRECTORY | (o->r.more & FILE_MODE_BITS)};
	if (!m->is_wrong)
		describe(s, o);
	return take_nothing(s, o, m);
}

static int
one_fid_ask(struct serving *s, struct operation *o, struct ninep_out *m)
{
	(void)s;
	ninep_put(m, fid_number(o), 4);
	if (o->stage == STAGE_SYNC)
		ninep_put(m, 0, 4);	/* of the file and what is known of it */
	return 0;
}

static int
readlink_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	size_t len;
	const char *target = ninep_get_text(m, UINT16_MAX, &len);
	const struct way *w = &o->way[o->which];

	if (target == NULL)
		return 0;
	if (o->r.op != FILE_READ_LINK || w->text[w->at] == '/')
		return walk_follow(s, o, target, len);
	s->out_bytes = (uint32_t)(len < FILE_DATA_MAX ? len : FILE_DATA_MAX);
	memcpy(s->out, target, s->out_bytes);
	s->reply->count = s->out_bytes;
	return take_nothing(s, o, m);
}

/* --- first stages --- */

/* The path has no last name: it is a root, or ends with dots. */
static int
without_name(const struct operation *o)
{
	switch (o->r.op) {
	case FILE_REMOVE: return (o->r.arg & FILE_DIRECTORY) == 0 ? -FILE_EISDIR :
		o->way[0].name_bytes > 0 ? -E_INVAL : -E_BUSY;
	case FILE_RENAME: return -E_BUSY;
	default: return -E_EXIST;
	}
}

/* --- room --- */

static int
space_take(struct serving *s, struct operation *o, struct ninep_in *m)
{
	struct file_space space = {.type = ninep_get(m, 4)};

	space.block_bytes = space.piece_bytes = ninep_get(m, 4);
	space.blocks = ninep_get(m, 8);
	space.free = ninep_get(m, 8);
	space.available = ninep_get(m, 8);
	space.files = ninep_get(m, 8);
	space.free_files = ninep_get(m, 8);
	ninep_get(m, 8);			/* which of the host's it is is nobody's business */
	space.id = o->share->number + 1u;
	space.name_max = ninep_get(m, 4);
	memcpy(s->out, &space, sizeof(space));
	s->out_bytes = sizeof(space);
	o->stage = STAGE_DONE;
	return 0;
}

static bool
is_nameless(const struct way *w)
{
	const char *name = w->text + w->name;

	return w->name_bytes == 0 || (name[0] == '.' && (w->name_bytes == 1 ||
		(w->name_bytes == 2 && name[1] == '.')));
}

static int
stage_of_name(struct operation *o)
{
	const struct way *w = &o->way[o->which];

	if ((w->kind & NINEP_DIRECTORY) == 0)
		return -FILE_ENOTDIR;
	if (is_nameless(w))
		return without_name(o);
	if (o->r.op == FILE_REMOVE && (o->r.arg & FILE_DIRECTORY) == 0 &&
		w->text[w->name + w->name_bytes] == '/')
		return -FILE_ENOTDIR;
	if (o->r.op == FILE_RENAME && o->which == 0) {
		o->which = 1;
		return 0;
	}
	o->stage = o->r.op == FILE_REMOVE ? STAGE_REMOVE : o->r.op == FILE_RENAME ? STAGE_RENAME :
		o->r.op == FILE_LINK ? STAGE_LINK : o->r.op == FILE_SYMLINK ? STAGE_SYMLINK :
		STAGE_MKDIR;
	return 0;
}

int
stage_behind_walk(struct serving *s, struct operation *o)
{
	(void)s;
	switch (o->r.op) {
	case FILE_OPEN:
		o->stage = o->is_missing ? STAGE_CREATE : STAGE_GETATTR;
		return 0;
	case FILE_STAT:
		o->stage = STAGE_GETATTR;
		return 0;
	case FILE_SPACE:
		o->stage = STAGE_SPACE;
		return 0;
	case FILE_READ_LINK:
		o->stage = STAGE_READLINK;
		return (o->way[0].kind & NINEP_LINK) != 0 ? 0 : -E_INVAL;
	case FILE_MAKE_PIPE: return -E_PERM;
	case FILE_LINK:
		if (o->which == 0) {
			o->which = 1;
			return 0;
		}
		return stage_of_name(o);
	default: return stage_of_name(o);
	}
}

/* Bytes at an offset, given or the description's. */
static int
stage_of_bytes(struct operation *o)
{
	bool is_read = o->r.op == FILE_READ;

	if (o->r.arg > FILE_DATA_MAX)
		return -E_INVAL;
	if (fid_of(o)->kind == FILE_KIND_DIRECTORY)
		return -FILE_EISDIR;
	if ((o->d->flags & (is_read ? FILE_READABLE : FILE_WRITABLE)) == 0)
		return -E_BADF;
	o->stage = is_read ? STAGE_READ : !is_read && (o->d->flags & FILE_APPEND) != 0 &&
		o->r.offset == FILE_AT_OFFSET ? STAGE_GETATTR : STAGE_WRITE;
	if (o->r.arg == 0)
		o->stage = STAGE_DONE;
	return 0;
}

int
stage_of_open(struct serving *s, struct operation *o)
{
	bool is_directory = fid_of(o)->kind == FILE_KIND_DIRECTORY;

	(void)s;
	switch (o->r.op) {
	case FILE_READ:
	case FILE_WRITE: return stage_of_bytes(o);
	case FILE_LIST:
		o->stage = STAGE_LIST;
		return is_directory ? 0 : -FILE_ENOTDIR;
	case FILE_RESIZE:
		o->stage = STAGE_GETATTR;
		return (o->d->flags & FILE_WRITABLE) == 0 ? -E_BADF : o->r.offset > OFFSET_MAX ?
			-FILE_EFBIG : 0;
	case FILE_SYNC:
		/* what was opened for nothing the host has not open */
		o->stage = (o->d->flags & (FILE_READABLE | FILE_WRITABLE)) != 0 ? STAGE_SYNC :
			STAGE_DONE;
		return 0;
	case FILE_SPACE_OPEN:
		o->stage = STAGE_SPACE;
		return 0;
	case FILE_SEEK:
	case FILE_STAT_OPEN:
	case FILE_SET_TIME:
	case FILE_SET_MODE:
		o->stage = STAGE_GETATTR;
		return 0;
	default: return -E_INVAL;
	}
}

const struct stage_of share_stage[STAGES] = {
	[STAGE_WALK] = {NINEP_WALK, walk_ask, walk_take, walk_fail},
	[STAGE_READLINK] = {NINEP_READLINK, one_fid_ask, readlink_take, NULL},
	[STAGE_GETATTR] = {NINEP_GETATTR, getattr_ask, getattr_take, getattr_fail},
	[STAGE_OPEN] = {NINEP_OPEN, open_ask, open_take, NULL},
	[STAGE_CREATE] = {NINEP_CREATE, create_ask, create_take, NULL},
	[STAGE_READ] = {NINEP_READ, read_ask, read_take, NULL},
	[STAGE_WRITE] = {NINEP_WRITE, write_ask, write_take, NULL},
	[STAGE_LIST] = {NINEP_READDIR, list_ask, list_take, NULL},
	[STAGE_SETATTR] = {NINEP_SETATTR, setattr_ask, setattr_take, setattr_fail},
	[STAGE_MKDIR] = {NINEP_MKDIR, mkdir_ask, mkdir_take, NULL},
	[STAGE_SYMLINK] = {NINEP_SYMLINK, symlink_ask, mkdir_take, NULL},
	[STAGE_REMOVE] = {NINEP_UNLINK, remove_ask, remove_take, NULL},
	[STAGE_RENAME] = {NINEP_RENAME, rename_ask, rename_take, NULL},
	[STAGE_LINK] = {NINEP_NEW_NAME, link_ask, take_nothing, NULL},
	[STAGE_SYNC] = {NINEP_FSYNC, one_fid_ask, take_nothing, NULL},
	[STAGE_SPACE] = {NINEP_STATFS, one_fid_ask, space_take, NULL},
};
