/* SPDX-License-Identifier: MIT
 *
 * malloc and its like: the libc's own, but large blocks that are freed are kept for the next call
 * that wants one (kept_blocks.h). A thread that finds another one in the list does not wait: it
 * asks the libc. The names with __libc are those under which this libc has its allocator, so that
 * a program can put its own in front.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <atoll/startup.h>
#include <user/libc/hosted/kept_blocks.h>

#define KEPT_MOST ((size_t)32 << 20)	/* bytes of a rank, */
#define KEPT_PART 16			/* and this part of its memory */

void *__libc_malloc_impl(size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t bytes);

static struct kept_blocks kept;
static bool busy;			/* a thread is in `kept` */

static bool
enter(void)
{
	return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE);
}

static void
malloc_leave(void)
{
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

/* After the start-up record is found (user/libc/exit.c). Without one nothing is kept. */
__attribute__((constructor(102))) static void
malloc_bound(void)
{
	const struct startup *s = atoll_startup();
	size_t part = s != NULL ? (size_t)s->rank_kb * 1024 / KEPT_PART : 0;

	kept.most = part < KEPT_MOST ? part : KEPT_MOST;
}

static void *
malloc_kept(size_t bytes)
{
	void *p;

	if (!enter())
		return NULL;
	p = kept_blocks_take(&kept, bytes);
	malloc_leave();
	return p;
}

/* Give every kept block back. False: there was none. */
static bool
malloc_trim_all(void)
{
	bool any = false;
	void *p;

	if (!enter())
		return false;
	while ((p = kept_blocks_evict(&kept, SIZE_MAX)) != NULL) {
		__libc_free(p);
		any = true;
	}
	malloc_leave();
	return any;
}

void *
malloc(size_t bytes)
{
	void *p = bytes >= KEPT_LEAST ? malloc_kept(bytes) : NULL;

	if (p == NULL)
		p = __libc_malloc_impl(bytes);
	if (p == NULL && malloc_trim_all())
		p = __libc_malloc_impl(bytes);
	return p;
}

static bool
free_to_kept(void *block, size_t bytes)
{
	void *old;

	if (!kept_blocks_accept(&kept, bytes) || !enter())
		return false;
	while ((old = kept_blocks_evict(&kept, bytes)) != NULL)
		__libc_free(old);
	kept_blocks_put(&kept, block, bytes);
	malloc_leave();
	return true;
}

void
free(void *block)
{
	size_t bytes = block != NULL ? malloc_usable_size(block) : 0;

	if (bytes < KEPT_LEAST || !free_to_kept(block, bytes))
		__libc_free(block);
}

void *
calloc(size_t count, size_t bytes)
{
	size_t all;
	void *p;

	if (__builtin_mul_overflow(count, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	p = all >= KEPT_LEAST ? malloc_kept(all) : NULL;
	if (p != NULL)
		return memset(p, 0, all);
	p = __libc_calloc(1, all);
	if (p == NULL && malloc_trim_all())
		p = __libc_calloc(1, all);
	return p;
}

void *
realloc(void *block, size_t bytes)
{
	return block != NULL ? __libc_realloc(block, bytes) : malloc(bytes);
}
