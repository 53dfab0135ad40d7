/* SPDX-License-Identifier: MIT
 *
 * The end of a cluster: say what is known, mark the cluster dead, wake whoever may wait for it,
 * stop its cores. The machine goes on as long as cluster 0, which owns the console and the job,
 * lives: that alone may end it.
 */
#include <hal/board.h>
#include <hal/console.h>
#include <hal/noc.h>
#include <base/fmt.h>
#include "cpu.h"

#define STATUS_PANIC 101		/* exit status of the machine when its leader died */
#define BACKTRACE_WORDS 512
#define BACKTRACE_MAX 12

extern char image_start[], image_rodata[];

/* trap.S takes the first word; the rest is for the core that got it */
uint32_t hal_crash_taken;
struct hal_frame hal_crash_frame;
uint64_t hal_crash_stack[CRASH_STACK_BYTES / 8] __attribute__((aligned(16)));

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

	say("\natoll: kernel panic: cluster %u core %u (hart %u): %s: an error of Atoll, "
		"please report it with these lines\n",
		a->cluster, a->core, a->machine_core, what);
}

/* Words on the kernel stack that look like return addresses. */
static void
say_backtrace(uint64_t sp)
{
	const struct hal_core_area *a = hal_core_area();
	uint64_t top = a->stack, bottom = top - (a->core == 0 ? HOME_STACK_BYTES : STACK_BYTES);
	unsigned said = 0;

	if (sp < bottom && sp >= bottom - CORE_BYTES)
		say("  the kernel stack has overflowed\n");
	if (sp < bottom || sp > top) {
		say("  stack pointer %lx is outside the core's stack %lx..%lx\n", sp, bottom, top);
		return;
	}
	say("  stack:");
	for (uint64_t p = (sp + 7) & -8ull; p < top && said < BACKTRACE_MAX; p += 8) {
		uint64_t word = *(uint64_t *)p;

		if (word > (uint64_t)image_start && word < (uint64_t)image_rodata) {
			say(" %lx", word);
			said++;
		}
	}
	say("\n");
}

static _Noreturn void
cluster_end(void)
{
	struct hal_core_area *a = hal_core_area();

	hal_noc_mark_dead(a->cluster);
	for (uint32_t i = 0; i < hal_machine.cores; i++) {
		if (i == a->core)
			continue;
		hal_core_ring(hal_area_of(i), INTERRUPT_STOP);
		hal_core_take_back(i);
	}
	for (uint32_t i = 0; i < hal_machine.clusters; i++)
		if (i != a->cluster && hal_noc_alive(i))
			hal_notify(i, 0);
	if (a->cluster == 0)
		hal_machine_halt(STATUS_PANIC);
	hal_core_stop();
}

void
hal_panic(const char *file, int line, const char *what)
{
	uint64_t sp;

	__asm__ volatile("mv %0, sp" : "=r"(sp));
	if (__atomic_exchange_n(&hal_crash_taken, 1, __ATOMIC_ACQ_REL) != 0)
		hal_core_stop();
	hal_space_use(NULL);
	say_where(what);
	say("  at %s:%d, called from %lx\n", file, line, (uint64_t)__builtin_return_address(0));
	say_backtrace(sp);
	cluster_end();
}

static const char *
cause_text(uint64_t cause)
{
	static const char *const text[] = {
		"misaligned fetch", "fetch access fault", "illegal instruction", "breakpoint",
		"misaligned load", "load access fault",
		"misaligned store", "store access fault", "call from user mode",
		"call from the kernel", "?", "?", "fetch page fault",
		"load page fault", "?", "store page fault",
	};

	return cause < sizeof(text) / sizeof(text[0]) ? text[cause] : "interrupt";
}

_Noreturn void hal_kernel_fault(const struct hal_frame *f, uint64_t cause, uint64_t value);

/* A fault inside the kernel, on the crash stack. */
void
hal_kernel_fault(const struct hal_frame *f, uint64_t cause, uint64_t value)
{
	static const char names[32][4] = {
		"-", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3",
		"a4", "a5", "a6", "a7",
		"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
		"t6",
	};

	say_where(cause_text(cause));
	say("  cause %lx pc %lx address %lx\n", cause, f->pc, value);
	for (int i = 1; i < 32; i++)
		say("%s%-3s %16lx%s", i % 4 == 1 ? "  " : " ", names[i], f->x[i], i % 4 == 0 ||
			i == 31 ? "\n" : "");
	say_backtrace(f->x[2]);
	cluster_end();
}
