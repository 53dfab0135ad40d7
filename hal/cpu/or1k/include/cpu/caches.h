/* SPDX-License-Identifier: MIT
 *
 * Shared memory on or1k with a write-through data cache that nobody keeps coherent (ADR 0034), in
 * place of the coherent part of <cpu/atomic.h>. Stores reach memory in order; what a core reads may
 * be what it had. HAL_CACHES says how that is mended:
 *
 *	1  whole	whoever acquires forgets its whole cache, once after each look at a shared
 *			word; with HAL_FLASH by one write
 *	2  lines	whoever acquires forgets the lines of what it acquires
 *	3  drop		whoever publishes has the lines dropped in all other caches by hardware
 *			(CD_PERF_DROP); readers do nothing
 *
 * An l.lwa may hit old data too: its line is forgotten before. HAL_CACHES_LEAVE_OUT makes one of
 * these steps nothing, for tests that must see it.
 */
#ifndef CPU_CACHES_H
#define CPU_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAL_WHOLE 1
#define HAL_LINES 2
#define HAL_DROP 3
#ifndef HAL_FLASH
#define HAL_FLASH 0
#endif
#define HAL_LINE_BYTES 32u
#define HAL_DROP_OTHERS ((volatile uint32_t *)0x99000038)	/* CD_PERF + CD_PERF_DROP */
#define HAL_DROP_OWN ((volatile uint32_t *)0x9900003c)		/* CD_PERF + CD_PERF_DROP_OWN */
#define HAL_DROP_LINES 32u					/* of one store */

#ifndef HAL_CACHES_LEAVE_OUT
#define HAL_CACHES_LEAVE_OUT 0
#endif
#define HAL_LEFT_OUT_WORD 1		/* reading a shared word afresh */
#define HAL_LEFT_OUT_RANGE 2		/* acquiring, or publishing by hardware */
#define HAL_LEFT_OUT_TABLE 3		/* reading page tables afresh, or publishing them */

#define hal_compiler_fence() __asm__ volatile("" : : : "memory")

/*
 * caches.c: forget this core's whole data cache; only if it looked at a shared word since it did so
 * last.
 */
void hal_cache_forget(void);
void hal_cache_forget_once(void);

/* Forget one line (with all that share its set). */
static inline void
hal_line_forget(const volatile void *p)
{
	__asm__ volatile("l.mtspr r0, %0, 0x1803" : : "r"(p) : "memory");
}

/* Have hardware drop the lines of a range: by one store for every 32. */
static inline void
hal_lines_drop(volatile uint32_t *reg, const volatile void *p, size_t len)
{
	uint32_t line = (uint32_t)p & -HAL_LINE_BYTES,
		more = ((uint32_t)p + (uint32_t)len - 1 - line) / HAL_LINE_BYTES;

	hal_compiler_fence();
	for (; more >= HAL_DROP_LINES; more -= HAL_DROP_LINES,
		line += HAL_DROP_LINES * HAL_LINE_BYTES)
		*reg = line | (HAL_DROP_LINES - 1);
	*reg = line | more;
}

/* What nobody publishes becomes visible to this core: user memory. Len is not 0. */
static inline void
hal_refresh(const volatile void *p, size_t len)
{
	if (HAL_CACHES == HAL_DROP) {
		hal_lines_drop(HAL_DROP_OWN, p, len);
		__asm__ volatile("l.msync" : : : "memory");
		return;
	}
	for (uint32_t at = (uint32_t)p & -HAL_LINE_BYTES, end = (uint32_t)p + (uint32_t)len;
		at < end; at += HAL_LINE_BYTES)
		hal_line_forget((const void *)at);
}

/* Page tables are read without acquiring: by refill handlers (trap.S) and by cores that copy. */
static inline void
hal_table_refresh(const volatile void *p)
{
	if (HAL_CACHES != HAL_DROP && HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_TABLE)
		hal_line_forget(p);
}

static inline void
hal_table_publish(const volatile void *p, size_t len)
{
	if (HAL_CACHES == HAL_DROP && HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_TABLE)
		hal_lines_drop(HAL_DROP_OTHERS, p, len);
}

/*
 * The next hal_acquire of this core has something to forget. At the end of struct hal_core_area's
 * constant part (core.c holds it against that).
 */
#define HAL_AREA_LOOKED 52
static inline void
hal_looked(void)
{
	if (HAL_CACHES == HAL_WHOLE)
		__asm__ volatile("l.sw %0(r10), r10" : : "i"(HAL_AREA_LOOKED) : "memory");
}

