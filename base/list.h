/* SPDX-License-Identifier: MIT
 *
 * Doubly linked list whose nodes lie inside the listed things. An empty list and an unlisted node
 * point to themselves, so that removing twice does no harm. Used by one core; nothing here is
 * shared.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next;
	struct list *prev;
};

/* The thing around a node. */
#define list_entry(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))

/* Walk all nodes; the running one may be removed. */
#define list_each(node, after, head) \
	for ((node) = (head)->next; (after) = (node)->next, (node) != (head); (node) = (after))

static inline void
list_init(struct list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool
list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void
list_insert_between(struct list *node, struct list *prev, struct list *next)
{
	node->next = next;
	node->prev = prev;
	prev->next = node;
	next->prev = node;
}

static inline void
list_push_back(struct list *head, struct list *node)
{
	list_insert_between(node, head->prev, head);
}

static inline void
list_push_front(struct list *head, struct list *node)
{
	list_insert_between(node, head, head->next);
}

/* Take a node out of its list; afterwards it is in none. */
static inline void
list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* Take the first node, NULL if there is none. */
static inline struct list *
list_pop_front(struct list *head)
{
	struct list *node = head->next;

	if (node == head)
		return NULL;
	list_remove(node);
	return node;
}

#endif
