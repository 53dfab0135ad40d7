/* SPDX-License-Identifier: MIT
 *
 * Cores, waiting and doorbells on or1k.
 *
 * A core that is about to wait sets `waiting` of its doorbell in the NoC window. Who notifies takes
 * it back with an atomic swap; only the one who took it raises the core's line at the inter-core
 * interrupt controller, exactly once. The core that ends its wait takes the word back too: if
 * somebody else was faster, an interrupt is on its way and is waited for, so that none is left over
 * to disturb a user thread. Interrupts are off in the kernel; the line only ends the doze. No core
 * ever spins on another.
 */
#include <abi/errors.h>
#include <hal/board.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include "cpu.h"
#include "ticks.h"

_Static_assert(offsetof(struct boot_record, clusters) == RECORD_CLUSTERS, "layout.h");
_Static_assert(offsetof(struct boot_record, cluster) == RECORD_CLUSTER, "layout.h");
_Static_assert(offsetof(struct boot_cluster, mem_base) + 4 == CLUSTER_BASE, "layout.h");
_Static_assert(offsetof(struct boot_cluster, cores) == CLUSTER_CORES, "layout.h");
_Static_assert(offsetof(struct boot_cluster, first_core) == CLUSTER_FIRST, "layout.h");
_Static_assert(sizeof(struct boot_cluster) == CLUSTER_BYTES, "layout.h");
_Static_assert(offsetof(struct hal_core_area, frame) == AREA_FRAME, "layout.h");
_Static_assert(sizeof(struct hal_core_slot) == CORE_BYTES && HAL_AREA_BYTES == AREA_BYTES &&
	sizeof(((struct hal_core_slot *)0)->stack) == STACK_BYTES,
	"layout.h");

#define TIMER_RUNS 0xc0000000u		/* counts on after a match */
#define TIMER_RINGS 0x20000000u
#define TIMER_RANG 0x10000000u
#define TIMER_MASK 0x0fffffffu
#define TIMER_FAR 0x08000000u		/* ticks; a longer wait is made of several */
#define TIMER_SOON 4			/* ticks that cannot pass while the timer is set */
#define TICK_PAUSE_NS 20000		/* between two ends of a wait by a tick that is due */

struct hal_machine hal_machine;

volatile void *
hal_device(uint64_t paddr)
{
	return (volatile void *)(uintptr_t)paddr;
}

void *
hal_noc_window(unsigned cluster)
{
	uint32_t at = hal_machine.noc_base;

	while (cluster-- > 0)
		at += hal_machine.noc_window_bytes;
	return (void *)at;
}

void *
hal_noc_private(void)
{
	static _Alignas(HAL_CACHE_LINE) unsigned char own[HAL_NOC_PRIVATE_BYTES];

	return own;
}

/* Core 0: what the record says of this cluster. */
static void
machine_init(const struct boot_record *r, uint32_t cluster)
{
	const struct boot_cluster *c = &r->cluster[cluster];

	hal_machine.record = r;
	hal_machine.mem_base = (uint32_t)c->mem_base;
	hal_machine.mem_bytes = (uint32_t)c->mem_bytes;
	hal_machine.noc_base = (uint32_t)r->noc_base;
	hal_machine.noc_window_bytes = (uint32_t)r->noc_window_bytes;
	hal_machine.cores = c->cores;
	for (uint32_t i = 0; i < c->cores; i++) {
		struct hal_core_area *a = hal_area_of(i);

		a->cluster = cluster;
		a->core = i;
		a->machine_core = c->first_core + i;
		a->ompic = (volatile uint32_t *)(uintptr_t)hal_board_bells + 2 * a->machine_core;
		a->ring = OMPIC_SEND | a->machine_core << 16;
		a->waiting = &hal_noc_doorbell(cluster, i)->waiting;
	}
}

/* What only the core itself can set: its special registers. */
static void
core_init(struct hal_core_area *a)
{
	uint32_t keep = spr_read(SPR_SR) & (SR_ICACHE | SR_DCACHE);

	a->doze = hal_board_doze();
	a->tick = UINT64_MAX;
	spr_write(SHADOW_AREA, a);
	spr_write(SHADOW_USER_SR, keep | SR_FIXED | SR_IMMU | SR_DMMU | SR_TICK | SR_INTERRUPTS);
	spr_write(SHADOW_DSETS, (1u << (spr_read(SPR_DMMUCFGR) >> 2 & 7)) - 1);
	spr_write(SHADOW_ISETS, (1u << (spr_read(SPR_IMMUCFGR) >> 2 & 7)) - 1);
	spr_write(SHADOW_DREFILLS, 0);
	spr_write(SHADOW_IREFILLS, 0);
	spr_write(SPR_PICMR, OMPIC_LINE);
	hal_tlb_flush();
}

void hal_main(struct hal_core_area *a, uint32_t core, uint32_t cluster,
	const struct boot_record *record);

/*
 * First C code of a core. Memory is zero until somebody has written it, so `started` can be trusted
 * before core 0 has come.
 */
void
hal_main(struct hal_core_area *a, uint32_t core, uint32_t cluster, const struct boot_record *record)
{
	uint32_t used = (uint32_t)(hal_core_slots + record->cluster[cluster].cores) -
		(uint32_t)record->cluster[cluster].mem_base;

	if (core == 0)
		machine_init(record, cluster);
	core_init(a);
	if (core == 0)
		kernel_boot_main(record, (void *)(hal_machine.mem_base + used),
			hal_machine.mem_bytes - used);
	while (hal_load32(&a->started) == 0)
		hal_doze();
	hal_cache_forget();		/* what was read before core 0 had come */
	hal_bell_silence();
	kernel_core_main(a->start_arg);
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
	hal_bell_ring(a);
}

