/* SPDX-License-Identifier: MIT
 *
 * The tree of files in memory. Contents are chains of blocks; a file of the boot archive is read in
 * place until somebody changes it. No kernel calls: memory comes from blocks_more; tested on its
 * own.
 */
#ifndef SERVERS_FILE_TREE_H
#define SERVERS_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <servers/file/protocol.h>

#define NODES_MAX 512
#define HANDLES_MAX 512
#define BLOCK_BYTES 4096
#define BLOCK_DATA (BLOCK_BYTES - sizeof(void *))

struct block {
	struct block *next;
	unsigned char data[BLOCK_DATA];
};

struct node {
	char name[FILE_NAME_MAX + 1];
	uint32_t kind;			/* enum file_kind; NONE: free */
	uint32_t parent;		/* the root's is itself */
	uint32_t opens;			/* handles on it */
	uint32_t is_unlinked;		/* only handles know it */
	uint64_t size;
	const unsigned char *fixed;	/* the contents, where they are the archive's */
	struct block *first;
	struct block *at;		/* where the last access was, and its number */
	uint64_t at_index;
};

struct handle {
	uint32_t node;
	uint32_t owner;			/* client */
	uint32_t life;		/* changes with each use of the entry: an old number does not fit */
	bool is_open;
	bool is_writable;
};

struct tree {
	struct node node[NODES_MAX];	/* 0: the root */
	struct handle handle[HANDLES_MAX];
	struct block *free;
	uint32_t handles;		/* open ones */
};

/* More blocks, chained, or NULL: the memory ends. Given by whoever uses the tree. */
struct block *blocks_more(void);

/* An empty tree. */
void tree_init(struct tree *t);

/*
 * Add a file whose contents lie in memory that stays, with the directories above it. 0 or a
 * negative error.
 */
int tree_add_fixed(struct tree *t, const char *path, const void *data, uint64_t bytes);

/* The node at a path, relative ones from the root. Its number or a negative error. */
int tree_find(const struct tree *t, const char *path);

/* Changes of the tree. 0 (tree_make: the node's number) or a negative error. */
int tree_make(struct tree *t, const char *path, enum file_kind kind);
int tree_remove(struct tree *t, const char *path, bool is_directory);
int tree_rename(struct tree *t, const char *from, const char *to);

/* Free a node that has neither a name nor a handle any more. */
void node_settle(struct tree *t, uint32_t n);

/* Contents. Count of bytes or a negative error; a write that the memory ends is short. */
long node_read(struct tree *t, uint32_t n, uint64_t offset, void *to, size_t len);
long node_write(struct tree *t, uint32_t n, uint64_t offset, const void *from, size_t len);
int node_resize(struct tree *t, uint32_t n, uint64_t size);

/*
 * Answer one request of a client, of so many bytes. `answer` has room for FILE_MESSAGE bytes; how
 * many it has is returned. Whatever the request contains, it is answered, and nothing else happens
 * on an error. Both may change meanwhile: they lie in memory that the client writes, too.
 */
uint32_t file_serve(struct tree *t, uint32_t client, const void *request, uint32_t bytes,
	void *answer);

/* Close all handles of a client. */
void file_forget(struct tree *t, uint32_t client);

#endif
