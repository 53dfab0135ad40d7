/* SPDX-License-Identifier: MIT
 *
 * The rank loader.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <abi/layout.h>
#include <base/str.h>
#include <servers/proc/load.h>
#include <usercpu/start.h>

#define READ_WRITE (PAGE_READ | PAGE_WRITE)

static void
free_runs(struct runs *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		khandle_close(r->run[i].memory);
	*r = (struct runs){0};
}

static long
add_run(struct runs *r, uint32_t pages)
{
	long memory = r->count < RUNS_MAX ? kmemory_create((int)pages) : -E_NOMEM;

	if (memory >= 0) {
		r->run[r->count].memory = (int)memory;
		r->run[r->count++].pages = pages;
	}
	return memory;
}

/* The longest runs that there are. 0; -E_NOMEM: there are none, or they are too short. */
static int
alloc_runs(struct runs *r, uint64_t pages)
{
	uint32_t size = 1u << 18;

	r->pages = pages;
	for (uint64_t left = pages; left > 0;) {
		long memory;

		while (size > left)
			size /= 2;
		memory = add_run(r, size);
		if (memory >= 0) {
			left -= size;
		} else if (memory != -E_NOMEM || (size /= 2) == 0) {
			free_runs(r);
			return (int)memory;
		}
	}
	return 0;
}

/* Where a piece of runs goes. */
struct piece {
	int proc;
	uint64_t addr;
	uint64_t first;		/* page of the runs */
	uint64_t pages;
	int prot;
};

/* Map a piece of runs. 0 or -E_NAME of kpage_map. */
static int
map_runs(const struct runs *r, struct piece p, uint64_t page_bytes)
{
	for (uint32_t i = 0; i < r->count && p.pages > 0; i++) {
		uint64_t have = r->run[i].pages, take;
		long result;

		if (p.first >= have) {
			p.first -= have;
			continue;
		}
		take = have - p.first < p.pages ? have - p.first : p.pages;
		result = kpage_map(p.proc, p.addr, r->run[i].memory, (int)p.first, (int)take,
			p.prot);
		if (result < 0)
			return (int)result;
		p.addr += take * page_bytes;
		p.pages -= take;
		p.first = 0;
	}
	return 0;
}

/*
 * Frames, or those in r already, mapped into the loader at *addr. 0 or -E_NAME; nothing stays
 * behind then.
 */
static int
open_frames(struct runs *r, uint64_t pages, uint64_t page_bytes, uint64_t *addr)
{
	long result = r->count > 0 ? 0 : alloc_runs(r, pages);

	if (result < 0)
		return (int)result;
	result = kmem_alloc(SELF, pages * page_bytes, 0, addr);
	if (result >= 0) {
		result = map_runs(r, (struct piece){SELF, *addr, 0, pages, READ_WRITE}, page_bytes);
		if (result < 0)
			kpage_unmap(SELF, *addr, (int)pages);
	}
	if (result < 0)
		free_runs(r);
	return (int)result;
}

static void
fill_segment(unsigned char *to, const struct image *im, const struct plan_segment *s)
{
	file_read(&im->file, s->file_offset, to + s->data_at, s->file_bytes);
}

/* Load the pages that all copies share into fresh frames. */
static int
load_shared(struct image *im)
{
	const struct plan *p = &im->plan;
	uint64_t window, at = 0;
	int result;

	if (p->shared_pages == 0)
		return 0;
	/* each copy maps each run */
	if (add_run(&im->shared, (uint32_t)p->shared_pages) >= 0)
		im->shared.pages = p->shared_pages;
	result = open_frames(&im->shared, p->shared_pages, im->page_bytes, &window);
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < p->segments; i++)
		if (!p->segment[i].is_private) {
			fill_segment((unsigned char *)(uintptr_t)window + at, im, &p->segment[i]);
			at += p->segment[i].pages * im->page_bytes;
		}
	kpage_unmap(SELF, window, (int)p->shared_pages);
	return 0;
}

