/* SPDX-License-Identifier: MIT
 *
 * Traps. In user mode sscratch holds the thread's frame, which names the core's area (struct
 * hal_core_area); in the kernel it is 0. A kernel call first saves what a C function may change and
 * asks kernel_call_fast; only if that declines, the frame is completed. Floating-point registers
 * are saved at a full entry, if the thread changed them since they were loaded.
 */
#include <abi/limits.abi.h>
#include "layout.h"

	.macro caller_saved op
	\op	ra, FRAME_X(1)(sp)
	\op	t0, FRAME_X(5)(sp)
	\op	t1, FRAME_X(6)(sp)
	\op	t2, FRAME_X(7)(sp)
	\op	a0, FRAME_X(10)(sp)
	\op	a1, FRAME_X(11)(sp)
	\op	a2, FRAME_X(12)(sp)
	\op	a3, FRAME_X(13)(sp)
	\op	a4, FRAME_X(14)(sp)
	\op	a5, FRAME_X(15)(sp)
	\op	a6, FRAME_X(16)(sp)
	\op	a7, FRAME_X(17)(sp)
	\op	t3, FRAME_X(28)(sp)
	\op	t4, FRAME_X(29)(sp)
	\op	t5, FRAME_X(30)(sp)
	\op	t6, FRAME_X(31)(sp)
	.endm

	.macro callee_saved op
	\op	gp, FRAME_X(3)(sp)
	\op	s0, FRAME_X(8)(sp)
	\op	s1, FRAME_X(9)(sp)
	\op	s2, FRAME_X(18)(sp)
	\op	s3, FRAME_X(19)(sp)
	\op	s4, FRAME_X(20)(sp)
	\op	s5, FRAME_X(21)(sp)
	\op	s6, FRAME_X(22)(sp)
	\op	s7, FRAME_X(23)(sp)
	\op	s8, FRAME_X(24)(sp)
	\op	s9, FRAME_X(25)(sp)
	\op	s10, FRAME_X(26)(sp)
	\op	s11, FRAME_X(27)(sp)
	.endm

	.section .text.hot.trap, "ax"
	.balign 4
	.globl hal_trap
hal_trap:
	csrrw	sp, sscratch, sp
	beqz	sp, in_kernel
	caller_saved sd
	csrrw	t0, sscratch, zero
	sd	tp, FRAME_X(4)(sp)
	csrr	t2, scause
	li	t3, CAUSE_USER_CALL
	csrr	a1, sepc
	sd	t0, FRAME_X(2)(sp)
	ld	tp, FRAME_AREA(sp)
	bne	t2, t3, other
	addi	a1, a1, 4
	sd	a1, FRAME_PC(sp)
	li	t4, KC_FIRST
	bltu	a7, t4, call
	sub	a1, a7, t4
	mv	a0, sp
	ld	sp, AREA_STACK(tp)
	call	kernel_call_fast
	ld	sp, AREA_FRAME(tp)
	beqz	a0, call

	/* answered: nothing but the caller-saved registers was touched */
	ld	t0, FRAME_PC(sp)
	csrw	sscratch, sp
	csrw	sepc, t0
	caller_saved ld
	ld	tp, FRAME_X(4)(sp)
	ld	sp, FRAME_X(2)(sp)
	sret

	/* declined: complete the frame */
call:	callee_saved sd
	csrr	t0, sstatus
	bgez	t0, 1f			/* nothing is dirty */
	jal	t1, fp_save
1:	mv	a0, sp
	ld	sp, AREA_STACK(tp)
	call	kernel_call
	j	hal_resume

	/* faults and doorbells: a1 pc, t2 cause */
other:	sd	a1, FRAME_PC(sp)
	callee_saved sd
	csrr	t0, sstatus
	bgez	t0, 1f
	jal	t1, fp_save
1:	mv	a0, sp
	mv	a1, t2
	csrr	a2, stval
	ld	sp, AREA_STACK(tp)
	call	hal_user_trap

/*
 * Go on with the thread behind the core's frame. sstatus is as the trap left it, or as
 * hal_user_enter set it.
 */
	.globl hal_resume
hal_resume:
	ld	sp, AREA_FRAME(tp)
	csrw	sscratch, sp
	ld	t0, FRAME_PC(sp)
	csrw	sepc, t0
	callee_saved ld
	caller_saved ld
	ld	tp, FRAME_X(4)(sp)
	ld	sp, FRAME_X(2)(sp)
	sret

/*
 * long hal_frame_resume(f): never returns. If floating-point registers were not changed since the
 * thread left the frame, they are still the core's, or zero and the frame's, too.
 */
	.globl hal_frame_resume
hal_frame_resume:
	sd	a0, AREA_FRAME(tp)
	/* the thread may have moved while it was in its handler */
	sd	tp, FRAME_AREA(a0)
	ld	t0, AREA_FP_OWNER(tp)
	csrr	t1, sstatus
	bltz	t1, 1f			/* dirty */
	beq	t0, a0, hal_resume
	slli	t1, t1, 63 - 13
	bgez	t1, 1f			/* not initial: not zero */
	lw	t1, FRAME_FP_HOME(a0)
	beqz	t1, hal_resume
