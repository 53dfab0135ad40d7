/* SPDX-License-Identifier: MIT
 *
 * What a thread handles itself, from user to user: a call that is not the kernel's, and a fault.
 * The handlers do nothing but return: after the fault the thread goes on behind the access. usage:
 * handler [--calls N]
 */
#include <atoll/handler.h>
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define FOREIGN_CALL 4000
#define STACK_BYTES 32768

static unsigned char stack[STACK_BYTES] __attribute__((aligned(64)));

HANDLER_ENTRY(null_handler, serve_null)

long
serve_null(const struct handler_event *e)
{
	return (long)e->args[0];
}

extern char after_counted[], after_timed[];
static const char *volatile go_on_at;

HANDLER_ENTRY(skip_handler, serve_skip)

long
serve_skip(const struct handler_event *e)
{
	(void)e;
	return (long)go_on_at;
}

static void
call_counted(void)
{
	hal_mark(MARK_BEGIN);
	kcall1(FOREIGN_CALL, 1);
	hal_mark(MARK_END);
}

static void
call_timed(void)
{
	kcall1(FOREIGN_CALL, 1);
}

#define ABSENT ((const volatile uint32_t *)64)

static __attribute__((noinline)) void
fault_counted(void)
{
	go_on_at = after_counted;
	hal_mark(MARK_BEGIN);
	(void)*ABSENT;
	__asm__ volatile(".globl after_counted\nafter_counted:" : : : "memory");
	hal_mark(MARK_END);
}

static __attribute__((noinline)) void
fault_timed(void)
{
	go_on_at = after_timed;
	(void)*ABSENT;
	__asm__ volatile(".globl after_timed\nafter_timed:" : : : "memory");
}

static void
measure(const char *name, void (*counted)(void), void (*timed)(void), long times)
{
	double start;

	for (int i = 0; i < WINDOWS; i++)
		timed();
	for (int i = 0; i < WINDOWS; i++)
		counted();
	start = MPI_Wtime();
	for (long i = 0; i < times; i++)
		timed();
	start = MPI_Wtime() - start;
	kthread_handler(HANDLE_CALLS | HANDLE_FAULTS, 0, 0);
	row(name, start / (double)times * 1e9, "ns", "");
}

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 100000);

	MPI_Init(&argc, &argv);
	MPI_Wtime();
	kthread_handler(HANDLE_CALLS, (unsigned long)null_handler,
		(unsigned long)stack + STACK_BYTES);
	hal_mark(LABEL);
	measure("reflect", call_counted, call_timed, calls);
	kthread_handler(HANDLE_FAULTS, (unsigned long)skip_handler,
		(unsigned long)stack + STACK_BYTES);
	hal_mark(LABEL + 1);
	measure("fault", fault_counted, fault_timed, calls);
	MPI_Finalize();
	return 0;
}
