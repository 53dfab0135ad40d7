/* SPDX-License-Identifier: MIT
 *
 * All assembly of the hosted port (x86-64): the call gate, the way back to a user thread, signal
 * entry, and copies that survive faults. gs points to the running struct host_core at all times.
 *
 * A signal may arrive between any two instructions. core->in_kernel says on which side of the
 * border a core is, except inside this file, where the handler decides by the program counter: on
 * the way in nothing need be done (core->pending is looked at before the core leaves the kernel,
 * and core->tick with it); on the way out it starts host_leave again, which changes nothing of the
 * frame.
 */
#include "gate.h"

#define SYS_rt_sigreturn 15
#define SYS_arch_prctl 158
#define SYS_gettid 186
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define E_PERM 1
#define GUEST_ENTER 0x47554553	/* abi/guest.h */

	.macro	function name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	.macro	label name
	.globl	\name
	.hidden	\name
\name:
	.endm

	.text
	.balign	64
label host_gate_begin

/*
 * long host_gate(number, a0 .. a5): called by user code. The thread pointer tells whether the
 * caller is the thread that the kernel put on this core: a thread that the program made itself has
 * the core's gs base, but its own thread pointer.
 */
function host_gate
	cmpl	$0, %gs:CORE_FSGSBASE
	je	gate_slow
	rdfsbase %r10
	cmp	%gs:CORE_FS, %r10
	jne	gate_slow
gate_known:
	mov	%gs:CORE_FRAME, %rax
	mov	(%rsp), %r11
	mov	%r10, FRAME_TLS(%rax)
	lea	8(%rsp), %r10
	mov	%r11, FRAME_PC(%rax)
	mov	%r10, FRAME_SP(%rax)
	mov	%rbp, FRAME_BP(%rax)
	mov	%rbx, FRAME_BX(%rax)
	mov	%r12, FRAME_R12(%rax)
	mov	%r13, FRAME_R13(%rax)
	mov	%r14, FRAME_R14(%rax)
	mov	%r15, FRAME_R15(%rax)
	mov	%rdi, FRAME_NUMBER(%rax)
	mov	%rsi, FRAME_ARG(%rax)
	mov	%rdx, FRAME_ARG+8(%rax)
	mov	%rcx, FRAME_ARG+16(%rax)
	mov	%r8, FRAME_ARG+24(%rax)
	mov	%r9, FRAME_ARG+32(%rax)
	mov	(%r10), %r11
	mov	%r11, FRAME_ARG+40(%rax)
	stmxcsr	FRAME_FPCTL(%rax)
	fnstcw	FRAME_FPCTL+4(%rax)
	mov	FRAME_FPCTL(%rax), %r11
	mov	%r11, %gs:CORE_FPCTL
	movq	$STOPPED_GATE, FRAME_STOPPED(%rax)
	lea	host_trap_call(%rip), %rsi
	movl	$1, %gs:CORE_IN_KERNEL

/* rsi: the trap. The user's registers are saved in core->frame, in_kernel is set. */
gate_kernel:
	cld
	mov	%gs:CORE_STACK, %rsp
#if HOST_SWITCH_FS
	mov	%gs:CORE_HOST_FS, %rdi
	call	host_fs_set
	mov	%rdi, %gs:CORE_FS
#endif
#if HOST_TRAP_LOOP
	mov	%rsi, %gs:CORE_TRAP
	jmp	run_user_return
#else
	xor	%ebp, %ebp
	mov	%gs:CORE_FRAME, %rdi
	call	kernel_trap
	jmp	host_leave
#endif

/*
 * The thread pointer is not the one that was loaded: the program changed it (libc does when it
 * starts), or the caller is not a thread of the kernel, or it must be read by a system call. Keeps
 * all argument registers. Strangers may only ask to become guests.
 */
gate_slow:
	push	%rcx
	mov	$SYS_gettid, %eax
	syscall
	cmp	%eax, %gs:CORE_TID
	jne	gate_foreign
	call	host_fs_read
	mov	%rax, %r10
	mov	%rax, %gs:CORE_FS
	pop	%rcx
	jmp	gate_known
gate_foreign:
	pop	%rcx
	cmp	$GUEST_ENTER, %rdi
	mov	$-E_PERM, %rax
	jne	1f
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	jmp	host_guest_enter
1:	ret

/* void host_enter(trap in rdi) */
function host_enter
	mov	%rdi, %rsi
	movl	$1, %gs:CORE_IN_KERNEL
	jmp	gate_kernel

/* uintptr_t host_fs_read(void): changes rax, rcx, r11 */
function host_fs_read
	cmpl	$0, %gs:CORE_FSGSBASE
	je	1f
	rdfsbase %rax
	ret
1:	push	%rdi
	push	%rsi
	push	$0
	mov	$ARCH_GET_FS, %edi
	mov	%rsp, %rsi
	mov	$SYS_arch_prctl, %eax
	syscall
	pop	%rax
	pop	%rsi
	pop	%rdi
	ret

/* void host_fs_set(fs in rdi): changes rax, rcx, r11 */
function host_fs_set
	cmpl	$0, %gs:CORE_FSGSBASE
	je	1f
	wrfsbase %rdi
	ret
1:	push	%rsi
	push	%rdi
	mov	%rdi, %rsi
	mov	$ARCH_SET_FS, %edi
	mov	$SYS_arch_prctl, %eax
	syscall
	pop	%rdi
	pop	%rsi
	ret

/* void host_enter_from_signal(trap in rdi) */
function host_enter_from_signal
	mov	%gs:CORE_STACK, %rsp
	mov	%rdi, %rbx
	call	host_signals_unblock
	mov	%rbx, %rsi
	jmp	gate_kernel

