/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: the operations on memory that cores share. The shared copies (images.c) are
 * what the 32-bit operations, publish and acquire work on; plain reads and writes touch the running
 * core's image only.
 */
#include <string.h>
#include "internal.h"

static struct coro_cluster *
own_cluster(void)
{
	return &coro_machine.cluster[coro_now->cluster];
}

/* The view that holds p as the running core sees it; false if p is memory without a view. */
static bool
find_view(const volatile void *p, struct view *v)
{
	struct coro_cluster *c = own_cluster();
	const char *at = (const char *)p;

	if (at >= coro_now->windows && at < coro_now->windows + coro_machine.windows_bytes) {
		*v = (struct view){coro_now->windows, coro_machine.windows, coro_now->windows_clean,
			coro_machine.windows_bytes};
		return true;
	}
	for (unsigned i = 0; i < c->regions; i++) {
		struct region *r = &c->region[i];

		if (!r->ended && at >= r->base && at < r->base + r->len) {
			*v = (struct view){r->base, r->shared, r->clean[coro_now->core], r->len};
			return true;
		}
	}
	return false;
}

/* A range of a view, cut at its end. */
static size_t
range(const struct view *v, const volatile void *p, size_t *len)
{
	size_t offset = (size_t)((const char *)p - v->live);

	if (*len > v->len - offset)
		*len = v->len - offset;
	return offset;
}

static volatile uint32_t *
shared_word(const volatile uint32_t *p)
{
	struct view v;

	if (!find_view(p, &v))
		return (volatile uint32_t *)p;
	return (volatile uint32_t *)(v.shared + ((const char *)p - v.live));
}

/* Let the own image show the value of a shared word. */
static void
refresh_word(const volatile uint32_t *p, uint32_t value)
{
	struct view v;
	size_t offset;

	if (!find_view(p, &v))
		return;
	offset = (size_t)((const char *)p - v.live);
	*(volatile uint32_t *)(v.live + offset) = value;
	*(uint32_t *)(v.clean + offset) = value;
}

void
coro_full_order(struct coro_core *core)
{
	coro_drain(core);
	coro_ordered(core);
}

/* What the running core reads from a shared word: its own latest store, or the shared copy. */
static uint32_t
read_word(volatile uint32_t *place)
{
	uint32_t value;

	return coro_held_word(coro_now, place, &value) ? value : coro_word_read(coro_now, place);
}

uint32_t
coro_load32(const volatile uint32_t *p, const char *file, int line)
{
	uint32_t value;

	if (coro_now == NULL)
		return *p;
	coro_op(OP_LOAD, file, line, 0);
	value = read_word(shared_word(p));
	refresh_word(p, value);
	coro_hash(value);
	return value;
}

void
coro_store32(volatile uint32_t *p, uint32_t value, const char *file, int line)
{
	if (coro_now == NULL) {
		*p = value;
		return;
	}
	coro_op(OP_STORE, file, line, value);
	refresh_word(p, value);
	coro_hold_store(coro_now, shared_word(p), value);
}

uint32_t
coro_add32(volatile uint32_t *p, uint32_t n, const char *file, int line)
{
	volatile uint32_t *place;
	uint32_t old;

	if (coro_now == NULL) {
		old = *p;
		*p = old + n;
		return old;
	}
	coro_op(OP_ADD, file, line, n);
	coro_full_order(coro_now);
	place = shared_word(p);
	old = *place;
	coro_word_write(coro_now, place, old + n);
	coro_ordered(coro_now);
	refresh_word(p, old + n);
	coro_hash(old);
	if (coro_machine.config->on_add != NULL)
		coro_machine.config->on_add(p, old);
	return old;
}

bool
coro_cas32(volatile uint32_t *p, uint32_t old, uint32_t value, const char *file, int line)
{
	volatile uint32_t *place;
	uint32_t found;

	coro_op(OP_CAS, file, line, value);
	coro_full_order(coro_now);
	place = shared_word(p);
	found = *place;
	if (found == old)
		coro_word_write(coro_now, place, value);
	coro_ordered(coro_now);
	refresh_word(p, found == old ? value : found);
	coro_hash(found);
	return found == old;
}

