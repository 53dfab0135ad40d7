/* SPDX-License-Identifier: MIT
 *
 * Threads of the kernel: create, join, and the whole life of one (created, run to its end, joined),
 * while `--living N` others exist and sleep. usage: threads [--living N] [--rounds N]. Source: seed
 * 000 IV-A (spawn and join).
 *
 * Windows of the instruction counter: label 16 create, 17 join of a thread that has ended, 18 a
 * life. The kernel chooses the core.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define SETTLE 40		/* calls until every core has done what it had to */
#define STACK_ALIGN 1024
/* of a thread that does nothing but kernel calls */
#define STACK_BYTES (1024 + CONTEXT_INTERRUPT_BYTES)

struct team {
	struct context ctx;	/* of a thread that ends at once */
	int *tid;		/* [living] */
	unsigned char *stack;	/* [living + 1] */
	long living;
};

static void
end_at_once(uintptr_t arg)
{
	for (;;)
		kthread_exit(arg);
}

static void
live(uintptr_t arg)
{
	kthread_sleep(WAKE_ANY, FOREVER);
	end_at_once(arg);
}

static void
context_of(struct team *t, long i, void (*fn)(uintptr_t))
{
	context_init(&t->ctx, (uintptr_t)fn, (uintptr_t)(t->stack + (i + 1) * STACK_BYTES),
		(uintptr_t)i, 0);
}

static void
settle(void)
{
	for (int i = 0; i < SETTLE; i++)
		kvoid_remote();
	for (int i = 0; i < SETTLE; i++)
		kthread_yield();
}

static int
join(long tid)
{
	uint64_t value;

	return tid < 0 ? (int)tid : (int)kthread_join((int)tid, &value, FOREVER);
}

static int
team_begin(struct team *t, long living)
{
	t->living = 0;
	t->tid = calloc((size_t)living + 1, sizeof(*t->tid));
	t->stack = aligned_alloc(STACK_ALIGN, (size_t)(living + 1) * STACK_BYTES);
	if (t->tid == NULL || t->stack == NULL)
		return -1;
	for (; t->living < living; t->living++) {
		context_of(t, t->living, live);
		t->tid[t->living] = (int)kthread_create(&t->ctx, ANY_CORE);
		if (t->tid[t->living] < 0)
			return t->tid[t->living];
	}
	context_of(t, living, end_at_once);
	return 0;
}

static void
team_end(struct team *t)
{
	while (t->living-- > 0) {
		kthread_wakeup(t->tid[t->living], 1);
		join(t->tid[t->living]);
	}
	free(t->tid);
	free(t->stack);
}

static int
count_round(struct team *t)
{
	long tid;
	int wrong;

	settle();
	hal_mark(LABEL);
	hal_mark(MARK_BEGIN);
	tid = kthread_create(&t->ctx, ANY_CORE);
	hal_mark(MARK_END);
	settle();
	hal_mark(LABEL + 1);
	hal_mark(MARK_BEGIN);
	wrong = join(tid);
	hal_mark(MARK_END);
	settle();
	hal_mark(LABEL + 2);
	hal_mark(MARK_BEGIN);
	wrong |= join(kthread_create(&t->ctx, ANY_CORE));
	hal_mark(MARK_END);
	return wrong;
}

static int
measure(struct team *t, long rounds)
{
	double start, create = 0, both = 0;
	char params[32];
	int wrong = 0;

	for (int i = 0; i < WINDOWS; i++)
		wrong |= count_round(t);
	for (long i = 0; i < rounds; i++) {
		long tid;

		start = MPI_Wtime();
		tid = kthread_create(&t->ctx, ANY_CORE);
		create += MPI_Wtime() - start;
		wrong |= join(tid);
		both += MPI_Wtime() - start;
	}
	snprintf(params, sizeof(params), "living=%ld", t->living);
	row("thread_create", create / (double)rounds * 1e9, "ns", params);
	row("thread_life", both / (double)rounds * 1e9, "ns", params);
	return wrong;
}

int
main(int argc, char **argv)
{
	static struct team team;
	int wrong;

	MPI_Init(&argc, &argv);
	wrong = team_begin(&team, number(argc, argv, "--living", 0));
	if (wrong != 0)
		fprintf(stderr, "threads: this machine has no room for so many threads\n");
	else
		wrong = measure(&team, number(argc, argv, "--rounds", 1000));
	team_end(&team);
	MPI_Finalize();
	return wrong != 0;
}