static int
report(const struct image *im, bool is_loud, const char *why, int error)
{
	if (is_loud)
		console_print("atoll: cannot load %s: %s\n", im->name, why);
	return error;
}

/* What is in im->file. */
static int
read_image(struct image *im, bool of_job)
{
	struct cluster_info info;
	enum plan_fault fault;
	int result;

	kcluster_info(&info);
	im->page_bytes = info.page_bytes;
	fault = elf_open(&im->elf, im->file.data, im->file.bytes) != 0 ? PLAN_NOT_ELF :
	    plan_make(&im->plan, &im->elf, START_MACHINE, im->page_bytes);
	im->is_fixed = fault == PLAN_NOT_PIE && !of_job;
	if (fault != PLAN_OK && !im->is_fixed) {
		if (of_job)
			console_print("atoll: cannot load %s: it %s\n", im->name,
				plan_fault_text(fault));
		return -E_INVAL;
	}
	result = load_shared(im);
	return result < 0 ? report(im, of_job, error_text(result), result) : 0;
}

int
image_open(struct image *im, struct text name, bool of_job)
{
	int result;

	*im = (struct image){0};
	for (size_t i = 0; i < name.len && i < IMAGE_NAME_MAX; i++)
		im->name[i] = name.at[i];
	if (name.len > IMAGE_NAME_MAX)
		return report(im, of_job, "its name is too long", -E_INVAL);
	result = file_open(im->name, &im->file);
	if (result != 0)
		return report(im, of_job, result == -E_NOENT ? "it is not in the boot archive" :
			"the boot archive is damaged", result);
	return read_image(im, of_job);
}

int
image_open_in(struct image *im, const void *data, size_t bytes)
{
	*im = (struct image){.file = {data, bytes}};
	return read_image(im, false);
}

void
image_close(struct image *im)
{
	free_runs(&im->shared);
}

/* Map the segments of a copy: shared ones from the image's frames, private ones from the copy's. */
static int
map_segments(const struct copy *c, const struct image *im)
{
	uint64_t shared = 0, own = 0;

	for (uint32_t i = 0; i < im->plan.segments; i++) {
		const struct plan_segment *s = &im->plan.segment[i];
		uint64_t *first = s->is_private ? &own : &shared;
		struct piece p = {c->proc, c->base + s->addr, *first, s->pages, (int)s->prot};
		int result = map_runs(s->is_private ? &c->frames : &im->shared, p, im->page_bytes);

		if (result < 0)
			return result;
		*first += s->pages;
	}
	return 0;
}

static void
fill_private(const struct copy *c, const struct image *im)
{
	uint64_t at = c->window;

	for (uint32_t i = 0; i < im->plan.segments; i++)
		if (im->plan.segment[i].is_private) {
			fill_segment((unsigned char *)(uintptr_t)at, im, &im->plan.segment[i]);
			at += im->plan.segment[i].pages * im->page_bytes;
		}
}

/*
 * How many bytes of addresses a copy takes: an unmapped page, the stack and the image, and a page
 * more if these are an even number of pages. Copies lie one after another, and the sets of a
 * translation cache are chosen by the lowest bits of a page's number: a page that all copies have
 * is in every set when they lie an odd number of pages apart, else in half of the sets at most
 * (ADR 0040).
 */
static uint64_t
copy_span(const struct copy *c, const struct image *im)
{
	return (im->page_bytes + c->stack_bytes + im->plan.span) | im->page_bytes;
}

/*
 * Addresses of a stack that comes when it is touched, but for its upper part, for which there is a
 * hole. It is to lie above an unmapped page, so one after the other is asked for; if something else
 * came between them, the process is of no use.
 */
