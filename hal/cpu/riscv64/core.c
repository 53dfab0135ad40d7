/* SPDX-License-Identifier: MIT
 *
 * Cores, waiting and doorbells on riscv64.
 *
 * A core that is about to wait sets `waiting` of its doorbell in the NoC window. Who notifies takes
 * it back with an atomic swap; only the one who took it raises the supervisor software interrupt
 * (SSIP), exactly once. The core that ends its wait takes the word back too: if somebody else was
 * faster, an interrupt is on its way and is waited for, so that none is left over to disturb a user
 * thread. Interrupts are off in the kernel; SSIP only ends `wfi`. No core ever spins on another.
 */
#include <abi/errors.h>
#include <hal/board.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include "cpu.h"

_Static_assert(offsetof(struct hal_core_area, frame) == AREA_FRAME, "layout.h");
_Static_assert(offsetof(struct hal_core_area, scratch) == AREA_SCRATCH, "layout.h");
_Static_assert(offsetof(struct hal_core_area, scratch2) == AREA_SCRATCH2, "layout.h");
_Static_assert(offsetof(struct hal_core_area, fp_owner) == AREA_FP_OWNER, "layout.h");
_Static_assert(offsetof(struct hal_core_area, core) == AREA_CORE, "layout.h");
_Static_assert(offsetof(struct hal_core_area, fixup) == AREA_FIXUP, "layout.h");
_Static_assert(offsetof(struct hal_core_area, fp_owner) == AREA_FP_OWNER, "layout.h");
_Static_assert(offsetof(struct hal_core_area, core) == AREA_CORE, "layout.h");
_Static_assert(offsetof(struct hal_core_area, fault) == AREA_FAULT, "layout.h");
_Static_assert(offsetof(struct hal_core_area, stack) == AREA_STACK, "layout.h");
_Static_assert(offsetof(struct hal_core_area, interrupted) == AREA_INTERRUPTED, "layout.h");
_Static_assert(offsetof(struct hal_core_area, started) == AREA_STARTED, "layout.h");
_Static_assert(sizeof(struct hal_core_slot) == CORE_BYTES && HAL_AREA_BYTES == AREA_BYTES &&
	HAL_RECORD_BYTES == RECORD_BYTES && offsetof(struct hal_core_slot, area) == STACK_BYTES &&
	RECORD_BYTES % HAL_CACHE_LINE == 0, "layout.h");

#define TICK_PAUSE_NS 20000		/* between two ends of a wait by a tick that is due */

struct hal_machine hal_machine;
uint64_t hal_kernel_satp;

volatile void *
hal_device(uint64_t paddr)
{
	return (volatile void *)(hal_machine.device_base + paddr);
}

void *
hal_noc_window(unsigned cluster)
{
	return (void *)(hal_machine.windows + cluster * hal_machine.noc_window_bytes);
}

