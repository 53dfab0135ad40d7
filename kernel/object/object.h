/* SPDX-License-Identifier: MIT
 *
 * What every object begins with as far as handles are concerned: how many handles and views name
 * it. An object that is over stays in memory until the last of them is gone, so that a handle never
 * names another object than the one that it was made for. Home core.
 */
#ifndef KERNEL_OBJECT_OBJECT_H
#define KERNEL_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_type {
	OBJECT_NONE,
	OBJECT_PROCESS,
	OBJECT_THREAD,
	OBJECT_MEMORY,
	OBJECT_PORT,
	OBJECT_NOTIFICATION,
	OBJECT_AUTHORITY,
};

struct object {
	uint32_t refs;
	uint8_t type;		/* enum object_type */
};

static inline void
object_init(struct object *o, enum object_type type)
{
	o->refs = 0;
	o->type = (uint8_t)type;
}

static inline void
object_get(struct object *o)
{
	o->refs++;
}

/*
 * A handle of an object was closed, or is dead because a view was revoked: who waits through it
 * waits no longer, who has bound an event by it is told.
 */
void object_handle_gone(struct object *o);

/*
 * The last name of an object is gone: whoever made it takes its memory back, now or when it is
 * over.
 */
void object_unreferenced(struct object *o);

static inline void
object_put(struct object *o)
{
	if (--o->refs == 0)
		object_unreferenced(o);
}

#endif
