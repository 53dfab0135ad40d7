/* SPDX-License-Identifier: MIT
 *
 * Shared memory on riscv64: caches are coherent, so publishing and acquiring only order. The stores
 * and loads of the 32-bit operations carry the fences; publish and acquire stand beside one of
 * those and only hold the compiler back.
 */
#ifndef CPU_ATOMIC_H
#define CPU_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Plain accesses between compiler barriers: a volatile or atomic one costs gcc an extra sign
 * extension per load.
 */
static inline uint32_t
hal_load32(const volatile uint32_t *p)
{
	uint32_t v = *(const uint32_t *)p;

	__asm__ volatile("fence r, rw" : : : "memory");
	return v;
}

static inline uint32_t
hal_peek32(const volatile uint32_t *p)
{
	uint32_t v = *(const uint32_t *)p;

	__asm__ volatile("" : : : "memory");
	return v;
}

static inline void
hal_store32(volatile uint32_t *p, uint32_t v)
{
	__asm__ volatile("fence rw, w" : : : "memory");
	*p = v;
}

static inline uint32_t
hal_add32(volatile uint32_t *p, uint32_t n)
{
	uint32_t old;

	__asm__ volatile("amoadd.w.aqrl %0, %1, (%2)" : "=r"(old) : "r"(n), "r"(p) : "memory");
	return old;
}

static inline bool
hal_cas32(volatile uint32_t *p, uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void
hal_fence(void)
{
	__asm__ volatile("fence rw, rw" : : : "memory");
}

static inline void
hal_publish(const volatile void *p, size_t len)
{
	(void)p;
	(void)len;
	__asm__ volatile("" : : : "memory");
}

static inline void
hal_acquire(const volatile void *p, size_t len)
{
	(void)p;
	(void)len;
	__asm__ volatile("" : : : "memory");
}

#endif
