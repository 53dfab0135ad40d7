/* SPDX-License-Identifier: MIT
 *
 * The list of what lies in a segment: see segment.h. It is changed with its lock taken, which
 * nobody holds while he waits, or fills what he makes. From a process that ends with the lock taken
 * it is taken away after a while; one that lives looks before its only writes whether it still has
 * the lock, and begins anew otherwise. So with an entry: from who has not filled it after a while
 * the name is taken away, and one that lives sees it when it is done. If it is dead, nobody gets
 * the memory of the entry again.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <atoll/kcalls.h>
#include "channel_words.h"
#include "segment.h"

#define ENTRIES_MIN 8
#define BYTES_OF_AN_ENTRY 256		/* of the segment */
#define PATIENCE_NS 300000000ull	/* with who has the lock of a shared segment */

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

/* Its word: how often it was taken, and 0: it is free, 1: taken, 2: and somebody sleeps. */
#define LOCK_STATE(w) ((w) & 3u)
#define LOCK_NUMBER(w) ((w) & ~3u)
#define LOCK_ONE 4u

static uint64_t
patience(const struct segment *g)
{
	uint64_t until = FOREVER;

	if (g->shared != 0 && kclock(&until) == 0)
		until += PATIENCE_NS;
	return until;
}

/* Who has had it too long is dead, or will see that it is not his any more. */
static int
lock(const struct segment *g, uint32_t *held)
{
	uint32_t *word = &segment_head(g)->lock, w = word_look(word), taken = LOCK_NUMBER(w);
	uint64_t until = patience(g);
	bool is_late = false;

	for (uint32_t mark = 1;; w = word_look(word)) {
		long e;

		if (LOCK_NUMBER(w) != taken) {
			taken = LOCK_NUMBER(w);
			until = patience(g);
			is_late = false;
		}
		if (LOCK_STATE(w) == 0 || is_late) {
			*held = taken + LOCK_ONE;
			if (word_swap(word, w, *held | mark))
				return 0;
			continue;
		}
		mark = 2;
		if (LOCK_STATE(w) == 1 && !word_swap(word, w, taken | mark))
			continue;
		e = kfutex_wait((unsigned long)word | g->shared, taken | mark, until);
		is_late = e == -E_TIMEDOUT;
		if (e < 0 && e != -E_AGAIN && e != -E_INTR && !is_late)
			return (int)e;
	}
}

static bool
is_held(const struct segment *g, uint32_t held)
{
	return LOCK_NUMBER(word_look(&segment_head(g)->lock)) == held;
}

static void
unlock(const struct segment *g, uint32_t held)
{
	uint32_t *word = &segment_head(g)->lock, w;

	do
		w = word_look(word);
	while (LOCK_NUMBER(w) == held && !word_swap(word, w, held));
	if (LOCK_NUMBER(w) == held && LOCK_STATE(w) == 2)
		kfutex_wake((unsigned long)word | g->shared, 1);
}

/* --- what is there --- */

