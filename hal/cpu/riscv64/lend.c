/* SPDX-License-Identifier: MIT
 *
 * A core as bare hardware: the machine start, which stays resident, fences it in to the memory of
 * the program and enters that in S-mode. It comes back by a call, by a fetch from outside, or
 * because another core of the cluster asks the machine start for it.
 */
#include <abi/errors.h>
#include <hal/board.h>
#include "cpu.h"

int
hal_monitor_ask(unsigned long what, unsigned long about)
{
	register unsigned long a0 __asm__("a0") = what;
	register unsigned long a1 __asm__("a1") = about;

	__asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : :
		"memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5",
		"a6", "a7");
	return (int)a0;
}

void
hal_core_take_back(unsigned core)
{
	hal_monitor_ask(HAL_MONITOR_RETURN, core);
}

/* The machine start gives satp, stvec, sstatus, sp and tp back as they are here. */
static long
monitor_lend(uint64_t base, uint64_t bytes, uint64_t entry, unsigned long arg)
{
	register unsigned long a0 __asm__("a0") = HAL_MONITOR_LEND;
	register unsigned long a1 __asm__("a1") = base;
	register unsigned long a2 __asm__("a2") = bytes;
	register unsigned long a3 __asm__("a3") = entry;
	register unsigned long a4 __asm__("a4") = arg;

	__asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4) : :
		"memory", "ra", "gp", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a5", "a6", "a7",
		"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
	return (long)a0;
}

/*
 * Who wants the core sets `interrupted` and then asks for the core: what was asked before HOLD is
 * seen here, and what is asked later the machine start remembers until LEND.
 */
long
hal_core_lend(struct hal_frame *frame, uint64_t paddr, uint64_t bytes, uint64_t entry,
	unsigned long arg)
{
	struct hal_core_area *a = hal_core_area();
	long result = -E_INTR;

	hal_fence();
	hal_monitor_ask(HAL_MONITOR_HOLD, 0);
	if (hal_load32(&a->interrupted) == 0)
		result = monitor_lend(paddr, bytes, entry, arg);
	csr_write(sscratch, 0);
	csr_write(scounteren, SCOUNTEREN);
	csr_write(sie, SIP_SSIP);
	if (a->fp_owner == frame)
		hal_fp_load(frame);
	else
		hal_fp_clear();
	return result;
}