void
coro_fence(const char *file, int line)
{
	if (coro_now == NULL)
		return;
	coro_op(OP_FENCE, file, line, 0);
	if (!coro_dropped(OP_FENCE, file, line))
		coro_full_order(coro_now);
}

static void
publish_part(const struct view *v, size_t offset, size_t len)
{
	coro_hold_publish(coro_now, v->shared + offset, v->live + offset, len);
	coro_copy(v->clean + offset, v->live + offset, len);
}

static void
acquire_part(const struct view *v, size_t offset, size_t len)
{
	/* an image that nobody has written to need not come to life */
	if (memcmp(v->live + offset, v->shared + offset, len) != 0)
		coro_copy(v->live + offset, v->shared + offset, len);
	coro_show_own(coro_now, v->live + offset, v->shared + offset, len);
	coro_copy(v->clean + offset, v->live + offset, len);
}

/*
 * Nobody promises that more than a line is read or written at one moment: the bytes before `offset`
 * + this, and the rest.
 */
static size_t
first_part(size_t offset, size_t len, bool may_split)
{
	size_t to_line = HAL_CACHE_LINE - offset % HAL_CACHE_LINE, lines;

	if (!may_split || len <= to_line)
		return len;
	lines = (len - to_line + HAL_CACHE_LINE - 1) / HAL_CACHE_LINE;
	return to_line + coro_draw((uint32_t)lines) * HAL_CACHE_LINE;
}

void
coro_publish(const volatile void *p, size_t len, const char *file, int line)
{
	struct view v;
	size_t offset, first;

	if (coro_now == NULL)
		return;
	coro_op(OP_PUBLISH, file, line, (uint32_t)len);
	if (coro_dropped(OP_PUBLISH, file, line) || !find_view(p, &v))
		return;
	offset = range(&v, p, &len);
	first = first_part(offset, len, coro_machine.lazy_publishes);
	publish_part(&v, offset, first);
	publish_part(&v, offset + first, len - first);
}

void
coro_acquire(const volatile void *p, size_t len, const char *file, int line)
{
	struct view v;
	size_t offset, first;

	if (coro_now == NULL)
		return;
	coro_op(OP_ACQUIRE, file, line, (uint32_t)len);
	if (coro_dropped(OP_ACQUIRE, file, line) || !find_view(p, &v))
		return;
	offset = range(&v, p, &len);
	first = first_part(offset, len, coro_machine.early_loads);
	acquire_part(&v, offset, first);
	if (first < len)
		coro_op(OP_ACQUIRE, file, line, (uint32_t)(len - first));
	acquire_part(&v, offset + first, len - first);
}

/*
 * A cache may write dirty bytes back at any time: do it with one line of a region, of the pages
 * that were written to.
 */
static void
write_back_line(const struct region *r)
{
	const struct piece *p = &r->active[coro_draw((uint32_t)r->active_count)];
	size_t line =
		p->offset + coro_draw((uint32_t)(p->len + HAL_CACHE_LINE - 1) / HAL_CACHE_LINE) *
		HAL_CACHE_LINE;
	char *clean = r->clean[coro_now->core];

	for (size_t i = line; i < line + HAL_CACHE_LINE && i < p->offset + p->len; i++)
		if (r->base[i] != clean[i])
			r->shared[i] = clean[i] = r->base[i];
}

void
coro_disturb(void)
{
	struct coro_cluster *c = own_cluster();
	struct coro_core *any;

	if ((coro_machine.stores_max > 0 || coro_machine.lazy_publishes) &&
		coro_draw(coro_machine.store_laziness) == 0) {
		any = &coro_machine.core[coro_draw(coro_machine.cores)];
		if (any->state != CORE_DEAD)
			coro_drain_one(any);
	}
	/* what waits would come after bytes that were written later */
	if (coro_machine.early_writeback && coro_now->held_count == 0 && c->regions > 0 &&
		coro_draw(4) == 0) {
		struct region *r = &c->region[coro_draw(c->regions)];

		if (!r->ended && r->active_count > 0)
			write_back_line(r);
	}
}
