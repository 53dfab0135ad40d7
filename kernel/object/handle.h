/* SPDX-License-Identifier: MIT
 *
 * Handles: the only names that a process has for objects. A table per process, looked up on the
 * home core only, which is the one that writes it: there is nothing to publish, and no gap between
 * a check and what it allows.
 *
 * A handle is a positive int: home (0 today) | place in the table | generation of that place. A
 * table grows in chunks of 16 entries of 16 bytes, charged to the process's quota; an empty table
 * has none. Free places are used again in the order in which they became free, each with its next
 * generation, so that a closed handle names nothing for tens of thousands of uses of its place.
 * Whoever guesses a number finds an object of its own at most, for only its own table is looked at.
 *
 * A handle names an object at once, or through a view. Copies of a handle name the same view. A
 * view may have a parent; revoking a view raises its generation, and every handle that names the
 * older one, or a view below it, is dead from that moment on.
 */
#ifndef KERNEL_OBJECT_HANDLE_H
#define KERNEL_OBJECT_HANDLE_H

#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/tune.h>
#include <kernel/object/object.h>
#include <kernel/object/quota.h>
#include <kernel/object/slab.h>

#define HANDLE_CHUNK 16			/* entries in a chunk */
#define HANDLE_CHUNKS_MAX 256
#define HANDLES_MAX (HANDLE_CHUNK * HANDLE_CHUNKS_MAX)
#define HANDLE_CHUNKS_NEAR 8		/* chunks that the table itself points to */
#define HANDLE_HOME_BITS 4
#define HANDLE_PLACE_BITS 12
#define HANDLE_GENERATION_SHIFT (HANDLE_HOME_BITS + HANDLE_PLACE_BITS)
/* bit 30 stays free: libc puts a mark into thread numbers */
#define HANDLE_GENERATION_MAX ((1u << (30 - HANDLE_GENERATION_SHIFT)) - 1)
#define VIEW_DEPTH_MAX 8

/* What an entry names: type | rights << 4, or that with KIND_VIEW. */
#define KIND_RIGHTS_SHIFT 4
#define KIND_TYPE 0xf
#define KIND_RIGHTS (RIGHTS_ALL << KIND_RIGHTS_SHIFT)
#define KIND_VIEW 0x4000
#define HANDLE_KIND(type, rights) ((unsigned)(type) | (rights) << KIND_RIGHTS_SHIFT)
#define KIND_NEAR 0xf800		/* KIND_VIEW and what is always zero */

struct view;

struct handle_entry {
	uint32_t name;			/* the handle; of a free entry: the last one that it was */
	uint16_t kind;			/* 0: free */
	uint16_t life;			/* generation of the view */
	union {
		struct object *object;
		struct view *view;
		uint32_t next;		/* free: place of the next free entry */
		uint64_t wide;
	};
};

_Static_assert(sizeof(struct handle_entry) == 16, "an entry of a handle table");

struct handles {
	struct handle_entry *near[HANDLE_CHUNKS_NEAR];
	/* the other chunks, HANDLE_CHUNKS_MAX pointers; NULL: there are none */
	struct handle_entry **far;
	struct slab *slab;
	struct quota *quota;
	uint32_t chunks;
	uint32_t used;			/* entries that are not free */
	uint32_t first_free;		/* HANDLE_NONE: none */
	uint32_t last_free;
};

#define HANDLE_NONE UINT32_MAX

/* An empty table, whose memory comes from `slab` and is charged to `quota`. */
void handles_init(struct handles *t, struct slab *slab, struct quota *quota);

/*
 * Close at most `most` handles and give their memory back. True when the table is empty: call it
 * again until it is. The owner of the table makes no new handles and waits for nothing through them
 * meanwhile.
 */
bool handles_close_some(struct handles *t, uint32_t most);

/*
 * A new handle for an object. Returns it; -E_MFILE: the table is full; -E_NOMEM: the quota or the
 * cluster's memory is used up.
 */
long handle_new(struct handles *t, struct object *o, unsigned rights);

