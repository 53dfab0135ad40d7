/* SPDX-License-Identifier: MIT
 *
 * NoC over shared memory: one byte ring per cluster towards the console of cluster 0. Producer: the
 * cluster's home core; consumer: cluster 0's home core. Each rings the other's doorbell when there
 * is something to read, or room again.
 */
#include <abi/errors.h>
#include "shm.h"

static struct window_ring *
console_ring(unsigned cluster)
{
	return window_part(window_of(cluster), noc_own()->geometry.console_at);
}

/* Bytes from a position of the ring to where it wraps or the text ends. */
static size_t
span(uint32_t position, size_t len)
{
	size_t to_end = WINDOW_CONSOLE_BYTES - position % WINDOW_CONSOLE_BYTES;

	return len < to_end ? len : to_end;
}

int
hal_noc_console_write(const char *text, size_t len)
{
	struct window_ring *r = console_ring(hal_cluster_id());
	uint32_t head = hal_load32(&r->head), used = head - hal_load32(&r->tail);

	if (len > WINDOW_CONSOLE_BYTES - used)
		return -E_AGAIN;
	while (len > 0) {
		size_t n = span(head, len);
		char *place = (char *)ring_data(r) + head % WINDOW_CONSOLE_BYTES;

		__builtin_memcpy(place, text, n);
		hal_publish(place, n);
		head += (uint32_t)n;
		text += n;
		len -= n;
	}
	hal_store32(&r->head, head);
	hal_add32(&window_of(0)->activity, 1);
	noc_ring_home(0);
	return 0;
}

int
hal_noc_console_ready(unsigned cluster)
{
	struct window_ring *r = console_ring(cluster);
	uint32_t head = hal_load32(&r->head), ready = head - hal_load32(&r->tail);

	if (ready <= WINDOW_CONSOLE_BYTES)
		return (int)ready;
	hal_store32(&r->tail, head);
	return -E_INVAL;
}

size_t
hal_noc_console_read(unsigned cluster, char *text, size_t len)
{
	struct window_ring *r = console_ring(cluster);
	uint32_t tail = hal_load32(&r->tail);
	int ready = hal_noc_console_ready(cluster);
	size_t taken = 0;

	if (ready < 0)
		return 0;
	if (len > (size_t)ready)
		len = (size_t)ready;
	while (taken < len) {
		size_t n = span(tail, len - taken);
		const char *place = (const char *)ring_data(r) + tail % WINDOW_CONSOLE_BYTES;

		hal_acquire(place, n);
		__builtin_memcpy(text + taken, place, n);
		tail += (uint32_t)n;
		taken += n;
	}
	if (taken > 0) {
		hal_store32(&r->tail, tail);
		hal_fence();
		noc_ring_home(cluster);
	}
	return taken;
}
