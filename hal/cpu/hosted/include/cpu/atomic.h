/* SPDX-License-Identifier: MIT
 *
 * Memory that cores share, hosted: a coherent machine. Publishing and acquiring are fences. Under
 * the thread sanitizer, which knows no fences, they are a release and an acquire of the first byte:
 * publish and acquire the same object.
 */
#ifndef CPU_ATOMIC_H
#define CPU_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define host_release(p) __tsan_release((void *)(uintptr_t)(p))
#define host_acquire(p) __tsan_acquire((void *)(uintptr_t)(p))
#else
#define host_release(p) ((void)(p), __atomic_thread_fence(__ATOMIC_RELEASE))
#define host_acquire(p) ((void)(p), __atomic_thread_fence(__ATOMIC_ACQUIRE))
#endif

static inline uint32_t
hal_load32(const volatile uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline uint32_t
hal_peek32(const volatile uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void
hal_store32(volatile uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline uint32_t
hal_add32(volatile uint32_t *p, uint32_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}

static inline bool
hal_cas32(volatile uint32_t *p, uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void
hal_fence(void)
{
#ifdef __SANITIZE_THREAD__
	static uint32_t order;

	__atomic_fetch_add(&order, 1, __ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void
hal_publish(const volatile void *p, size_t len)
{
	(void)len;
	host_release(p);
}

static inline void
hal_acquire(const volatile void *p, size_t len)
{
	(void)len;
	host_acquire(p);
}

#endif
