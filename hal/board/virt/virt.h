/* SPDX-License-Identifier: MIT
 *
 * QEMU's riscv64 `virt` board with aclint=on: where things are. Also read by assembly.
 */
#ifndef BOARD_VIRT_H
#define BOARD_VIRT_H

#define VIRT_FINISHER 0x100000		/* sifive_test: store a word to end the machine */
#define VIRT_FINISHER_PASS 0x5555
#define VIRT_FINISHER_FAIL 0x3333	/* exit status in the upper half */
#define VIRT_MSWI 0x2000000		/* machine software interrupt, a word per hart */
#define VIRT_SSWI 0x2f00000		/* supervisor software interrupt, a word per hart */
#define VIRT_SSWI_BYTES 0x4000
#define VIRT_UART 0x10000000		/* 16550 */
#define VIRT_PAGE 0x1000
#define VIRT_TICK_NS 100		/* of the time CSR */

#define VIRT_KERNEL 0x80200000		/* pristine kernel image */
#define VIRT_RECORD 0x80400000		/* boot record */
#define VIRT_RECORD_BYTES 0x100000

#define UART_THR 0			/* transmit */
#define UART_LSR 5			/* line status */
#define UART_LSR_EMPTY 0x20
#define UART_PATIENCE 20000000		/* looks before the rest is given up: readers may be slow */

#endif
