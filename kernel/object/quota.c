/* SPDX-License-Identifier: MIT
 *
 * Accounts: see quota.h.
 */
#include <base/check.h>
#include <abi/errors.h>
#include <base/str.h>
#include <base/tune.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/object/quota.h>
#include <kernel/object/slab.h>

/*
 * What of the cluster only its own account and those of servers can have: enough to open mailboxes
 * and to start a thread.
 */
static const size_t reserve[QUOTA_KINDS] = {
	[QUOTA_BYTES] = 8 * HAL_PAGE_BYTES,
	[QUOTA_THREADS] = 2,
	[QUOTA_PROCS] = 1,
};

void
quota_init(struct quota *q, const struct frames *frames)
{
	*q = (struct quota){.frames = frames, .refs = 1};
}

struct quota *
quota_new(struct slab *s, struct quota *parent)
{
	struct quota *q = parent->depth < QUOTA_DEPTH_MAX ? quota_alloc(parent, s, sizeof(*q)) :
		NULL;

	if (q == NULL)
		return NULL;
	quota_get(parent);
	q->parent = parent;
	q->refs = 1;
	q->depth = (uint16_t)(parent->depth + 1);
	/* what the parent may have is all that it may */
	memset(q->limit, 0xff, sizeof(q->limit));
	return q;
}

static bool
is_empty(const struct quota *q)
{
	return (q->used[QUOTA_BYTES] | q->used[QUOTA_THREADS] | q->used[QUOTA_PROCS]) == 0;
}

void
quota_put(struct slab *s, struct quota *q)
{
	while (--q->refs == 0) {
		struct quota *parent = q->parent;

		check(is_empty(q));
		quota_free(parent, s, q, sizeof(*q));
		q = parent;
	}
}

static bool
fits(size_t n, size_t used, size_t limit)
{
	return used <= limit && n <= limit - used;
}

/* Small pieces come from pages, so of bytes the free pages count, not what is charged. */
hot_inline bool
has_room(const struct quota *q, enum quota_kind kind, size_t n)
{
	size_t keep = q->parent == NULL || q->is_served_first ? 0 : reserve[kind];

	for (; q->parent != NULL; q = q->parent)
		if (!fits(n, q->used[kind], q->limit[kind]))
			return false;
	if (kind == QUOTA_BYTES)
		return fits(n, keep, (size_t)q->frames->free * HAL_PAGE_BYTES);
	return fits(n, q->used[kind] + keep, q->limit[kind]);
}

bool
quota_has_room(const struct quota *q, enum quota_kind kind, size_t n)
{
	return has_room(q, kind, n);
}

hot_inline void
charge(struct quota *q, enum quota_kind kind, size_t n)
{
	for (; q != NULL; q = q->parent)
		q->used[kind] += n;
}

bool
quota_charge(struct quota *q, enum quota_kind kind, size_t n)
{
	if (!quota_has_room(q, kind, n))
		return false;
	charge(q, kind, n);
	return true;
}

void
quota_refund(struct quota *q, enum quota_kind kind, size_t n)
{
	for (; q != NULL; q = q->parent)
		q->used[kind] -= n;
}

void *
quota_alloc(struct quota *q, struct slab *s, size_t bytes)
{
	size_t size = slab_size(s, bytes);
	void *piece = quota_has_room(q, QUOTA_BYTES, size) ? slab_alloc(s, bytes) : NULL;

	if (piece == NULL)
		return NULL;
	charge(q, QUOTA_BYTES, size);
	return memset(piece, 0, size);
}

void
quota_free(struct quota *q, struct slab *s, void *piece, size_t bytes)
{
	slab_free(s, piece);
	quota_refund(q, QUOTA_BYTES, slab_size(s, bytes));
}

long
quota_take_thread(struct quota *q, struct slab *s, void **record)
{
	size_t bytes = s->record;
	void *piece;

	if (unlikely(!has_room(q, QUOTA_THREADS, 1)))
		return -E_NOSPC;
	piece = likely(has_room(q, QUOTA_BYTES, bytes)) ? slab_alloc(s, bytes) : NULL;
	if (unlikely(piece == NULL))
		return -E_NOMEM;
	for (; q != NULL; q = q->parent) {
		q->used[QUOTA_THREADS]++;
		q->used[QUOTA_BYTES] += bytes;
	}
	*record = piece;
	return 0;
}

void
quota_give_thread(struct quota *q, struct slab *s, void *record)
{
	size_t bytes = s->record;

	slab_free(s, record);
	for (; q != NULL; q = q->parent) {
		q->used[QUOTA_THREADS]--;
		q->used[QUOTA_BYTES] -= bytes;
	}
}
