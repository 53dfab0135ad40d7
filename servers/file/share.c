/* SPDX-License-Identifier: MIT
 *
 * Shares: see share.h. Here are fids, slots and the life of operations; what is sent is in
 * share_walk.c and share_stage.c.
 *
 * An operation has its slot from its first message to its end, and waits before it has one: for a
 * slot, or for a lock. Who has a slot waits for the host alone, so nobody waits for ever for
 * another one. At the end of each operation all that wait try again.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/operation.h>

/* --- fids --- */

int
fid_take(struct share *sh)
{
	for (uint32_t i = 1; i < SHARE_FIDS; i++)
		if (sh->fid[i].state == FID_FREE) {
			sh->fid[i] = (struct share_fid){.state = FID_USED};
			return (int)i;
		}
	return -FILE_ENFILE;
}

static int
slot_find_free(const struct share *sh)
{
	for (int i = 0; i < SHARE_SLOTS; i++)
		if (!sh->slot[i].is_used)
			return i;
	return -1;
}

static void
slot_send(struct share *sh, uint32_t slot, struct ninep_out *m)
{
	sh->slot[slot].is_used = true;
	share_send(sh, slot, ninep_end(m));
}

static struct ninep_out
slot_begin(struct share *sh, uint32_t slot, enum ninep_type type)
{
	struct ninep_out m = {.at = sh->slot[slot].request, .room = SHARE_REQUEST};

	ninep_begin(&m, type, type == NINEP_HELLO ? NINEP_NO_TAG : slot);
	return m;
}

/* Give back what is to be, as long as there are slots. */
static void
fids_give_back(struct share *sh)
{
	for (uint32_t i = 1; i < SHARE_FIDS && sh->closing > 0; i++) {
		int slot = slot_find_free(sh);
		struct ninep_out m;

		if (slot < 0)
			return;
		if (sh->fid[i].state != FID_CLOSING)
			continue;
		sh->fid[i].state = FID_GIVEN_BACK;
		sh->closing--;
		sh->slot[slot].operation = NULL;
		sh->slot[slot].fid = i;
		m = slot_begin(sh, (uint32_t)slot, NINEP_CLUNK);
		ninep_put(&m, i, 4);
		slot_send(sh, (uint32_t)slot, &m);
	}
}

void
fid_release(struct tree *t, struct share *sh, uint32_t fid)
{
	struct share_fid *f = &sh->fid[fid];

	if (f->path != NULL)
		chain_free(t, f->path);
	*f = (struct share_fid){.state = FID_CLOSING};
	sh->closing++;
	fids_give_back(sh);
}

/* --- operations --- */

/* All that wait may try again. */
static void
rouse_waiting(struct share *sh)
{
	struct operation *o = sh->waiting;

	sh->waiting = NULL;
	while (o != NULL) {
		struct operation *next = o->next;

		o->is_waiting = false;
		client_again(o->client);
		o = next;
	}
}

/* It uses its share no more. */
static void
operation_leave(struct tree *t, struct operation *o)
{
	struct share *sh = o->share;

	for (int i = 0; i < 2; i++)
		if (o->way[i].fid != SHARE_UNKNOWN) {
			if (o->way[i].is_there || o->is_dead)
				fid_release(t, sh, o->way[i].fid);
			else
				sh->fid[o->way[i].fid].state = FID_FREE;
			o->way[i].fid = SHARE_UNKNOWN;
			o->way[i].is_there = false;
		}
	if (o->has_lock)
		sh->fid[o->d->object % SHARE_FIDS].is_locked = false;
	o->has_lock = false;
	if (o->slot >= 0)
		sh->slot[o->slot].is_used = false;
	o->slot = -1;
	fids_give_back(sh);
	rouse_waiting(sh);
}

void
operation_move(struct tree *t, struct operation *o, struct share *to)
{
	operation_leave(t, o);
	o->share = to;
}

static void
operation_end(struct tree *t, struct operation *o)
{
	operation_leave(t, o);
	if (!o->is_dead)
		t->operation[o->client] = NULL;
	chain_free(t, (struct block *)(void *)((char *)o - offsetof(struct block, data)));
}

static struct operation *
operation_new(const struct serving *s)
{
	struct block *b = block_take(s->t);
	struct operation *o;

	if (b == NULL)
		return NULL;
	o = (struct operation *)(void *)b->data;
	o->r = *s->r;
	o->client = s->client;
	o->slot = -1;
	o->most = NINEP_NAMES_MAX;
	s->t->operation[s->client] = o;
	return o;
}

/*
 * May it move the offset of its description, or append? One at a time does, of those that append to
 * one file, too.
 */
