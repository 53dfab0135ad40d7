/* SPDX-License-Identifier: MIT
 *
 * Handles: see handle.h. Home core.
 */
#include <base/check.h>
#include <kernel/object/handle.h>

#define CHUNK_BYTES (HANDLE_CHUNK * sizeof(struct handle_entry))
#define FAR_BYTES (HANDLE_CHUNKS_MAX * sizeof(struct handle_entry *))

_Static_assert(FAR_BYTES <= SLAB_BYTES_MAX, "the pointers to the chunks are one piece");

/*
 * Made by HANDLE_VIEW: what can be revoked. A generation that would wrap is never reached: revoking
 * makes another view then.
 */
struct view {
	struct object *object;
	struct view *parent;		/* NULL: none */
	struct quota *quota;		/* that it is charged to */
	/* entries, views and mappings that name it, in whatever generation */
	uint32_t refs;
	uint16_t life;
	uint16_t parent_life;
};

void
handles_init(struct handles *t, struct slab *slab, struct quota *quota)
{
	*t = (struct handles){.slab = slab, .quota = quota, .first_free = HANDLE_NONE,
		.last_free = HANDLE_NONE};
}

/* --- places --- */

static struct handle_entry *
entry_at(const struct handles *t, uint32_t place)
{
	uint32_t chunk = place / HANDLE_CHUNK;
	struct handle_entry *c = chunk < HANDLE_CHUNKS_NEAR ? t->near[chunk] : t->far[chunk];

	return c + place % HANDLE_CHUNK;
}

static uint32_t
place_of(uint32_t name)
{
	return name >> HANDLE_HOME_BITS & (HANDLES_MAX - 1);
}

/* The entry that a handle names now, NULL if none does. */
hot_inline struct handle_entry *
entry_find(const struct handles *t, int handle)
{
	uint32_t place = place_of((uint32_t)handle);
	struct handle_entry *e;

	if (handle <= 0 || place / HANDLE_CHUNK >= t->chunks)
		return NULL;
	e = entry_at(t, place);
	return e->name == (uint32_t)handle && e->kind != 0 ? e : NULL;
}

/* The same for calls that are rare: one copy of it for all. */
static __attribute__((noinline)) struct handle_entry *
entry_named(const struct handles *t, int handle)
{
	return entry_find(t, handle);
}

static __attribute__((noinline)) void
place_free(struct handles *t, uint32_t place)
{
	struct handle_entry *e = entry_at(t, place);

	e->kind = 0;
	e->next = HANDLE_NONE;
	if (t->last_free == HANDLE_NONE)
		t->first_free = place;
	else
		entry_at(t, t->last_free)->next = place;
	t->last_free = place;
}

/* One chunk more, whose places are free. 0; -E_MFILE; -E_NOMEM. */
static __attribute__((noinline)) long
table_grow(struct handles *t)
{
	struct handle_entry *chunk;

	if (t->chunks == HANDLE_CHUNKS_MAX)
		return -E_MFILE;
	if (t->chunks >= HANDLE_CHUNKS_NEAR && t->far == NULL) {
		t->far = quota_alloc(t->quota, t->slab, FAR_BYTES);
		if (t->far == NULL)
			return -E_NOMEM;
	}
	chunk = quota_alloc(t->quota, t->slab, CHUNK_BYTES);
	if (chunk == NULL)
		return -E_NOMEM;
	if (t->chunks < HANDLE_CHUNKS_NEAR)
		t->near[t->chunks] = chunk;
	else
		t->far[t->chunks] = chunk;
	for (uint32_t i = 0; i < HANDLE_CHUNK - 1; i++)
		chunk[i].next = t->chunks * HANDLE_CHUNK + i + 1;
	chunk[HANDLE_CHUNK - 1].next = HANDLE_NONE;
	t->first_free = t->chunks * HANDLE_CHUNK;
	t->last_free = t->first_free + HANDLE_CHUNK - 1;
	t->chunks++;
	return 0;
}

/* A free place, under its next name. NULL and *error. */
static __attribute__((noinline)) struct handle_entry *
entry_take(struct handles *t, long *error)
{
	uint32_t place, generation;
	struct handle_entry *e;

	*error = t->first_free == HANDLE_NONE ? table_grow(t) : 0;
	if (*error != 0)
		return NULL;
	place = t->first_free;
	e = entry_at(t, place);
	t->first_free = e->next;
	if (t->first_free == HANDLE_NONE)
		t->last_free = HANDLE_NONE;
	generation = (e->name >> HANDLE_GENERATION_SHIFT) % HANDLE_GENERATION_MAX + 1;
	e->name = generation << HANDLE_GENERATION_SHIFT | place << HANDLE_HOME_BITS;
	t->used++;
	return e;
}

