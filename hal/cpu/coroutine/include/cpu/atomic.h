/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: shared memory. Every operation is a place where the scheduler may go to
 * another core, and carries the place it is called from, so that a test can name it, list it and
 * switch it off (hal/cpu/coroutine/coroutine.h).
 */
#ifndef CPU_ATOMIC_H
#define CPU_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t coro_load32(const volatile uint32_t *p, const char *file, int line);
void coro_store32(volatile uint32_t *p, uint32_t value, const char *file, int line);
uint32_t coro_add32(volatile uint32_t *p, uint32_t n, const char *file, int line);
bool coro_cas32(volatile uint32_t *p, uint32_t old, uint32_t value, const char *file, int line);
void coro_fence(const char *file, int line);
void coro_publish(const volatile void *p, size_t len, const char *file, int line);
void coro_acquire(const volatile void *p, size_t len, const char *file, int line);

#define hal_load32(p) coro_load32((p), __FILE__, __LINE__)
#define hal_peek32(p) hal_load32(p)
#define hal_store32(p, value) coro_store32((p), (value), __FILE__, __LINE__)
#define hal_add32(p, n) coro_add32((p), (n), __FILE__, __LINE__)
#define hal_cas32(p, old, value) coro_cas32((p), (old), (value), __FILE__, __LINE__)
#define hal_fence() coro_fence(__FILE__, __LINE__)
#define hal_publish(p, len) coro_publish((p), (len), __FILE__, __LINE__)
#define hal_acquire(p, len) coro_acquire((p), (len), __FILE__, __LINE__)

#endif