static inline uint32_t
hal_load32(const volatile uint32_t *p)
{
	uint32_t v;

	if (HAL_CACHES != HAL_DROP && HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_WORD)
		hal_line_forget(p);
	v = *p;
	hal_looked();
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
	if (HAL_CACHES == HAL_DROP && HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_WORD)
		hal_lines_drop(HAL_DROP_OTHERS, p, sizeof(*p));
}

static inline void
hal_fence(void)
{
	__asm__ volatile("l.msync" : : : "memory");
}

/* In front of an l.lwa, at every attempt. */
#if HAL_CACHES == HAL_DROP
#define HAL_FRESH "1: l.sw 0(%[own]), %[line]\n\tl.msync\n\t"
#else
#define HAL_FRESH "1: l.mtspr r0, %[line], 0x1803\n\t"
#endif
#define hal_fresh_operands(p) [line] "r"((uint32_t)(p) & -HAL_LINE_BYTES), [own] "r"(HAL_DROP_OWN)

/* Behind an l.swa. */
static inline void
hal_atomic_end(const volatile uint32_t *p)
{
	hal_looked();
	if (HAL_CACHES == HAL_DROP)
		hal_lines_drop(HAL_DROP_OTHERS, p, sizeof(*p));
}

static inline uint32_t
hal_add32(volatile uint32_t *p, uint32_t n)
{
	uint32_t old, sum;

	__asm__ volatile(HAL_FRESH "l.lwa %[old], 0(%[p])\n\tl.add %[sum], %[old], %[n]\n\t"
		"l.swa 0(%[p]), %[sum]\n\tl.bnf 1b\n\tl.nop"
		: [old] "=&r"(old), [sum] "=&r"(sum) : [p] "r"(p), [n] "r"(n),
		hal_fresh_operands(p) : "memory", "cc");
	hal_atomic_end(p);
	return old;
}

/* Exchange; not part of the contract, for this back end. */
static inline uint32_t
hal_swap32(volatile uint32_t *p, uint32_t new)
{
	uint32_t old;

	__asm__ volatile(HAL_FRESH "l.lwa %[old], 0(%[p])\n\tl.swa 0(%[p]), %[new]\n\t"
		"l.bnf 1b\n\tl.nop"
		: [old] "=&r"(old) : [p] "r"(p), [new] "r"(new), hal_fresh_operands(p) : "memory",
		"cc");
	hal_atomic_end(p);
	return old;
}

/*
 * Stores in any case, so that no reservation is left over: its end would come together with a line
 * that is forgotten.
 */
static inline bool
hal_cas32(volatile uint32_t *p, uint32_t old, uint32_t new)
{
	uint32_t was, will;

	__asm__ volatile(HAL_FRESH "l.lwa %[was], 0(%[p])\n\tl.sfeq %[was], %[old]\n\t"
		"l.cmov %[will], %[new], %[was]\n\t"
		"l.swa 0(%[p]), %[will]\n\tl.bnf 1b\n\tl.nop"
		: [was] "=&r"(was), [will] "=&r"(will) : [p] "r"(p), [old] "r"(old), [new] "r"(new),
		hal_fresh_operands(p) : "memory", "cc");
	hal_atomic_end(p);
	return was == old;
}

static inline uint32_t
hal_or32(volatile uint32_t *p, uint32_t bits)
{
	uint32_t old = hal_load32(p);

	while (!hal_cas32(p, old, old | bits))
		old = hal_load32(p);
	return old;
}

static inline void
hal_publish(const volatile void *p, size_t len)
{
	hal_compiler_fence();
	if (HAL_CACHES == HAL_DROP && HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_RANGE && len > 0)
		hal_lines_drop(HAL_DROP_OTHERS, p, len);
}

static inline void
hal_acquire(const volatile void *p, size_t len)
{
	if (HAL_CACHES_LEAVE_OUT != HAL_LEFT_OUT_RANGE && len > 0) {
		if (HAL_CACHES == HAL_WHOLE)
			hal_cache_forget_once();
		if (HAL_CACHES == HAL_LINES)
			hal_refresh(p, len);
	}
	hal_compiler_fence();
}

/* What is a plain access where caches are coherent. */
#define hal_word_read(p) hal_load32(p)
#define hal_word_write(p, v) hal_store32(p, v)

#endif
