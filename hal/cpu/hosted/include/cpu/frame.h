/* SPDX-License-Identifier: MIT
 *
 * What a stopped user thread needs to go on, hosted. After a kernel call only what a function call
 * preserves is live. A thread that was stopped by a signal has its complete state in the signal
 * frame that Linux pushed, and goes on by sigreturn.
 */
#ifndef CPU_FRAME_H
#define CPU_FRAME_H

#include <stdint.h>
#include <context.h>

struct hal_frame {
	struct context ctx;
	uint64_t fpctl;			/* MXCSR, and the x87 control word in the upper half */
	uint64_t number;		/* of the kernel call */
	uint64_t arg[6];
	/*
	 * 0: goes on with ctx; 1: inside the gate; else address of the ucontext that a signal left
	 */
	uint64_t stopped;
};

#endif