static bool
may_lock(const struct operation *o)
{
	const struct share *sh = o->share;
	const struct share_fid *f = &sh->fid[o->d->object % SHARE_FIDS];

	if (f->is_locked)
		return false;
	if (o->r.op != FILE_WRITE || (o->d->flags & FILE_APPEND) == 0)
		return true;
	for (uint32_t i = 1; i < SHARE_FIDS; i++)
		if (sh->fid[i].state == FID_USED && sh->fid[i].is_locked &&
			sh->fid[i].file == f->file)
			return false;
	return true;
}

static bool
wants_lock(const struct operation *o)
{
	return o->d != NULL && !o->has_lock && (o->r.op == FILE_SEEK ||
		((o->r.op == FILE_READ || o->r.op == FILE_WRITE || o->r.op == FILE_LIST) &&
		o->r.offset == FILE_AT_OFFSET));
}

/* False: it has to wait. */
static bool
has_slot(struct operation *o)
{
	struct share *sh = o->share;
	int slot = slot_find_free(sh);

	if (o->slot >= 0)
		return true;
	if (o->is_waiting)		/* nobody has roused it */
		return false;
	if (slot < 0 || sh->state < SHARE_IS_THERE || (wants_lock(o) && !may_lock(o))) {
		o->is_waiting = true;
		o->next = sh->waiting;
		sh->waiting = o;
		return false;
	}
	if (wants_lock(o)) {
		sh->fid[o->d->object % SHARE_FIDS].is_locked = true;
		o->has_lock = true;
	}
	if (o->d != NULL)
		o->place = o->r.offset == FILE_AT_OFFSET ? o->d->offset : o->r.offset;
	o->slot = slot;
	sh->slot[slot].is_used = true;
	sh->slot[slot].operation = o;
	return true;
}

/* The answer to the stage's message. */
static int
take_answer(struct serving *s, struct operation *o)
{
	const struct stage_of *stage = &share_stage[o->stage];
	const struct share_slot *slot = &o->share->slot[o->slot];
	struct ninep_in m;
	int result = ninep_answer(&m, slot->answer, slot->bytes, stage->type, (uint32_t)o->slot);

	o->is_answered = false;
	if (result == 0) {
		result = stage->take(s, o, &m);
		if (m.is_wrong)
			result = -E_IO;
	} else if (stage->fail != NULL) {
		result = stage->fail(s, o, result);
	}
	/* who knows what the host knows now: it is told to forget it */
	if (result == -E_IO && o->way[o->which].fid != SHARE_UNKNOWN)
		o->way[o->which].is_there = true;
	return result;
}

/* 0: it was sent. */
static int
send_message(struct serving *s, struct operation *o)
{
	const struct stage_of *stage = &share_stage[o->stage];
	struct ninep_out m = slot_begin(o->share, (uint32_t)o->slot, stage->type);
	int result = stage->ask(s, o, &m);

	if (result != 0)
		return result;
	if (ninep_end(&m) == 0)
		return -FILE_ENAMETOOLONG;
	o->is_sent = true;
	slot_send(o->share, (uint32_t)o->slot, &m);
	return 0;
}

/* Paths for the tree in memory. */
static int
lead_to_memory(struct serving *s, struct operation *o)
{
	size_t first = str_len(o->way[0].text) + 1;
	int result = SHARE_MEMORY;

	memcpy(s->path, o->way[0].text, first);
	/* what a new link is to say */
	if (first + str_len(o->way[1].text) <= FILE_PATH_MAX)
		str_copy(s->path + first, FILE_PATH_MAX + 1 - first, o->way[1].text);
	else
		result = -FILE_ENAMETOOLONG;
	s->is_moved = true;
	s->links = o->links;
	operation_end(s->t, o);
	return result;
}

/* 0: the next message was sent, or the last one answered; 1: the stage has changed. */
static int
operation_step(struct serving *s, struct operation *o)
{
	int result = o->is_answered ? take_answer(s, o) : 0;

	if (result != 0 || o->stage == STAGE_DONE)
		return result;
	return o->slot >= 0 ? send_message(s, o) : 1;
}

static int
operation_run(struct serving *s, struct operation *o)
{
	int result = 1;

	while (result == 1) {
		if (o->is_sent)
			return SHARE_LATER;
		if (o->share->state == SHARE_IS_BROKEN)
			result = -E_IO;
		else if (!has_slot(o))
			return SHARE_LATER;
		else
			result = operation_step(s, o);
		if (o->stage == STAGE_DONE && result == 1)
			result = 0;
	}
	if (result == SHARE_MEMORY)
		return lead_to_memory(s, o);
	if (result == 0 && o->stage != STAGE_DONE)
		return SHARE_LATER;
	operation_end(s->t, o);
	return result;
}

