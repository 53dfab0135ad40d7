/* SPDX-License-Identifier: MIT
 *
 * Doubly linked lists with a head node: a link points to itself when its list is empty. Links are embedded in what they hold.
 */
#ifndef MPI_CORE_LIST_H
#define MPI_CORE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
	struct link *next;
	struct link *prev;
};

#define LINK_OF(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))

static inline void
link_init(struct link *l)
{
	l->next = l->prev = l;
}

static inline bool
link_is_empty(const struct link *list)
{
	return list->next == list;
}

static inline void
link_append(struct link *list, struct link *l)
{
	l->prev = list->prev;
	l->next = list;
	list->prev->next = l;
	list->prev = l;
}

static inline void
link_prepend(struct link *list, struct link *l)
{
	link_append(list->next, l);
}

static inline void
link_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->next = l->prev = l;
}

#endif
