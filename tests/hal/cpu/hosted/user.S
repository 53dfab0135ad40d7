/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs for x86-64. Entered with rdi = the data page, whose first word
 * is the gate; see testbed.h.
 */
	.text
	.globl	user_code, user_code_end
	.globl	user_calls, user_loop, user_spin, user_load, user_store, user_jump, user_illegal
	.globl	user_registers, user_handler_code

	.balign	16
user_code:

/* call number \nr through the gate in r15's page; keeps rsp as it is */
	.macro	gate nr
	mov	$\nr, %edi
	call	*(%r15)
	.endm

user_calls:
	mov	%rdi, %r15
1:	mov	$0x1111, %rbx
	mov	$0x2222, %rbp
	mov	$0x3333, %r12
	mov	$0x4444, %r13
	mov	$0x5555, %r14
	mov	$1, %esi
	mov	$2, %edx
	mov	$3, %ecx
	mov	$4, %r8d
	mov	$5, %r9d
	push	$0
	push	$6
	mov	%rsp, 512(%r15)
	gate	100
	xor	%esi, %esi
	cmp	512(%r15), %rsp
	je	2f
	or	$1, %esi
2:	cmp	$0x1234, %rax
	je	3f
	or	$2, %esi
3:	cmp	$0x1111, %rbx
	jne	4f
	cmp	$0x2222, %rbp
	jne	4f
	cmp	$0x3333, %r12
	jne	4f
	cmp	$0x4444, %r13
	jne	4f
	cmp	$0x5555, %r14
	je	5f
4:	or	$4, %esi
5:	mov	%rsi, %r14
	mov	$41, %esi
	gate	4201
	mov	%r14, %rsi
	cmp	$42, %rax
	je	6f
	or	$8, %esi
6:	mov	$0xfeed, %edx
	gate	101
	add	$16, %rsp
	jmp	1b

user_loop:
	mov	%rdi, %r15
1:	gate	102
	jmp	1b

user_spin:
	mov	%rdi, %r15
	gate	104
1:	pause
	jmp	1b

user_load:
	mov	%rdi, %r15
	mov	8(%r15), %rax
	mov	(%rax), %esi
	gate	103
	ud2

user_store:
	mov	%rdi, %r15
	mov	8(%r15), %rax
	movl	$7, (%rax)
	mov	$7, %esi
	gate	103
	ud2

user_jump:
	jmp	*8(%rdi)

user_illegal:
	ud2

/*
 * Each register holds the stack pointer and a number of its own, those of vectors in both halves,
 * and other numbers after each round of 50.
 */
	.macro	each do
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	lea	\n(%r14), %rax
	\do\()_v	\n
	.endr
	.irp	r, rbx,rbp,rcx,rsi,rdi,r8,r9,r10,r11,r12
	inc	%rax
	\do\()_r	\r
	.endr
	.endm
	.macro	set_v n
	movq	%rax, %xmm\n
	pshufd	$0x44, %xmm\n, %xmm\n
	.endm
	.macro	set_r r
	mov	%rax, %\r
	.endm
	.macro	same_v n
	movq	%xmm\n, %rdx
	cmp	%rax, %rdx
	jne	3f
	pshufd	$0x4e, %xmm\n, %xmm\n
	movq	%xmm\n, %rdx
	cmp	%rax, %rdx
	jne	3f
	.endm
	.macro	same_r r
	cmp	%rax, %\r
	jne	3f
	.endm

user_registers:
	mov	%rdi, %r15
	sub	$32, %rsp
	mov	%rsp, %r14
1:	mov	$50, %r13d
	mov	%r14, %rax
	shl	$7, %eax
	and	$0x6000, %eax
	or	$0x1f80, %eax
	mov	%eax, (%rsp)
	ldmxcsr	(%rsp)
	each	set
2:	each	same
	stmxcsr	8(%rsp)
	mov	8(%rsp), %eax
	cmp	(%rsp), %eax
	jne	3f
	dec	%r13d
	jnz	2b
	add	$64, %r14
	jmp	1b
3:	mov	$1, %esi
	gate	101
	ud2

/* The data page lies three pages below that of the stack, where the event is. */
user_handler_code:
	mov	%rdi, %rsi
	mov	%rdi, %r15
	and	$-4096, %r15
	/* the data page is four pages below the upper one of the stack */
	sub	$16384, %r15
	gate	105
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movq	%rsp, %xmm\n
	.endr
	movl	$0x7f80, -16(%rsp)
	ldmxcsr	-16(%rsp)
	.irp	r, rax,rbx,rbp,rcx,rdx,rsi,rdi,r8,r9,r10,r11,r12,r13,r14
	mov	%rsp, %\r
	.endr
	gate	4202
	ud2

user_code_end:
	.section .note.GNU-stack,"",@progbits
