/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: cores. The calls that a test may switch off are macros that add the place of
 * the call.
 */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#include <stdint.h>

void *hal_core_local(void);

#define HAL_RECORD_STRIDE 0		/* the kernel keeps the records of cores */
#define HAL_SHARED_ALIGN HAL_PAGE_BYTES	/* each core's view of a region is made of pages */
#define HAL_RECORD_BYTES 0

static inline void *
hal_core_records(void)
{
	return (void *)0;
}

void coro_wait_begin(const char *file, int line);
void coro_wait_cancel(const char *file, int line);
void coro_wait(uint64_t until_ns, const char *file, int line);
void coro_notify(unsigned cluster, unsigned core, const char *file, int line);
void coro_interrupt(unsigned core, const char *file, int line);
void coro_interrupt_home(unsigned cluster, const char *file, int line);
void coro_timer_arm(uint64_t until_ns, const char *file, int line);

#define hal_wait_begin() coro_wait_begin(__FILE__, __LINE__)
#define hal_wait_cancel() coro_wait_cancel(__FILE__, __LINE__)
#define hal_wait(until_ns) coro_wait((until_ns), __FILE__, __LINE__)
#define hal_notify(cluster, core) coro_notify((cluster), (core), __FILE__, __LINE__)
#define hal_interrupt(core) coro_interrupt((core), __FILE__, __LINE__)
#define hal_interrupt_home(cluster) coro_interrupt_home((cluster), __FILE__, __LINE__)
#define hal_timer_arm(until_ns) coro_timer_arm((until_ns), __FILE__, __LINE__)

#endif