/* An entry as it is now, or as far as it can be believed: nothing of it lies outside. */
static struct segment_entry
entry_copy(const struct segment *g, uint32_t i)
{
	struct segment_entry *from = &segment_head(g)->entry[i];
	struct segment_entry e = {.kind = word_look(&from->kind), .offset = from->offset,
		.bytes = from->bytes, .a = from->a, .b = from->b};
	uint32_t first = contents(entries(g));

	memcpy(e.name, from->name, SEGMENT_NAME_MAX);
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

		if (e.kind != SEGMENT_FREE && e.kind != SEGMENT_LATE && str_is_equal(e.name, name))
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
make(const struct segment *g, uint32_t held, struct segment_wish *w)
{
	struct segment_head *h = segment_head(g);
	uint32_t n = entries(g), i = 0, first = contents(n), hint = h->next, offset;

	while (i < n && word_look(&h->entry[i].kind) != SEGMENT_FREE)
		i++;
	if (i == n || w->bytes > g->bytes)
		return -E_NOMEM;
	if (hint < first || hint % SEGMENT_UNIT != 0)
		hint = first;
	offset = find_gap(g, hint, w->bytes);
	if (offset == 0)
		offset = find_gap(g, first, w->bytes);
	if (offset == 0)
		return -E_NOMEM;
	if (!is_held(g, held))
		return -E_AGAIN;
	h->next = offset + w->bytes;
	h->entry[i] = (struct segment_entry){.offset = offset, .bytes = w->bytes, .opens = 1,
		.a = w->a, .b = w->b};
	if (w->name != NULL)
		memcpy(h->entry[i].name, w->name, str_len(w->name) + 1);
	word_put(&h->entry[i].kind, SEGMENT_BEGINS);
	*w = (struct segment_wish){w->kind, w->name, w->bytes, w->a, w->b, i, 1, true,
		g->base + offset};
	return 0;
}

/* Find it, or make it. -E_AGAIN: the lock was lost; 1: its entry is being filled. */
static int
look_up(const struct segment *g, uint32_t held, struct segment_wish *w)
{
	uint32_t i = find_name(g, w->name);
	struct segment_entry e;

	w->at = NULL;
	w->made = false;
	if (i == entries(g))
		return make(g, held, w);
	e = entry_copy(g, i);
	w->entry = i;
	if (e.kind == SEGMENT_BEGINS)
		return 1;
	if (e.kind != w->kind || e.bytes != w->bytes || e.a != w->a || e.b != w->b)
		return -E_INVAL;
	if (!is_held(g, held))
		return -E_AGAIN;
	w->opens = ++segment_head(g)->entry[i].opens;
	w->at = g->base + e.offset;
	return 0;
}

/* As long as another one fills it. If that takes too long, it has no name any more. */
static void
await_filled(const struct segment *g, uint32_t entry)
{
	uint32_t *kind = &segment_head(g)->entry[entry].kind;
	uint64_t until = patience(g);
	long e = 0;

	while (word_look(kind) == SEGMENT_BEGINS && (e >= 0 || e == -E_AGAIN || e == -E_INTR))
		e = kfutex_wait((unsigned long)kind | g->shared, SEGMENT_BEGINS, until);
	if (e == -E_TIMEDOUT)
		word_swap(kind, SEGMENT_BEGINS, SEGMENT_LATE);
}

/* What was made can be found. False: it was late, and is gone. */
static bool
is_filled_in_time(const struct segment *g, const struct segment_wish *w)
{
	uint32_t *kind = &segment_head(g)->entry[w->entry].kind;
	bool in_time = word_swap(kind, SEGMENT_BEGINS, w->kind);

	if (!in_time)
		word_swap(kind, SEGMENT_LATE, SEGMENT_FREE);
	kfutex_wake((unsigned long)kind | g->shared, INT32_MAX);
	return in_time;
}

int
segment_find(struct segment *g, struct segment_wish *w,
	void (*begin)(struct segment_wish *w, void *arg), void *arg)
{
	uint32_t held;
	int e;

	if (w->name != NULL && (w->name[0] == '\0' || str_len(w->name) > SEGMENT_NAME_MAX))
		return -E_INVAL;
	w->bytes = (w->bytes + SEGMENT_UNIT - 1) & ~(uint32_t)(SEGMENT_UNIT - 1);
	do {
		e = lock(g, &held);
		if (e != 0)
			return e;
		e = look_up(g, held, w);
		unlock(g, held);
		if (e == 1) {
			await_filled(g, w->entry);
			e = -E_AGAIN;
		}
		if (e == 0 && w->made) {
			begin(w, arg);
			e = is_filled_in_time(g, w) ? 0 : -E_AGAIN;
		}
	} while (e == -E_AGAIN);
	return e;
}

int
segment_leave(struct segment *g, uint32_t entry)
{
	struct segment_entry *e = &segment_head(g)->entry[entry];
	uint32_t held;
	int wrong;

	do {
		wrong = lock(g, &held);
		if (wrong != 0)
			return wrong;
	} while (!is_held(g, held));
	e->name[0] = '\0';
	if (e->opens > 0)
		e->opens--;
	if (e->opens == 0)
		word_put(&e->kind, SEGMENT_FREE);
	unlock(g, held);
	return 0;
}
