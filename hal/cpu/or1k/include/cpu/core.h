/* SPDX-License-Identifier: MIT
 *
 * What the HAL keeps of a core on or1k. In the kernel r10 points to it; it lies at the top of the
 * core's kernel stack.
 */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/tune.h>
#include <cpu/atomic.h>

struct hal_frame;
struct hal_space;

/* what other cores want of this one */
#define INTERRUPT_KERNEL 1		/* hal_interrupt: look around in the kernel */
#define INTERRUPT_STOP 2		/* the cluster is dead */

/* inter-core interrupt controller */
#define OMPIC_ACK 0x80000000u
#define OMPIC_SEND 0x40000000u
#define OMPIC_LINE 2u			/* at the core's interrupt controller, as a bit */

struct hal_core_area {
	void *local;			/* the kernel's pointer */
	struct hal_frame *frame;	/* of the thread that runs or ran last */
	volatile uint32_t *waiting;	/* own doorbell, in the NoC window */
	volatile uint32_t *ompic;	/* own control register */
	/* what raises this core's interrupt, written to the ringer's control register */
	uint32_t ring;
	/* register whose load waits for an interrupt; NULL: the power management register does */
	const volatile uint32_t *doze;
	uint32_t core;			/* in the cluster */
	uint32_t cluster;
	struct hal_space *space;	/* whose memory copies reach */
	struct hal_space *cached;	/* whose translations are in the TLBs */
	uint32_t code;			/* hal_code_epoch that the instruction cache knows */
	uint32_t machine_core;
	void *start_arg;
	/* at a shared word since the cache was forgotten: <cpu/caches.h> */
	uint32_t looked;
	uint64_t tick;			/* hal_timer_arm; UINT64_MAX: none */
	/* written by other cores */
	uint32_t interrupted;		/* INTERRUPT_* */
	uint32_t started;		/* hal_core_start */
	uint32_t reserved2[14];
	/* of itself: hal_user_fault */
	uintptr_t unreached;
	uint32_t unreached_write;
	uint32_t reserved3[14];
};

/* Kernel stack and area of each core, behind the image; kernel.ld */
#define HAL_CORE_BYTES 4096
#define HAL_AREA_BYTES 256

extern struct hal_core_slot {
	unsigned char stack[HAL_CORE_BYTES - HAL_AREA_BYTES];
	struct hal_core_area area;
	unsigned char pad[HAL_AREA_BYTES - sizeof(struct hal_core_area)];
} hal_core_slots[];

#define HAL_RECORD_STRIDE 0		/* the kernel keeps the records of cores */
#define HAL_SHARED_ALIGN HAL_CACHE_LINE	/* hal_shared_region does nothing */
#define HAL_RECORD_BYTES 0

hot_inline void *
hal_core_records(void)
{
	return (void *)0;
}

/* r10 is nobody else's: the compiler knows it as the thread pointer. */
register struct hal_core_area *hal_core_register __asm__("r10");

hot_inline struct hal_core_area *
hal_core_area(void)
{
	return hal_core_register;
}

hot_inline void *
hal_core_local(void)
{
	return hal_core_area()->local;
}

hot_inline unsigned
hal_core_id(void)
{
	return hal_core_area()->core;
}

hot_inline unsigned
hal_cluster_id(void)
{
	return hal_core_area()->cluster;
}

/* Area of a core of this cluster. */
hot_inline struct hal_core_area *
hal_area_of(unsigned core)
{
	return &hal_core_slots[core].area;
}

/* core.c: the rare parts of what follows */
void hal_wait_until(uint64_t until_ns);
void hal_notify_far(unsigned cluster, unsigned core);
void hal_bell_await(void);			/* wait for an interrupt that is on its way */
/* a wait that nobody rang for has ended: is the tick due? */
void hal_tick_put_off(void);
bool hal_core_interrupted(struct hal_core_area *a);

/* Say that this core is about to wait; ordered before the looks around that follow. */
hot_inline void
hal_wait_begin(void)
{
	hal_word_write(hal_core_area()->waiting, 1);
	hal_fence();
}

/* Raise a core's interrupt, after everything that was written before. */
hot_inline void
hal_bell_ring(const struct hal_core_area *to)
{
	hal_compiler_fence();
	*hal_core_area()->ompic = to->ring;
}

/* Take this core's interrupt back. */
hot_inline void
hal_bell_silence(void)
{
	*hal_core_area()->ompic = OMPIC_ACK;
	hal_fence();
}

/* Has somebody raised this core's interrupt? */
hot_inline bool
hal_bell_rings(void)
{
	uint32_t lines;

	__asm__ volatile("l.mfspr %0, r0, 0x4802" : "=r"(lines) : : "memory");
	return (lines & OMPIC_LINE) != 0;
}

/* Low power until an interrupt is pending; it is not taken. */
hot_inline void
hal_doze(void)
{
	const volatile uint32_t *doze = hal_core_area()->doze;

	if (likely(doze != NULL))
		(void)*doze;
	else
		__asm__ volatile("l.mtspr r0, %0, 0x4000" : : "r"(0x10) : "memory");
}

/*
 * The wait is over: take the doorbell back, with the interrupt of whoever rang it, and what other
 * cores asked for.
 */
hot_inline void
hal_wait_end(void)
{
	struct hal_core_area *a = hal_core_area();

	/* who rang has taken it; a load alone tells, without the bus locked */
	if ((likely(hal_word_read(a->waiting) == 0) || hal_swap32(a->waiting, 0) == 0) &&
		unlikely(!hal_bell_rings()))
		hal_bell_await();
	if (likely(hal_bell_rings()))
		hal_bell_silence();
	else if (unlikely(a->tick != UINT64_MAX))
		hal_tick_put_off();
	if (unlikely(hal_word_read(&a->interrupted) != 0))
		hal_core_interrupted(a);	/* the caller looks at everything now */
}

hot_inline void
hal_wait(uint64_t until_ns)
{
	if (until_ns != UINT64_MAX)
		hal_wait_until(until_ns);
	else
		hal_doze();
	hal_wait_end();
}

hot_inline void
hal_notify(unsigned cluster, unsigned core)
{
	const struct hal_core_area *a = hal_area_of(core);

	if (unlikely(cluster != hal_cluster_id())) {
		hal_notify_far(cluster, core);
		return;
	}
	hal_fence();
	if (likely(hal_word_read(a->waiting) != 0) && likely(hal_swap32(a->waiting, 0) != 0))
		hal_bell_ring(a);
}

#endif
