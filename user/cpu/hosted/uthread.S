/* SPDX-License-Identifier: MIT
 *
 * User threads: see usercpu/uthread.h.
 */
	.text
	.globl	uthread_switch
	.hidden	uthread_switch
	.type	uthread_switch, @function
uthread_switch:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	uthread_switch, . - uthread_switch

/* Below the red zone: where it goes on, flags, registers, and the vector state without tiles. */
#define RED_ZONE 128
#define WHERE (16 * 8)
#define STATE 0xe7
#define STATE_BYTES 2752
#define STATE_HEADER 512

	.globl	uthread_interrupted
	.hidden	uthread_interrupted
	.hidden	uthread_turn
	.type	uthread_interrupted, @function
uthread_interrupted:
	lea	-RED_ZONE(%rsp), %rsp
	push	%rax
	pushfq
	push	%rax
	push	%rcx
	push	%rdx
	push	%rbx
	push	%rbp
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	cld
	mov	%rsp, %rbx
	sub	$STATE_BYTES, %rsp
	and	$-64, %rsp
	xor	%eax, %eax
	.irp	n, 0,8,16,24,32,40,48,56
	mov	%rax, STATE_HEADER+\n(%rsp)
	.endr
	mov	$STATE, %eax
	xor	%edx, %edx
	xsave64	(%rsp)
	call	uthread_turn
	mov	%rax, WHERE(%rbx)
	mov	$STATE, %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	mov	%rbx, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbp
	pop	%rbx
	pop	%rdx
	pop	%rcx
	pop	%rax
	popfq
	ret	$RED_ZONE
	.size	uthread_interrupted, . - uthread_interrupted
	.section .note.GNU-stack, "", @progbits
