/* SPDX-License-Identifier: MIT
 *
 * Tubes: see atoll/tube.h. Two semaphores count messages and holes. A hole is a place for a
 * message, of a stack; whoever has taken one owns it and copies. Then it puts the place's number
 * into a ring (number_ring.h), which is the order of messages, and whoever takes it there owns it.
 *
 * Whatever stands in the memory, only places of the tube are touched, and loops end.
 * (tests/models/tube.pml)
 */
#include <abi/errors.h>
#include <base/str.h>
#include <atoll/tube.h>
#include "channel_words.h"
#include "number_ring.h"
#include "sem_words.h"

#define BYTES_MAX (SEGMENT_BYTES_MAX / 2)
#define CHANGE 0x10000u			/* of the stack, one more */
#define GROUP 8				/* longs that are copied at a time */

/* Handles that keep a place for their next message, where messages are short. */
#define SPARES 8
#define SPARE_BYTES 512

/* Numbers of places are from 1 on; 0: none. */
struct tube_state {
	struct sem_state messages, holes;
	struct ring_ends order;
	uint32_t hole;			/* the first of the stack, and how often that changed */
	uint32_t reserved[5];
};

/* --- places --- */

/* A place of the stack; 0: there is none. */
static uint32_t
hole_take(const struct tube *t)
{
	uint32_t *hole = &t->at->hole;

	for (int i = 0; i < RING_TRIES; i++) {
		uint32_t w = word_look(hole), number = w % CHANGE;

		if (number - 1 >= t->ring.numbers)
			return 0;
		if (word_swap_quickly(hole, w, w - number + CHANGE +
			word_peek(&t->next[number]) % CHANGE))
			return number;
	}
	return 0;
}

static void
hole_put(const struct tube *t, uint32_t number)
{
	uint32_t *hole = &t->at->hole, w;

	do {
		w = word_look(hole);
		word_put(&t->next[number], w % CHANGE);
	} while (!word_swap_quickly(hole, w, w - w % CHANGE + CHANGE + number));
}

/* Keep it, if the handle may; what was kept before, or what may not be, goes to the stack. */
static inline void
spare_put(struct tube *t, uint32_t number)
{
	if (t->has_spare)
		number = word_exchange(&t->spare, number);
	if (number != 0)
		hole_put(t, number);
}

/* --- messages --- */

static inline unsigned char *
place_of(const struct tube *t, uint32_t number)
{
	return t->before + (size_t)((long)(int32_t)number * (long)t->stride);
}

/* Has this handle a spare place, and can be copied in groups of longs? */
static inline bool
is_quick(const struct tube *t, const void *message)
{
	return ((uintptr_t)message & (sizeof(long) - 1)) == 0 && t->groups != 0;
}

static inline void
copy_groups(void *to, const void *from, size_t groups)
{
	unsigned long *a = to;
	const unsigned long *b = from;

	do {
		unsigned long w0 = b[0], w1 = b[1], w2 = b[2], w3 = b[3];
		unsigned long w4 = b[4], w5 = b[5], w6 = b[6], w7 = b[7];

		a[0] = w0, a[1] = w1, a[2] = w2, a[3] = w3;
		a[4] = w4, a[5] = w5, a[6] = w6, a[7] = w7;
		a += GROUP, b += GROUP;
	} while (--groups != 0);
}

/* A message is in its place, a hole before. */
static __attribute__((noinline)) int
put_slowly(struct tube *t, uint32_t number)
{
	if (!ring_put(&t->ring, &t->at->order, number))
		return -E_IO;
	return sem_up(t->messages.in, &t->at->messages);
}

/* A hole is the caller's: fill it, byte by byte. */
static __attribute__((noinline)) int
fill_slowly(struct tube *t, const void *message)
{
	uint32_t number = word_exchange(&t->spare, 0);

	if (number == 0)
		number = hole_take(t);
	if (number == 0)
		return -E_IO;
	memcpy(place_of(t, number), message, t->bytes);
	bytes_publish(place_of(t, number), t->bytes);
	return put_slowly(t, number);
}

static inline __attribute__((always_inline)) int
tube_put(struct tube *t, struct tube_state *s, const void *message)
{
	uint32_t number;

	if (!is_quick(t, message) || (number = word_exchange(&t->spare, 0)) == 0)
		return fill_slowly(t, message);
	copy_groups(place_of(t, number), message, t->groups);
	bytes_publish(place_of(t, number), t->bytes);
	if (!ring_put_once(&t->ring, &s->order, number))
		return put_slowly(t, number);
	return sem_up_quickly(t->messages.in, &s->messages);
}

/* The message is there, and its place is a hole: of a tube that has ended nobody needs one. */
static __attribute__((noinline)) int
hole_slowly(struct tube *t, uint32_t number)
{
	int e;

	if (number != 0)
		hole_put(t, number);
	e = sem_up(t->messages.in, &t->at->holes);
	return e == -E_PIPE ? 0 : e;
}

/* A message is the caller's, and perhaps its place: take it. */
static __attribute__((noinline)) int
take_slowly(struct tube *t, void *message, uint32_t number)
{
	if (number == 0)
		number = ring_take(&t->ring, &t->at->order);
	if (number == 0)
		return -E_IO;
	bytes_acquire(place_of(t, number), t->bytes);
	memcpy(message, place_of(t, number), t->bytes);
	spare_put(t, number);
	return hole_slowly(t, 0);
}

static inline __attribute__((always_inline)) int
tube_take(struct tube *t, struct tube_state *s, void *message)
{
	uint32_t number = ring_take_once(&t->ring, &s->order), w;

	if (number == 0 || !is_quick(t, message))
		return take_slowly(t, message, number);
	bytes_acquire(place_of(t, number), t->bytes);
	copy_groups(message, place_of(t, number), t->groups);
	number = word_exchange(&t->spare, number);
	w = word_peek(&s->holes.word);
	if (number == 0 && w < SEM_VALUE_MAX && word_swap_quickly(&s->holes.word, w, w + 1))
		return 0;
	return hole_slowly(t, number);
}

