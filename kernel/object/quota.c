/* SPDX-License-Identifier: MIT
 *
 * Accounts: see quota.h.
 */
#include <base/check.h>
#include <kernel/object/quota.h>
#include <kernel/object/slab.h>

struct quota *
quota_new(struct slab *s, size_t limit)
{
	struct quota *q = slab_alloc(s, sizeof(*q));

	if (q == NULL)
		return NULL;
	q->limit = limit;
	q->refs = 1;
	return q;
}

void
quota_get(struct quota *q)
{
	q->refs++;
}

void
quota_put(struct slab *s, struct quota *q)
{
	if (--q->refs > 0)
		return;
	check(q->used == 0);
	slab_free(s, q);
}

bool
quota_charge(struct quota *q, size_t bytes)
{
	if (bytes > q->limit - q->used)
		return false;
	q->used += bytes;
	return true;
}

void
quota_refund(struct quota *q, size_t bytes)
{
	check(bytes <= q->used);
	q->used -= bytes;
}

void *
quota_alloc(struct quota *q, struct slab *s, size_t bytes)
{
	void *piece;

	if (!quota_charge(q, slab_size(bytes)))
		return NULL;
	piece = slab_alloc(s, bytes);
	if (piece == NULL)
		quota_refund(q, slab_size(bytes));
	return piece;
}

void
quota_free(struct quota *q, struct slab *s, void *piece, size_t bytes)
{
	slab_free(s, piece);
	quota_refund(q, slab_size(bytes));
}
