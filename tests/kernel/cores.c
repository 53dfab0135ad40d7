/* SPDX-License-Identifier: MIT
 *
 * Which cores a process may use, and which know of it: its threads are placed where its maker lets
 * it, and a core that the last of them has left is not interrupted for it any more.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 3 KC
 */
#include <context.h>
#include <tests/kernel/ktest.h>

#define HERE 1			/* an application core in all these machines */
#define OTHER 2
#define PORT_HEAR 1
#define PORT_GO 2
#define UNMAPS 50

enum role { LIMITED = 1, NOISY };

static uint32_t armed, spins, stop;

static void
set(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

static bool
is_set(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

static unsigned long
where(unsigned long arg)
{
	struct cluster_info info;

	(void)arg;
	kcluster_info(&info);
	return info.core;
}

static uint32_t
core_count(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return info.cores;
}

/* Where a thread may not be, neither in the own process nor in a child. */
static int
tries_in_vain(int core, int child)
{
	struct context ctx;

	context_init(&ctx, 4096, 4096, 0, 0);
	return (kt_thread(where, 0, core) != -E_INVAL) +
		(kproc_start(child, &ctx, core) != -E_INVAL) +
		(kproc_cores(SELF, core, 1) != -E_ACCES) +
		(kproc_cores(child, core, 1) != -E_ACCES);
}

/* Has core HERE alone. Returns what was otherwise. */
static int
limited(void)
{
	int child = (int)kproc_create(), failed = 0;

	for (int core = 0; core < (int)core_count(); core++)
		failed += core == HERE ? 0 : tries_in_vain(core, child);
	for (int i = 0; i < 5; i++)
		failed += kt_join(kt_thread(where, 0, ANY_CORE)) != HERE;
	failed += kt_join(kt_thread(where, 0, HERE)) != HERE;
	failed += kproc_cores(SELF, 0, (int)core_count()) != -E_ACCES;
	return failed + (kproc_cores(SELF, HERE, 1) != 0);
}

/* test: proc_cores, proc_start, thread_create */
TEST(a_process_uses_the_cores_that_it_was_given)
{
	int proc = (int)kproc_create();

	expect_eq(kproc_cores(proc, -1, 1), -E_INVAL);
	expect_eq(kproc_cores(proc, 0, 0), -E_INVAL);
	expect_eq(kproc_cores(proc, 0, 0x7fffffff), -E_ACCES);
	expect_eq(kproc_cores(proc, 0, (int)core_count() + 1), -E_ACCES);
	expect_eq(kproc_cores(-5, 0, 1), -E_BADF);
	expect_eq(kproc_cores(proc, HERE, 1), 0);
	expect_eq(kt_spawn_in(proc, LIMITED, 0, ANY_CORE), proc);
	expect_eq(kt_wait(proc, NULL), 0);
}

/* Has had a thread on core HERE, and gives up pages while another process's thread is there. */
static int
noisy(void)
{
	static char message[MAILBOX_MSG_SIZE];
	int go = (int)kmailbox_create(PORT_GO), failed;

	failed = kt_join(kt_thread(where, 0, HERE)) != HERE;
	failed += mailbox_send((int)kmailbox_open(0, PORT_HEAR), message) != 0;
	failed += mailbox_receive(go, 0, message) != 0;
	for (int i = 0; i < UNMAPS; i++) {
		uint64_t at;

		failed += kmem_alloc(SELF, 4096, PAGE_READ | PAGE_WRITE, &at) != 0;
		failed += kpage_unmap(SELF, (unsigned long)at, 1) != 0;
	}
	return failed;
}

static uint64_t
shot_down(void)
{
	uint64_t n = 0;

	kcore_count(COUNT_SHOT_DOWN, &n);
	return n;
}

/* Makes no call between the looks. */
static unsigned long
victim(unsigned long arg)
{
	uint64_t before;

	(void)arg;
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	while (!is_set(&armed))
		kthread_yield();
	before = shot_down();
	set(&spins);
	while (!is_set(&stop))
		continue;
	return (unsigned long)(shot_down() - before);
}

/* test: core_count, page_unmap, thread_exit */
TEST(a_core_that_a_process_has_left_is_not_interrupted_for_it)
{
	static char message[MAILBOX_MSG_SIZE];
	int in = (int)kmailbox_create(PORT_HEAR);
	long thread = kt_thread(victim, 0, HERE), proc = kt_spawn(NOISY, 0, OTHER);

	expect_eq(mailbox_receive(in, 0, message), 0);
	set(&armed);
	while (!is_set(&spins))
		kthread_yield();
	expect_eq(mailbox_send((int)kmailbox_open(0, PORT_GO), message), 0);
	expect_eq(kt_wait(proc, NULL), 0);
	set(&stop);
	expect_eq(kt_join(thread), 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job == LIMITED)
		return limited();
	if (atoll_startup()->job == NOISY)
		return noisy();
	RUN(a_process_uses_the_cores_that_it_was_given);
	RUN(a_core_that_a_process_has_left_is_not_interrupted_for_it);
	kt_end();
}
