/* SPDX-License-Identifier: MIT
 *
 * A rank's heap in the job segment.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <mpi/transport/process/heap.h>
#include <mpi/transport/process/segment.h>
#include <mpi/transport/shared.h>

#define PAGE 4096

static struct heap_block *
new_block(struct heap_block *next, char *start, size_t bytes)
{
	struct heap_block *b = malloc(sizeof(*b));

	if (b != NULL)
		*b = (struct heap_block){.next = next, .start = start, .bytes = bytes};
	return b;
}

static struct heap_block *
first_fit(struct heap *h, size_t bytes)
{
	if (h->first == NULL)
		h->first = new_block(NULL, h->base, h->bytes);
	for (struct heap_block *b = h->first; b != NULL; b = b->next)
		if (!b->used && b->bytes >= bytes)
			return b;
	return NULL;
}

/* Open the heap up to an address; false if the system refuses. */
static bool
open_up_to(struct heap *h, const char *end)
{
	size_t wanted = ((size_t)(end - h->base) + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;

	if (wanted <= h->opened)
		return true;
	if (mprotect(h->base + h->opened, wanted - h->opened, PROT_READ | PROT_WRITE) != 0)
		return false;
	h->opened = wanted;
	return true;
}

void *
heap_take(struct heap *h, size_t bytes)
{
	size_t span = (bytes > 0 ? bytes : 1) + CACHE_LINE - 1;
	struct heap_block *b;

	span -= span % CACHE_LINE;
	b = span >= bytes ? first_fit(h, span) : NULL;
	if (b == NULL || !open_up_to(h, b->start + span))
		return NULL;
	if (b->bytes > span) {
		struct heap_block *rest = new_block(b->next, b->start + span, b->bytes - span);

		if (rest == NULL)
			return NULL;
		b->next = rest;
		b->bytes = span;
	}
	b->used = 1;
	return b->start;
}

/*
 * Give pages back: they are zero when they are used again. False: they are not. Looks once whether
 * the system does what it says.
 */
static bool
give_back(struct heap *h, char *pages, size_t bytes)
{
	if (h->tried && !h->removes)
		return false;
	if (!h->tried)
		*(volatile char *)pages = 1;
	if (madvise(pages, bytes, MADV_REMOVE) != 0)
		return false;
	if (!h->tried)
		h->removes = *(volatile char *)pages == 0;
	h->tried = true;
	return h->removes;
}

/* Make a freed block zero again: whole pages by giving them back. */
static void
clear(struct heap *h, char *start, size_t bytes)
{
	char *first = start + (PAGE - (uintptr_t)start % PAGE) % PAGE;
	size_t whole = bytes >= (size_t)(first - start) ?
		(bytes - (size_t)(first - start)) / PAGE * PAGE : 0;

	if (whole == 0 || !give_back(h, first, whole)) {
		memset(start, 0, bytes);
		return;
	}
	memset(start, 0, (size_t)(first - start));
	memset(first + whole, 0, bytes - (size_t)(first - start) - whole);
}

/* Merge a free block with the free ones after it. */
static void
merge_after(struct heap_block *b)
{
	while (b->next != NULL && !b->next->used) {
		struct heap_block *gone = b->next;

		b->bytes += gone->bytes;
		b->next = gone->next;
		free(gone);
	}
}

bool
heap_give(struct heap *h, void *memory)
{
	struct heap_block *before = NULL, *b = h->first;

	for (; b != NULL && b->start != memory; b = b->next)
		before = b;
	if (b == NULL || !b->used)
		return false;
	clear(h, b->start, b->bytes);
	b->used = 0;
	merge_after(b);
	if (before != NULL && !before->used)
		merge_after(before);
	return true;
}

void
heap_exit(struct heap *h)
{
	while (h->first != NULL) {
		struct heap_block *b = h->first;

		h->first = b->next;
		free(b);
	}
}
