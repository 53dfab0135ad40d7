/* SPDX-License-Identifier: MIT
 *
 * What of the tree outlives its server. A change of nodes is done or was not: each node is copied
 * before it changes, and a life that finds copies puts them back. Contents are written in place:
 * a file grows when its size is stored, behind the bytes, and is cut behind the store of a smaller
 * one. All else is found when a life begins: what ends with the server ends, chains are cut at
 * their sizes, and what no chain has is free. That can be begun again at any time.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

void
node_save(struct tree *t, uint32_t n)
{
	struct lasting *l = t->lasting;

	l->save[l->saved] = (struct node_saved){n, *node_of(t, n)};
	stored();
	l->saved++;
	stored();
}

void
tree_commit(struct tree *t)
{
	struct node ended = t->ended;

	stored();
	t->lasting->saved = 0;
	stored();
	t->ended.kind = FILE_KIND_NONE;
	if (ended.kind == FILE_KIND_NONE)
		return;
	if (ended.is_shared)
		memory_end(&ended.memory);
	else
		contents_free(t, ended.first);
}

bool
nodes_add(struct tree *t)
{
	struct block *b = t->nodes < NODES_MAX ? block_take(t) : NULL;

	if (b == NULL)
		return false;
	t->table[t->nodes / TABLE_NODES] = (struct node *)(void *)b->data;
	t->lasting->table[t->nodes / TABLE_NODES] = block_number(t, b);
	stored();
	t->nodes = t->lasting->nodes = t->nodes + TABLE_NODES;
	stored();
	return true;
}

/* --- a life begins --- */

/* A change that was under way has not been: the oldest copies come last. */
static void
undo(struct tree *t)
{
	struct lasting *l = t->lasting;

	for (uint32_t i = l->saved; i-- > 0;)
		*node_of(t, l->save[i].number) = l->save[i].node;
	stored();
	l->saved = 0;
	stored();
}

static void
find_tables(struct tree *t)
{
	const struct lasting *l = t->lasting;

	t->nodes = l->nodes;
	for (uint32_t i = 1; i < t->nodes / TABLE_NODES; i++) {
		struct block *b = block_of(t, l->table[i]);

		t->table[i] = (struct node *)(void *)b->data;
	}
}

/* What ends with a server: what has no name, what it shows, and names of sockets. */
static bool
ends_with_server(const struct node *n)
{
	return n->is_unlinked || n->is_shown || n->kind == FILE_KIND_SOCKET ||
		n->kind == FILE_KIND_NONE;
}

/* It is free before it is nothing, or what is left of it would be something else. */
static void
node_clear(struct node *n)
{
	n->kind = FILE_KIND_NONE;
	stored();
	*n = (struct node){0};
	stored();
}

/* Links before what they name, so that each of them finds it. */
static void
end_nodes(struct tree *t)
{
	for (uint32_t i = 1; i < t->nodes; i++)
		if (node_of(t, i)->kind == FILE_KIND_LINK &&
			ends_with_server(node_of(t, node_of(t, i)->target)))
			node_clear(node_of(t, i));
	for (uint32_t i = 1; i < t->nodes; i++)
		if (ends_with_server(node_of(t, i)))
			node_clear(node_of(t, i));
}

/* Nobody has it open; the chain is cut at its size, and cleared behind that. */
static void
begin_node(struct tree *t, uint32_t number)
{
	struct node *n = node_of(t, number);

	n->opens = 0;
	n->share = 0;
	if ((n->kind != FILE_KIND_FILE && n->kind != FILE_KIND_SYMLINK) || n->is_shared)
		return;
	n->at = NULL;
	if (n->fixed != 0)
		n->first = 0;
	else
		contents_begin(t, n);
}

/* Tables at the end in which there is no node go. */
static void
drop_tables(struct tree *t)
{
	while (t->nodes > TABLE_NODES) {
		const struct node *n = node_of(t, t->nodes - TABLE_NODES);
		uint32_t used = 0;

		for (uint32_t i = 0; i < TABLE_NODES; i++)
			used += n[i].kind != FILE_KIND_NONE;
		if (used > 0)
			return;
		t->nodes = t->lasting->nodes = t->nodes - TABLE_NODES;
		stored();
	}
}

/* Blocks that no chain has, and that are no table, are free. */
static void
find_free(struct tree *t)
{
	uint32_t last = t->blocks;

	for (uint32_t i = 1; i < t->nodes / TABLE_NODES; i++)
		block_of(t, t->lasting->table[i])->is_used = 1;
	while (last > 0 && block_of(t, last)->is_used == 0)
		last--;
	t->blocks = blocks_give_back(t->blocks, last);
	for (uint32_t i = t->blocks; i > 0; i--) {
		struct block *b = block_of(t, i);

		if (b->is_used == 0) {
			b->next = t->free;
			t->free = b;
		}
	}
}

void
tree_take_up(struct tree *t)
{
	find_tables(t);
	undo(t);
	end_nodes(t);
	drop_tables(t);
	for (uint32_t i = 1; i <= t->blocks; i++)
		block_of(t, i)->is_used = 0;
	for (uint32_t i = 0; i < t->nodes; i++)
		begin_node(t, i);
	find_free(t);
}
