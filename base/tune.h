/* SPDX-License-Identifier: MIT
 *
 * Optimisations of the kernel for a narrow core, each with a switch of its own (make PORT=or1k
 * TUNE_x=0|1 kernel). Source: seed 001 IV-B.
 *
 * 	TUNE_SOFT	32-bit multiplication and division by base/soft32.c, made for small
 *			operands; 0: by the compiler's library
 *	TUNE_INLINE	what is performance-critical is part of its callers; 0: the compiler
 *			decides, as in any -O2
 *	TUNE_HINTS	branches say which way they usually go
 * 	TUNE_LAYOUT	what runs together lies together, so that it fits a direct-mapped cache; 0:
 *			in the order of the files
 *
 * TUNE_SOFT and TUNE_LAYOUT choose files (mk/or1k.mk), the others are here.
 */
#ifndef BASE_TUNE_H
#define BASE_TUNE_H

#ifndef TUNE_INLINE
#define TUNE_INLINE 1
#endif
#ifndef TUNE_HINTS
#define TUNE_HINTS 1
#endif

#define likely(condition) (TUNE_HINTS ? __builtin_expect((condition) != 0, 1) : (condition) != 0)
#define unlikely(condition) (TUNE_HINTS ? __builtin_expect((condition) != 0, 0) : (condition) != 0)

/*
 * Paths meet here and not before: what skips something inside a loop branches forward to this
 * place, and not back to the loop's head, which a core that predicts by direction would take for
 * likely.
 */
#if TUNE_HINTS
#define paths_meet() __asm__ volatile("")
#else
#define paths_meet() ((void)0)
#endif

/* In front of a performance-critical function, in place of `static inline`. */
#if TUNE_INLINE
#define hot_inline static inline __attribute__((always_inline))
#else
#define hot_inline static inline
#endif

#endif
