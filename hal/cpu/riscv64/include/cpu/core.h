/* SPDX-License-Identifier: MIT
 *
 * What the HAL keeps of a core on riscv64. In the kernel tp points to it; it lies at the top of the core's kernel stack.
 */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#include <stdint.h>

struct hal_frame;

/* what other cores want of this one */
#define INTERRUPT_KERNEL 1		/* hal_interrupt: look around in the kernel */
#define INTERRUPT_STOP 2		/* the cluster is dead */

struct hal_core_area {
	void *local;			/* the kernel's pointer */
	struct hal_frame *frame;	/* of the thread that runs or ran last */
	uint64_t scratch;
	uint64_t fixup;			/* where a faulting access to user memory goes on; 0: none */
	uint64_t satp;			/* address space in use */
	volatile uint32_t *waiting;	/* own doorbell, in the NoC window */
	volatile uint32_t *ring;	/* raises this core's interrupt */
	struct hal_frame *fp_owner;	/* whose floating-point registers these are */
	uint32_t core;			/* in the cluster */
	uint32_t cluster;
	uint64_t scratch2;
	void *start_arg;
	uint32_t machine_core;		/* hart */
	uint32_t reserved;
	uint64_t reserved1[4];
	/* written by other cores */
	uint32_t interrupted;		/* INTERRUPT_* */
	uint32_t started;		/* hal_core_start */
	uint64_t reserved2[7];
};

static inline struct hal_core_area *
hal_core_area(void)
{
	struct hal_core_area *a;

	__asm__("mv %0, tp" : "=r"(a));
	return a;
}

/* Say that this core is about to wait; ordered before the looks around that follow. */
static inline void
hal_wait_begin(void)
{
	__asm__ volatile("amoswap.w.aqrl zero, %0, (%1)" : : "r"(1), "r"(hal_core_area()->waiting) : "memory");
}

static inline void *
hal_core_local(void)
{
	return hal_core_area()->local;
}

static inline unsigned
hal_core_id(void)
{
	return hal_core_area()->core;
}

static inline unsigned
hal_cluster_id(void)
{
	return hal_core_area()->cluster;
}

#endif
