/* SPDX-License-Identifier: MIT
 *
 * Between gate.S and the C code: offsets of what the assembly touches, and the symbols it exports.
 * Read by both.
 */
#ifndef HOSTED_GATE_H
#define HOSTED_GATE_H

/* struct host_core, found through the gs base */
#define CORE_FRAME 0
#define CORE_LOCAL 8
#define CORE_STACK 16
#define CORE_FS 24
#define CORE_HOST_FS 32
#define CORE_FPCTL 40
#define CORE_TID 48
#define CORE_IN_KERNEL 52
#define CORE_PENDING 56
#define CORE_TICK 60
#define CORE_FSGSBASE 64
#define CORE_TRAP 72

/* struct hal_frame */
#define FRAME_PC 0
#define FRAME_SP 8
#define FRAME_BP 16
#define FRAME_BX 24
#define FRAME_R12 32
#define FRAME_R13 40
#define FRAME_R14 48
#define FRAME_R15 56
#define FRAME_RESULT 64
#define FRAME_TLS 72
#define FRAME_FPCTL 80
#define FRAME_NUMBER 88
#define FRAME_ARG 96
#define FRAME_STOPPED 144
#define STOPPED_CONTEXT 0		/* values of it, else the address of a ucontext */
#define STOPPED_GATE 1

#define HOST_UNKNOWN (-1)		/* core->fs, core->fpctl: load it in any case */

/*
 * The kernel uses no thread-local data, so it can run with the user thread's pointer loaded, which
 * saves two switches per call. The sanitizers do use it: then the host thread's own pointer is
 * loaded while the kernel runs.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOST_SWITCH_FS 1
#else
#define HOST_SWITCH_FS 0
#endif

/*
 * The thread sanitizer follows calls and returns: under it the kernel is entered from a loop in C
 * and left by longjmp, instead of by dropping its stack.
 */
#if defined(__SANITIZE_THREAD__)
#define HOST_TRAP_LOOP 1
#else
#define HOST_TRAP_LOOP 0
#endif

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct hal_frame;
struct hal_trap;

/* The gate: what user code calls. */
long host_gate(long number, long a0, long a1, long a2, long a3, long a4, long a5);

/* Leave the kernel to core->frame; the kernel stack is empty from here on. */
_Noreturn void host_leave(void);

/* Drop this stack and run kernel_trap(core->frame, t) on the kernel stack. */
_Noreturn void host_enter(const struct hal_trap *t);

/*
 * The same from a signal handler: signals that were held back come when the kernel stack is in use.
 */
_Noreturn void host_enter_from_signal(const struct hal_trap *t);

/*
 * The trap loop of HOST_TRAP_LOOP: leave to core->frame and return at the next trap, whose cause is
 * in core->trap.
 */
void host_run_user(void);

/* Copy that a fault ends early. Returns 0, or -1 after a fault. */
int host_copy(void *to, const void *from, size_t len);
int host_touch(void *first, void *last);
int host_load32(const volatile uint32_t *from, uint32_t *value);

/* Signal handler (rt_sigaction) and what returns from it. */
void host_signal(int sig, void *info, void *context);
void host_signal_return(void);

/* Read and set the thread pointer by whatever means the host has. */
uintptr_t host_fs_read(void);
void host_fs_set(uintptr_t fs);

/* Borders of the pieces of assembly that a signal handler must recognise. */
extern const char host_gate_begin[], host_gate_end[];	/* all of it but the copies */
/* on the way to the user thread core->frame; may be started again */
extern const char host_leave_begin[], host_leave_end[];
extern const char host_copy_begin[], host_copy_end[];
extern const char host_copy_fault[];

#endif
#endif
