/* SPDX-License-Identifier: MIT
 *
 * The end of a cluster: say what is known, mark the cluster dead, wake whoever may wait for it,
 * stop its cores. The machine goes on as long as cluster 0, which owns the console and the job,
 * lives.
 */
#include <hal/board.h>
#include <hal/console.h>
#include <hal/noc.h>
#include <base/fmt.h>
#include "cpu.h"

#define STATUS_PANIC 101		/* exit status of the machine when its leader died */
#define BACKTRACE_MAX 12

extern char image_start[], image_rodata[];

/* trap.S takes the first word; the rest is for the core that got it */
uint32_t hal_crash_taken;
struct hal_frame hal_crash_frame;
uint32_t hal_crash_stack[CRASH_STACK_BYTES / 4] __attribute__((aligned(16)));

static __attribute__((format(printf, 1, 2))) void
say(const char *format, ...)
{
	char line[160];
	va_list args;
	int n;

	va_start(args, format);
	n = fmt_vprint(line, sizeof(line), format, args);
	va_end(args);
	hal_console_write(line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

static void
say_where(const char *what)
{
	struct hal_core_area *a = hal_core_area();

	say("\nkernel panic: cluster %u core %u (core %u of the machine): %s\n",
		(unsigned)a->cluster, (unsigned)a->core,
		(unsigned)a->machine_core, what);
}

/* Words on the kernel stack that look like return addresses. */
static void
say_backtrace(uint32_t sp)
{
	uint32_t top = (uint32_t)hal_core_area(), bottom = top + AREA_BYTES - CORE_BYTES;
	unsigned said = 0;

	if (sp < bottom || sp > top) {
		say("  stack pointer %x is outside the core's stack %x..%x\n", (unsigned)sp,
			(unsigned)bottom, (unsigned)top);
		return;
	}
	say("  stack:");
	for (uint32_t p = (sp + 3) & ~3u; p < top && said < BACKTRACE_MAX; p += 4) {
		uint32_t word = *(uint32_t *)p;

		if (word > (uint32_t)image_start && word < (uint32_t)image_rodata &&
			(word & 3) == 0) {
			say(" %x", (unsigned)word);
			said++;
		}
	}
	say("\n");
}

static _Noreturn void
cluster_end(void)
{
	struct hal_core_area *a = hal_core_area();
	uint32_t clusters = hal_machine.record->clusters;
	bool others = false;

	hal_noc_mark_dead(a->cluster);
	for (uint32_t i = 0; i < hal_machine.cores; i++)
		if (i != a->core)
			hal_core_ring(hal_area_of(i), INTERRUPT_STOP);
	for (uint32_t i = 0; i < clusters; i++)
		if (i != a->cluster && hal_noc_alive(i)) {
			others = true;
			hal_notify(i, 0);
		}
	if (a->cluster == 0 || !others)
		hal_machine_halt(STATUS_PANIC);
	hal_core_stop();
}

void
hal_panic(const char *file, int line, const char *what)
{
	uint32_t sp;

	__asm__ volatile("l.ori %0, r1, 0" : "=r"(sp));
	if (hal_swap32(&hal_crash_taken, 1) != 0)
		hal_core_stop();
	say_where(what);
	say("  at %s:%d, called from %x\n", file, line,
		(unsigned)(uintptr_t)__builtin_return_address(0));
	say_backtrace(sp);
	cluster_end();
}

static const char *
vector_text(uint32_t vector)
{
	static const char *const text[] = {
		"?", "reset", "bus error", "data page fault", "fetch page fault", "tick timer",
		"misaligned access", "illegal instruction",
		"interrupt", "data TLB miss", "fetch TLB miss", "range", "call from the kernel",
		"floating point", "trap",
	};

	return vector >> 8 < sizeof(text) / sizeof(text[0]) ? text[vector >> 8] : "?";
}

_Noreturn void hal_kernel_fault(const struct hal_frame *f, uint32_t vector, uint32_t address);

/* A fault inside the kernel, on the crash stack. */
void
hal_kernel_fault(const struct hal_frame *f, uint32_t vector, uint32_t address)
{
	say_where(vector_text(vector));
	say("  vector %x pc %x address %x\n", (unsigned)vector, (unsigned)f->pc, (unsigned)address);
	for (int i = 1; i < 32; i++)
		say("%sr%-2d %8x%s", i % 4 == 1 ? "  " : " ", i, (unsigned)f->r[i], i % 4 == 0 ||
			i == 31 ? "\n" : "");
	say_backtrace(f->r[1]);
	cluster_end();
}
