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

bool
inbox_must_wait(struct inbox *box, uint32_t cells)
{
	if (load_total(&box->starved) == 0)
		exchange_total(&box->starved, 1);
	return load_total(&box->tail) - load_total(&box->head) >= cells;
}

bool
inbox_tell(struct inbox_reader *r)
{
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
