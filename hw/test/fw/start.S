/* SPDX-License-Identifier: MIT
 *
 * Start of the test firmware: every core comes to 0x100, gets a stack, switches its instruction cache on and calls fw_main(core); core 0 clears the
 * data first. Every other vector saves the registers and calls fw_exception(vector, address, registers), which says where to go on.
 */
#include "abi/codesign.h"

#define FRAME 256
#define STACK_LOG2 13
#define RED 128

	.section .vectors, "ax"
	.macro vector n
	.org \n * 0x100
	l.addi	r1, r1, -FRAME - RED
	l.sw	3 * 4(r1), r3
	l.j	fw_enter
	l.addi	r3, r0, \n
	.endm

	.org 0x100
	.global _start
_start:
	l.movhi	r0, 0
	l.j	fw_begin
	l.addi	r3, r0, 1		/* supervisor, translation, caches and interrupts off */
	vector 2
	vector 3
	vector 4
	vector 5
	vector 6
	vector 7
	vector 8
	vector 9
	vector 10
	vector 11
	vector 12
	vector 13
	vector 14
	.org 0x1000

	.text
fw_begin:
	l.mtspr	r0, r3, 17
	l.mfspr	r10, r0, 128		/* this core */
	l.movhi	r1, hi(__stacks)
	l.ori	r1, r1, lo(__stacks)
	l.addi	r4, r10, 1
	l.slli	r4, r4, STACK_LOG2
	l.add	r1, r1, r4
	l.or	r2, r1, r1
	/* invalidate the instruction cache line by line, whatever its shape, then switch it on */
	l.movhi	r4, 0
	l.addi	r5, r0, 8192
1:	l.mtspr	r0, r4, 0x2002
	l.sfltu	r4, r5
	l.bf	1b
	l.addi	r4, r4, 32
	l.mfspr	r4, r0, 17
	l.ori	r4, r4, 0x10
	l.mtspr	r0, r4, 17
	l.nop
	l.nop
	l.nop
	l.nop
	l.nop
	l.nop
	l.nop
	l.nop
	l.movhi	r11, hi(fw_ready)
	l.ori	r11, r11, lo(fw_ready)
	l.sfeqi	r10, 0
	l.bf	3f
	l.nop
2:	l.lwz	r4, 0(r11)
	l.sfeqi	r4, 0
	l.bf	2b
	l.nop
	l.j	5f
	l.nop
3:	l.movhi	r4, hi(__bss_start)
	l.ori	r4, r4, lo(__bss_start)
	l.movhi	r5, hi(__bss_end)
	l.ori	r5, r5, lo(__bss_end)
4:	l.sw	0(r4), r0
	l.addi	r4, r4, 4
	l.sfltu	r4, r5
	l.bf	4b
	l.nop
	l.addi	r4, r0, 1
	l.sw	0(r11), r4
5:	l.jal	fw_main
	l.or	r3, r10, r10
6:	l.j	6b
	l.nop

fw_enter:
	l.sw	2 * 4(r1), r2
	.irp r, 4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	l.sw	\r * 4(r1), r\r
	.endr
	l.mfspr	r4, r0, 32
	l.mfspr	r6, r0, 64
	l.sw	0 * 4(r1), r6
	l.jal	fw_exception
	l.or	r5, r1, r1
	l.mtspr	r0, r11, 32
	l.lwz	r6, 0 * 4(r1)
	l.mtspr	r0, r6, 64
	.irp r, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	l.lwz	r\r, \r * 4(r1)
	.endr
	l.addi	r1, r1, FRAME + RED
	l.rfe
	l.nop

	.data
	.global fw_ready
	.align 4
fw_ready:
	.long	0