void *
hal_noc_private(void)
{
	static _Alignas(HAL_CACHE_LINE) unsigned char own[HAL_NOC_PRIVATE_BYTES];

	return own;
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
	csr_set(sie, SIP_SEIP);
	kernel_boot_main(hal_machine.record, (void *)(KERNEL_BASE + used),
		hal_machine.mem_bytes - used);
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
	hal_bell_ring(a->ring);
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

void
hal_shared_region_end(void *base, size_t len)
{
	(void)base;
	(void)len;
}

void
hal_core_ring(struct hal_core_area *a, uint32_t why)
{
	__asm__ volatile("amoor.w.aqrl zero, %0, (%1)" : : "r"(why), "r"(&a->interrupted) :
		"memory");
	hal_bell_ring(a->ring);
}

/*
 * Take what other cores asked of this one: true if there was something. Does not return if the
 * cluster is dead.
 */
bool
hal_core_interrupted(struct hal_core_area *a)
{
	uint32_t why = __atomic_exchange_n(&a->interrupted, 0, __ATOMIC_SEQ_CST);

	if ((why & INTERRUPT_STOP) != 0)
		hal_core_stop();
	return why != 0;
}

static void
hal_bell_await(void)
{
	while ((csr_read(sip) & SIP_SSIP) == 0)
		__asm__ volatile("wfi");
}

void
hal_wait_cancel(void)
{
	struct hal_core_area *a = hal_core_area();
	unsigned long pending;

	if (!hal_bell_take(a->waiting))
		hal_bell_await();
	__asm__ volatile("csrrci %0, sip, 2" : "=r"(pending) : : "memory");
	if ((pending & SIP_SEIP) != 0)
		hal_board_interrupt();
	if (hal_load32(&a->interrupted) != 0)
		csr_set(sip, SIP_SSIP);		/* it may be newer than what the caller looked at */
}

/* The core's timer rings at this time of the clock; UINT64_MAX: never. */
static void
timer_set(uint64_t at)
{
	__asm__ volatile("csrw %0, %1" : : "i"(STIMECMP), "r"(at));
	if (at != UINT64_MAX)
		csr_set(sie, SIE_STIE);
	else
		csr_clear(sie, SIE_STIE);
}

void
hal_wait_until(uint64_t until_ns)
{
	uint64_t tick = hal_core_area()->tick,
		until = (until_ns + hal_board_tick_ns - 1) / hal_board_tick_ns;

	timer_set(until < tick ? until : tick);
	__asm__ volatile("wfi" : : : "memory");
	timer_set(tick);
}

void
hal_timer_arm(uint64_t until_ns)
{
	struct hal_core_area *a = hal_core_area();

	if (until_ns == HAL_FOREVER) {
		a->tick = UINT64_MAX;
		csr_clear(sie, SIE_STIE);
		return;
	}
	a->tick = until_ns / hal_board_tick_ns + 1;
	__asm__ volatile("csrw %0, %1" : : "i"(STIMECMP), "r"(a->tick));
	csr_set(sie, SIE_STIE);
}

/*
 * A tick that is due ends each `wfi` at once: it comes a little later instead, so that nothing
 * spins.
 */
static void
hal_tick_put_off(void)
{
	struct hal_core_area *a = hal_core_area();
	uint64_t now = csr_read(time);

	if (a->tick > now)
		return;
	a->tick = now + TICK_PAUSE_NS / hal_board_tick_ns;
	timer_set(a->tick);
}

void
hal_wait_look(bool rung)
{
	if (rung)
		hal_bell_await();
	else if (hal_core_area()->tick != UINT64_MAX)
		hal_tick_put_off();
	if ((csr_read(sip) & SIP_SEIP) != 0)
		hal_board_interrupt();
}

/* A doorbell of another cluster: whose core it is says the boot record. */
void
hal_notify_far(unsigned cluster, unsigned core)
{
	volatile uint32_t *waiting = &hal_noc_doorbell(cluster, core)->waiting;
	volatile uint32_t *rings = (volatile uint32_t *)hal_device(hal_board_bells);

	hal_fence();
	if (*waiting != 0 && hal_bell_take(waiting))
		hal_bell_ring(&rings[hal_machine.record->cluster[cluster].first_core + core]);
}

void
hal_interrupt(unsigned core)
{
	hal_core_ring(hal_area_of(core), INTERRUPT_KERNEL);
}

/*
 * What other clusters cannot reach is the word that says why; an interrupt alone means the same
 * (hal_user_trap).
 */
void
hal_interrupt_home(unsigned cluster)
{
	volatile uint32_t *rings = (volatile uint32_t *)hal_device(hal_board_bells);

	if (cluster == hal_cluster_id())
		hal_interrupt(0);
	else
		hal_bell_ring(&rings[hal_machine.record->cluster[cluster].first_core]);
}

static int
monitor_call(unsigned long what, unsigned long cluster)
{
	return hal_cluster_id() != 0 ? -E_ACCES : hal_monitor_ask(what, cluster);
}

/*
 * A core that was stopped may have taken a doorbell of another home core, and will not ring it any
 * more: all of these are rung. What they do not need disturbs each of them once.
 */
int
hal_cluster_stop(unsigned cluster)
{
	const struct boot_record *r = hal_machine.record;
	int e = monitor_call(HAL_MONITOR_STOP, cluster);

	for (unsigned i = 0; e == 0 && i < r->clusters; i++)
		if (i != cluster && hal_noc_alive(i))
			hal_interrupt_home(i);
	return e;
}

int
hal_cluster_start(unsigned cluster)
{
	return monitor_call(HAL_MONITOR_START, cluster);
}

uint64_t
hal_clock_ns(void)
{
	return csr_read(time) * hal_board_tick_ns;
}
