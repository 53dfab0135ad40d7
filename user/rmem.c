/* SPDX-License-Identifier: MIT
 *
 * Memory of other clusters, through a cache: see atoll/rmem.h. Each frame of the cache has a page,
 * or will have one, and lies in the list of a bucket by its page's number. A page that comes takes
 * the place of one that goes with one request, which stores that one if it was written.
 *
 * What a policy keeps of a page is one number, its mark; the page that is worth least goes.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/str.h>
#include <atoll/kcalls.h>
#include <atoll/rmem.h>
#include <atoll/service.h>
#include <servers/rmem/protocol.h>

#define NONE UINT32_MAX			/* no frame */
#define AGING_PAGES 8			/* that come from one time of ageing to the next */
#define AGE_USED (1u << 31)
#define FRAMES_MAX (1u << 20)

struct rmem_frame {
	uint32_t page;			/* RMEM_NO_PAGE: none */
	uint32_t mark;
	uint32_t next;			/* of its bucket */
	bool is_dirty;
	bool was_used;			/* AGING, CLOCK: since that was looked at */
};

/* --- requests --- */

/*
 * Ask, with a page behind the request and one behind the answer, or none. What the server says, and
 * its number; -E_IO: it has said something else.
 */
static int
rmem_ask(struct rmem *r, const struct rmem_request *q, const void *from, void *to, uint32_t *number)
{
	struct rmem_reply reply = {0};
	const struct service_part request[2] = {{(void *)(uintptr_t)q, sizeof(*q)},
		{(void *)(uintptr_t)from, from != NULL ? RMEM_PAGE : 0}};
	const struct service_part answer[2] = {{&reply, sizeof(reply)},
		{to, to != NULL ? RMEM_PAGE : 0}};
	int result = r->lost;

	if (result == 0)
		result = service_call(&r->ch, request, answer);
	if (result < 0) {
		r->lost = result;
		return result;
	}
	if (reply.result > 0 || (reply.result == 0 && (uint32_t)result != answer[1].bytes))
		return -E_IO;
	if (number != NULL)
		*number = reply.page;
	return reply.result;
}

/* Store a page, fetch one, or both. */
static int
move_pages(struct rmem *r, uint32_t put, const void *from, uint32_t get, void *to)
{
	const struct rmem_request q = {.op = RMEM_MOVE, .put = put, .get = get};
	int result = rmem_ask(r, &q, put != RMEM_NO_PAGE ? from : NULL,
		get != RMEM_NO_PAGE ? to : NULL, NULL);

	if (result == 0) {
		r->counts.stored += put != RMEM_NO_PAGE;
		r->counts.fetched += get != RMEM_NO_PAGE;
	}
	return result;
}

/* --- frames --- */

static unsigned char *
bytes_of(const struct rmem *r, uint32_t frame)
{
	return r->bytes + (size_t)frame * RMEM_PAGE;
}

static uint32_t *
bucket_of(const struct rmem *r, uint32_t page)
{
	return &r->bucket[(page ^ page >> 16) & r->mask];
}

static uint32_t
frame_find(const struct rmem *r, uint32_t page)
{
	uint32_t f = *bucket_of(r, page);

	while (f != NONE && r->frame[f].page != page)
		f = r->frame[f].next;
	return f;
}

/* It has no page any more. */
static void
frame_forget(struct rmem *r, uint32_t f)
{
	struct rmem_frame *frame = &r->frame[f];
	uint32_t *link = bucket_of(r, frame->page);

	if (frame->page == RMEM_NO_PAGE)
		return;
	while (*link != f)
		link = &r->frame[*link].next;
	*link = frame->next;
	frame->page = RMEM_NO_PAGE;
	frame->is_dirty = false;
}

static void
frame_take(struct rmem *r, uint32_t f, uint32_t page)
{
	uint32_t *bucket = bucket_of(r, page);

	r->frame[f].page = page;
	r->frame[f].next = *bucket;
	*bucket = f;
}

/* --- policies --- */

