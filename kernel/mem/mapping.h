/* SPDX-License-Identifier: MIT
 *
 * Mappings that can be revoked. A record for each run of pages that page_map has mapped through a
 * view, until they are unmapped: in the list of its process, which is charged for it, and in that
 * of its memory. What is mapped through a handle that names memory at once needs none. Revoking a
 * view kills it at once; what was mapped through it, or a view below it, goes in steps of home, and
 * the call ends when no core can reach these pages any more. Their addresses stay reserved. One
 * revocation is seen to after the other: so what an earlier one has unmapped is shot down before a
 * later one ends.
 *
 * A memory's list has the mapping that was looked at longest ago in front. Who looks at one writes
 * down the number of the last revocation: a list whose first was looked at since then has been
 * looked at as a whole. Home core.
 */
#ifndef KERNEL_MEM_MAPPING_H
#define KERNEL_MEM_MAPPING_H

#include <kernel/cluster.h>

/* of one process: looking one up takes a step for each, once per call */
#define MAPPINGS_MAX 128

struct mapping {
	struct list link;		/* of its process, by address */
	struct list of_memory;
	uintptr_t start;		/* all of it is mapped */
	uintptr_t end;
	struct view *view;
	uint16_t life;			/* of the view, when it was mapped */
	uint8_t proc;			/* place in the table */
	uint32_t looked;		/* memory->looks, when it was looked at last */
};

static inline void
mappings_init(struct process *p)
{
	list_init(&p->mappings);
	p->mapping_found = &p->mappings;
	p->mapping_count = 0;
}

/*
 * Before pages of memory `m` are mapped at `at` of a process, through a handle of the caller's: the
 * record that will cover them, if the handle names a view; else NULL. 0 or -E_NOMEM. Afterwards it
 * covers what is mapped up to `end`: `at` if that failed.
 */
int mapping_begin(struct process *p, uintptr_t at, const struct handles *handles, int handle,
	struct memory *m, struct mapping **r);
void mapping_extend(struct process *p, struct mapping *r, uintptr_t end);

/*
 * No record begins before an address and ends behind it: one that did is two from now on. 0 or
 * -E_NOMEM.
 */
int mappings_split(struct process *p, uintptr_t at);

/* Does any record cover some of these pages? */
bool mappings_are_in(struct process *p, uintptr_t start, uintptr_t end);

/* How far a step may unmap from `start` on, so that one record ends there at most. */
uintptr_t mappings_edge(struct process *p, uintptr_t start, uintptr_t end);

/*
 * So far it is unmapped: returns a record that covers nothing any more. To free it (NULL: nothing)
 * takes as long as to close a handle.
 */
struct mapping *mappings_cut(struct process *p, uintptr_t start, uintptr_t end);
void mapping_free(struct process *p, struct mapping *r);

/*
 * A view of memory was revoked by this thread: 0, or -E_PARK until what was mapped through it is
 * gone.
 */
long mappings_revoke(struct thread *caller, struct memory *m);

/*
 * What was mapped of a memory is not there any more: some pages of it become lazy memory of the
 * processes that mapped them, with the same rights, so that who looks there finds zeros (where
 * there is no room for that, none). `s` has begun, and covers the cores that may know them. False:
 * nothing of it is mapped.
 */
bool mappings_take_away(struct cluster *c, struct memory *m, struct sweep *s);

/* Home's loop: a step of the oldest revocation. False if there was nothing to do. */
bool revokes_poll(struct cluster *c);

#endif
