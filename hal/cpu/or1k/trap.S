/* SPDX-License-Identifier: MIT
 *
 * Exceptions. All come in with translation and interrupts off; the kernel stays so, so nothing but
 * a fault can interrupt it, and EPCR and ESR keep what a user thread needs to go on.
 *
 * A kernel call is made like a function call: first what it needs is saved and kernel_call_fast
 * asked; only if that declines, the frame is completed. What a function may change comes back as
 * zero. Everything else saves and restores all registers.
 */
#include <abi/limits.abi.h>
#include "layout.h"

	.macro word reg, value
	l.movhi	\reg, hi(\value)
	l.ori	\reg, \reg, lo(\value)
	.endm

	.macro vector at, to
	.org	\at - VECTOR_RESET
	l.mtspr	r0, r1, SHADOW(1)
	l.mtspr	r0, r3, SHADOW(3)
	l.j	\to
	l.ori	r3, r0, \at
	.endm

	.section .vectors, "ax"
	.globl hal_reset
hal_reset:
	l.movhi	r0, 0
	l.ori	r3, r0, SR_FIXED | SR_SUPERVISOR
	l.mtspr	r0, r3, SPR_SR
	l.movhi	r4, hi(hal_start)
	l.ori	r4, r4, lo(hal_start)
	l.jr	r4
	l.nop

	vector	VECTOR_BUS, other
	vector	VECTOR_DATA, other
	vector	VECTOR_FETCH, other
	vector	VECTOR_TICK, other
	vector	VECTOR_ALIGN, other
	vector	VECTOR_ILLEGAL, other
	vector	VECTOR_INTERRUPT, other

/*
 * An access without a translation: find it in the tables. The set of the TLB is the page's number
 * modulo the sets. The TLB for code has the right to execute where the table has others. Two writes
 * to one unit in a row: mor1kx loses the second, so other work stands between them.
 */
	.macro fresh reg
#if (HAL_CACHES == 1 || HAL_CACHES == 2) && HAL_CACHES_LEAVE_OUT != 3	/* see <cpu/caches.h> */
	l.mtspr	r0, \reg, SPR_DCBIR
#endif
	.endm

	/* the thread may have learned of something by user memory */
	.macro looked
#if HAL_CACHES == 1
	l.sw	AREA_LOOKED(r10), r10
#endif
	.endm

	.macro refill name, at, is_code, sets, count, match, translation
	.org	\at - VECTOR_RESET
\name:
	l.mtspr	r0, r3, SHADOW(3)
	l.mtspr	r0, r4, SHADOW(4)
	l.mtspr	r0, r5, SHADOW(5)
	l.mfspr	r3, r0, SPR_EEAR
	l.srli	r4, r3, 30
	l.sfeqi	r4, USER_REGION
	l.bnf	.Lno_page\@
	l.srli	r4, r3, 24
	l.mfspr	r5, r0, SHADOW_TABLE
	l.slli	r4, r4, 2
	l.add	r4, r4, r5
	fresh	r4
	l.lwz	r4, 0(r4)
	l.sfeqi	r4, 0
	l.bf	.Lno_page\@
	l.andi	r5, r4, PTE_VALID
	l.sfnei	r5, 0
	l.bf	.Llarge\@
	l.srli	r5, r3, 11		/* entry of the table, 4 bytes each */
	l.andi	r5, r5, 0x1ffc
	l.add	r4, r4, r5
	fresh	r4
	l.lwz	r4, 0(r4)
.Lfound\@:
	l.andi	r5, r4, \is_code * PTE_EXEC | (1 - \is_code) * PTE_VALID
	l.sfeqi	r5, 0
	l.bf	.Lno_page\@
	.if	\is_code
	l.srli	r4, r4, 13
	l.slli	r4, r4, 13
	l.ori	r4, r4, ITLB_EXEC
	.endif
	l.srli	r3, r3, 13
	l.mfspr	r5, r0, \sets
	l.and	r5, r5, r3
	l.slli	r3, r3, 13
	l.ori	r3, r3, 1
	l.mtspr	r5, r3, \match
	l.mfspr	r3, r0, \count
	l.addi	r3, r3, 1
	l.mtspr	r5, r4, \translation
	l.mtspr	r0, r3, \count
	l.mfspr	r3, r0, SHADOW(3)
	l.mfspr	r4, r0, SHADOW(4)
	l.mfspr	r5, r0, SHADOW(5)
	l.rfe
