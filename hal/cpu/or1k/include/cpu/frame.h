/* SPDX-License-Identifier: MIT
 *
 * Frame of a stopped user thread on or1k. The first part is struct context. A kernel call is made
 * like a function call: what that may change is not kept over it, and is zero or older in the
 * frame. Floating point has no registers of its own.
 */
#ifndef CPU_FRAME_H
#define CPU_FRAME_H

#include <stdint.h>

struct hal_frame {
	uint32_t pc;
	uint32_t r[32];			/* r[0] unused */
	uint32_t flags;			/* of the status register: flag, carry, overflow */
};

static inline unsigned long
hal_frame_number(const struct hal_frame *f)
{
	return f->r[11];
}

static inline unsigned long
hal_frame_arg(const struct hal_frame *f, int i)
{
	return f->r[3 + i];
}

static inline void
hal_frame_set_result(struct hal_frame *f, long result)
{
	f->r[11] = (uint32_t)result;
}

#endif
