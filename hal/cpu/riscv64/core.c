/* SPDX-License-Identifier: MIT
 *
 * Cores, waiting and doorbells on riscv64.
 *
 * A core that is about to wait sets `waiting` of its doorbell in the NoC window. Who notifies takes it back with an atomic swap; only the
 * one who took it raises the supervisor software interrupt (SSIP), exactly once. The core that ends its wait takes the word back
 * too: if somebody else was faster, an interrupt is on its way and is waited for, so that none is left over to disturb a user thread.
 * Interrupts are off in the kernel; SSIP only ends `wfi`. No core ever spins on another.
 */
#include <hal/board.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include <base/check.h>
#include "cpu.h"

_Static_assert(offsetof(struct hal_core_area, frame) == AREA_FRAME, "layout.h");
_Static_assert(offsetof(struct hal_core_area, scratch) == AREA_SCRATCH, "layout.h");
_Static_assert(offsetof(struct hal_core_area, scratch2) == AREA_SCRATCH2, "layout.h");
_Static_assert(offsetof(struct hal_core_area, fixup) == AREA_FIXUP, "layout.h");
_Static_assert(offsetof(struct hal_core_area, interrupted) == AREA_INTERRUPTED, "layout.h");
_Static_assert(offsetof(struct hal_core_area, started) == AREA_STARTED, "layout.h");
_Static_assert(sizeof(struct hal_core_area) <= AREA_BYTES, "layout.h");

extern char image_end[];

struct hal_machine hal_machine;
uint64_t hal_kernel_satp;

struct hal_core_area *
hal_area_of(unsigned core)
{
	return (struct hal_core_area *)(image_end + (core + 1) * (size_t)CORE_BYTES - AREA_BYTES);
}

volatile void *
hal_device(uint64_t paddr)
{
	return (volatile void *)(hal_machine.device_base + paddr);
}

void *
hal_noc_window(unsigned cluster)
{
	return (void *)(hal_machine.device_base + hal_machine.noc_base + cluster * hal_machine.noc_window_bytes);
}

void hal_main(void);

/* First C code of a core with translation on. */
void
hal_main(void)
{
	struct hal_core_area *a = hal_core_area();
	uint64_t used = hal_machine.free - hal_machine.mem_base;

	if (a->core != 0)
		kernel_core_main(a->start_arg);
	kernel_boot_main(hal_machine.record, (void *)(KERNEL_BASE + used), hal_machine.mem_bytes - used);
}

void
hal_core_set_local(void *core)
{
	hal_core_area()->local = core;
}

void
hal_core_start(unsigned core, void *arg)
{
	struct hal_core_area *a = hal_area_of(core);

	a->start_arg = arg;
	hal_store32(&a->started, 1);
	hal_fence();
	hal_board_ring(a->machine_core);
}

void
hal_core_stop(void)
{
	csr_write(sie, 0);
	for (;;)
		__asm__ volatile("wfi");
}

void
hal_shared_region(void *base, size_t len)
{
	(void)base;
	(void)len;
}

static uint32_t
bell_swap(struct hal_doorbell *bell, uint32_t value)
{
	return __atomic_exchange_n(&bell->waiting, value, __ATOMIC_SEQ_CST);
}

void
hal_wait_begin(void)
{
	bell_swap(hal_core_area()->bell, 1);
}

/* The wait is over: take the doorbell back, with the interrupt of whoever rang it. */
static void
bell_settle(struct hal_core_area *a)
{
	if (bell_swap(a->bell, 0) == 0)
		while ((csr_read(sip) & SIP_SSIP) == 0)
			__asm__ volatile("wfi");
	csr_clear(sip, SIP_SSIP);
}

void
hal_wait_cancel(void)
{
	struct hal_core_area *a = hal_core_area();

	bell_settle(a);
	if (hal_load32(&a->interrupted) != 0)
		csr_set(sip, SIP_SSIP);		/* it may be newer than what the caller looked at */
}

static void
timer_arm(uint64_t until_ns)
{
	__asm__ volatile("csrw %0, %1" : : "i"(STIMECMP), "r"((until_ns + hal_board_tick_ns - 1) / hal_board_tick_ns));
	csr_set(sie, SIE_STIE);
}

static void
timer_disarm(void)
{
	csr_clear(sie, SIE_STIE);
	__asm__ volatile("csrw %0, %1" : : "i"(STIMECMP), "r"(UINT64_MAX));
}

void
hal_wait(uint64_t until_ns)
{
	struct hal_core_area *a = hal_core_area();

	if (until_ns != HAL_FOREVER)
		timer_arm(until_ns);
	__asm__ volatile("wfi" : : : "memory");
	if (until_ns != HAL_FOREVER)
		timer_disarm();
	bell_settle(a);
	if (a->interrupted != 0)
		hal_store32(&a->interrupted, 0);	/* the caller looks at everything now */
	hal_fence();
	if (hal_machine.dead)
		hal_core_stop();
}

/* Cores of other clusters are known by the boot record. */
void
hal_notify(unsigned cluster, unsigned core)
{
	struct hal_doorbell *bell = hal_noc_doorbell(cluster, core);

	hal_fence();
	if (hal_load32(&bell->waiting) != 0 && bell_swap(bell, 0) != 0)
		hal_board_ring(hal_machine.record->cluster[cluster].first_core + core);
}

void
hal_interrupt(unsigned core)
{
	struct hal_core_area *a = hal_area_of(core);

	hal_store32(&a->interrupted, 1);
	hal_fence();
	hal_board_ring(a->machine_core);
}

uint64_t
hal_clock_ns(void)
{
	return csr_read(time) * hal_board_tick_ns;
}
