/* SPDX-License-Identifier: MIT
 *
 * What the HAL keeps of a core on riscv64. In the kernel tp points to it; it lies at the top of the
 * core's kernel stack.
 */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


struct hal_frame;

/* what other cores want of this one */
#define INTERRUPT_KERNEL 1		/* hal_interrupt: look around in the kernel */
#define INTERRUPT_STOP 2		/* the cluster is dead */

struct hal_core_area {
	void *local;			/* the kernel's pointer */
	struct hal_frame *frame;	/* of the thread that runs or ran last */
	uint64_t scratch;
	/* where a faulting access to user memory goes on; 0: none */
	uint64_t fixup;
	uint64_t satp;			/* address space in use */
	volatile uint32_t *waiting;	/* own doorbell, in the NoC window */
	volatile uint32_t *ring;	/* raises this core's interrupt */
	struct hal_frame *fp_owner;	/* whose floating-point registers these are */
	uint32_t core;			/* in the cluster */
	uint32_t cluster;
	uint64_t scratch2;
	void *start_arg;
	uint32_t machine_core;		/* hart */
	uint32_t fault_write;		/* the access below was a write */
	/* address of the access that went on at fixup, or was refused */
	uint64_t fault;
	/* where the kernel stack is empty, in the mapping with guard pages (layout.h) */
	uint64_t stack;
	uint64_t tick;			/* hal_timer_arm, in units of the clock; UINT64_MAX: none */
	uint64_t reserved1;
	/* written by other cores */
	uint32_t interrupted;		/* INTERRUPT_* */
	uint32_t started;		/* hal_core_start */
	uint64_t reserved2[7];
};

/*
 * Kernel stack, area and the kernel's record of each core, behind the image; kernel.ld. The stack
 * of core 0, which serves all others, goes on into a page in front of its slot.
 */
#define HAL_CORE_BYTES 4096
#define HAL_AREA_BYTES 256
#define HAL_RECORD_BYTES 1408
#define HAL_RECORD_STRIDE HAL_CORE_BYTES
#define HAL_SHARED_ALIGN HAL_CACHE_LINE	/* hal_shared_region does nothing */

extern struct hal_core_slot {
	unsigned char stack[HAL_CORE_BYTES - HAL_AREA_BYTES - HAL_RECORD_BYTES];
	struct hal_core_area area;
	unsigned char pad[HAL_AREA_BYTES - sizeof(struct hal_core_area)];
	unsigned char record[HAL_RECORD_BYTES];
} hal_core_slots[];

static inline void *
hal_core_records(void)
{
	return hal_core_slots[0].record;
}

static inline struct hal_core_area *
hal_core_area(void)
{
	struct hal_core_area *a;

	__asm__("mv %0, tp" : "=r"(a));
	return a;
}

static inline void *
hal_core_local(void)
{
	return hal_core_area()->local;
}

/* Say that this core is about to wait; ordered before the looks around that follow. */
static inline void
hal_wait_begin(void)
{
	__asm__ volatile("amoswap.w.aqrl zero, %0, (%1)" : : "r"(1), "r"(hal_core_area()->waiting) :
		"memory");
}

/* Take a doorbell's word: was it still set? Ordered before whatever follows. */
static inline bool
hal_bell_take(volatile uint32_t *waiting)
{
	unsigned long was;

	__asm__ volatile("amoswap.w.aqrl %0, zero, (%1)" : "=r"(was) : "r"(waiting) : "memory");
	return was != 0;
}

/* Raise a core's interrupt, after everything that was written before. */
static inline void
hal_bell_ring(volatile uint32_t *ring)
{
	__asm__ volatile("fence w, o\n\tsw %0, (%1)" : : "r"(1), "r"(ring) : "memory");
}

/* core.c: the rare parts of what follows */
void hal_wait_until(uint64_t until_ns);
void hal_notify_far(unsigned cluster, unsigned core);
/*
 * A wait has ended without a doorbell, or its interrupt is not the only one that is pending: wait
 * for it, see to the tick, take an interrupt of a device
 */
void hal_wait_look(bool rung);
bool hal_core_interrupted(struct hal_core_area *a);

/*
 * The wait is over: take the doorbell back, with the interrupt of whoever rang it, and what other
 * cores asked for.
 */
static inline void
hal_wait_end(void)
{
	struct hal_core_area *a = hal_core_area();
	unsigned long pending;

	if (!hal_bell_take(a->waiting)) {
		__asm__ volatile("csrr %0, sip" : "=r"(pending) : : "memory");
		if (__builtin_expect(pending != 2, 0))
			hal_wait_look(true);
	} else {
		hal_wait_look(false);
	}
	__asm__ volatile("csrci sip, 2" : : : "memory");
	if (__builtin_expect(a->interrupted != 0, 0))
		hal_core_interrupted(a);	/* the caller looks at everything now */
}

static inline void
hal_wait(uint64_t until_ns)
{
	if (until_ns != UINT64_MAX)
		hal_wait_until(until_ns);
	else
		__asm__ volatile("wfi" : : : "memory");
	hal_wait_end();
}

/* Area of a core of this cluster. */
static inline struct hal_core_area *
hal_area_of(unsigned core)
{
	return &hal_core_slots[(int)core].area;
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

static inline void
hal_notify(unsigned cluster, unsigned core)
{
	struct hal_core_area *a = hal_area_of(core);

	if (cluster != hal_cluster_id()) {
		hal_notify_far(cluster, core);
		return;
	}
	__asm__ volatile("fence rw, rw" : : : "memory");
	if (*a->waiting != 0 && hal_bell_take(a->waiting))
		hal_bell_ring(a->ring);
}

#endif
