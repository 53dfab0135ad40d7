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

/* Frames, mapped into the loader at *addr. Returns the first frame or -E_NAME. */
static int
open_frames(uint64_t pages, uint64_t page_bytes, uint64_t *addr)
{
	long frame = kframe_alloc((int)pages);
	long result;

	if (frame < 0)
		return (int)frame;
	result = kmem_alloc(SELF, pages * page_bytes, 0, addr);
	if (result >= 0) {
		result = kpage_map(SELF, *addr, (int)frame, (int)pages, READ_WRITE);
		if (result < 0)
			kpage_unmap(SELF, *addr, (int)pages);
	}
	if (result < 0)
		kframe_free((int)frame, (int)pages);
	return result < 0 ? (int)result : (int)frame;
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
	int frame;

	if (p->shared_pages == 0)
		return 0;
	frame = open_frames(p->shared_pages, im->page_bytes, &window);
	if (frame < 0)
		return frame;
	for (uint32_t i = 0; i < p->segments; i++)
		if (!p->segment[i].is_private) {
			fill_segment((unsigned char *)(uintptr_t)window + at, im, &p->segment[i]);
			at += p->segment[i].pages * im->page_bytes;
		}
	kpage_unmap(SELF, window, (int)p->shared_pages);
	im->shared_frame = frame;
	return 0;
}

static int
report(const struct image *im, const char *why, int error)
{
	console_print("atoll: cannot load %s: %s\n", im->name, why);
	return error;
}

int
image_open(struct image *im, struct text name)
{
	struct cluster_info info;
	enum plan_fault fault;
	int result;

	*im = (struct image){.shared_frame = -1};
	for (size_t i = 0; i < name.len && i < IMAGE_NAME_MAX; i++)
		im->name[i] = name.at[i];
	if (name.len > IMAGE_NAME_MAX)
		return report(im, "its name is too long", -E_INVAL);
	kcluster_info(&info);
	im->page_bytes = info.page_bytes;
	result = file_open(im->name, &im->file);
	if (result != 0)
		return report(im, result == -E_NOENT ? "it is not in the boot archive" : "the boot archive is damaged", result);
	fault = elf_open(&im->elf, im->file.data, im->file.bytes) != 0 ? PLAN_NOT_ELF :
	    plan_make(&im->plan, &im->elf, START_MACHINE, im->page_bytes);
	if (fault != PLAN_OK) {
		console_print("atoll: cannot load %s: it %s\n", im->name, plan_fault_text(fault));
		return -E_INVAL;
	}
	result = load_shared(im);
	return result < 0 ? report(im, error_text(result), result) : 0;
}

void
image_close(struct image *im)
{
	if (im->shared_frame >= 0)
		kframe_free(im->shared_frame, (int)im->plan.shared_pages);
	im->shared_frame = -1;
}

/* Map the segments of a copy: shared ones from the image's frames, private ones from the copy's. */
static int
map_segments(const struct copy *c, const struct image *im)
{
	int shared = im->shared_frame;
	int own = c->frame;

	for (uint32_t i = 0; i < im->plan.segments; i++) {
		const struct plan_segment *s = &im->plan.segment[i];
		int *frame = s->is_private ? &own : &shared;
		long result = kpage_map(c->proc, c->base + s->addr, *frame, (int)s->pages, (int)s->prot);

		if (result < 0)
			return (int)result;
		*frame += (int)s->pages;
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

/* In the process: an unmapped page, the stack, the image. In the loader's window: the private segments, then the stack. */
int
copy_make(struct copy *c, const struct image *im, int proc)
{
	uint64_t page = im->page_bytes, private = im->plan.private_pages, addr;
	uint64_t stack_pages = c->stack_bytes / page;
	long result = kmem_alloc(proc, page + c->stack_bytes + im->plan.span, 0, &addr);

	if (result < 0)
		return (int)result;
	c->proc = proc;
	c->stack = addr + page;
	c->base = c->stack + c->stack_bytes;
	c->window_pages = private + stack_pages;
	c->frame = open_frames(c->window_pages, page, &c->window);
	if (c->frame < 0)
		return c->frame;
	c->stack_memory = (unsigned char *)(uintptr_t)(c->window + private * page);
	fill_private(c, im);
	result = map_segments(c, im);
	if (result >= 0 && stack_pages > 0)
		result = kpage_map(proc, c->stack, c->frame + (int)private, (int)stack_pages, READ_WRITE);
	if (result < 0)
		copy_done(c);
	return result < 0 ? (int)result : 0;
}

void
copy_done(struct copy *c)
{
	kpage_unmap(SELF, c->window, (int)c->window_pages);
	kframe_free(c->frame, (int)c->window_pages);
}

int
window_open(struct window *w, int proc, uint64_t pages, uint64_t page_bytes)
{
	uint64_t own;
	long result;

	w->pages = pages;
	w->frame = open_frames(pages, page_bytes, &own);
	if (w->frame < 0)
		return w->frame;
	w->memory = (unsigned char *)(uintptr_t)own;
	result = kmem_alloc(proc, pages * page_bytes, 0, &w->addr);
	if (result >= 0)
		result = kpage_map(proc, w->addr, w->frame, (int)pages, READ_WRITE);
	if (result < 0)
		window_close(w);
	return result < 0 ? (int)result : 0;
}

void
window_close(struct window *w)
{
	kpage_unmap(SELF, (uintptr_t)w->memory, (int)w->pages);
	kframe_free(w->frame, (int)w->pages);
	w->pages = 0;
}
