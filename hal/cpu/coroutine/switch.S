/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: changing stacks on x86-64. What a call preserves is all that is saved.
 */
#define CONTEXT_PC 0
#define CONTEXT_SP 8
#define CONTEXT_BP 16
#define CONTEXT_BX 24
#define CONTEXT_R12 32
#define CONTEXT_R13 40
#define CONTEXT_R14 48
#define CONTEXT_R15 56
#define CONTEXT_ARG 64

#define CORE_KERNEL_TOP 8
#define CORE_FRAME 16

	.text

/* void coro_switch(void **save, void *load) */
	.globl	coro_switch
	.type	coro_switch, @function
coro_switch:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	coro_switch, . - coro_switch

/* void coro_jump_stack(void *stack_top, void (*fn)(void)) */
	.globl	coro_jump_stack
	.type	coro_jump_stack, @function
coro_jump_stack:
	mov	%rdi, %rsp
	xor	%ebp, %ebp
	call	*%rsi
	ud2
	.size	coro_jump_stack, . - coro_jump_stack

/* long coro_gate(void (*fn)(void)): its return address is where the user thread goes on */
	.globl	coro_gate
	.type	coro_gate, @function
coro_gate:
	mov	coro_now(%rip), %rdx
	mov	CORE_FRAME(%rdx), %rax
	mov	(%rsp), %rcx
	mov	%rcx, CONTEXT_PC(%rax)
	lea	8(%rsp), %rcx
	mov	%rcx, CONTEXT_SP(%rax)
	mov	%rbp, CONTEXT_BP(%rax)
	mov	%rbx, CONTEXT_BX(%rax)
	mov	%r12, CONTEXT_R12(%rax)
	mov	%r13, CONTEXT_R13(%rax)
	mov	%r14, CONTEXT_R14(%rax)
	mov	%r15, CONTEXT_R15(%rax)
	mov	CORE_KERNEL_TOP(%rdx), %rsp
	xor	%ebp, %ebp
	call	*%rdi
	ud2
	.size	coro_gate, . - coro_gate

/* void coro_user_resume(const struct context *context) */
	.globl	coro_user_resume
	.type	coro_user_resume, @function
coro_user_resume:
	mov	CONTEXT_SP(%rdi), %rsp
	mov	CONTEXT_BP(%rdi), %rbp
	mov	CONTEXT_BX(%rdi), %rbx
	mov	CONTEXT_R12(%rdi), %r12
	mov	CONTEXT_R13(%rdi), %r13
	mov	CONTEXT_R14(%rdi), %r14
	mov	CONTEXT_R15(%rdi), %r15
	mov	CONTEXT_PC(%rdi), %rcx
	mov	CONTEXT_ARG(%rdi), %rax
	mov	%rax, %rdi
	jmp	*%rcx
	.size	coro_user_resume, . - coro_user_resume

/* First instruction of a thread made by coro_user_context: rbx the function, rdi its argument. */
	.globl	coro_user_first
coro_user_first:
	mov	%rbx, %rsi
	call	coro_user_start
	ud2

	.section .note.GNU-stack,"",@progbits
