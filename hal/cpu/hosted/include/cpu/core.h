/* SPDX-License-Identifier: MIT
 *
 * The running core, hosted. A core is a host thread; its gs base (which neither glibc nor musl
 * uses) points to its struct host_core, whatever thread pointer is loaded.
 */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#define HAL_RECORD_STRIDE 0		/* the kernel keeps the records of cores */
#define HAL_SHARED_ALIGN HAL_CACHE_LINE	/* hal_shared_region does nothing */
#define HAL_RECORD_BYTES 0

static inline void *
hal_core_records(void)
{
	return (void *)0;
}

/* offset of the kernel's pointer in struct host_core; gate.h checks it */
#define HOST_CORE_LOCAL 8

static inline void *
hal_core_local(void)
{
	void *local;

#ifdef __x86_64__
	__asm__("mov %%gs:%c1, %0" : "=r"(local) : "i"(HOST_CORE_LOCAL));
#else
#error "hosted: no back end for this host CPU yet"
#endif
	return local;
}

#endif