1:	tail	hal_frame_resume_slowly

/*
 * void hal_handler_enter(f, h, trap, entry, stack): never returns. The thread goes on with h, at
 * entry, and with the registers of f but for sp and what its handler is told (usercpu/handler.h):
 * t0 cause and the kind of access, t1 address, t2 pc, t3 sp; t4 is as sp.
 */
	.globl hal_handler_enter
hal_handler_enter:
	csrw	sscratch, a1
	sd	a1, AREA_FRAME(tp)
	sd	tp, FRAME_AREA(a1)
	csrw	sepc, a3
	mv	sp, a0
	andi	t4, a4, -16
	ld	t0, TRAP_CAUSE(a2)
	ld	t1, TRAP_ADDR(a2)
	ld	t2, FRAME_PC(sp)
	ld	t3, FRAME_X(2)(sp)
	callee_saved ld
	ld	ra, FRAME_X(1)(sp)
	ld	tp, FRAME_X(4)(sp)
	ld	a0, FRAME_X(10)(sp)
	ld	a1, FRAME_X(11)(sp)
	ld	a2, FRAME_X(12)(sp)
	ld	a3, FRAME_X(13)(sp)
	ld	a4, FRAME_X(14)(sp)
	ld	a5, FRAME_X(15)(sp)
	ld	a6, FRAME_X(16)(sp)
	ld	a7, FRAME_X(17)(sp)
	ld	t5, FRAME_X(30)(sp)
	ld	t6, FRAME_X(31)(sp)
	mv	sp, t4
	sret

/*
 * A fault in the kernel: a page fault at a user address in an access to user memory goes on at its
 * fixup, whose caller looks whether it is the one that it meant. The rest is the end of the
 * cluster.
 */
in_kernel:
	csrrw	sp, sscratch, sp
	sd	t0, AREA_SCRATCH(tp)
	sd	t1, AREA_SCRATCH2(tp)
	ld	t0, AREA_FIXUP(tp)
	beqz	t0, 1f
	csrr	t1, scause
	addi	t1, t1, -CAUSE_LOAD_PAGE
	andi	t1, t1, CAUSE_LOAD_PAGE - CAUSE_STORE_PAGE - 1
	bnez	t1, 1f
	csrr	t1, stval
	sd	t1, AREA_FAULT(tp)
	srli	t1, t1, USER_BITS
	bnez	t1, 1f
	csrw	sepc, t0
	sret
1:	lla	t0, hal_crash_taken
	li	t1, 1
	amoswap.w.aq t1, t1, (t0)
	bnez	t1, 2f			/* another core of the cluster speaks */
	ld	t1, AREA_SCRATCH2(tp)
	lla	t0, hal_crash_frame
	sd	sp, FRAME_X(2)(t0)
	mv	sp, t0
	ld	t0, AREA_SCRATCH(tp)
	caller_saved sd
	callee_saved sd
	sd	tp, FRAME_X(4)(sp)
	csrr	t0, sepc
	sd	t0, FRAME_PC(sp)
	mv	a0, sp
	/* the report does not depend on a space that may be broken */
	ld	t0, hal_kernel_satp
	csrw	satp, t0
	sfence.vma
	csrr	a1, scause
	csrr	a2, stval
	lla	sp, hal_crash_stack + CRASH_STACK_BYTES
	call	hal_kernel_fault
2:	csrw	sie, zero
3:	wfi
	j	3b

	.option push
	.option arch, +d
	.macro fp_all op
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	\op	f\n, FRAME_F(\n)(sp)
	.endr
	.endm

/* sp frame, t1 return; changes t0. The core has this thread's now, whatever it had before */
fp_save:
	fp_all	fsd
	frcsr	t0
	sd	t0, FRAME_FCSR(sp)
	lw	t0, AREA_CORE(tp)
	addi	t0, t0, 1
	sw	t0, FRAME_FP_HOME(sp)
	sd	sp, AREA_FP_OWNER(tp)
	li	t0, SSTATUS_FS
	csrc	sstatus, t0
	li	t0, SSTATUS_FS_CLEAN
	csrs	sstatus, t0
	jr	t1

/* void hal_fp_load(const struct hal_frame *): FS must be on, becomes clean */
	.globl hal_fp_load
hal_fp_load:
	mv	t2, sp
	mv	sp, a0
	fp_all	fld
	ld	t0, FRAME_FCSR(sp)
	fscsr	t0
	mv	sp, t2
	li	t0, SSTATUS_FS
	csrc	sstatus, t0
	li	t0, SSTATUS_FS_CLEAN
	csrs	sstatus, t0
	ret

/* void hal_fp_clear(void): all zero; FS must be on, becomes initial */
	.globl hal_fp_clear
hal_fp_clear:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\
		16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fmv.d.x	f\n, zero
	.endr
	fscsr	zero
	li	t0, SSTATUS_FS
	csrc	sstatus, t0
	li	t0, SSTATUS_FS_INITIAL
	csrs	sstatus, t0
	ret
	.option pop
