/* SPDX-License-Identifier: MIT
 *
 * Accounts: bytes of the cluster's memory that the kernel holds on behalf of the processes of one tree. An account lives as long as a
 * process of the tree, or something that is charged to it. Home core.
 */
#ifndef KERNEL_OBJECT_QUOTA_H
#define KERNEL_OBJECT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slab;

struct quota {
	size_t used;
	size_t limit;
	uint32_t refs;
};

/* A new account with one reference, or NULL. */
struct quota *quota_new(struct slab *s, size_t limit);

void quota_get(struct quota *q);
void quota_put(struct slab *s, struct quota *q);

/* Charge bytes. False, and nothing is charged: the tree has no more. */
bool quota_charge(struct quota *q, size_t bytes);

void quota_refund(struct quota *q, size_t bytes);

/* A piece (slab.h) that is charged to an account; NULL: that, or the cluster's memory, is used up. */
void *quota_alloc(struct quota *q, struct slab *s, size_t bytes);
void quota_free(struct quota *q, struct slab *s, void *piece, size_t bytes);

#endif
