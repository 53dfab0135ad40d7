/* SPDX-License-Identifier: MIT
 *
 * HAL contract between hal/cpu and hal/board on bare metal (not for the kernel): what a board
 * supplies to the CPU's code, how the machine start hands over to it, and how it reaches devices.
 *
 * The machine start (hal/board/NAME/boot) runs on every core before the kernel. It copies the
 * kernel image to the start of each cluster's memory, clears what follows (mem_bytes, then
 * core_bytes per core of the cluster), takes everything else away from the cluster and enters the
 * image at `entry`, address translation off, with three arguments: number of the core inside its
 * cluster, number of the cluster, physical address of the boot record. Every core of the cluster
 * enters, core 0 first.
 */
#ifndef HAL_BOARD_H
#define HAL_BOARD_H

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct hal_image {
	uint32_t magic;			/* HAL_IMAGE_MAGIC */
	uint32_t entry;			/* offset of the first instruction */
	uint64_t file_bytes;		/* of the image as loaded */
	uint64_t mem_bytes;		/* with the zeroed part */
	uint64_t core_bytes;		/* the CPU's own area per core, behind mem_bytes */
};

struct hal_range {
	uint64_t base;
	uint64_t bytes;
};

/*
 * The board: device areas that the kernel must reach, in whole pages, below the CPU's DEVICE_LIMIT,
 * and the period of the CPU's clock. The kernel may map what lies near them, too: the machine start
 * fences it.
 */
extern const struct hal_range hal_board_devices[];
extern const unsigned hal_board_device_count;
extern const uint32_t hal_board_tick_ns;

/*
 * Physical address of the doorbell interrupts: one 32-bit word per core of the machine, storing 1
 * raises it. On or1k: of the inter-core interrupt controller (OMPIC).
 */
extern const uint64_t hal_board_bells;

/*
 * Take an interrupt of a device: kernel_interrupt, if there is one. On core 0, when its external
 * interrupt is pending.
 */
void hal_board_interrupt(void);

/*
 * Boards of a CPU without a clock of its own (or1k) supply hal_clock_ns, and instead of the
 * constants above: nanoseconds of a tick of the CPU's timer, and the register whose load lasts, in
 * low power, until an interrupt is pending (NULL: the CPU dozes by itself).
 */
uint32_t hal_board_timer_ns(void);
const volatile uint32_t *hal_board_doze(void);

/* The CPU: where the running core reaches a device register, before and after translation is on. */
volatile void *hal_device(uint64_t paddr);
#endif

/*
 * What the machine start does later on, where it stays resident (riscv64): a call from S-mode with
 * one of these in a0. STOP, START: for cluster 0, with a cluster in a1; returns in a0 what
 * hal_cluster_stop and hal_cluster_start do (hal/core.h). LEND: for a kernel that lends the core
 * that calls; a1 to a4 are paddr, bytes, entry and arg of hal_core_lend, whose result it returns;
 * satp, stvec, sstatus, sp and tp are as before then. RETURN: the core of the caller's cluster that
 * a1 numbers is wanted: if it is lent it comes back, and if it is not its next LEND fails, unless
 * it says HOLD before that.
 */
#define HAL_MONITOR_STOP 1
#define HAL_MONITOR_START 2
#define HAL_MONITOR_LEND 3
#define HAL_MONITOR_RETURN 4
#define HAL_MONITOR_HOLD 5

#define HAL_IMAGE_MAGIC 0x414b5441	/* "ATKA" */

#endif
