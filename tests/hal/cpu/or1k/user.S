/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs for or1k. Entered with r3 = the data page; see testbed.h.
 * Number in r11, arguments in r3 .. r8, result in r11. A call keeps what a function keeps, and its
 * stack, and gives nothing of the kernel away in the rest.
 */
	.text
	.globl	user_code, user_code_end
	.globl	user_calls, user_loop, user_spin, user_load, user_store, user_jump, user_illegal
	.globl	user_registers, user_handler_code

	.balign	16
user_code:

	.macro	set reg, value
	l.ori	\reg, r0, \value
	.endm

	/* r13 gathers the bits of every register that is not as it was */
	.macro	same reg, value
	l.xori	\reg, \reg, \value
	l.or	r13, r13, \reg
	.endm

user_calls:
	l.ori	r30, r3, 0
1:	l.sw	512(r30), r1
	set	r2, 0x102
	set	r3, 1
	set	r4, 2
	set	r5, 3
	set	r6, 4
	set	r7, 5
	set	r8, 6
	set	r9, 0x109
	set	r10, 0x10a
	set	r11, 100
	set	r14, 0x10e
	set	r16, 0x110
	set	r18, 0x112
	set	r20, 0x114
	set	r22, 0x116
	set	r24, 0x118
	set	r26, 0x11a
	set	r28, 0x11c
	l.sys	1
	set	r13, 0
	same	r2, 0x102
	same	r9, 0x109
	same	r10, 0x10a
	same	r14, 0x10e
	same	r16, 0x110
	same	r18, 0x112
	same	r20, 0x114
	same	r22, 0x116
	same	r24, 0x118
	same	r26, 0x11a
	same	r28, 0x11c
	same	r11, 0x1234
	l.lwz	r3, 512(r30)
	l.xor	r3, r3, r1
	l.or	r14, r13, r3
	set	r3, 41
	set	r11, 4201
	l.sys	1
	l.xori	r11, r11, 42
	l.or	r14, r14, r11
	/* a short call answers with its result and with zeros */
	.irp	n, 3, 4, 5, 6, 7, 8, 12, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
	l.or	r14, r14, r\n
	.endr
	l.ori	r3, r14, 0
	l.movhi	r4, 0
	l.ori	r4, r4, 0xfeed
	set	r11, 101
	l.sys	1
	l.j	1b
	l.nop

user_loop:
	set	r11, 102
	l.sys	1
	l.j	user_loop
	l.nop

/* Flag and all registers must survive interrupts. */
user_spin:
	set	r11, 104
	l.sys	1
	set	r3, 1
	set	r4, 4
2:	l.sfeqi	r3, 1
	l.bnf	3f
	l.addi	r4, r4, 1
	l.sfnei	r3, 1
	l.bf	3f
	l.nop
	l.j	2b
	l.nop
3:	.word	0

user_load:
	l.lwz	r5, 12(r3)
	l.lwz	r3, 0(r5)
	set	r11, 103
	l.sys	1
	.word	0xffffffff

/* The store lies in a delay slot: what the processor reports is the jump. */
user_store:
	l.lwz	r5, 12(r3)
	set	r3, 7
	l.j	4f
	l.sw	0(r5), r3
	l.nop
4:	set	r11, 103
	l.sys	1
	.word	0xffffffff

user_jump:
	l.lwz	r5, 12(r3)
	l.jr	r5
	l.nop

user_illegal:
	.word	0xffffffff

/*
 * Each register holds the stack pointer and a number of its own, and other numbers after each round
 * of 50.
 */
user_registers:
	l.ori	r30, r1, 0
1:	set	r4, 50
	.irp	n, 2,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,31
	l.addi	r\n, r30, \n
	.endr
2:
	.irp	n, 2,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,31
	l.addi	r3, r30, \n
	l.sfne	r3, r\n
	l.bf	3f
	l.nop
	.endr
	l.addi	r4, r4, -1
	l.sfnei	r4, 0
	l.bf	2b
	l.nop
	l.j	1b
	l.addi	r30, r30, 64
3:	set	r3, 1
	set	r11, 101
	l.sys	1
	.word	0xffffffff

user_handler_code:
	l.lwz	r4, 0(r3)
	set	r11, 105
	l.sys	1
	.irp	n, 2,3,4,5,6,7,8,9,10,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	l.ori	r\n, r1, 0
	.endr
	set	r11, 4202
	l.sys	1
	.word	0xffffffff

user_code_end:
