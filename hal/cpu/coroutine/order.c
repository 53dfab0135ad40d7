/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: what the order of memory may be. A core's 32-bit stores and its publishes
 * wait here until they are carried out: a store behind everything that came before it, a publish
 * (in weak seeds) behind nothing but an earlier one of the same bytes. In weak seeds a load may
 * have been done early: it sees what a word held at some moment since the last look or full order
 * of its core.
 */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* --- words, as they were --- */

void
coro_word_write(const struct coro_core *core, volatile uint32_t *place, uint32_t value)
{
	coro_machine.write[coro_machine.writes++ % WRITES_KEPT] =
		(struct word_write){place, *place, core};
	*place = value;
}

void
coro_ordered(struct coro_core *core)
{
	core->looked = coro_machine.writes;
}

/*
 * Go back through the writes since the last look, as far as chance wants, but not beyond an own
 * one.
 */
uint32_t
coro_word_read(struct coro_core *core, volatile uint32_t *place)
{
	uint64_t now = coro_machine.writes, at = now, first = core->looked;
	uint32_t value = *place;

	if (now - first > WRITES_KEPT)
		first = now - WRITES_KEPT;
	while (coro_machine.early_loads && at > first && coro_draw(4) != 0) {
		const struct word_write *w = &coro_machine.write[--at % WRITES_KEPT];

		if (w->place != place)
			continue;
		if (w->core == core)
			break;
		value = w->old;
	}
	core->looked = at;
	return value;
}

/* --- stores and publishes that wait --- */

static bool
is_store(const struct held *h)
{
	return h->place != NULL;
}

static bool
overlap(const struct held *a, const struct held *b)
{
	return a->shared < b->shared + b->len && b->shared < a->shared + a->len;
}

static void
carry_out(struct coro_core *core, unsigned i)
{
	struct held h = core->held[i];

	core->held_count--;
	core->held_stores -= is_store(&h);
	memmove(core->held + i, core->held + i + 1, (core->held_count - i) * sizeof(h));
	if (is_store(&h))
		coro_word_write(core, h.place, h.value);
	else
		coro_copy(h.shared, h.bytes, h.len);
	free(h.bytes);
}

/*
 * What may be seen next: a store when it is the oldest of all, a publish when no earlier one
 * overlaps it.
 */
static unsigned
may_go(const struct coro_core *core)
{
	unsigned i = coro_draw(core->held_count);

	if (is_store(&core->held[i]))
		return 0;
	for (unsigned k = 0; k < i; k++)
		if (!is_store(&core->held[k]) && overlap(&core->held[k], &core->held[i]))
			return k;
	return i;
}

void
coro_drain_one(struct coro_core *core)
{
	if (core->held_count > 0)
		carry_out(core, may_go(core));
}

void
coro_drain(struct coro_core *core)
{
	while (core->held_count > 0)
		carry_out(core, 0);
}

void
coro_forget_held(struct coro_core *core)
{
	while (core->held_count > 0)
		free(core->held[--core->held_count].bytes);
	core->held_stores = 0;
}

static struct held *
hold(struct coro_core *core)
{
	if (core->held_count == HELD_MAX)
		coro_drain_one(core);
	return &core->held[core->held_count++];
}

void
coro_hold_store(struct coro_core *core, volatile uint32_t *place, uint32_t value)
{
	while (core->held_stores >= coro_machine.stores_max && core->held_stores > 0)
		coro_drain_one(core);
	if (coro_machine.stores_max == 0) {
		coro_drain(core);
		coro_word_write(core, place, value);
		return;
	}
	*hold(core) = (struct held){.place = place, .value = value};
	core->held_stores++;
}

void
coro_hold_publish(struct coro_core *core, char *shared, const char *from, size_t len)
{
	char *bytes;

	if (!coro_machine.lazy_publishes || len == 0) {
		coro_copy(shared, from, len);
		return;
	}
	bytes = malloc(len);
	if (bytes == NULL)
		abort();
	coro_copy(bytes, from, len);
	*hold(core) = (struct held){.shared = shared, .bytes = bytes, .len = len};
}

bool
coro_held_word(const struct coro_core *core, const volatile uint32_t *place, uint32_t *value)
{
	for (unsigned i = core->held_count; i-- > 0;)
		if (core->held[i].place == place) {
			*value = core->held[i].value;
			return true;
		}
	return false;
}

/*
 * A core sees its own publishes, also those that nobody else sees yet: copy them over `live`, which
 * shows `len` bytes at `shared`.
 */
void
coro_show_own(const struct coro_core *core, char *live, const char *shared, size_t len)
{
	for (unsigned i = 0; i < core->held_count; i++) {
		const struct held *h = &core->held[i];
		const char *first = h->shared > shared ? h->shared : shared;
		const char *end = h->shared + h->len < shared + len ? h->shared + h->len :
			shared + len;

		if (!is_store(h) && first < end)
			coro_copy(live + (first - shared), h->bytes + (first - h->shared),
				(size_t)(end - first));
	}
}