#if HOST_TRAP_LOOP
/* void host_run_user(void): the frame of the trap loop stays below the kernel stack's start */
function host_run_user
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	mov	%rsp, %gs:CORE_STACK
	jmp	host_leave
run_user_return:
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
#endif

/*
 * Leave to core->frame. May be started again from any of its instructions, with the thread pointer
 * and the floating-point control words unknown.
 */
	.balign	64
label host_leave_begin
function host_leave
	mov	%gs:CORE_STACK, %rsp
	mov	%gs:CORE_FRAME, %rbx
	cmpq	$0, %gs:CORE_PENDING	/* and CORE_TICK behind it */
	jne	leave_late
	mov	FRAME_TLS(%rbx), %rdi
	cmp	%gs:CORE_FS, %rdi
	jne	leave_fs
leave_fs_done:
	mov	FRAME_STOPPED(%rbx), %rcx
	cmp	$STOPPED_GATE, %rcx
	ja	leave_signal
	mov	FRAME_FPCTL(%rbx), %rax
	cmp	%gs:CORE_FPCTL, %rax
	jne	leave_fpctl
leave_fpctl_done:
	mov	FRAME_BP(%rbx), %rbp
	mov	FRAME_R12(%rbx), %r12
	mov	FRAME_R13(%rbx), %r13
	mov	FRAME_R14(%rbx), %r14
	mov	FRAME_R15(%rbx), %r15
	mov	FRAME_SP(%rbx), %rsp
	mov	FRAME_RESULT(%rbx), %rax
	mov	FRAME_PC(%rbx), %rdx
	mov	FRAME_BX(%rbx), %rbx
	movl	$0, %gs:CORE_IN_KERNEL
	mov	%rax, %rdi
	cmp	$STOPPED_GATE, %rcx
	jne	leave_jump
	sub	$8, %rsp		/* a return is predicted where a jump would not be */
	ret
leave_jump:
	mov	%rdx, %rcx
	xor	%edx, %edx
	jmp	*%rcx

leave_fs:
	/* not by host_fs_set: a signal in there would not start this again */
	cmpl	$0, %gs:CORE_FSGSBASE
	je	leave_fs_by_call
	wrfsbase %rdi
leave_fs_is_set:
	mov	%rdi, %gs:CORE_FS
	jmp	leave_fs_done
leave_fs_by_call:
	mov	%rdi, %rsi
	mov	$ARCH_SET_FS, %edi
	mov	$SYS_arch_prctl, %eax
	syscall
	mov	%rsi, %rdi
	jmp	leave_fs_is_set
leave_fpctl:
	ldmxcsr	FRAME_FPCTL(%rbx)
	fldcw	FRAME_FPCTL+4(%rbx)
	mov	%rax, %gs:CORE_FPCTL
	jmp	leave_fpctl_done
leave_signal:
	movq	$HOST_UNKNOWN, %gs:CORE_FPCTL
	movl	$0, %gs:CORE_IN_KERNEL
	mov	%rcx, %rsp
	mov	$SYS_rt_sigreturn, %eax
	syscall
label host_leave_end

/*
 * Signals came while the kernel ran. Not to be started again: what has been taken from the core is
 * in a register.
 */
leave_late:
#if HOST_SWITCH_FS
	mov	%gs:CORE_HOST_FS, %rdi
	call	host_fs_set
	mov	%rdi, %gs:CORE_FS
#endif
	call	host_late_trap
	test	%rax, %rax
	jz	host_leave
	mov	%rax, %rsi
	jmp	gate_kernel

/*
 * Signal handler, on the stack of whatever was interrupted (interrupts) or the core's signal stack
 * (faults). Threads that the program made itself have the core's gs base too, but another thread
 * id. host_signal_c returns what in_kernel becomes.
 */
	.balign	16
function host_signal
	mov	%edi, %r12d
	mov	%rsi, %r13
	mov	%rdx, %r14
	sub	$8, %rsp
	mov	$SYS_gettid, %eax
	syscall
	cmp	%eax, %gs:CORE_TID
	jne	signal_foreign
	mov	%gs:CORE_IN_KERNEL, %ebx
	movl	$1, %gs:CORE_IN_KERNEL
	call	host_fs_read
	mov	%rax, %r15
#if HOST_SWITCH_FS
	mov	%gs:CORE_HOST_FS, %rdi
	call	host_fs_set
#endif
	mov	%r12d, %edi
	mov	%r13, %rsi
	mov	%r14, %rdx
	mov	%ebx, %ecx
	mov	%r15, %r8
	call	host_signal_c
	mov	%eax, %ebx
#if HOST_SWITCH_FS
	mov	%r15, %rdi
	call	host_fs_set
#endif
	mov	%ebx, %gs:CORE_IN_KERNEL
	add	$8, %rsp
	ret
signal_foreign:
	mov	%r12d, %edi
	mov	%r13, %rsi
	mov	%r14, %rdx
	call	host_signal_foreign
	add	$8, %rsp
	ret
function host_signal_return
	mov	$SYS_rt_sigreturn, %eax
	syscall
label host_gate_end

label host_copy_begin
/* int host_copy(to, from, len) */
function host_copy
	mov	%rdx, %rcx
	rep movsb
	xor	%eax, %eax
	ret
/* int host_touch(first, last): write nothing to two bytes */
function host_touch
	lock orb $0, (%rdi)
	lock orb $0, (%rsi)
	xor	%eax, %eax
	ret
/* int host_load32(from, value) */
function host_load32
	mov	(%rdi), %eax
	mov	%eax, (%rsi)
	xor	%eax, %eax
	ret
label host_copy_end
label host_copy_fault
	mov	$-1, %eax
	ret

	.section .note.GNU-stack, "", @progbits
