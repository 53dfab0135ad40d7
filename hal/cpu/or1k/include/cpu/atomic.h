/* SPDX-License-Identifier: MIT
 *
 * Shared memory on or1k. Memory is coherent and stores leave a core in order, but wait in its store
 * buffer: only a store that a later load must not overtake needs l.msync. Publishing and acquiring
 * order the compiler. With HAL_CACHES it is <cpu/caches.h> that says all this.
 */
#ifndef CPU_ATOMIC_H
#define CPU_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef HAL_CACHES
#include <cpu/caches.h>
#else

#define hal_compiler_fence() __asm__ volatile("" : : : "memory")
#define hal_word_read(p) (*(p))
#define hal_word_write(p, v) (*(p) = (v))
#define hal_or32(p, bits) __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)
#define hal_cache_forget() ((void)0)
#define hal_refresh(p, len) ((void)0)
#define hal_table_refresh(p) ((void)0)
#define hal_table_publish(p, len) ((void)0)

static inline uint32_t
hal_load32(const volatile uint32_t *p)
{
	uint32_t v = *p;

	hal_compiler_fence();
	return v;
}

static inline uint32_t
hal_peek32(const volatile uint32_t *p)
{
	return hal_load32(p);
}

static inline void
hal_store32(volatile uint32_t *p, uint32_t v)
{
	hal_compiler_fence();
	*p = v;
}

static inline void
hal_fence(void)
{
	__asm__ volatile("l.msync" : : : "memory");
}

/*
 * Again from 1: if the store failed, which is rare: by way of a place further on, because a branch
 * back counts as likely in a core that predicts by direction.
 */
#define RETRY "l.bnf 2f\n\tl.nop\n\t.subsection 1\n2: l.j 1b\n\tl.nop\n\t.previous"

static inline uint32_t
hal_add32(volatile uint32_t *p, uint32_t n)
{
	uint32_t old, sum;

	__asm__ volatile("1: l.lwa %0, 0(%2)\n\tl.add %1, %0, %3\n\tl.swa 0(%2), %1\n\t" RETRY
		: "=&r"(old), "=&r"(sum) : "r"(p), "r"(n) : "memory", "cc");
	return old;
}

static inline bool
hal_cas32(volatile uint32_t *p, uint32_t old, uint32_t new)
{
	uint32_t found;

	__asm__ volatile("1: l.lwa %0, 0(%1)\n\tl.sfeq %0, %2\n\tl.bnf 3f\n\tl.nop\n\t"
		"l.swa 0(%1), %3\n\t" RETRY "\n3:"
		: "=&r"(found) : "r"(p), "r"(old), "r"(new) : "memory", "cc");
	return found == old;
}

/* Exchange; not part of the contract, for this back end. */
static inline uint32_t
hal_swap32(volatile uint32_t *p, uint32_t new)
{
	uint32_t old;

	__asm__ volatile("1: l.lwa %0, 0(%1)\n\tl.swa 0(%1), %2\n\t" RETRY : "=&r"(old) : "r"(p),
		"r"(new) : "memory", "cc");
	return old;
}

static inline void
hal_publish(const volatile void *p, size_t len)
{
	(void)p;
	(void)len;
	hal_compiler_fence();
}

static inline void
hal_acquire(const volatile void *p, size_t len)
{
	(void)p;
	(void)len;
	hal_compiler_fence();
}

#endif
#endif
