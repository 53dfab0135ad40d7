/* SPDX-License-Identifier: MIT
 *
 * Layout of the job segment.
 */
#include <sys/mman.h>
#include <mpi/transport/process/segment.h>

#define PAGE 4096

static uint64_t
round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void
segment_fill(struct segment *s, uint32_t ranks, uint32_t heap_shift)
{
	s->version = SEGMENT_VERSION;
	s->ranks = ranks;
	s->cells = INBOX_CELLS_MAX;
	s->heap_shift = heap_shift;
	s->inboxes = round_up(sizeof(*s) + ranks * sizeof(struct segment_rank), PAGE);
	s->inbox_stride = round_up(inbox_bytes(s->cells), CACHE_LINE);
	s->taken = s->inboxes + ranks * s->inbox_stride;
	s->taken_stride = round_up(ranks * sizeof(uint32_t), CACHE_LINE);
	s->sync = s->taken + ranks * s->taken_stride;
	s->said = round_up(s->sync + sizeof(struct sync), PAGE);
	s->heaps = round_up(s->said + (uint64_t)ranks * SAID_BYTES, HEAP_UNIT);
	s->bytes = s->heaps + ((uint64_t)ranks << heap_shift);
}

uint64_t
segment_bytes(uint32_t ranks, uint32_t heap_shift)
{
	struct segment s;

	segment_fill(&s, ranks, heap_shift);
	return s.bytes;
}

uint64_t
segment_common_bytes(uint32_t ranks)
{
	struct segment s;

	segment_fill(&s, ranks, HEAP_SHIFT_LEAST);
	return s.heaps;
}

/* As much again is left to the program. */
static bool
has_room(uint64_t bytes)
{
	void *at = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, 2 * bytes);
	return true;
}

uint32_t
segment_heap_shift(uint32_t ranks)
{
	uint32_t shift = HEAP_SHIFT_MOST;

	while (shift > HEAP_SHIFT_LEAST && !has_room(segment_bytes(ranks, shift)))
		shift--;
	return shift;
}

uint32_t
segment_heap_shift_of(uint32_t ranks, uint64_t bytes)
{
	for (uint32_t shift = HEAP_SHIFT_LEAST; shift <= HEAP_SHIFT_MOST; shift++)
		if (segment_bytes(ranks, shift) == bytes)
			return shift;
	return 0;
}

void
segment_layout(struct segment *s, uint32_t ranks, uint32_t heap_shift)
{
	segment_fill(s, ranks, heap_shift);
}

bool
segment_is_laid_out(const struct segment *s, uint32_t ranks, uint32_t heap_shift)
{
	struct segment own;

	segment_fill(&own, ranks, heap_shift);
	return s->version == own.version && s->ranks == own.ranks && s->cells == own.cells &&
	       s->heap_shift == own.heap_shift && s->inboxes == own.inboxes &&
	       s->inbox_stride == own.inbox_stride &&
	       s->taken == own.taken && s->taken_stride == own.taken_stride &&
	       s->sync == own.sync &&
	       s->said == own.said && s->heaps == own.heaps && s->bytes == own.bytes;
}
