/* SPDX-License-Identifier: MIT
 *
 * HAL contract: user threads enter and leave the kernel.
 *
 * <cpu/frame.h> defines struct hal_frame: everything that a stopped user thread needs to go on (a
 * struct context plus floating-point registers and whatever the port keeps). The frame of the
 * running thread is named by hal_user_enter; on a trap the HAL saves the registers there and calls
 * kernel_trap on the core's kernel stack, with traps from user mode off (no nesting).
 */
#ifndef HAL_TRAP_H
#define HAL_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/layout.h>
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
	uint32_t cause;		/* TRAP_FAULT: CRASH_* */
	uint32_t write;		/* 0 read, 1 write, 2 fetch */
	uintptr_t addr;		/* offending address */
	enum hal_trap_kind kind;
};

/*
 * Frame <-> context. None checks anything; hal_context_ok says whether a context from a user is
 * safe to run. hal_frame_new makes a frame, of memory that held anything, for a thread that starts
 * with the context and with floating-point registers that are zero; hal_frame_from_context changes
 * only what a context holds (floating-point registers stay).
 */
void hal_frame_new(struct hal_frame *f, const struct context *c);
void hal_frame_from_context(struct hal_frame *f, const struct context *c);
void hal_frame_to_context(const struct hal_frame *f, struct context *c);
int hal_context_ok(const struct context *c);

/*
 * Kernel calls in a frame: number, argument 0..5, result. TRAP_CALL frames resume after the trap
 * instruction.
 */
unsigned long hal_frame_number(const struct hal_frame *f);
unsigned long hal_frame_arg(const struct hal_frame *f, int i);
void hal_frame_set_result(struct hal_frame *f, long result);
uintptr_t hal_frame_pc(const struct hal_frame *f);
uintptr_t hal_frame_sp(const struct hal_frame *f);

/* A stopped thread, complete in the frame, goes on on another core. On the core that it leaves. */
void hal_frame_move(struct hal_frame *f);

/* The stopped thread goes on at another address, which may be any. */
void hal_frame_set_pc(struct hal_frame *f, uintptr_t pc);

/*
 * Leave the kernel to the user thread behind `f` in address space `space`. The kernel stack starts
 * empty at the next trap. Restores everything of the thread, including lazily switched registers
 * and the thread pointer. Never returns.
 */
_Noreturn void hal_user_enter(struct hal_frame *f, struct hal_space *space);

/*
 * The running thread, complete in `f`, goes on at `entry` with the stack below `stack` and with
 * another frame of its own, `h`, which was zeros before its first use. It finds there what a
 * handler_event says of `f` and `t` (usercpu/handler.h), and any values of its own in its other
 * registers, floating-point ones too. A stack that cannot be written is a TRAP_FAULT with `h`, here
 * or there. `f` stays as it is, until hal_frame_resume goes on with it. Never returns.
 */
void hal_handler_enter(struct hal_frame *f, struct hal_frame *h, const struct hal_trap *t,
	uintptr_t entry, uintptr_t stack);

/*
 * The running thread goes on with another of its frames, which is complete; what it was in is lost.
 * Never returns: the result makes it any caller's last step.
 */
long hal_frame_resume(struct hal_frame *f);

/* The same with a frame that stopped in a kernel call, which comes again. */
long hal_call_again(struct hal_frame *f);

/*
 * The running thread is about to stop in `f`, and others of its core may trap meanwhile: what the
 * port keeps of it outside of `f` for this trap only moves below its stack pointer. False: it
 * cannot be written there.
 */
bool hal_frame_keep(struct hal_frame *f);

/* For hal_handler_enter of ports that tell it by memory. */
static inline void
hal_event_fill(struct handler_event *e, const struct hal_frame *f, const struct hal_trap *t)
{
	*e = (struct handler_event){.cause = t->cause, .write = t->write, .addr = t->addr,
		.pc = hal_frame_pc(f), .sp = hal_frame_sp(f),
		.number = hal_frame_number(f)};
	for (int i = 0; i < 6; i++)
		e->args[i] = hal_frame_arg(f, i);
}

/*
 * The kernel's answer to every trap from user mode (kernel/call/trap.c). Runs on this core's kernel
 * stack. Returning resumes `f` (fast path); otherwise the kernel leaves through hal_user_enter.
 * After a TRAP_FAULT it returns where the memory has come: what faulted is tried again.
 */
void kernel_trap(struct hal_frame *f, const struct hal_trap *t);

/*
 * The same for TRAP_CALL, and for TRAP_FAULT, where `kind` may be anything: a port may call them
 * instead.
 */
void kernel_call(struct hal_frame *f);
void kernel_fault(struct hal_frame *f, const struct hal_trap *t);

/*
 * Address of the kernel-call gate, `long gate(long number, long a0, .. long a5)`, for struct
 * startup; 0 where a trap instruction does it.
 */
uintptr_t hal_user_gate(void);

/*
 * Optional, a short cut for kernel calls: the frame holds number, arguments and pc, the rest of the
 * thread is still in registers; `nr` is the number less KC_FIRST. 1: answered, the result is set,
 * the thread goes on. 0: nothing happened, and the call comes again through kernel_trap with a
 * complete frame. It may wait for another core (hal_wait) and touch user memory; it must come back
 * to this thread, or leave one that never runs again, or go on with another frame of the same
 * thread, which is complete (hal_frame_resume); and it must not use other parts of the frame. Ports
 * may leave out numbers below KC_FIRST.
 */
long kernel_call_fast(struct hal_frame *f, unsigned long nr);

/*
 * Copy from and to memory of the running thread's process. 0 or -E_FAULT (part of the bytes may
 * then be written).
 */
int hal_copy_in(void *to, uintptr_t from_user, size_t len);
int hal_copy_out(uintptr_t to_user, const void *from, size_t len);

/*
 * Could hal_copy_out write these bytes now (1 .. one page of them)? 0 or -E_FAULT; changes nothing.
 * The answer holds until the process's mappings change.
 */
int hal_user_probe(uintptr_t to_user, size_t len);

/* Read one aligned 32-bit word of user memory with acquire order. 0 or -E_FAULT. */
int hal_user_load32(uintptr_t from_user, uint32_t *value);

/*
 * What the last of these four that failed on this core could not reach: a TRAP_FAULT of its first
 * byte without the right.
 */
void hal_user_fault(struct hal_trap *t);

#endif