void
hal_core_stop(void)
{
	spr_write(SPR_PICMR, 0);
	for (;;) {
		hal_bell_silence();
		hal_doze();
	}
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
	hal_or32(&a->interrupted, why);
	hal_bell_ring(a);
}

/*
 * Take what other cores asked of this one: true if there was something. Does not return if the
 * cluster is dead.
 */
bool
hal_core_interrupted(struct hal_core_area *a)
{
	uint32_t why = hal_swap32(&a->interrupted, 0);

	if ((why & INTERRUPT_STOP) != 0)
		hal_core_stop();
	return why != 0;
}

void
hal_bell_await(void)
{
	while (!hal_bell_rings())
		hal_doze();
}

/*
 * The timer rings in so many ticks. The time may pass before it is set: the timer would ring after
 * its next round, so it is set again, later each time, since how many ticks that takes depends on
 * the machine.
 */
static void
ring_in(uint32_t ticks)
{
	uint32_t start;

	spr_write(SPR_TTMR, TIMER_RUNS);
	for (;; ticks *= 2) {
		start = spr_read(SPR_TTCR);
		spr_write(SPR_TTMR, TIMER_RUNS | TIMER_RINGS | ((start + ticks) & TIMER_MASK));
		if (((spr_read(SPR_TTCR) - start) & TIMER_MASK) < ticks ||
			(spr_read(SPR_TTMR) & TIMER_RANG) != 0)
			return;
	}
}

/*
 * The core's timer rings at this time or, if that is far, before it; UINT64_MAX: never, and it
 * stands. Its period is the board's affair, as is the clock's. It rings soon if the core has
 * interrupted itself, for which a machine of one core has nothing else.
 */
static void
timer_set(uint64_t until_ns)
{
	uint64_t now = hal_clock_ns();
	bool soon = hal_word_read(&hal_core_area()->interrupted) != 0;

	if (until_ns == UINT64_MAX && !soon) {
		spr_write(SPR_TTMR, 0);
		return;
	}
	if (until_ns <= now || soon)
		ring_in(TIMER_SOON);
	else
		ring_in(timer_ticks(until_ns - now, hal_board_timer_ns()));
}

void
hal_wait_cancel(void)
{
	struct hal_core_area *a = hal_core_area();

	if (unlikely(hal_swap32(a->waiting, 0) == 0) && !hal_bell_rings())
		hal_bell_await();
	if (unlikely(hal_bell_rings()))
		hal_bell_silence();
	if (unlikely(hal_load32(&a->interrupted) != 0))
		timer_set(a->tick);		/* it may be newer than what the caller looked at */
}

void
hal_wait_until(uint64_t until_ns)
{
	uint64_t tick = hal_core_area()->tick;

	if (until_ns <= hal_clock_ns())
		return;
	timer_set(until_ns < tick ? until_ns : tick);
	hal_doze();
	timer_set(tick);
}

void
hal_timer_arm(uint64_t until_ns)
{
	hal_core_area()->tick = until_ns;
	timer_set(until_ns);
}

/*
 * A tick that is due ends each doze at once: it comes a little later instead, so that nothing
 * spins.
 */
void
hal_tick_put_off(void)
{
	struct hal_core_area *a = hal_core_area();
	uint64_t now = hal_clock_ns();

	if (a->tick <= now)
		a->tick = now + TICK_PAUSE_NS;
	timer_set(a->tick);
}

/*
 * The timer interrupted a user thread: for the tick, as a doorbell of this core's own, or too
 * early, and then it rings again.
 */
bool
hal_timer_taken(enum hal_trap_kind *kind)
{
	struct hal_core_area *a = hal_core_area();
	bool is_tick = a->tick <= hal_clock_ns(), is_doorbell = !is_tick && hal_core_interrupted(a);

	if (is_tick)
		a->tick = UINT64_MAX;
	timer_set(a->tick);
	*kind = is_tick ? TRAP_TIMER : TRAP_DOORBELL;
	return is_tick || is_doorbell;
}

/* A doorbell of another cluster: whose core it is says the boot record. */
void
hal_notify_far(unsigned cluster, unsigned core)
{
	volatile uint32_t *waiting = &hal_noc_doorbell(cluster, core)->waiting;

	hal_fence();
	if (hal_word_read(waiting) != 0 && hal_swap32(waiting, 0) != 0)
		*hal_core_area()->ompic = OMPIC_SEND |
			(hal_machine.record->cluster[cluster].first_core + core) << 16;
}

void
hal_interrupt(unsigned core)
{
	struct hal_core_area *a = hal_core_area();

	if (core != a->core) {
		hal_core_ring(hal_area_of(core), INTERRUPT_KERNEL);
		return;
	}
	hal_or32(&a->interrupted, INTERRUPT_KERNEL);
	timer_set(a->tick);
}

/* Nothing there can stop a core that does not listen, and no pristine image is kept. */
int
hal_cluster_stop(unsigned cluster)
{
	(void)cluster;
	return hal_cluster_id() == 0 ? -E_NOSYS : -E_ACCES;
}

int
hal_cluster_start(unsigned cluster)
{
	return hal_cluster_stop(cluster);
}

/*
 * What other clusters cannot reach is the word that says why; an interrupt alone means the same
 * (hal_user_trap).
 */
void
hal_interrupt_home(unsigned cluster)
{
	if (cluster == hal_cluster_id()) {
		hal_interrupt(0);
		return;
	}
	hal_fence();
	*hal_core_area()->ompic = OMPIC_SEND | hal_machine.record->cluster[cluster].first_core <<
		16;
}
