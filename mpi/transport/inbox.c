/* SPDX-License-Identifier: MIT
 *
 * Inbox: many senders, one receiver.
 */
#include <mpi/transport/inbox.h>

size_t
inbox_bytes(uint32_t cells)
{
	return sizeof(struct inbox) + cells * sizeof(struct packet);
}

struct packet *
inbox_claim(struct inbox *box, uint32_t cells, uint32_t *position)
{
	uint32_t tail = load_relaxed(&box->tail);

	do {
		if (tail - load_acquire(&box->head) >= cells)
			return NULL;
	} while (!swap_total(&box->tail, &tail, tail + 1));
	*position = tail;
	return &box->cells[tail & (cells - 1)];
}

bool
inbox_must_wait(struct inbox *box, uint32_t cells)
{
	if (load_total(&box->starved) == 0)
		exchange_total(&box->starved, 1);
	return load_total(&box->tail) - load_total(&box->head) >= cells;
}

bool
inbox_publish(struct inbox *box, struct packet *p, uint32_t position)
{
	store_release(&p->word, position + 1);
	return load_total(&box->sleeping) == SLEEPING;
}

const struct packet *
inbox_peek(const struct inbox_reader *r)
{
	uint32_t head = load_relaxed(&r->head);
	const struct packet *p = &r->box->cells[head & r->mask];

	return load_acquire(&p->word) == head + 1 ? p : NULL;
}

bool
inbox_pass(struct inbox_reader *r)
{
	store_relaxed(&r->head, r->head + 1);
	if (r->head - r->published <= r->mask / 4)
		return false;
	r->published = r->head;
	exchange_total(&r->box->head, r->head);
	if (load_total(&r->box->starved) == 0)
		return false;
	exchange_total(&r->box->starved, 0);
	return true;
}

bool
inbox_is_empty(const struct inbox_reader *r)
{
	return load_total(&r->box->tail) == load_relaxed(&r->head);
}
