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
/* slots for devices, a page each, with interrupts 1, 2, ... */
#define VIRT_VIRTIO 0x10001000
#define VIRT_VIRTIO_SLOTS 8
#define VIRT_IO 0x10000000		/* the UART and the slots */
#define VIRT_IO_BYTES 0x10000
#define VIRT_PAGE 0x1000
#define VIRT_UART_INTERRUPT 10
#define VIRT_TICK_NS 100		/* of the time CSR */

/*
 * The interrupt controller (PLIC). Cluster 0, whose home is hart 0, has all devices; the context is
 * that of hart 0 in S-mode.
 */
#define VIRT_PLIC 0xc000000
#define VIRT_PLIC_BYTES 0x400000
#define PLIC_PRIORITY(source) (VIRT_PLIC + 4 * (source))
#define PLIC_FIRST 7			/* the highest priority */
#define PLIC_PENDING (VIRT_PLIC + 0x1000)
#define PLIC_CONTEXT 1
#define PLIC_ENABLE (VIRT_PLIC + 0x2000 + 0x80 * PLIC_CONTEXT)
#define PLIC_THRESHOLD (VIRT_PLIC + 0x200000 + 0x1000 * PLIC_CONTEXT)
#define PLIC_CLAIM (PLIC_THRESHOLD + 4)

#define VIRT_RAM 0x80000000		/* the machine start */
#define VIRT_KERNEL 0x80200000		/* pristine kernel image */
#define VIRT_RECORD 0x80400000		/* boot record */
#define VIRT_RECORD_BYTES 0x100000

#define UART_THR 0			/* transmit */
#define UART_IER 1			/* interrupts that are on */
#define UART_LCR 3			/* line control */
#define UART_LCR_8N1 3
#define UART_LSR 5			/* line status */
#define UART_LSR_EMPTY 0x20
#define VIRTIO_DEVICE_ID 0x008
#define VIRTIO_STATUS 0x070		/* storing 0 resets the device */

#define UART_PATIENCE 20000000		/* looks before the rest is given up: readers may be slow */

#endif
