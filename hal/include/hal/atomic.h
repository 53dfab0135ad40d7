/* SPDX-License-Identifier: MIT
 *
 * HAL contract: memory that cores share. All functions may be inline in <cpu/atomic.h>.
 * Of uint32_t words at p, and of `len` bytes at p:
 *	uint32_t hal_load32(p)		a look: what comes later in the program happens later
 *	uint32_t hal_peek32(p)		a look behind which nothing has to wait
 *	void hal_store32(p, v)		what comes earlier in the program is seen earlier; seen soon
 *	uint32_t hal_add32(p, n)	fetch-and-add, a look, full order, returns the old value
 *	bool hal_cas32(p, old, new)	for user-level code and the HAL itself; protocols use add
 *	void hal_fence(void)		full order of all earlier and later accesses
 *	void hal_publish(p, len)	what this core wrote there is seen before what it stores
 *					next
 *	void hal_acquire(p, len)	what was published there before this core's latest look is
 *					seen
 *
 * On machines without coherent caches (and in the coroutine back end) plain reads see stale data
 * until acquired and plain writes stay private until published; byte ranges are exact. The
 * 32-bit operations always reach the shared copy. A word used by them is used by nothing else.
 * Memory that only one core uses needs nothing.
 */
#ifndef HAL_ATOMIC_H
#define HAL_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cpu/atomic.h>

/*
 * hal_publish is half of a step and promises no moment: the bytes may stay with the core until its
 * next hal_store32, hal_add32, hal_cas32, hal_fence, hal_notify, hal_interrupt or hal_core_start,
 * behind which they are there for whoever learned of that and then acquires. In the same way
 * hal_acquire stands behind a look that told of what is acquired, or behind the start of its core,
 * or the entry of a user thread, who may have learned of it by its own atomics. On coherent
 * machines both only hold the compiler back.
 *
 * What may happen: a store is seen after a later load of its core was done, a publish before an
 * earlier store, and a plain read after a later hal_load32 (whoever copies and then looks whether
 * the copy still holds needs a fence between). What never happens: stores or adds of one core seen
 * in another order, an effect without its cause, two cores that see independent stores in different
 * orders, a load after which an earlier one returns something newer. tests/hal/litmus.c has a
 * program for each.
 */

#define HAL_CACHE_LINE 64	/* alignment that keeps two cores' data apart on every port */

/*
 * Tell the HAL which memory of this cluster cores share: by core 0, before other cores know of it,
 * and again when they know of it no more. The coroutine back end gives each core its own stale view
 * of it; elsewhere both do nothing. Nothing else may lie in the HAL_SHARED_ALIGN bytes (cpu/core.h)
 * around its first and its last byte.
 */
void hal_shared_region(void *base, size_t len);
void hal_shared_region_end(void *base, size_t len);

#endif
