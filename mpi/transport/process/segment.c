/* SPDX-License-Identifier: MIT
 *
 * Layout of the job segment.
 */
#include <mpi/transport/process/segment.h>

#define PAGE 4096

static uint64_t
round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void
fill(struct segment *s, uint32_t ranks)
{
	s->version = SEGMENT_VERSION;
	s->ranks = ranks;
	s->cells = INBOX_CELLS_MAX;
	s->inboxes = round_up(sizeof(*s) + ranks * sizeof(struct segment_rank), PAGE);
	s->inbox_stride = round_up(inbox_bytes(s->cells), CACHE_LINE);
	s->taken = s->inboxes + ranks * s->inbox_stride;
	s->taken_stride = round_up(ranks * sizeof(uint32_t), CACHE_LINE);
	s->sync = s->taken + ranks * s->taken_stride;
	s->said = round_up(s->sync + sizeof(struct sync), PAGE);
	s->heaps = round_up(s->said + (uint64_t)ranks * SAID_BYTES, HEAP_UNIT);
	s->bytes = s->heaps + ((uint64_t)ranks << HEAP_SHIFT);
}

uint64_t
segment_bytes(uint32_t ranks)
{
	struct segment s;

	fill(&s, ranks);
	return s.bytes;
}

uint64_t
segment_common_bytes(uint32_t ranks)
{
	struct segment s;

	fill(&s, ranks);
	return s.heaps;
}

void
segment_layout(struct segment *s, uint32_t ranks)
{
	fill(s, ranks);
}

bool
segment_is_laid_out(const struct segment *s, uint32_t ranks)
{
	struct segment own;

	fill(&own, ranks);
	return s->version == own.version && s->ranks == own.ranks && s->cells == own.cells && s->inboxes == own.inboxes &&
	       s->inbox_stride == own.inbox_stride && s->taken == own.taken && s->taken_stride == own.taken_stride && s->sync == own.sync &&
	       s->said == own.said && s->heaps == own.heaps && s->bytes == own.bytes;
}