static long
place_lazy_stack(struct copy *c, uint64_t page)
{
	uint64_t guard = 0, addr = 0;
	long result = kmem_alloc(c->proc, page, 0, &guard);

	if (result >= 0)
		result = kmem_alloc(c->proc, c->lazy_bytes + c->stack_bytes,
			READ_WRITE | (c->is_prepaged ? 0 : PAGE_LAZY), &addr);
	if (result >= 0 && addr != guard + page)
		result = -E_NOMEM;
	c->stack = addr + c->lazy_bytes;
	return result < 0 ? result :
		kpage_unmap(c->proc, c->stack, (int)(c->stack_bytes / page));
}

/* Map the stack's frames, which follow those of the private segments. */
static long
map_stack(const struct copy *c, const struct image *im)
{
	uint64_t page = im->page_bytes;

	return c->stack_bytes == 0 ? 0 : map_runs(&c->frames, (struct piece){c->proc, c->stack,
		im->plan.private_pages, c->stack_bytes / page, READ_WRITE}, page);
}

/* The only program of its process. One for fixed addresses has these before anything else. */
static long
map_alone(struct copy *c, const struct image *im)
{
	uint64_t addr = 0;
	long result = im->is_fixed ? map_segments(c, im) : 0;

	if (result >= 0)
		result = place_lazy_stack(c, im->page_bytes);
	if (result >= 0)
		result = map_stack(c, im);
	if (result < 0 || im->is_fixed)
		return result;
	result = kmem_alloc(c->proc, im->plan.span, 0, &addr);
	c->base = addr;
	return result < 0 ? result : map_segments(c, im);
}

/* Find addresses in the process, unless it has some, and map. */
static long
map_copy(struct copy *c, const struct image *im)
{
	uint64_t addr;
	long result;

	if (c->base != 0)
		return map_segments(c, im);
	if (c->lazy_bytes > 0)
		return map_alone(c, im);
	result = kmem_alloc(c->proc, copy_span(c, im), 0, &addr);
	if (result < 0)
		return result;
	c->stack = addr + im->page_bytes;
	c->base = c->stack + c->stack_bytes;
	result = map_segments(c, im);
	return result < 0 ? result : map_stack(c, im);
}

/*
 * In the process: an unmapped page, the stack, the image; or the image elsewhere, if the stack has
 * a lazy part. In the loader's window: the private segments, then the stack.
 */
int
copy_make(struct copy *c, const struct image *im, int proc)
{
	uint64_t page = im->page_bytes, private = im->plan.private_pages;
	long result = open_frames(&c->frames, private + c->stack_bytes / page, page, &c->window);

	if (result < 0)
		return (int)result;
	c->proc = proc;
	c->stack_memory = (unsigned char *)(uintptr_t)(c->window + private * page);
	fill_private(c, im);
	result = map_copy(c, im);
	if (result < 0)
		copy_done(c);
	return result < 0 ? (int)result : 0;
}

void
copy_done(struct copy *c)
{
	kpage_unmap(SELF, c->window, (int)c->frames.pages);
	free_runs(&c->frames);
}

int
window_open(struct window *w, int proc, uint64_t pages, uint64_t page_bytes)
{
	uint64_t own;
	long result = open_frames(&w->frames, pages, page_bytes, &own);

	if (result < 0) {
		w->pages = 0;
		return (int)result;
	}
	w->pages = pages;
	w->memory = (unsigned char *)(uintptr_t)own;
	if (w->addr == 0)
		result = kmem_alloc(proc, pages * page_bytes, 0, &w->addr);
	if (result >= 0)
		result = map_runs(&w->frames, (struct piece){proc, w->addr, 0, pages, READ_WRITE},
			page_bytes);
	if (result < 0)
		window_close(w);
	return result < 0 ? (int)result : 0;
}

void
window_close(struct window *w)
{
	kpage_unmap(SELF, (uintptr_t)w->memory, (int)w->pages);
	free_runs(&w->frames);
	w->pages = 0;
}