.Llarge\@:
	l.slli	r5, r3, 8		/* page inside the large one */
	l.srli	r5, r5, 21
	l.slli	r5, r5, 13
	l.j	.Lfound\@
	l.or	r4, r4, r5
.Lno_page\@:
	l.mtspr	r0, r1, SHADOW(1)
	l.mfspr	r4, r0, SHADOW(4)
	l.mfspr	r5, r0, SHADOW(5)
	l.j	other
	l.ori	r3, r0, \at
	.endm

	refill	refill_data, VECTOR_DTLB, 0, SHADOW_DSETS, SHADOW_DREFILLS, SPR_DTLBMR, SPR_DTLBTR
	refill	refill_code, VECTOR_ITLB, 1, SHADOW_ISETS, SHADOW_IREFILLS, SPR_ITLBMR, SPR_ITLBTR

	vector	VECTOR_RANGE, other

	.org	VECTOR_CALL - VECTOR_RESET
kernel_call:
	l.mtspr	r0, r1, SHADOW(1)
	l.mfspr	r1, r0, SHADOW_FRAME
	l.sw	FRAME_R(11)(r1), r11
	l.sw	FRAME_R(3)(r1), r3
	l.sw	FRAME_R(4)(r1), r4
	l.sw	FRAME_R(5)(r1), r5
	l.sw	FRAME_R(6)(r1), r6
	l.sw	FRAME_R(7)(r1), r7
	l.sw	FRAME_R(8)(r1), r8
	l.sw	FRAME_R(9)(r1), r9
	l.sw	FRAME_R(10)(r1), r10
	l.mfspr	r10, r0, SHADOW_AREA
	l.ori	r3, r1, 0
	l.addi	r4, r11, -KC_FIRST
	l.jal	kernel_call_fast
	l.ori	r1, r10, 0

	l.sfeqi	r11, 0
	l.bf	declined
	l.mfspr	r1, r0, SHADOW_FRAME

	/* answered: EPCR, ESR and what functions keep are untouched */
	l.lwz	r11, FRAME_R(11)(r1)
	l.lwz	r9, FRAME_R(9)(r1)
	l.lwz	r10, FRAME_R(10)(r1)
	l.mfspr	r1, r0, SHADOW(1)
	l.movhi	r3, 0
	l.movhi	r4, 0
	l.movhi	r5, 0
	l.movhi	r6, 0
	l.movhi	r7, 0
	l.movhi	r8, 0
	l.movhi	r12, 0
	l.movhi	r13, 0
	l.movhi	r15, 0
	l.movhi	r17, 0
	l.movhi	r19, 0
	l.movhi	r21, 0
	l.movhi	r23, 0
	l.movhi	r25, 0
	l.movhi	r27, 0
	l.movhi	r29, 0
	l.movhi	r31, 0
	l.rfe

	vector	VECTOR_FLOAT, other
	vector	VECTOR_TRAP, other

	.section .text.hot.trap, "ax"

	.macro callee_saved op
	\op	2
	\op	14
	\op	16
	\op	18
	\op	20
	\op	22
	\op	24
	\op	26
	\op	28
	\op	30
	.endm

	.macro store n
	l.sw	FRAME_R(\n)(r1), r\n
	.endm

	.macro clear n
	l.sw	FRAME_R(\n)(r1), r0
	.endm

	.macro load n
	l.lwz	r\n, FRAME_R(\n)(r1)
	.endm