/* Close a handle. 0; -E_BADF. */
long handle_close(struct handles *t, int handle);

/*
 * Copy a handle of `from` into `to`, with those of its rights that are in `rights`. HANDLE_MOVE in
 * `rights`: the original is closed. HANDLE_VIEW: the copy names a new view below the original's,
 * charged to the quota of `from`. Returns the new handle; -E_BADF; -E_ACCES: no RIGHT_GRANT;
 * -E_MFILE, -E_NOMEM: as handle_new; -E_INVAL: too many views below each other.
 */
long handle_duplicate(struct handles *from, int handle, struct handles *to, unsigned rights);

/*
 * Every other handle that names the view of this one, and every view below it, is dead. 0; -E_BADF;
 * -E_ACCES: no RIGHT_REVOKE; -E_INVAL: it names an object at once; -E_NOMEM.
 */
long handle_revoke(struct handles *t, int handle);

/*
 * Why handle_get found nothing: -E_BADF: no handle, one of another type, or revoked; -E_ACCES: it
 * lacks a right.
 */
long handle_error(const struct handles *t, int handle, enum object_type type);

/* The rights of a handle that names something. */
unsigned handle_rights(const struct handles *t, int handle);

/*
 * The view that a handle which names something names it through, and the generation; NULL: it names
 * it at once.
 */
struct view *handle_view(const struct handles *t, int handle, uint16_t *life);

/* Does a name of this generation of a view name anything? And: one name more or less. */
bool view_is_alive(const struct view *v, uint16_t life);
void view_get(struct view *v);
void view_put(struct slab *s, struct view *v);

/* Does this handle name this object? Then it is closed. */
void handle_close_own(struct handles *t, int handle, const struct object *o);

/* handle_get beyond the first chunks and through views. */
struct object *handle_get_far(const struct handles *t, int handle, unsigned kind);

/*
 * Where the table itself points to the chunk of a handle, and the handle's entry there: the bits of
 * a handle lie so that no shift is lost.
 */
hot_inline const struct handle_entry *
handle_near_chunk(const struct handles *t, int handle)
{
	const uint32_t step = sizeof(t->near[0]), shift = 8 - (step == 8 ? 3 : 2);

	return *(struct handle_entry *const *)(const void *)((const char *)t->near +
		((uint32_t)handle >> shift & (HANDLE_CHUNKS_NEAR - 1) * step));
}

hot_inline const struct handle_entry *
handle_in_chunk(const struct handle_entry *chunk, int handle)
{
	return (const struct handle_entry *)(const void *)((const char *)chunk +
		(handle & (HANDLE_CHUNK - 1) << HANDLE_HOME_BITS));
}

_Static_assert(1 << HANDLE_HOME_BITS == sizeof(struct handle_entry),
	"the place in a chunk stands in a handle as an offset");

/* What handle_get looks for first: NULL also for a handle beyond the first chunks or of a view. */
hot_inline struct object *
handle_get_near(const struct handles *t, int handle, enum object_type type, unsigned rights)
{
	const unsigned kind = HANDLE_KIND(type, rights);
	const struct handle_entry *e = handle_near_chunk(t, handle);

	if (unlikely(e == NULL))
		return NULL;
	e = handle_in_chunk(e, handle);
	if (unlikely((int)e->name != handle) ||
		unlikely((e->kind & (KIND_NEAR | KIND_TYPE | kind)) != kind))
		return NULL;
	if (e->object == NULL)
		/* an entry in use names something: who calls need not look */
		__builtin_unreachable();
	return e->object;
}

/*
 * The object that a handle names, of this type, if the handle has these rights; else NULL, and
 * handle_error says why. `type` and `rights` are constants: what is left of it for the usual handle
 * are 15 instructions (riscv64). The object may be over: look at its state.
 */
hot_inline struct object *
handle_get(const struct handles *t, int handle, enum object_type type, unsigned rights)
{
	struct object *o = handle_get_near(t, handle, type, rights);

	return likely(o != NULL) ? o : handle_get_far(t, handle, HANDLE_KIND(type, rights));
}

#endif
