/* SPDX-License-Identifier: MIT
 *
 * HAL contract: memory that cores share. All functions may be inline in <cpu/atomic.h>.
 *
 *	uint32_t hal_load32(const volatile uint32_t *p)		fresh value (acquire order)
 *	void hal_store32(volatile uint32_t *p, uint32_t v)	visible at once (release order: earlier publishes come first)
 *	uint32_t hal_add32(volatile uint32_t *p, uint32_t n)	fetch-and-add, full order, returns the old value
 *	bool hal_cas32(volatile uint32_t *p, uint32_t old, uint32_t new)   for user-level code and the HAL itself; protocols use add
 *	void hal_fence(void)					full order of all earlier and later accesses
 *	void hal_publish(const volatile void *p, size_t len)	what this core wrote there becomes visible to cores that acquire it
 *	void hal_acquire(const volatile void *p, size_t len)	what others published there becomes visible to this core
 *
 * On machines without coherent caches (and in the coroutine back end) plain reads see stale data until acquired and plain
 * writes stay private until published; byte ranges are exact. The four 32-bit operations always reach the shared copy.
 * A word used by them is used by nothing else. Memory that only one core uses needs nothing.
 */
#ifndef HAL_ATOMIC_H
#define HAL_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cpu/atomic.h>

#define HAL_CACHE_LINE 64	/* alignment that keeps two cores' data apart on every port */

/*
 * Tell the HAL which memory of this cluster cores share (struct cluster). Called once by core 0 before other cores start.
 * The coroutine back end gives each core its own stale view of it; elsewhere it does nothing.
 */
void hal_shared_region(void *base, size_t len);

#endif