/* --- views --- */

bool
view_is_alive(const struct view *v, uint16_t life)
{
	while (v->life == life && v->parent != NULL) {
		life = v->parent_life;
		v = v->parent;
	}
	return v->life == life;
}

static unsigned
view_depth(const struct view *v)
{
	unsigned depth = 0;

	for (; v != NULL; v = v->parent)
		depth++;
	return depth;
}

static struct view *
view_new(struct slab *s, struct quota *q, struct object *o)
{
	struct view *v = quota_alloc(q, s, sizeof(*v));

	if (v == NULL)
		return NULL;
	quota_get(q);
	object_get(o);
	v->object = o;
	v->quota = q;
	v->life = 1;
	return v;
}

static void
view_set_parent(struct view *v, struct view *parent, uint16_t life)
{
	v->parent = parent;
	v->parent_life = life;
	if (parent != NULL)
		parent->refs++;
}

void
view_get(struct view *v)
{
	v->refs++;
}

/* At most VIEW_DEPTH_MAX steps. */
void
view_put(struct slab *s, struct view *v)
{
	while (v != NULL && --v->refs == 0) {
		struct view *parent = v->parent;
		struct quota *q = v->quota;

		object_put(v->object);
		quota_free(q, s, v, sizeof(*v));
		quota_put(s, q);
		v = parent;
	}
}

/* --- entries --- */

static struct object *
entry_object(const struct handle_entry *e)
{
	return e->kind & KIND_VIEW ? e->view->object : e->object;
}

static bool
entry_is_alive(const struct handle_entry *e)
{
	return !(e->kind & KIND_VIEW) || view_is_alive(e->view, e->life);
}

__attribute__((noinline)) struct object *
handle_get_far(const struct handles *t, int handle, unsigned kind)
{
	const struct handle_entry *e = entry_find(t, handle);

	if (e == NULL || (e->kind & (KIND_TYPE | (kind & KIND_RIGHTS))) != kind ||
		!entry_is_alive(e))
		return NULL;
	return entry_object(e);
}

unsigned
handle_rights(const struct handles *t, int handle)
{
	return entry_named(t, handle)->kind >> KIND_RIGHTS_SHIFT & RIGHTS_ALL;
}

struct view *
handle_view(const struct handles *t, int handle, uint16_t *life)
{
	const struct handle_entry *e = entry_named(t, handle);

	*life = e->life;
	return e->kind & KIND_VIEW ? e->view : NULL;
}

long
handle_error(const struct handles *t, int handle, enum object_type type)
{
	return handle_get_far(t, handle, type) != NULL ? -E_ACCES : -E_BADF;
}

long
handle_new(struct handles *t, struct object *o, unsigned rights)
{
	long error;
	struct handle_entry *e = entry_take(t, &error);

	if (e == NULL)
		return error;
	object_get(o);
	e->kind = (uint16_t)(o->type | (rights & RIGHTS_ALL) << KIND_RIGHTS_SHIFT);
	e->object = o;
	return (long)e->name;
}

/* The entry names nothing any more. */
static void
entry_put(struct handles *t, struct handle_entry *e)
{
	e->kind & KIND_VIEW ? view_put(t->slab, e->view) : object_put(e->object);
	e->kind = 0;
	t->used--;
}

/* The same, and who waits for the object by this handle, or handles its faults, is told. */
hot_inline void
entry_drop(struct handles *t, struct handle_entry *e)
{
	struct object *o = entry_object(e);

	object_get(o);
	entry_put(t, e);
	object_handle_gone(o);
	object_put(o);
}

static void
entry_close(struct handles *t, struct handle_entry *e)
{
	entry_drop(t, e);
	place_free(t, place_of(e->name));
}

long
handle_close(struct handles *t, int handle)
{
	struct handle_entry *e = entry_named(t, handle);

	if (e == NULL)
		return -E_BADF;
	entry_close(t, e);
	return 0;
}

void
handle_close_own(struct handles *t, int handle, const struct object *o)
{
	struct handle_entry *e = entry_find(t, handle);

	if (e != NULL && entry_object(e) == o)
		entry_close(t, e);
}