static __attribute__((noinline)) int
send_slowly(struct tube *t, const void *message, uint64_t until)
{
	int e = sem_down(t->messages.in, &t->at->holes, until);

	return e != 0 ? e : fill_slowly(t, message);
}

static __attribute__((noinline)) int
receive_slowly(struct tube *t, void *message, uint64_t until)
{
	int e = sem_down(t->messages.in, &t->at->messages, until);

	return e != 0 ? e : take_slowly(t, message, 0);
}

/* Where nobody sleeps and nobody is faster, these two call no function and need no stack. */
int
tsend(struct tube *t, const void *message, uint64_t until)
{
	struct tube_state *s = t->at;

	if (s == NULL)
		return -E_INVAL;
	return sem_down_quickly(&s->holes) ? tube_put(t, s, message) :
		send_slowly(t, message, until);
}

int
treceive(struct tube *t, void *message, uint64_t until)
{
	struct tube_state *s = t->at;

	if (s == NULL)
		return -E_INVAL;
	return sem_down_quickly(&s->messages) ? tube_take(t, s, message) :
		receive_slowly(t, message, until);
}

static int
at_once(int e)
{
	return e == 0 ? 1 : e == -E_AGAIN ? 0 : e;
}

int
nbtsend(struct tube *t, const void *message)
{
	return at_once(tsend(t, message, 0));
}

int
nbtreceive(struct tube *t, void *message)
{
	return at_once(treceive(t, message, 0));
}

int
talt(struct talt a[], int n, uint64_t until)
{
	int k, e;

	for (int i = 0; i < n; i++)
		a[i].sem = a[i].op == TALT_SEND ? &a[i].tube->holes :
			a[i].op == TALT_RECEIVE ? &a[i].tube->messages : NULL;
	k = sem_alt(&(struct sem_set){&a[0].sem, sizeof(a[0]), n}, until);
	if (k < 0)
		return k;
	e = a[k].op == TALT_SEND ? tube_put(a[k].tube, a[k].tube->at, a[k].message) :
		tube_take(a[k].tube, a[k].tube->at, a[k].message);
	return e != 0 ? e : k;
}

/* --- beginning and end --- */

/* Where its parts lie: the state, the ring, the stack's links, the places. Bytes of all. */
static uint32_t
lay_out(struct tube *t, unsigned char *at, uint32_t bytes, uint32_t n)
{
	uint32_t round, head;

	t->bytes = bytes;
	t->stride = (bytes + 15) & ~15u;
	t->ring.numbers = n + (bytes <= SPARE_BYTES ? SPARES : 0);
	round = ring_entries(t->ring.numbers);
	t->ring.mask = round - 1;
	head = ((uint32_t)sizeof(*t->at) +
		(round + t->ring.numbers + 1) * (uint32_t)sizeof(*t->ring.entry) +
		TUBE_PLACES_ALIGNED - 1) & ~(uint32_t)(TUBE_PLACES_ALIGNED - 1);
	t->at = (struct tube_state *)(void *)at;
	t->ring.entry = (uint32_t *)(void *)(at + sizeof(*t->at));
	t->next = t->ring.entry + round;
	t->before = at + head - t->stride;
	return t->stride > (SEGMENT_BYTES_MAX - head) / t->ring.numbers ? SEGMENT_BYTES_MAX :
		head + t->ring.numbers * t->stride;
}

/* All places are holes. */
static void
begin_tube(struct segment_wish *w, void *arg)
{
	struct tube *t = arg;

	lay_out(t, w->at, w->a, w->b);
	memset(w->at, 0, (size_t)((unsigned char *)t->next - w->at));
	for (uint32_t i = 1; i <= t->ring.numbers; i++)
		t->next[i] = i - 1;
	t->at->hole = t->ring.numbers;
	t->at->holes.word = w->b;
}

int
newtube(struct segment *g, struct tube *t, const char *name, uint32_t bytes, uint32_t n)
{
	struct segment_wish w = {.kind = SEGMENT_TUBE, .name = name, .a = bytes, .b = n};
	int e;

	*t = (struct tube){0};
	if (bytes == 0 || bytes > BYTES_MAX || n == 0 || n > TUBE_MESSAGES_MAX)
		return -E_INVAL;
	w.bytes = lay_out(t, g->base, bytes, n);
	e = segment_find(g, &w, begin_tube, t);
	if (e != 0) {
		*t = (struct tube){0};
		return e;
	}
	lay_out(t, w.at, bytes, n);
	t->has_spare = t->ring.numbers > n && w.opens <= SPARES;
	if (t->has_spare && bytes % (GROUP * sizeof(long)) == 0)
		t->groups = bytes / (GROUP * sizeof(long));
	t->messages = (struct sem){&t->at->messages, g, w.entry};
	t->holes = (struct sem){&t->at->holes, g, w.entry};
	return 0;
}

int
endtube(const struct tube *t)
{
	if (t->at == NULL)
		return -E_INVAL;
	sem_end(t->messages.in, &t->at->messages);
	sem_end(t->messages.in, &t->at->holes);
	return 0;
}

int
freetube(struct tube *t)
{
	uint32_t number;
	int e = endtube(t);

	if (e == 0 && (number = word_exchange(&t->spare, 0)) != 0)
		hole_put(t, number);
	if (e == 0)
		e = segment_leave(t->messages.in, t->messages.entry);
	if (e == 0)
		*t = (struct tube){0};
	return e;
}
