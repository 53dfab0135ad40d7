/* SPDX-License-Identifier: MIT
 *
 * Windows for the instruction counter: null call, idle yield, void remote call with the kernel core asleep, thread create and join.
 */
#include <hal/perf.h>
#include <tests/kernel/ktest.h>



static unsigned long
nothing(unsigned long arg)
{
	return arg;
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
	(void)argc;
	(void)argv;
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
		kt_join(kt_thread(nothing, 1, ANY_CORE));
		hal_mark(MARK_END);
	}
	kt_end();
}
