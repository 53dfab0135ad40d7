/* SPDX-License-Identifier: MIT
 *
 * Mapping the personality. Its stacks lie one below the other, by the number of the thread in its
 * process; memory is behind those that are needed.
 */
#include <atoll/kcalls.h>
#include <atoll/personality.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/proc/load.h>
#include <servers/proc/personality.h>

#define FILE_NAME "bin/personality"

static struct image im;
static uint64_t info_at;		/* of struct personality_info in it */
static bool is_open;
static struct file calls;		/* PERSONALITY_CALLS; of no bytes: there is none */
static uint32_t parts;			/* of the tree of files that other clusters' servers have */

/* The stacks of the first threads. */
static int
map_stacks(int proc, uint64_t page_bytes, struct personality_info *info)
{
	int pages = (int)(info->stacks * (PERSONALITY_STACK_BYTES / page_bytes));
	long memory, result;

	if (info->stacks > PERSONALITY_THREADS_MAX)
		return -E_NOSPC;
	memory = kmemory_create(pages);
	if (memory < 0)
		return (int)memory;
	info->stack_top = PERSONALITY_STACK_TOP;
	result = kpage_map(proc, info->stack_top - (uint64_t)pages * page_bytes, (int)memory, 0,
		pages, PAGE_READ | PAGE_WRITE);
	khandle_close((int)memory);
	return result < 0 ? (int)result : 0;
}

/*
 * Write the information block, which lies at `addr` of the image, into the copy that is being made.
 * The loader's window holds the private segments, one after the other; there is one.
 */
static int
write_info(const struct copy *c, const struct image *im, uint64_t addr,
	struct personality_info *info)
{
	uint64_t window = c->window;

	info->image = c->base;
	info->image_bytes = im->plan.span;
	info->text_pages = (uint32_t)im->plan.segment[0].pages;

	for (uint32_t i = 0; i < im->plan.segments; i++) {
		const struct plan_segment *s = &im->plan.segment[i];

		if (!s->is_private)
			continue;
		if (addr >= s->addr &&
			addr + sizeof(*info) <= s->addr + s->pages * im->page_bytes) {
			info->data = c->base + s->addr;
			info->data_bytes = s->pages * im->page_bytes;
			memcpy((void *)(uintptr_t)(window + addr - s->addr), info, sizeof(*info));
			return 0;
		}
		window += s->pages * im->page_bytes;
	}
	return -E_INVAL;
}

/*
 * The image stays open, for each process has it: what its copies share is in memory once and for
 * all. 0; -E_NOENT: there is none; or what image_open says.
 */
static int
open_once(void)
{
	struct file f;
	int result;

	if (is_open)
		return 0;
	if (file_open(FILE_NAME, &f) != 0)
		return -E_NOENT;
	file_open(PERSONALITY_CALLS, &calls);
	while (file_place(parts) != NULL)
		parts++;
	result = image_open(&im, (struct text){FILE_NAME, sizeof(FILE_NAME) - 1}, true);
	if (result == 0 && elf_is_relocated(&im.elf)) {
		console_print("atoll: " FILE_NAME " must not need relocation\n");
		result = -E_INVAL;
	}
	if (result == 0)
		result = elf_symbol_find(&im.elf, "personality_info", &info_at);
	is_open = result == 0;
	if (result != 0)
		image_close(&im);
	return result;
}

int
personality_place(int proc, uint64_t bytes, struct personality_info *what)
{
	uint64_t addr = 0;
	long result = open_once();

	if (result != 0)
		return result == -E_NOENT ? 0 : (int)result;
	/* an unmapped page is below it */
	result = kmem_alloc(proc, im.page_bytes + im.plan.span + bytes, 0, &addr);
	if (result < 0)
		return (int)result;
	what->image = addr + im.page_bytes;
	what->control = what->image + im.plan.span;
	return 0;
}

int
personality_map(int proc, const struct personality_info *what)
{
	struct personality_info info = *what;
	struct copy c = {.base = info.image};
	long result = open_once();

	if (result != 0)
		return result == -E_NOENT ? 0 : (int)result;
	info.page_bytes = (uint32_t)im.page_bytes;
	info.parts = parts;
	info.calls = (uint32_t)(calls.bytes / PERSONALITY_CALL_BYTES);
	info.calls_at = calls.bytes > 0 ? (uint32_t)file_offset(&calls) : 0;
	result = map_stacks(proc, im.page_bytes, &info);
	if (result == 0)
		result = copy_make(&c, &im, proc);
	if (result == 0) {
		result = write_info(&c, &im, info_at, &info);
		copy_done(&c);
	}
	if (result == 0)
		result = kproc_handler(proc, HANDLE_CALLS | HANDLE_UPCALLS,
			(unsigned long)(c.base + im.plan.entry), (unsigned long)info.stack_top,
		    PERSONALITY_STACK_BYTES);
	return result < 0 ? (int)result : 0;
}
