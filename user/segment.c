/* SPDX-License-Identifier: MIT
 *
 * The list of what lies in a segment: see segment.h. It is changed with its lock taken, which
 * nobody holds while he waits. A process that ends with the lock taken leaves it so: who wants it
 * after that gets -E_BUSY, and what is open goes on.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <atoll/kcalls.h>
#include "channel_words.h"
#include "segment.h"

#define ENTRIES_MIN 8
#define BYTES_OF_AN_ENTRY 256		/* of the segment */
#define PATIENCE_NS 1000000000ull	/* with who has the lock of a shared segment */

static uint32_t
entries(const struct segment *g)
{
	uint32_t n = g->bytes / BYTES_OF_AN_ENTRY;

	return n < ENTRIES_MIN ? ENTRIES_MIN : n;
}

/* Where the contents begin. */
static uint32_t
contents(uint32_t entries)
{
	size_t end = sizeof(struct segment_head) + entries * sizeof(struct segment_entry);

	return (uint32_t)((end + SEGMENT_LINE - 1) & ~(size_t)(SEGMENT_LINE - 1));
}

int
segment_begin(struct segment *g, void *memory, size_t bytes, int flags)
{
	struct segment made = {.base = memory, .bytes = (uint32_t)bytes, .looks = SEM_LOOKS,
		.shared = (flags & SEGMENT_SHARED) != 0 ? FUTEX_SHARED : 0};

	if ((flags & ~SEGMENT_SHARED) != 0 || (uintptr_t)memory % SEGMENT_LINE != 0 ||
		memory == NULL || bytes > SEGMENT_BYTES_MAX ||
		bytes < contents(ENTRIES_MIN) + SEGMENT_LINE || bytes < contents(entries(&made)))
		return -E_INVAL;
	*g = made;
	return 0;
}

/* --- its lock --- */

static int
lock(const struct segment *g)
{
	uint32_t *word = &segment_head(g)->lock, w;
	uint64_t until = FOREVER;
	long e;

	if (word_swap(word, 0, 1))
		return 0;
	if (g->shared != 0 && kclock(&until) == 0)
		until += PATIENCE_NS;
	for (;;) {
		w = word_look(word);
		if (w == 0 ? word_swap(word, 0, 2) : w == 1 && !word_swap(word, 1, 2)) {
			if (w == 0)
				return 0;
			continue;
		}
		e = kfutex_wait((unsigned long)word | g->shared, 2, until);
		if (e < 0 && e != -E_AGAIN && e != -E_INTR)
			return e == -E_TIMEDOUT ? -E_BUSY : (int)e;
	}
}

static void
unlock(const struct segment *g)
{
	uint32_t *word = &segment_head(g)->lock, w;

	do
		w = word_look(word);
	while (!word_swap(word, w, 0));
	if (w == 2)
		kfutex_wake((unsigned long)word | g->shared, 1);
}

/* --- what is there --- */

/* An entry as it is now, or as far as it can be believed: nothing of it lies outside. */
static struct segment_entry
entry_copy(const struct segment *g, uint32_t i)
{
	struct segment_entry e;
	uint32_t first = contents(entries(g));

	memcpy(&e, &segment_head(g)->entry[i], sizeof(e));
	e.name[SEGMENT_NAME_MAX] = '\0';
	if (e.offset < first || e.offset > g->bytes || e.bytes > g->bytes - e.offset ||
		e.offset % SEGMENT_UNIT != 0)
		e.kind = SEGMENT_FREE;
	return e;
}

/* The first entry of that name; how many there are if there is none. */
static uint32_t
find_name(const struct segment *g, const char *name)
{
	uint32_t n = entries(g);

	for (uint32_t i = 0; name != NULL && i < n; i++) {
		struct segment_entry e = entry_copy(g, i);

		if (e.kind != SEGMENT_FREE && str_is_equal(e.name, name))
			return i;
	}
	return n;
}

/* Where what would begin at `at` can begin, because of the other entries; itself: there. */
static uint32_t
behind_others(const struct segment *g, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; i < entries(g); i++) {
		struct segment_entry e = entry_copy(g, i);

		if (e.kind != SEGMENT_FREE && e.offset < at + bytes && e.offset + e.bytes > at)
			return e.offset + e.bytes;
	}
	return at;
}

/* A gap from `at` on; 0: there is none. */
static uint32_t
find_gap(const struct segment *g, uint32_t at, uint32_t bytes)
{
	while (at <= g->bytes && bytes <= g->bytes - at) {
		uint32_t next = behind_others(g, at, bytes);

		if (next == at)
			return at;
		at = (next + SEGMENT_UNIT - 1) & ~(uint32_t)(SEGMENT_UNIT - 1);
	}
	return 0;
}

static int
make(const struct segment *g, struct segment_wish *w, uint32_t *offset)
{
	struct segment_head *h = segment_head(g);
	uint32_t n = entries(g), i = 0, first = contents(n), hint = h->next;

	while (i < n && h->entry[i].kind != SEGMENT_FREE)
		i++;
	if (i == n || w->bytes > g->bytes)
		return -E_NOMEM;
	if (hint < first || hint % SEGMENT_UNIT != 0)
		hint = first;
	*offset = find_gap(g, hint, w->bytes);
	if (*offset == 0)
		*offset = find_gap(g, first, w->bytes);
	if (*offset == 0)
		return -E_NOMEM;
	h->next = *offset + w->bytes;
	h->entry[i] = (struct segment_entry){.offset = *offset, .bytes = w->bytes, .opens = 1,
		.a = w->a, .b = w->b};
	if (w->name != NULL)
		memcpy(h->entry[i].name, w->name, str_len(w->name) + 1);
	w->entry = i;
	w->is_new = true;
	w->opens = 1;
	return 0;
}

/* Find it, or make it. */
static int
look_up(const struct segment *g, struct segment_wish *w)
{
	uint32_t i = find_name(g, w->name), offset;
	struct segment_entry e;
	int wrong;

	if (i == entries(g)) {
		wrong = make(g, w, &offset);
		w->at = wrong == 0 ? g->base + offset : NULL;
		return wrong;
	}
	e = entry_copy(g, i);
	if (e.kind != w->kind || e.bytes != w->bytes || e.a != w->a || e.b != w->b)
		return -E_INVAL;
	w->opens = ++segment_head(g)->entry[i].opens;
	w->entry = i;
	w->is_new = false;
	w->at = g->base + e.offset;
	return 0;
}

int
segment_find(struct segment *g, struct segment_wish *w,
	void (*begin)(struct segment_wish *w, void *arg), void *arg)
{
	int e;

	if (w->name != NULL && (w->name[0] == '\0' || str_len(w->name) > SEGMENT_NAME_MAX))
		return -E_INVAL;
	w->bytes = (w->bytes + SEGMENT_UNIT - 1) & ~(uint32_t)(SEGMENT_UNIT - 1);
	e = lock(g);
	if (e != 0)
		return e;
	e = look_up(g, w);
	if (e == 0 && w->is_new) {
		begin(w, arg);
		segment_head(g)->entry[w->entry].kind = w->kind;
	}
	unlock(g);
	return e;
}

int
segment_leave(struct segment *g, uint32_t entry)
{
	struct segment_entry *e = &segment_head(g)->entry[entry];
	int wrong = lock(g);

	if (wrong != 0)
		return wrong;
	e->name[0] = '\0';
	if (e->opens > 0)
		e->opens--;
	if (e->opens == 0)
		e->kind = SEGMENT_FREE;
	unlock(g);
	return 0;
}