static void
page_was_used(struct rmem *r, struct rmem_frame *f)
{
	if (r->policy == RMEM_LRU)
		f->mark = ++r->now;
	else if (r->policy == RMEM_NFU)
		f->mark += f->mark != UINT32_MAX;
	else
		f->was_used = true;
}

/* What was used since the last time is worth more than all that was used before. */
static void
grow_older(struct rmem *r)
{
	for (uint32_t i = 0; i < r->used; i++) {
		r->frame[i].mark = r->frame[i].mark >> 1 | (r->frame[i].was_used ? AGE_USED : 0);
		r->frame[i].was_used = false;
	}
}

static void
page_has_come(struct rmem *r, struct rmem_frame *f)
{
	r->now++;
	f->mark = r->policy == RMEM_NFU ? 1 : r->policy == RMEM_AGING ? AGE_USED : r->now;
	f->was_used = r->policy == RMEM_CLOCK;
	if (r->policy == RMEM_AGING && r->now % AGING_PAGES == 0)
		grow_older(r);
}

/* The frame with the least is the next to go. What counts up may begin again with 0. */
static uint32_t
worth(const struct rmem *r, const struct rmem_frame *f)
{
	if (f->page == RMEM_NO_PAGE)
		return 0;
	if (r->policy == RMEM_FIFO || r->policy == RMEM_LRU)
		return UINT32_MAX - (r->now - f->mark);
	return r->policy == RMEM_LIFO ? r->now - f->mark + 1 : f->mark;
}

static uint32_t
least_worth(const struct rmem *r)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < r->used; i++)
		if (worth(r, &r->frame[i]) < worth(r, &r->frame[least]))
			least = i;
	return least;
}

static uint32_t
next_in_turn(struct rmem *r)
{
	uint32_t f;

	do {
		f = r->hand;
		r->hand = f + 1 == r->used ? 0 : f + 1;
		if (r->frame[f].page == RMEM_NO_PAGE || !r->frame[f].was_used)
			return f;
		r->frame[f].was_used = false;
	} while (true);
}

/* The frame for a page that is to come. */
static uint32_t
choose_frame(struct rmem *r)
{
	if (r->used < r->frames)
		return r->used++;
	return r->policy == RMEM_CLOCK ? next_in_turn(r) : least_worth(r);
}

/* --- pages --- */

/*
 * A page that is not here comes into a frame; with `is_whole` all of it is written next, so that
 * only its place is asked for. If it does not come, what was in the frame stays.
 */
static int
page_bring(struct rmem *r, uint32_t page, bool is_whole, uint32_t *frame)
{
	uint32_t f = choose_frame(r);
	const struct rmem_frame *old = &r->frame[f];
	uint32_t put = old->is_dirty ? old->page : RMEM_NO_PAGE;
	int result = 0;

	if (put != RMEM_NO_PAGE || !is_whole)
		result = move_pages(r, put, bytes_of(r, f), is_whole ? RMEM_NO_PAGE : page,
			bytes_of(r, f));
	if (result != 0)
		return result;
	frame_forget(r, f);
	frame_take(r, f, page);
	page_has_come(r, &r->frame[f]);
	*frame = f;
	return 0;
}

/* Its place in the table, or RMEM_REGIONS_OF_ONE. */
static uint32_t
region_find(const struct rmem *r, uint32_t page)
{
	uint32_t i = 0;

	while (i < RMEM_REGIONS_OF_ONE && page - r->region[i].first >= r->region[i].pages)
		i++;
	return i;
}

/* The frame of a page that is used now. */
static int
page_get(struct rmem *r, uint32_t page, bool is_whole, uint32_t *frame)
{
	uint32_t f = r->last;
	int result;

	if (r->frame[f].page != page)
		f = frame_find(r, page);
	if (f != NONE) {
		r->counts.hits++;
		page_was_used(r, &r->frame[f]);
	} else {
		r->counts.misses++;
		result = r->lost != 0 ? r->lost :
			region_find(r, page) == RMEM_REGIONS_OF_ONE ? -E_INVAL :
			page_bring(r, page, is_whole, &f);
		if (result != 0)
			return result;
	}
	*frame = r->last = f;
	return 0;
}

