/* SPDX-License-Identifier: MIT
 *
 * 32-bit words that ranks of one cluster share, with their order spelled out. Ranks are threads of
 * one address space on cores with coherent caches; a word used here is used by nothing else.
 */
#ifndef MPI_TRANSPORT_SHARED_H
#define MPI_TRANSPORT_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_LINE 64

/*
 * What ranks that share a core run through again and again lies on one page: each rank has a copy
 * of the library at addresses of its own, and so needs a translation of its own for each page of
 * it.
 */
#define ON_ONE_PAGE __attribute__((section("atoll_often")))
/* first in most programs; all is less */
#define ON_ONE_PAGE_BEGIN __attribute__((section("atoll_often"), aligned(2048)))

/* Sees everything that happened before the release that wrote the value. */
static inline uint32_t
load_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Only the value; orders nothing. */
static inline uint32_t
load_relaxed(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* In the single order of all *_total operations. */
static inline uint32_t
load_total(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline void
store_release(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

static inline void
store_relaxed(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline void
store_total(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t
exchange_total(uint32_t *p, uint32_t value)
{
	return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);
}

/* Returns the old value. */
static inline uint32_t
add_total(uint32_t *p, uint32_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}

/* True and *p = value if *p was *expected; else false and *expected = what it is. */
static inline bool
swap_total(uint32_t *p, uint32_t *expected, uint32_t value)
{
	return __atomic_compare_exchange_n(p, expected, value, true, __ATOMIC_SEQ_CST,
		__ATOMIC_RELAXED);
}

/* The same, for those who try once: it fails only if *p was not *expected. */
static inline bool
swap_strong(uint32_t *p, uint32_t *expected, uint32_t value)
{
	return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,
		__ATOMIC_RELAXED);
}

#endif