/* `to` becomes one more name of what `e` names. */
static void
entry_copy(struct handle_entry *to, const struct handle_entry *e, unsigned rights)
{
	to->kind = (uint16_t)(e->kind & ~(KIND_RIGHTS & ~(rights << KIND_RIGHTS_SHIFT)));
	to->life = e->life;
	to->wide = 0;
	if (e->kind & KIND_VIEW) {
		to->view = e->view;
		to->view->refs++;
	} else {
		to->object = e->object;
		object_get(to->object);
	}
}

/* A view below what `e` names. NULL: no memory. */
static struct view *
view_below(const struct handles *t, const struct handle_entry *e)
{
	struct view *v = view_new(t->slab, t->quota, entry_object(e));

	if (v != NULL && (e->kind & KIND_VIEW))
		view_set_parent(v, e->view, e->life);
	return v;
}

static void
entry_name_view(struct handle_entry *to, const struct handle_entry *e, unsigned rights,
	struct view *v)
{
	to->kind = (uint16_t)((e->kind & ~(KIND_RIGHTS & ~(rights << KIND_RIGHTS_SHIFT))) |
		KIND_VIEW);
	to->wide = 0;
	to->view = v;
	to->life = v->life;
	v->refs++;
}

/* An entry that was taken and is not used. */
static void
entry_untake(struct handles *t, struct handle_entry *e)
{
	t->used--;
	place_free(t, place_of(e->name));
}

long
handle_duplicate(struct handles *from, int handle, struct handles *to, unsigned rights)
{
	struct handle_entry *e = entry_named(from, handle), *copy;
	struct view *v = NULL;
	long error;

	if (e == NULL || !entry_is_alive(e))
		return -E_BADF;
	if (to != from && !(e->kind & RIGHT_GRANT << KIND_RIGHTS_SHIFT))
		return -E_ACCES;
	if ((rights & HANDLE_VIEW) && (e->kind & KIND_VIEW) &&
		view_depth(e->view) >= VIEW_DEPTH_MAX)
		return -E_INVAL;
	copy = entry_take(to, &error);
	if (copy == NULL)
		return error;
	if (rights & HANDLE_VIEW) {
		v = view_below(from, e);
		if (v == NULL) {
			entry_untake(to, copy);
			return -E_NOMEM;
		}
		entry_name_view(copy, e, rights, v);
	} else {
		entry_copy(copy, e, rights);
	}
	if (rights & HANDLE_MOVE)
		entry_close(from, e);
	return (long)copy->name;
}

/*
 * The entry names a fresh view in place of one whose generations are used up; the old one is dead
 * for ever. 0 or -E_NOMEM.
 */
static long
view_replace(struct handles *t, struct handle_entry *e)
{
	struct view *old = e->view;
	struct view *v = view_new(t->slab, t->quota, old->object);

	if (v == NULL)
		return -E_NOMEM;
	view_set_parent(v, old->parent, old->parent_life);
	v->refs = 1;
	old->life = 0;
	e->view = v;
	e->life = v->life;
	view_put(t->slab, old);
	return 0;
}

long
handle_revoke(struct handles *t, int handle)
{
	struct handle_entry *e = entry_named(t, handle);
	long error = 0;

	if (e == NULL || !entry_is_alive(e))
		return -E_BADF;
	if (!(e->kind & RIGHT_REVOKE << KIND_RIGHTS_SHIFT))
		return -E_ACCES;
	if (!(e->kind & KIND_VIEW))
		return -E_INVAL;
	if (e->view->life == UINT16_MAX)
		error = view_replace(t, e);
	else
		e->life = ++e->view->life;
	if (error == 0)
		object_handle_gone(e->view->object);
	return error;
}

/*
 * Close what the last chunk has, but no more than *most, and then the chunk itself, which counts as
 * one. True: it is gone.
 */
static bool
chunk_close(struct handles *t, uint32_t *most)
{
	uint32_t n = t->chunks - 1;
	struct handle_entry **at = n < HANDLE_CHUNKS_NEAR ? &t->near[n] : &t->far[n];
	struct handle_entry *e = *at;

	for (; e < *at + HANDLE_CHUNK && *most > 0; e++)
		if (e->kind != 0) {
			entry_drop(t, e);
			--*most;
		}
	if (*most == 0)
		return false;
	--*most;
	quota_free(t->quota, t->slab, *at, CHUNK_BYTES);
	*at = NULL;
	t->chunks--;
	return true;
}

bool
handles_close_some(struct handles *t, uint32_t most)
{
	while (t->chunks > 0)
		if (!chunk_close(t, &most))
			return false;
	t->first_free = t->last_free = HANDLE_NONE;
	if (t->far != NULL)
		quota_free(t->quota, t->slab, t->far, FAR_BYTES);
	t->far = NULL;
	return true;
}