/* Numbers of pages have 32 bits. */
static bool
is_address(uint64_t at)
{
	return at / RMEM_PAGE <= UINT32_MAX && at / RMEM_PAGE >= RMEM_REGION_PAGES;
}

/* What BYPASS has brought goes again. */
static int
let_go(struct rmem *r, uint32_t f)
{
	struct rmem_frame *frame = &r->frame[f];
	int result = 0;

	if (r->policy != RMEM_BYPASS)
		return 0;
	if (frame->is_dirty)
		result = move_pages(r, frame->page, bytes_of(r, f), RMEM_NO_PAGE, NULL);
	frame_forget(r, f);
	return result;
}

/* A part of one page: to program memory, or from there. */
static int
copy_part(struct rmem *r, uint64_t at, void *to, const void *from, uint32_t bytes)
{
	uint32_t f, offset = (uint32_t)(at % RMEM_PAGE);
	int result = !is_address(at) ? -E_INVAL :
		page_get(r, (uint32_t)(at / RMEM_PAGE), from != NULL && bytes == RMEM_PAGE, &f);

	if (result != 0)
		return result;
	if (from != NULL) {
		memcpy(bytes_of(r, f) + offset, from, bytes);
		r->frame[f].is_dirty = true;
	} else {
		memcpy(to, bytes_of(r, f) + offset, bytes);
	}
	return let_go(r, f);
}

static int
copy_all(struct rmem *r, uint64_t at, char *to, const char *from, size_t bytes)
{
	int result = 0;

	while (bytes > 0 && result == 0) {
		size_t room = RMEM_PAGE - at % RMEM_PAGE, part = bytes < room ? bytes : room;

		result = copy_part(r, at, to, from, (uint32_t)part);
		at += part;
		to = to != NULL ? to + part : NULL;
		from = from != NULL ? from + part : NULL;
		bytes -= part;
	}
	return result;
}

int
rmem_read(struct rmem *r, uint64_t at, void *to, size_t bytes)
{
	return copy_all(r, at, to, NULL, bytes);
}

int
rmem_write(struct rmem *r, uint64_t at, const void *from, size_t bytes)
{
	return copy_all(r, at, NULL, from, bytes);
}

int
rmem_page(struct rmem *r, uint64_t at, bool is_written, void **page)
{
	uint32_t f;
	int result = !is_address(at) || r->policy == RMEM_BYPASS ? -E_INVAL :
		page_get(r, (uint32_t)(at / RMEM_PAGE), false, &f);

	if (result != 0)
		return result;
	r->frame[f].is_dirty |= is_written;
	*page = bytes_of(r, f);
	return 0;
}

int
rmem_flush(struct rmem *r)
{
	int result = r->lost;

	for (uint32_t f = 0; f < r->used && result == 0; f++)
		if (r->frame[f].is_dirty) {
			result = move_pages(r, r->frame[f].page, bytes_of(r, f), RMEM_NO_PAGE,
				NULL);
			r->frame[f].is_dirty = result != 0;
		}
	return result;
}

void
rmem_drop(struct rmem *r)
{
	for (uint32_t f = 0; f < r->used; f++)
		frame_forget(r, f);
}

/* --- regions --- */

/* This client uses it from now on. The server lets no client have more than there are places. */
static int
region_add(struct rmem *r, uint32_t first, uint32_t pages)
{
	uint32_t i = 0;

	while (i < RMEM_REGIONS_OF_ONE && r->region[i].pages != 0)
		i++;
	if (i == RMEM_REGIONS_OF_ONE || first % RMEM_REGION_PAGES != 0 || first == RMEM_NO_PAGE ||
		pages == 0 || pages > RMEM_REGION_PAGES)
		return -E_IO;
	r->region[i] = (struct rmem_region){first, pages};
	return 0;
}

