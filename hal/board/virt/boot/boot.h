/* SPDX-License-Identifier: MIT
 *
 * Machine start of the `virt` board: what its files share.
 */
#ifndef BOARD_VIRT_BOOT_H
#define BOARD_VIRT_BOOT_H

#define BOOT_STACK_SHIFT 10		/* bytes of M-mode stack per hart */

#define MIE_MSIE 8			/* machine software interrupt */
#define CAUSE_MSI (1 << 63 | 3)
#define CAUSE_KERNEL_CALL 9		/* a call from S-mode */
#define CAUSE_FETCH_ACCESS 1		/* comes here from a core that is lent only */

/* what boot_trap saves: a place each, a0 first */
#define SAVED_BYTES 128

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
 * monitor.c. Called by start.S: an order has come, to stop, from which the hart comes back for its
 * next start only, or to give the core back, which it may have done before; a call (hal/board.h),
 * with what it holds in a0 to a4; a fetch from outside.
 */
void monitor_interrupt(void);
long monitor_call(const uint64_t *args);
void monitor_fetch(void);

/* A hart may go on, and wait for that. What the one who starts it has written is seen. */
void monitor_start(unsigned hart);
void monitor_await_start(unsigned hart);

/* start.S: enter the kernel in S-mode; stop for ever. */
_Noreturn void boot_enter(unsigned core, unsigned cluster, uint64_t record, uint64_t entry);
_Noreturn void boot_sleep(void);

/*
 * Fence this hart in: its cluster's memory and what all clusters share, nothing else; a piece of
 * memory alone, a power of two at a multiple of it.
 */
void boot_fence(const struct boot_record *r, const struct boot_cluster *c);
void boot_fence_piece(uint64_t base, uint64_t bytes);

/* Which traps of this hart its kernel sees, or a program that has it as bare hardware. */
void boot_delegate(bool lent);

/*
 * lend.c: the hart goes to a program that has it as bare hardware, whose memory is checked here
 * (-E_INVAL), and comes back with a result, if it is there. A hart that stops is nobody's.
 */
long lend_core(const struct boot_record *r, const uint64_t *args);
void lend_take_back(long result);
void lend_forget(void);
bool lend_is_lent(void);

/* start.S: to a program in S-mode; back to the kernel that has lent the hart. */
_Noreturn void boot_leave(uint64_t arg, uint64_t base, uint64_t bytes, uint64_t pc);
_Noreturn void boot_return(long result, uint64_t pc, uint64_t sp, uint64_t tp);

enum boot_order { ORDER_NONE, ORDER_START, ORDER_STOP };

/* Say what is wrong and end the machine with a failure. Of several harts one speaks. */
_Noreturn void boot_fail(const char *what, uint64_t value);
_Noreturn void boot_report_trap(uint64_t cause, uint64_t pc, uint64_t value);
#endif

#endif
