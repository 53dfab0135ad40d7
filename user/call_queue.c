/* SPDX-License-Identifier: MIT
 *
 * Queued calls: see atoll/call_queue.h. A call that is under way has a number. Two rings
 * (number_ring.h) carry the numbers, to the workers and back, and a semaphore beside each counts
 * what is in it, by which whoever finds nothing sleeps. Which number is which call only its user
 * writes. Source: seed 004 7.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <atoll/call_queue.h>
#include "channel_words.h"
#include "number_ring.h"
#include "sem_words.h"

/* What the user writes and what workers write lie apart. */
struct call_queue_state {
	struct sem_state submitted;
	struct ring_ends submitted_ends;
	_Alignas(SEGMENT_LINE) struct sem_state replied;
	struct ring_ends replied_ends;
};

/* --- beginning and end --- */

size_t
call_queue_bytes(unsigned calls)
{
	size_t numbers = (size_t)calls + 1;

	if (calls == 0 || calls > CALL_QUEUE_MAX)
		return 0;
	return sizeof(struct call_queue_state) + numbers * sizeof(struct queued_call *) +
		(numbers + 2 * (size_t)ring_entries(calls)) * sizeof(uint32_t);
}

int
call_queue_begin(struct call_queue *q, unsigned calls, void *memory, size_t bytes)
{
	size_t all = call_queue_bytes(calls);
	uint32_t entries;

	if (all == 0 || bytes < all || ((uintptr_t)memory & (SEGMENT_LINE - 1)) != 0)
		return -E_INVAL;
	memset(memory, 0, all);
	entries = ring_entries(calls);
	*q = (struct call_queue){.at = memory, .free = 1, .words = {.looks = SEM_LOOKS}};
	q->call = (struct queued_call **)(q->at + 1);
	q->submitted = (struct number_ring){(uint32_t *)(q->call + calls + 1), entries - 1, calls};
	q->replied = (struct number_ring){q->submitted.entry + entries, entries - 1, calls};
	q->next = q->replied.entry + entries;
	for (uint32_t i = 1; i < calls; i++)
		q->next[i] = i + 1;
	return 0;
}

bool
call_queue_is_idle(const struct call_queue *q)
{
	uint32_t free = 0;

	for (uint32_t i = q->free; i != 0; i = q->next[i])
		free++;
	return free == q->submitted.numbers;
}

int
call_queue_end(struct call_queue *q)
{
	if (!call_queue_is_idle(q))
		return -E_BUSY;
	sem_end(&q->words, &q->at->submitted);
	return 0;
}

/* --- workers --- */

static int
make_one(struct call_queue *q, const struct segment *words)
{
	uint32_t number = ring_take(&q->submitted, &q->at->submitted_ends);
	struct queued_call *c;

	if (number == 0)
		return -E_IO;
	bytes_acquire(&q->call[number], sizeof(q->call[number]));
	c = q->call[number];
	bytes_acquire(c, sizeof(*c));
	c->result = c->make(c);
	bytes_publish(c, sizeof(*c));
	if (!ring_put(&q->replied, &q->at->replied_ends, number))
		return -E_IO;
	return sem_up_quickly(words, &q->at->replied);
}

int
call_queue_serve(struct call_queue *q)
{
	const struct segment words = q->words;
	int e;

	do {
		e = sem_down(&words, &q->at->submitted, FOREVER);
		if (e == 0)
			e = make_one(q, &words);
	} while (e == 0 || e == -E_INTR);
	return e == -E_PIPE ? 0 : e;
}

/* --- the user --- */

int
call_submit(struct call_queue *q, struct queued_call *c)
{
	struct call_queue_state *s = q->at;
	uint32_t number = q->free;

	if (number == 0)
		return -E_AGAIN;
	q->free = q->next[number];
	q->call[number] = c;
	bytes_publish(c, sizeof(*c));
	bytes_publish(&q->call[number], sizeof(q->call[number]));
	ring_put_alone(&q->submitted, &s->submitted_ends, number);
	return sem_up_quickly(&q->words, &s->submitted);
}

/* A reply is there. */
static inline __attribute__((always_inline)) int
take_reply(struct call_queue *q, struct call_queue_state *s, struct queued_call **c)
{
	uint32_t number = ring_take_alone(&q->replied, &s->replied_ends);

	*c = q->call[number];
	bytes_acquire(*c, sizeof(**c));
	q->next[number] = q->free;
	q->free = number;
	return 0;
}

static __attribute__((noinline)) int
reply_slowly(struct call_queue *q, struct queued_call **c, uint64_t until)
{
	int e = call_queue_is_idle(q) ? -E_NOENT : sem_down(&q->words, &q->at->replied, until);

	return e != 0 ? e : take_reply(q, q->at, c);
}

int
call_reply(struct call_queue *q, struct queued_call **c, uint64_t until)
{
	struct call_queue_state *s = q->at;

	return sem_down_quickly(&s->replied) ? take_reply(q, s, c) : reply_slowly(q, c, until);
}
