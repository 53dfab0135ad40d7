/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs for riscv64. Entered with a0 = the data page; see testbed.h.
 * Number in a7, arguments in a0 .. a5.
 */
	.text
	.globl	user_code, user_code_end
	.globl	user_calls, user_loop, user_spin, user_load, user_store, user_jump, user_illegal
	.globl	user_registers, user_handler_code

	.balign	16
user_code:

/* Registers that a call must keep: all but a0. Each holds a number of its own. */
user_calls:
	mv	s11, a0
1:	sd	sp, 512(s11)
	li	ra, 0x101
	li	gp, 0x103
	li	tp, 0x104
	li	t0, 0x105
	li	t1, 0x106
	li	t2, 0x107
	li	s0, 0x108
	li	s1, 0x109
	li	a0, 1
	li	a1, 2
	li	a2, 3
	li	a3, 4
	li	a4, 5
	li	a5, 6
	li	a6, 0x110
	li	a7, 100
	li	s2, 0x112
	li	s3, 0x113
	li	s4, 0x114
	li	s5, 0x115
	li	s6, 0x116
	li	s7, 0x117
	li	s8, 0x118
	li	s9, 0x119
	li	s10, 0x11a
	li	t3, 0x11c
	li	t4, 0x11d
	li	t5, 0x11e
	li	t6, 0x11f
	ecall
	/* gp gathers the bits of every register that is not as it was */
	.macro	same reg, value
	xori	\reg, \reg, \value
	or	gp, gp, \reg
	.endm
	xori	gp, gp, 0x103
	same	ra, 0x101
	same	tp, 0x104
	same	t0, 0x105
	same	t1, 0x106
	same	t2, 0x107
	same	s0, 0x108
	same	s1, 0x109
	same	a1, 2
	same	a2, 3
	same	a3, 4
	same	a4, 5
	same	a5, 6
	same	a6, 0x110
	same	a7, 100
	same	s2, 0x112
	same	s3, 0x113
	same	s4, 0x114
	same	s5, 0x115
	same	s6, 0x116
	same	s7, 0x117
	same	s8, 0x118
	same	s9, 0x119
	same	s10, 0x11a
	same	t3, 0x11c
	same	t4, 0x11d
	same	t5, 0x11e
	same	t6, 0x11f
	li	t0, 0x1234
	xor	a0, a0, t0
	or	gp, gp, a0
	ld	t0, 512(s11)
	xor	t0, t0, sp
	or	gp, gp, t0
	li	a0, 41
	li	a7, 4201
	ecall
	xori	a0, a0, 42
	or	a0, a0, gp
	li	a1, 0xfeed
	li	a7, 101
	ecall
	j	1b

user_loop:
	li	a7, 102
	ecall
	j	user_loop

user_spin:
	li	a7, 104
	ecall
1:	j	1b

user_load:
	ld	t0, 8(a0)
	lw	a0, 0(t0)
	li	a7, 103
	ecall
	unimp

user_store:
	ld	t0, 8(a0)
	li	a0, 7
	sw	a0, 0(t0)
	li	a7, 103
	ecall
	unimp

user_jump:
	ld	t0, 8(a0)
	jr	t0

user_illegal:
	unimp

/*
 * Each register holds the stack pointer and a number of its own, and other numbers after each round
 * of 50.
 */
	.option	push
	.option	arch, +d
	.set	RISE, 64
	.macro	each do
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	addi	t0, s11, \n
	\do\()_f	\n
	.endr
	.irp	n, 1,3,4,7,8,9,10,11,12,13,14,15,16,18,19,20,21,22,23,24,25,26,28,29,30,31
	addi	t0, s11, \n + 32
	\do\()_x	\n
	.endr
	srli	t0, s11, 6
	andi	t0, t0, 31
	.endm
	.macro	set_f n
	fmv.d.x	f\n, t0
	.endm
	.macro	set_x n
	mv	x\n, t0
	.endm
	.macro	same_f n
	fmv.x.d	t1, f\n
	bne	t1, t0, 3f
	.endm
	.macro	same_x n
	bne	x\n, t0, 3f
	.endm

user_registers:
	mv	s11, sp
1:	li	t1, 50
	sd	t1, -8(sp)
	each	set
	fscsr	t0
2:	each	same
	frcsr	t1
	bne	t1, t0, 3f
	ld	t1, -8(sp)
	addi	t1, t1, -1
	sd	t1, -8(sp)
	bnez	t1, 2b
	addi	s11, s11, RISE
	j	1b
3:	li	a0, 1
	li	a7, 101
	ecall

user_handler_code:
	addi	sp, sp, -96
	sd	t0, 0(sp)
	sd	t1, 8(sp)
	sd	t2, 16(sp)
	sd	t3, 24(sp)
	sd	a7, 32(sp)
	sd	a0, 40(sp)
	sd	a1, 48(sp)
	sd	a2, 56(sp)
	sd	a3, 64(sp)
	sd	a4, 72(sp)
	sd	a5, 80(sp)
	mv	a0, sp
	li	a7, 105
	ecall
	li	t0, 0x47
	fscsr	t0
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fmv.d.x	f\n, sp
	.endr
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	mv	x\n, sp
	.endr
	li	a7, 4202
	ecall
	unimp
	.option	pop

user_code_end:
