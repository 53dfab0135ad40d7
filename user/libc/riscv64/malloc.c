/* SPDX-License-Identifier: MIT
 *
 * malloc and its like on a lean heap (lean_heap.h) instead of the libc's, whose groups of equal
 * blocks cost a rank of a small cluster more than its data. Each rank has a heap of its own;
 * several threads of a rank share it.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <atoll/kcalls.h>
#include <user/libc/riscv64/lean_heap.h>

#define PAGE 4096

enum { OPEN, HELD, WANTED };

static void *
get(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void
malloc_put(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

static struct heap heap = {.get = get, .put = malloc_put, .page_bytes = PAGE};
static uint32_t lock;

static void
enter(void)
{
	uint32_t open = OPEN;

	if (__atomic_compare_exchange_n(&lock, &open, HELD, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&lock, WANTED, __ATOMIC_ACQUIRE) != OPEN)
		kfutex_wait((unsigned long)&lock, WANTED, FOREVER);
}

static void
leave(void)
{
	if (__atomic_exchange_n(&lock, OPEN, __ATOMIC_RELEASE) == WANTED)
		kfutex_wake((unsigned long)&lock, 1);
}

static void *
alloc(size_t align, size_t bytes)
{
	void *p;

	enter();
	p = heap_alloc(&heap, align, bytes);
	leave();
	if (p == NULL)
		errno = ENOMEM;
	return p;
}

void *
malloc(size_t bytes)
{
	return alloc(HEAP_UNIT, bytes);
}

void
free(void *block)
{
	int error = errno;

	if (block == NULL)
		return;
	enter();
	heap_free(&heap, block);
	leave();
	errno = error;
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
	p = malloc(all);
	return p != NULL ? memset(p, 0, all) : NULL;
}

void *
realloc(void *block, size_t bytes)
{
	size_t room;
	void *p;
	int fits;

	if (block == NULL)
		return malloc(bytes);
	enter();
	fits = heap_resize(&heap, block, bytes);
	room = heap_room(block);
	leave();
	if (fits == 0)
		return block;
	p = malloc(bytes);
	if (p == NULL)
		return NULL;
	memcpy(p, block, room < bytes ? room : bytes);
	free(block);
	return p;
}

void *
aligned_alloc(size_t align, size_t bytes)
{
	if (align == 0 || (align & (align - 1)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	return alloc(align < HEAP_UNIT ? HEAP_UNIT : align, bytes);
}

void *
memalign(size_t align, size_t bytes)
{
	return aligned_alloc(align, bytes);
}

int
posix_memalign(void **block, size_t align, size_t bytes)
{
	int error = errno;
	void *p;

	if (align < sizeof(void *) || (align & (align - 1)) != 0)
		return EINVAL;
	p = aligned_alloc(align, bytes);
	errno = error;
	if (p == NULL)
		return ENOMEM;
	*block = p;
	return 0;
}

size_t
malloc_usable_size(void *block)
{
	return block != NULL ? heap_room(block) : 0;
}
