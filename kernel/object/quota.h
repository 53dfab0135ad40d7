/* SPDX-License-Identifier: MIT
 *
 * Accounts: what of the cluster the kernel holds on behalf of the processes of one tree. Memory
 * counts in bytes; what has a place in a table of the kernel, in places. An account lies below
 * another, up to that of the cluster: what is charged to it is charged to all of them, so that no
 * tree takes more than the one it is a part of. The cluster's own account is that of the process
 * server, and a reserve of it is for that and for servers alone: whatever all others have taken,
 * these can act. An account lives as long as a process of the tree, or something that is charged to
 * it. Home core.
 */
#ifndef KERNEL_OBJECT_QUOTA_H
#define KERNEL_OBJECT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct slab;

enum quota_kind {
	/* page frames, page tables, and pieces: threads, handles, views, ... */
	QUOTA_BYTES,
	QUOTA_THREADS,
	QUOTA_PROCS,
	QUOTA_KINDS
};

#define QUOTA_DEPTH_MAX 3	/* accounts above one */

struct quota {
	struct quota *parent;		/* NULL: the cluster's */
	const struct frames *frames;	/* of the cluster's account: where the bytes come from */
	size_t used[QUOTA_KINDS];
	size_t limit[QUOTA_KINDS];
	uint32_t refs;
	uint16_t depth;			/* accounts above it */
	bool is_served_first;		/* it may have what is kept from others */
};

/* The account of a cluster. Its limits are set by whoever makes the tables. */
void quota_init(struct quota *q, const struct frames *frames);

/*
 * A new account with one reference and no limits but its parent's, to which its own memory is
 * charged. NULL: no memory, or too deep.
 */
struct quota *quota_new(struct slab *s, struct quota *parent);

static inline void
quota_get(struct quota *q)
{
	q->refs++;
}

void quota_put(struct slab *s, struct quota *q);

/* Could so much be charged now? */
bool quota_has_room(const struct quota *q, enum quota_kind kind, size_t n);

/* Charge it. False, and nothing is charged: there is no more for this tree. */
bool quota_charge(struct quota *q, enum quota_kind kind, size_t n);

void quota_refund(struct quota *q, enum quota_kind kind, size_t n);

/*
 * A piece (slab.h) that is charged to an account, filled with zeros; NULL: that, or the cluster's
 * memory, is used up.
 */
void *quota_alloc(struct quota *q, struct slab *s, size_t bytes);
void quota_free(struct quota *q, struct slab *s, void *piece, size_t bytes);

/*
 * A thread and its record (slab.h), with whatever that held, charged to an account together. 0 and
 * *record; -E_NOSPC: there are as many threads as the account may have; -E_NOMEM: its memory, or
 * the cluster's, is used up.
 */
long quota_take_thread(struct quota *q, struct slab *s, void **record);
void quota_give_thread(struct quota *q, struct slab *s, void *record);

#endif
