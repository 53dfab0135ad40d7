/* SPDX-License-Identifier: MIT
 *
 * HAL contract: cores, waiting and doorbells.
 *
 * A core waits only like this, so that no wake-up is lost however doorbells coalesce:
 *	hal_wait_begin();
 *	if (anything to do)	// look again at every source
 *		hal_wait_cancel();
 *	else
 *		hal_wait(HAL_FOREVER);
 * The names in parentheses may also be macros of <cpu/core.h>, which note the place of the call.
 * Spurious returns are allowed. On every port a wait ends in a low-power wait after a very short
 * poll at most.
 */
#ifndef HAL_CORE_H
#define HAL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cpu/core.h>		/* may define hal_core_local() and friends inline */

struct boot_record;
struct hal_frame;

#define HAL_FOREVER UINT64_MAX

/* Number of the running core inside its cluster, and of its cluster in the machine. */
unsigned hal_core_id(void);
unsigned hal_cluster_id(void);

/*
 * One kernel pointer per core (its struct core). NULL before hal_core_set_local. void
 * *hal_core_local(void) is in <cpu/core.h>.
 */
void hal_core_set_local(void *core);

/*
 * Where the kernel keeps its record of core 0 of this cluster; the record of core n lies n *
 * HAL_RECORD_STRIDE bytes behind. Each may have HAL_RECORD_BYTES, which are zero at first. With a
 * stride of 0 there is no such place: the kernel takes memory of its own. Both constants and void
 * *hal_core_records(void) are in <cpu/core.h>.
 */

/*
 * Start another core of this cluster: it enters kernel_core_main(arg) on its own kernel stack.
 * Called once per core by core 0.
 */
void hal_core_start(unsigned core, void *arg);

/*
 * See above. Until hal_wait or hal_wait_cancel, a doorbell makes the next hal_wait return at once.
 */
void (hal_wait_begin)(void);
void (hal_wait_cancel)(void);

/*
 * Wait for a doorbell, an interrupt or the time `until_ns` of hal_clock_ns (HAL_FOREVER: no time).
 * Runs on the kernel stack.
 */
void (hal_wait)(uint64_t until_ns);

/*
 * Ring the doorbell of a core, of any cluster: it leaves or does not enter hal_wait. Everything
 * that the caller published before is visible to the woken core. Never interrupts a core that runs
 * a user thread. Costs one flag read when nobody waits.
 */
void (hal_notify)(unsigned cluster, unsigned core);

/*
 * Like hal_notify, and a core of this cluster that runs a user thread enters the kernel with
 * TRAP_DOORBELL soon: if it is in the kernel now, at the latest when it is back in the user thread.
 * A wait that the doorbell ended or kept from starting may be all that comes of it: whoever waits
 * looks at every source afterwards, or interrupts itself. The running core may interrupt itself.
 */
void (hal_interrupt)(unsigned core);

/* The same for core 0 of any cluster. */
void (hal_interrupt_home)(unsigned cluster);

/*
 * A fault inside the kernel or a failed check(): print what is known, mark the cluster dead in its
 * NoC window, notify all clusters and stop this cluster's cores. Never returns.
 */
_Noreturn void hal_panic(const char *file, int line, const char *what);

/*
 * Power the whole machine off with an exit status (0..255) for whoever started it. Only cluster 0
 * may: on machines that fence clusters off, another one dies of it. Never returns.
 */
_Noreturn void hal_machine_halt(int status);

/*
 * Lives of other clusters. Home core of cluster 0 only: in other clusters -E_ACCES.
 *
 * Stop: all cores of a cluster stop for good, whatever they do. 0: they have, and nothing of that
 * life is written any more: behind a fence its window is as it was left, whoever rings there.
 * -E_AGAIN: they will have soon, which interrupts the caller, who asks again. -E_INVAL: no such
 * cluster, or the own one. -E_NOSYS: this machine cannot.
 * Start: a cluster that is stopped begins its next incarnation with a pristine image. 0; -E_INVAL;
 * -E_NOSYS. That it does not come up, if the host has no room for it, shows as the death of that
 * life.
 */
int hal_cluster_stop(unsigned cluster);
int hal_cluster_start(unsigned cluster);

/*
 * Lend the running core to a program as bare hardware. It runs what lies in `bytes` bytes of this
 * cluster's memory at physical address paddr, from offset `entry` on, with no kernel below it: in
 * the mode that kernels have, translation and interrupts off, its own traps its own, and nothing
 * else within its reach. Returns when the core is the kernel's again: what the program left with, 0
 * to 2^31 - 1; -E_FAULT: it has fetched from outside its memory; -E_INTR: hal_core_take_back;
 * -E_INVAL: `bytes` is no power of two, paddr no multiple of it, or entry not inside; -E_NOSYS:
 * this machine cannot. `frame`: of the calling thread, whose floating-point registers are as
 * before. Blocks. Not on core 0.
 */
long hal_core_lend(struct hal_frame *frame, uint64_t paddr, uint64_t bytes, uint64_t entry,
	unsigned long arg);

/*
 * Take a core of this cluster back, or keep it from being lent, behind hal_interrupt of it: who
 * lends says in a word of the kernel's that he will, with hal_store32, and who interrupts and sees
 * that word does this. Where the core is lent for the next time, what was asked before means
 * nothing.
 */
void hal_core_take_back(unsigned core);

/* What the HAL calls in the kernel (kernel/boot/main.c). */

/*
 * First call, on core 0 of each cluster. `memory`: the cluster's free private memory, linear,
 * page-aligned, kernel-addressable, zeroed or not. hal_paddr(memory) is its physical address. Never
 * returns.
 */
_Noreturn void kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes);

/* Entry of a core started by hal_core_start. Never returns. */
_Noreturn void kernel_core_main(void *arg);

#endif
