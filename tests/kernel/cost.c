/* SPDX-License-Identifier: MIT
 *
 * Windows for the instruction counter: null call, idle yield, void remote call with the kernel core asleep, create and join of a thread.
 */
#include <hal/perf.h>
#include <tests/kernel/ktest.h>



static uint64_t stack[512];

static void
nothing(uintptr_t arg)
{
	for (;;)
		kthread_exit(arg);
}

/* Let every core finish what it does and fall asleep: under -icount the others run while this one waits. */
static void
settle(void)
{
	for (int i = 0; i < 20; i++)
		kvoid_remote();
	for (int i = 0; i < 20; i++)
		kthread_yield();
}

int
server_main(int argc, char **argv)
{
	struct context ctx;
	uint64_t value;
	long tid;

	(void)argc;
	(void)argv;
	context_init(&ctx, (uintptr_t)nothing, (uintptr_t)&stack[510], 1, 0);
	for (int i = 0; i < 3; i++) {
		settle();
		hal_mark(16);
		hal_mark(MARK_BEGIN);
		kthread_self();
		hal_mark(MARK_END);
		hal_mark(17);
		hal_mark(MARK_BEGIN);
		kthread_yield();
		hal_mark(MARK_END);
		settle();
		hal_mark(18);
		hal_mark(MARK_BEGIN);
		kvoid_remote();
		hal_mark(MARK_END);
		settle();
		hal_mark(19);
		hal_mark(MARK_BEGIN);
		tid = kthread_create(&ctx, ANY_CORE);
		hal_mark(MARK_END);
		settle();
		hal_mark(20);
		hal_mark(MARK_BEGIN);
		kthread_join((int)tid, &value);
		hal_mark(MARK_END);
	}
	kt_end();
}
