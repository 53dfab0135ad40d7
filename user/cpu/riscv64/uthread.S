/* SPDX-License-Identifier: MIT
 *
 * User threads: see usercpu/uthread.h.
 */
#include <abi/kcalls.h>

	.macro callee_saved op, fop
	\op	ra, 0(sp)
	\op	s0, 8(sp)
	\op	s1, 16(sp)
	\op	s2, 24(sp)
	\op	s3, 32(sp)
	\op	s4, 40(sp)
	\op	s5, 48(sp)
	\op	s6, 56(sp)
	\op	s7, 64(sp)
	\op	s8, 72(sp)
	\op	s9, 80(sp)
	\op	s10, 88(sp)
	\op	s11, 96(sp)
	\fop	fs0, 104(sp)
	\fop	fs1, 112(sp)
	\fop	fs2, 120(sp)
	\fop	fs3, 128(sp)
	\fop	fs4, 136(sp)
	\fop	fs5, 144(sp)
	\fop	fs6, 152(sp)
	\fop	fs7, 160(sp)
	\fop	fs8, 168(sp)
	\fop	fs9, 176(sp)
	\fop	fs10, 184(sp)
	\fop	fs11, 192(sp)
	.endm

	.text
	.globl	uthread_switch
	.hidden	uthread_switch
	.type	uthread_switch, @function
uthread_switch:
	addi	sp, sp, -208
	callee_saved sd, fsd
	sd	sp, 0(a0)
	mv	sp, a1
	callee_saved ld, fld
	addi	sp, sp, 208
	ret
	.size	uthread_switch, . - uthread_switch

/*
 * A struct context at sp, which context_set takes in the end, with the floating-point registers
 * behind it.
 */
#define X(n) (8 + 8 * (n))
#define F(n) (264 + 8 * (n))
#define FCSR 520
#define BYTES 544

	.globl	uthread_interrupted
	.hidden	uthread_interrupted
	.hidden	uthread_turn
	.type	uthread_interrupted, @function
uthread_interrupted:
	addi	sp, sp, -BYTES
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, X(\n)(sp)
	.endr
	addi	t0, sp, BYTES
	sd	t0, X(2)(sp)
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fsd	f\n, F(\n)(sp)
	.endr
	frcsr	t0
	sd	t0, FCSR(sp)
	call	uthread_turn
	sd	a0, 0(sp)
	ld	t0, FCSR(sp)
	fscsr	t0
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fld	f\n, F(\n)(sp)
	.endr
	mv	a0, sp
	li	a7, KC_CONTEXT_SET
1:	ecall
	j	1b
	.size	uthread_interrupted, . - uthread_interrupted
	.section .note.GNU-stack, "", @progbits