/* --- requests --- */

int
share_go_on(struct serving *s, struct operation *o)
{
	return operation_run(s, o);
}

const struct file_request *
share_request(const struct operation *o)
{
	return &o->r;
}

const char *
path_of_request(const struct serving *s, int number)
{
	size_t first = str_len_max(s->path, FILE_PATH_MAX);

	return number == 0 ? s->path : s->path + first + 1;
}

int
paths_check(const struct serving *s)
{
	bool has_two = paths_of_request(s->r) == 2 || s->r->op == FILE_SYMLINK;
	size_t first = str_len_max(s->path, FILE_PATH_MAX), second;

	if (first >= FILE_PATH_MAX - (has_two ? 1 : 0))
		return -FILE_ENAMETOOLONG;
	if (!has_two)
		return 0;
	second = str_len_max(s->path + first + 1, FILE_PATH_MAX - first - 1);
	return second == FILE_PATH_MAX - first - 1 ? -FILE_ENAMETOOLONG : 0;
}

static void
way_begin(struct way *w, const char *path, uint32_t base)
{
	str_copy(w->text, FILE_PATH_MAX, path);
	w->base = w->at = base;
}

int
share_serve_paths(struct serving *s)
{
	bool has_two = paths_of_request(s->r) == 2;
	uint32_t base[2] = {0, 0};
	struct operation *o;
	int share[2];

	if (s->t->shares == 0 || paths_check(s) != 0)
		return SHARE_MEMORY;
	for (int i = 0; i < 1 + has_two; i++)
		share[i] = tree_enter(s->t, path_of_request(s, i), &base[i]);
	if (has_two && share[0] != share[1])
		return -FILE_EXDEV;
	if (share[0] < 0 || share[0] >= SHARES_MAX)
		return SHARE_MEMORY;
	o = operation_new(s);
	if (o == NULL)
		return -E_NOMEM;
	o->share = s->t->share[share[0]];
	o->links = s->links;
	way_begin(&o->way[0], path_of_request(s, 0), base[0]);
	if (has_two || s->r->op == FILE_SYMLINK)
		way_begin(&o->way[1], path_of_request(s, 1), base[1]);
	o->stage = STAGE_WALK;
	return operation_run(s, o);
}

int
share_serve_open(struct serving *s, struct description *d)
{
	struct operation *o;
	int result;

	o = operation_new(s);
	if (o == NULL)
		return -E_NOMEM;
	o->share = s->t->share[d->object / SHARE_FIDS];
	o->d = d;
	result = stage_of_open(s, o);
	if (result < 0 || o->stage == STAGE_DONE) {
		operation_end(s->t, o);
		return result;
	}
	return operation_run(s, o);
}

static void
waiting_remove(struct operation *o)
{
	struct operation **link = &o->share->waiting;

	while (o->is_waiting && *link != o)
		link = &(*link)->next;
	if (o->is_waiting)
		*link = o->next;
	o->is_waiting = false;
}

void
share_forget(struct tree *t, uint32_t client)
{
	struct operation *o = t->operation[client];

	if (o == NULL)
		return;
	waiting_remove(o);
	if (!o->is_sent) {
		operation_end(t, o);
		return;
	}
	/* the host may still answer: what it has made for it is given back then */
	if (o->has_lock)
		o->share->fid[o->d->object % SHARE_FIDS].is_locked = false;
	o->has_lock = false;
	o->is_dead = true;
	t->operation[client] = NULL;
}

void
share_close(struct tree *t, const struct description *d)
{
	fid_release(t, t->share[d->object / SHARE_FIDS], d->object % SHARE_FIDS);
}

uint64_t
share_file(const struct tree *t, const struct description *d)
{
	return t->share[d->object / SHARE_FIDS]->fid[d->object % SHARE_FIDS].file;
}

enum file_kind
share_kind(const struct tree *t, const struct description *d)
{
	return (enum file_kind)t->share[d->object / SHARE_FIDS]->fid[d->object % SHARE_FIDS].kind;
}

