/* SPDX-License-Identifier: MIT
 *
 * HAL contract: user threads enter and leave the kernel.
 *
 * <cpu/frame.h> defines struct hal_frame: everything that a stopped user thread needs to go on (a struct context plus floating-point
 * registers and whatever the port keeps). The frame of the running thread is named by hal_user_enter; on a trap the HAL saves the
 * registers there and calls kernel_trap on the core's kernel stack, with traps from user mode off (no nesting).
 */
#ifndef HAL_TRAP_H
#define HAL_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <context.h>
#include <cpu/frame.h>

struct hal_space;

/* why a thread entered the kernel */
enum hal_trap_kind {
	TRAP_CALL,		/* kernel call: frame has number and arguments */
	TRAP_DOORBELL,		/* hal_interrupt */
	TRAP_TIMER,
	TRAP_FAULT,		/* cause is a CRASH_* of abi/layout.h */
};

struct hal_trap {
	enum hal_trap_kind kind;
	uint32_t cause;		/* TRAP_FAULT: CRASH_* */
	uint32_t write;		/* 0 read, 1 write, 2 fetch */
	uintptr_t addr;		/* offending address */
};

/*
 * Frame <-> context. Both check nothing; hal_context_ok says whether a context from a user is safe to run. A new thread's frame is filled
 * with zeros first; hal_frame_from_context then changes only what a context holds (floating-point registers stay).
 */
void hal_frame_from_context(struct hal_frame *f, const struct context *c);
void hal_frame_to_context(const struct hal_frame *f, struct context *c);
int hal_context_ok(const struct context *c);

/* Kernel calls in a frame: number, argument 0..5, result. TRAP_CALL frames resume after the trap instruction. */
unsigned long hal_frame_number(const struct hal_frame *f);
unsigned long hal_frame_arg(const struct hal_frame *f, int i);
void hal_frame_set_result(struct hal_frame *f, long result);
uintptr_t hal_frame_pc(const struct hal_frame *f);
uintptr_t hal_frame_sp(const struct hal_frame *f);

/*
 * Leave the kernel to the user thread behind `f` in address space `space`. The kernel stack starts empty at the next trap.
 * Restores everything of the thread, including lazily switched registers and the thread pointer. Never returns.
 */
_Noreturn void hal_user_enter(struct hal_frame *f, struct hal_space *space);

/*
 * The kernel's answer to every trap from user mode (kernel/call/trap.c). Runs on this core's kernel stack. Returning resumes `f` (fast
 * path); otherwise the kernel leaves through hal_user_enter.
 */
void kernel_trap(struct hal_frame *f, const struct hal_trap *t);

/* Address of the kernel-call gate, `long gate(long number, long a0, .. long a5)`, for struct startup; 0 where a trap instruction does it. */
uintptr_t hal_user_gate(void);

/*
 * Optional, a short cut for kernel calls: the frame holds number, arguments and pc, the rest of the thread is still in registers.
 * True: answered, the result is set, the thread goes on. False: nothing happened, and the call comes again through kernel_trap with
 * a complete frame. It may wait for another core (hal_wait) and touch user memory; it must come back to this thread, or leave one that
 * never runs again; and it must not use other parts of the frame.
 */
bool kernel_call_fast(struct hal_frame *f);

/* Copy from and to memory of the running thread's process. 0 or -E_FAULT (part of the bytes may then be written). */
int hal_copy_in(void *to, uintptr_t from_user, size_t len);
int hal_copy_out(uintptr_t to_user, const void *from, size_t len);

/*
 * Could hal_copy_out write these bytes now (1 .. one page of them)? 0 or -E_FAULT; changes nothing. The answer holds until the process's
 * mappings change.
 */
int hal_user_probe(uintptr_t to_user, size_t len);

/* Read one aligned 32-bit word of user memory with acquire order. 0 or -E_FAULT. */
int hal_user_load32(uintptr_t from_user, uint32_t *value);

#endif