/* The request's number is of pages to come, or of the region's first page. */
static int
ask_for_region(struct rmem *r, uint32_t op, uint32_t number, uint32_t *answer)
{
	const struct rmem_request q = {.op = op, .pages = op == RMEM_ALLOC ? number : 0,
		.put = op == RMEM_ALLOC ? RMEM_NO_PAGE : number};

	return rmem_ask(r, &q, NULL, NULL, answer);
}

int
rmem_alloc(struct rmem *r, uint32_t pages, uint64_t *at)
{
	uint32_t page = 0;
	int result = ask_for_region(r, RMEM_ALLOC, pages, &page);

	*at = (uint64_t)page * RMEM_PAGE;
	return result != 0 ? result : region_add(r, page, pages);
}

static bool
is_region(uint64_t at)
{
	return is_address(at) && at % ((uint64_t)RMEM_REGION_PAGES * RMEM_PAGE) == 0;
}

int
rmem_attach(struct rmem *r, uint64_t at, uint32_t *pages)
{
	uint32_t page = (uint32_t)(at / RMEM_PAGE);
	int result = !is_region(at) ? -E_INVAL :
		ask_for_region(r, RMEM_ATTACH, page, pages);

	return result != 0 ? result : region_add(r, page, *pages);
}

/* Its pages leave the cache, too: another region may have their numbers soon. */
int
rmem_free(struct rmem *r, uint64_t at)
{
	uint32_t page = (uint32_t)(at / RMEM_PAGE), i = region_find(r, page);
	int result = r->lost;

	if (result == 0 && (!is_region(at) || i == RMEM_REGIONS_OF_ONE))
		return -E_INVAL;
	if (result == 0)
		result = ask_for_region(r, RMEM_FREE, page, NULL);
	if (result != 0)
		return result;
	r->region[i].pages = 0;
	for (uint32_t f = 0; f < r->used; f++)
		if (r->frame[f].page / RMEM_REGION_PAGES == page / RMEM_REGION_PAGES)
			frame_forget(r, f);
	return 0;
}

/* --- beginning and end --- */

/* Memory for all: the frames' bytes, what is known of each, and the buckets. */
static int
cache_make(struct rmem *r)
{
	struct cluster_info here;
	uint32_t buckets = 1;
	size_t bytes;
	long result;

	while (buckets < r->frames)
		buckets *= 2;
	r->mask = buckets - 1;
	kcluster_info(&here);
	bytes = (size_t)r->frames * (RMEM_PAGE + sizeof(*r->frame)) +
		buckets * sizeof(*r->bucket);
	r->memory_pages = (uint32_t)((bytes + here.page_bytes - 1) / here.page_bytes);
	result = kmem_alloc(SELF, (size_t)r->memory_pages * here.page_bytes,
		PAGE_READ | PAGE_WRITE, &r->memory);
	if (result < 0)
		return (int)result;
	r->bytes = (unsigned char *)(uintptr_t)r->memory;
	r->frame = (void *)(r->bytes + (size_t)r->frames * RMEM_PAGE);
	r->bucket = (void *)(r->frame + r->frames);
	for (uint32_t i = 0; i < buckets; i++)
		r->bucket[i] = NONE;
	return 0;
}

int
rmem_open(struct rmem *r, const struct rmem_setup *s)
{
	const struct service_kind kind = RMEM_SERVICE(s->cluster);
	int result;

	if (s->frames == 0 || s->frames > FRAMES_MAX || (unsigned)s->policy >= RMEM_POLICIES)
		return -E_INVAL;
	*r = (struct rmem){.policy = s->policy,
		.frames = s->policy == RMEM_BYPASS ? 1 : s->frames};
	result = cache_make(r);
	if (result != 0)
		return result;
	/* the channel that was closed last may have been as large as all that are possible */
	result = service_open_all(&r->ch, &(struct service_opening){.kind = &kind, .bit = s->bit,
		.is_anew = true});
	if (result != 0)
		kpage_unmap(SELF, (uintptr_t)r->memory, (int)r->memory_pages);
	return result;
}

void
rmem_close(struct rmem *r)
{
	channel_end(&r->ch);
	kpage_unmap(SELF, (uintptr_t)r->memory, (int)r->memory_pages);
}
