/* SPDX-License-Identifier: MIT
 *
 * User threads: see usercpu/uthread.h.
 */
	.text
	.globl	uthread_switch
	.hidden	uthread_switch
	.type	uthread_switch, @function
uthread_switch:
	l.addi	r1, r1, -64
	l.sw	0(r1), r2
	l.sw	4(r1), r9
	l.sw	8(r1), r10
	l.sw	12(r1), r14
	l.sw	16(r1), r16
	l.sw	20(r1), r18
	l.sw	24(r1), r20
	l.sw	28(r1), r22
	l.sw	32(r1), r24
	l.sw	36(r1), r26
	l.sw	40(r1), r28
	l.sw	44(r1), r30
	l.sw	0(r3), r1
	l.ori	r1, r4, 0
	l.lwz	r2, 0(r1)
	l.lwz	r9, 4(r1)
	l.lwz	r10, 8(r1)
	l.lwz	r14, 12(r1)
	l.lwz	r16, 16(r1)
	l.lwz	r18, 20(r1)
	l.lwz	r20, 24(r1)
	l.lwz	r22, 28(r1)
	l.lwz	r24, 32(r1)
	l.lwz	r26, 36(r1)
	l.lwz	r28, 40(r1)
	l.lwz	r30, 44(r1)
	l.jr	r9
	l.addi	r1, r1, 64
	.size	uthread_switch, . - uthread_switch
	.section .note.GNU-stack, "", @progbits