int
share_where(const struct tree *t, const struct description *d, char *to)
{
	const struct share *sh = t->share[d->object / SHARE_FIDS];
	const struct share_fid *f = &sh->fid[d->object % SHARE_FIDS];
	int bytes = node_path(t, sh->node, to);
	size_t len;

	if (f->kind != FILE_KIND_DIRECTORY || bytes < 0)
		return bytes < 0 ? bytes : -FILE_ENOTDIR;
	if (f->path == NULL)
		return -E_NOENT;
	len = str_len((const char *)f->path->data);
	if ((size_t)bytes + len + 1 > FILE_PATH_MAX)
		return -FILE_ENAMETOOLONG;
	memcpy(to + bytes - 1, f->path->data, len);
	bytes += (int)len;
	if (len > 0)
		to[bytes++ - 1] = '/';
	to[bytes - 1] = 0;
	return bytes;
}

/* --- answers --- */

static void
attach(struct share *sh, uint32_t slot)
{
	struct ninep_out m = slot_begin(sh, slot, NINEP_ATTACH);

	sh->state = SHARE_ATTACHES;
	ninep_put(&m, SHARE_ROOT, 4);
	ninep_put(&m, NINEP_NO_FID, 4);
	ninep_put_text(&m, "", 0);
	ninep_put_text(&m, "", 0);
	ninep_put(&m, NINEP_NO_FID, 4);		/* no user: files are whose the server is */
	slot_send(sh, slot, &m);
}

/* The share begins: what the host says to its first two messages. */
static void
begin_on(struct share *sh, uint32_t slot)
{
	const struct share_slot *at = &sh->slot[slot];
	enum ninep_type type = sh->state == SHARE_BEGINS ? NINEP_HELLO : NINEP_ATTACH;
	uint32_t size = SHARE_ANSWER, tag = type == NINEP_HELLO ? NINEP_NO_TAG : slot;
	size_t len = 0;
	const char *version = NINEP_VERSION;
	struct ninep_in m;
	int result = ninep_answer(&m, at->answer, at->bytes, type, tag);

	if (result == 0 && type == NINEP_HELLO) {
		size = (uint32_t)ninep_get(&m, 4);
		version = ninep_get_text(&m, sizeof(NINEP_VERSION) - 1, &len);
		if (version == NULL || len != sizeof(NINEP_VERSION) - 1 ||
			memcmp(version, NINEP_VERSION, len) != 0)
			result = -E_IO;
	} else if (result == 0 && (ninep_get_qid(&m).type & NINEP_DIRECTORY) == 0) {
		result = -FILE_ENOTDIR;
	}
	sh->slot[slot].is_used = false;
	if (result != 0 || m.is_wrong || size < SHARE_ANSWER || size > SHARE_MESSAGE)
		sh->state = SHARE_IS_BROKEN;
	else if (type == NINEP_HELLO)
		attach(sh, slot);
	else
		sh->state = SHARE_IS_THERE;
	if (sh->state >= SHARE_IS_THERE)
		rouse_waiting(sh);
}

void
share_answer(struct tree *t, struct share *sh, uint32_t slot, uint32_t bytes)
{
	struct share_slot *at = &sh->slot[slot];
	struct operation *o = at->operation;

	at->bytes = bytes < SHARE_ANSWER ? bytes : SHARE_ANSWER;
	if (sh->state < SHARE_IS_THERE) {
		begin_on(sh, slot);
		return;
	}
	if (o == NULL) {
		sh->fid[at->fid] = (struct share_fid){.state = FID_FREE};
		at->is_used = false;
		fids_give_back(sh);
		rouse_waiting(sh);
		return;
	}
	o->is_sent = false;
	o->is_answered = true;
	if (o->is_dead)
		operation_end(t, o);
	else
		client_again(o->client);
}

int
share_begin(struct tree *t, struct share *sh, const char *path)
{
	int n = t->shares == SHARES_MAX ? -E_NOSPC : tree_make_above(t, path);
	struct ninep_out m;

	if (n == 0)
		n = tree_find(t, path);
	if (n == -E_NOENT)
		n = tree_make(t, path, FILE_KIND_DIRECTORY, FILE_MODE_FIRST);
	if (n < 0)
		return n;
	if (node_of(t, (uint32_t)n)->kind != FILE_KIND_DIRECTORY || n == ROOT)
		return -FILE_ENOTDIR;
	sh->number = (uint8_t)t->shares;
	sh->node = (uint32_t)n;
	sh->fid[SHARE_ROOT].state = FID_USED;
	node_of(t, (uint32_t)n)->share = (uint8_t)(t->shares + 1);
	t->share[t->shares++] = sh;
	m = slot_begin(sh, 0, NINEP_HELLO);
	ninep_put(&m, SHARE_MESSAGE, 4);
	ninep_put_text(&m, NINEP_VERSION, sizeof(NINEP_VERSION) - 1);
	slot_send(sh, 0, &m);
	return 0;
}
