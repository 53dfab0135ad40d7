/* SPDX-License-Identifier: MIT
 *
 * Frame of a stopped user thread on riscv64. The first part is struct context. Floating-point
 * registers that the thread changed are saved at a kernel entry and loaded again only if another
 * thread's are in the core: `fp_home` is 1 + the number of the core that has them, or FP_FRESH if
 * the thread never changed one: then they are all zero, and stay in the core from one such thread
 * to the next.
 */
#ifndef CPU_FRAME_H
#define CPU_FRAME_H

#include <stdint.h>

#define FP_FRESH 0

struct hal_frame {
	uint64_t pc;
	/* x[0]: address of the core's area, set by hal_user_enter */
	uint64_t x[32];
	uint64_t fcsr;
	uint64_t f[32];
	uint32_t fp_home;
	uint32_t started;		/* it has run, or gone on with another context */
};

static inline unsigned long
hal_frame_number(const struct hal_frame *f)
{
	return f->x[17];
}

static inline unsigned long
hal_frame_arg(const struct hal_frame *f, int i)
{
	return f->x[10 + i];
}

static inline void
hal_frame_set_pc(struct hal_frame *f, uintptr_t pc)
{
	f->pc = pc;
}

static inline void
hal_frame_set_result(struct hal_frame *f, long result)
{
	f->x[10] = (uint64_t)result;
}

#endif
