/* SPDX-License-Identifier: MIT
 *
 * See brought.h.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/proc/brought.h>

#define BROUGHT_PAGES_MAX 2048		/* that are lent at a time */

static uint32_t lent;			/* pages */
static struct image opened;
static uint64_t window;			/* where it is mapped; 0: none is open */

/* The handle of memory that a process gets, and of the view through which it gets that. */
static long
lend(struct brought *b, int proc)
{
	long result = khandle_duplicate(b->memory, SELF, RIGHTS_ALL | HANDLE_VIEW);

	if (result < 0)
		return result;
	b->view = (int)result;
	return khandle_duplicate(b->view, proc, RIGHT_READ | RIGHT_WRITE);
}

int
brought_lend(struct brought *b, int proc, uint32_t pages)
{
	long result;

	brought_drop(b);
	if (pages == 0 || pages > BROUGHT_PAGES_MAX - lent)
		return pages == 0 ? -E_INVAL : -E_NOMEM;
	result = kmemory_create((int)pages);
	if (result < 0)
		return (int)result;
	*b = (struct brought){.memory = (int)result, .view = -1, .pages = pages};
	lent += pages;
	result = lend(b, proc);
	if (result < 0)
		brought_drop(b);
	return (int)result;
}

void
brought_drop(struct brought *b)
{
	if (b->pages == 0)
		return;
	if (b->view >= 0) {
		khandle_revoke(b->view);
		khandle_close(b->view);
	}
	khandle_close(b->memory);
	lent -= b->pages;
	b->pages = 0;
}

static long
map(const struct brought *b, uint64_t page)
{
	uint64_t addr = 0;
	long result = kmem_alloc(SELF, b->pages * page, 0, &addr);

	if (result < 0)
		return result;
	result = kpage_map(SELF, addr, b->memory, 0, (int)b->pages, PAGE_READ);
	if (result < 0)
		kpage_unmap(SELF, addr, (int)b->pages);
	else
		window = addr;
	return result;
}

int
brought_open(const struct brought *b, struct image **image)
{
	struct cluster_info here;
	long result = khandle_revoke(b->view);

	kcluster_info(&here);
	if (result >= 0)
		result = map(b, here.page_bytes);
	if (result >= 0)
		result = image_open_in(&opened, (const void *)(uintptr_t)window,
			(size_t)b->pages * here.page_bytes);
	if (result < 0)
		brought_close(b);
	*image = &opened;
	return (int)result;
}

void
brought_close(const struct brought *b)
{
	if (window == 0)
		return;
	image_close(&opened);
	kpage_unmap(SELF, window, (int)b->pages);
	window = 0;
}
