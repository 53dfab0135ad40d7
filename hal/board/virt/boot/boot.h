/* SPDX-License-Identifier: MIT
 *
 * Machine start of the `virt` board: what its files share.
 */
#ifndef BOARD_VIRT_BOOT_H
#define BOARD_VIRT_BOOT_H

#define BOOT_STACK_SHIFT 10		/* bytes of M-mode stack per hart */

#define MIE_MSIE 8			/* machine software interrupt */
#define CAUSE_MSI (1 << 63 | 3)
#define CAUSE_KERNEL_CALL 9		/* a call from S-mode: cluster 0's alone come here */

#define PMP_R 1
#define PMP_W 2
#define PMP_X 4

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>
#include <abi/boot.h>

#define csr_write(csr, value) \
	__asm__ volatile("csrw " #csr ", %0" : : "r"((uint64_t)(value)) : "memory")
#define csr_read(csr) \
	({ uint64_t v_; __asm__ volatile("csrr %0, " #csr : "=r"(v_) : : "memory"); v_; })

/*
 * Called by start.S on every hart, `again`: it was stopped, and may go on. Returns if the hart
 * belongs to no cluster.
 */
void boot_main(unsigned hart, bool again);

/* start.S: call it on the hart's empty stack. */
_Noreturn void boot_again(unsigned hart, bool again);

/*
 * monitor.c. Called by start.S: the hart is to stop, and comes back for its next start only; a call
 * of cluster 0's (hal/board.h).
 */
_Noreturn void monitor_interrupt(void);
long monitor_call(unsigned long what, unsigned long cluster);

/* A hart may go on, and wait for that. What the one who starts it has written is seen. */
void monitor_start(unsigned hart);
void monitor_await_start(unsigned hart);

/* start.S: enter the kernel in S-mode; stop for ever. */
_Noreturn void boot_enter(unsigned core, unsigned cluster, uint64_t record, uint64_t entry);
_Noreturn void boot_sleep(void);

/* Fence this hart in: its cluster's memory and what all clusters share, nothing else. */
void boot_fence(const struct boot_record *r, const struct boot_cluster *c);

enum boot_order { ORDER_NONE, ORDER_START, ORDER_STOP };

/* Say what is wrong and end the machine with a failure. Of several harts one speaks. */
_Noreturn void boot_fail(const char *what, uint64_t value);
_Noreturn void boot_report_trap(uint64_t cause, uint64_t pc, uint64_t value);
#endif

#endif