/* A call that needs a complete frame: r1 is the frame, r10 the area. */
declined:
	l.mfspr	r3, r0, SHADOW(1)
	l.sw	FRAME_R(1)(r1), r3
	l.mfspr	r4, r0, SPR_EPCR
	l.sw	FRAME_PC(r1), r4
	callee_saved store
	.irp	n, 12,13,15,17,19,21,23,25,27,29,31
	clear	\n
	.endr
	l.mfspr	r4, r0, SPR_ESR
	l.sw	FRAME_FLAGS(r1), r4
	l.ori	r3, r1, 0
	looked
	word	r4, hal_trap_call
	l.jal	kernel_trap
	l.ori	r1, r10, 0

/* Go on with the thread behind the core's frame. */
	.globl hal_resume
hal_resume:
	l.mfspr	r1, r0, SHADOW_FRAME
	l.lwz	r3, FRAME_PC(r1)
	l.mtspr	r0, r3, SPR_EPCR
	l.lwz	r4, FRAME_FLAGS(r1)
	l.mfspr	r3, r0, SHADOW_USER_SR
	l.andi	r4, r4, SR_FLAGS
	l.or	r3, r3, r4
	l.mtspr	r0, r3, SPR_ESR
	.irp	n, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	load	\n
	.endr
	l.lwz	r1, FRAME_R(1)(r1)
	l.rfe

/* Faults and interrupts: r3 vector, r1 free; SHADOW(1) and SHADOW(3) have what was in them. */
other:
	l.mfspr	r1, r0, SPR_ESR
	l.andi	r1, r1, SR_SUPERVISOR
	l.sfnei	r1, 0
	l.bf	in_kernel
	l.mfspr	r1, r0, SHADOW_FRAME
	.irp	n, 2,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	store	\n
	.endr
	l.ori	r4, r3, 0
	l.mfspr	r3, r0, SHADOW(1)
	l.sw	FRAME_R(1)(r1), r3
	l.mfspr	r3, r0, SHADOW(3)
	l.sw	FRAME_R(3)(r1), r3
	l.mfspr	r3, r0, SPR_EPCR
	l.sw	FRAME_PC(r1), r3
	l.mfspr	r3, r0, SPR_ESR
	l.sw	FRAME_FLAGS(r1), r3
	l.mfspr	r5, r0, SPR_EEAR
	l.ori	r3, r1, 0
	l.mfspr	r10, r0, SHADOW_AREA
	looked
	l.jal	hal_user_trap
	l.ori	r1, r10, 0
	l.j	hal_resume
	l.nop

/* A fault in the kernel is the end of the cluster. One core of it speaks. */
in_kernel:
	l.mtspr	r0, r4, SHADOW(4)
	l.mtspr	r0, r5, SHADOW(5)
	word	r4, hal_crash_taken
1:	l.lwa	r1, 0(r4)
	l.ori	r5, r0, 1
	l.swa	0(r4), r5
	l.bnf	1b
	l.sfnei	r1, 0
	l.bf	2f
	l.mfspr	r4, r0, SHADOW(4)
	l.mfspr	r5, r0, SHADOW(5)
	word	r1, hal_crash_frame
	.irp	n, 2,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	store	\n
	.endr
	l.ori	r4, r3, 0
	l.mfspr	r3, r0, SHADOW(1)
	l.sw	FRAME_R(1)(r1), r3
	l.mfspr	r3, r0, SHADOW(3)
	l.sw	FRAME_R(3)(r1), r3
	l.mfspr	r3, r0, SPR_EPCR
	l.sw	FRAME_PC(r1), r3
	l.mfspr	r5, r0, SPR_EEAR
	l.ori	r3, r1, 0
	l.mfspr	r10, r0, SHADOW_AREA
	word	r1, hal_crash_stack + CRASH_STACK_BYTES
	l.jal	hal_kernel_fault
	l.nop
2:	l.mfspr	r10, r0, SHADOW_AREA
	word	r1, hal_crash_stack + CRASH_STACK_BYTES
	l.jal	hal_core_stop
	l.nop
