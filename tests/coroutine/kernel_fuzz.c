/* SPDX-License-Identifier: MIT
 *
 * Random kernel calls with hostile arguments (tests/fuzz/fuzz.h) under the coroutine scheduler: two
 * children with several threads each are killed in the middle of their calls. The kernel answers
 * with errors, the parent and a bystander notice nothing, everything is back in the end.
 *
 * usage: kernel_fuzz [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>
#include <tests/fuzz/fuzz.h>

#define CORES 4
#define CHILDREN 2
#define THREADS 3			/* that a child starts with */
#define SLOTS 14			/* threads that it may have had */
#define PAGE 4096
#define AREAS 48			/* of stacks for handlers */
#define STACK_BYTES (24 * 1024)
#define CALLS 800			/* of a child, at most */
#define ENOUGH_CALLS 100000		/* in these every call that can work has mostly worked */
#define SEEDS_TIMES 4			/* as many seeds are tried for one that has not */
#define STEPS_MAX 10000
#define IDLE_MAX 2000			/* looks at a child that makes no calls */
#define SETTLES 100			/* calls in which a process without anything is gone */
#define BALANCED (STATS_PORTALS + 1)

static struct {
	_Alignas(64) unsigned char stack[CHILDREN][SLOTS][STACK_BYTES];
	_Alignas(64) unsigned char handler_stack[CHILDREN][AREAS][SLOTS][STACK_BYTES];
	_Alignas(64) unsigned char scratch[CHILDREN][SLOTS][FUZZ_SCRATCH];
	_Alignas(8) struct fuzz fuzz[CHILDREN];
	_Alignas(8) struct context ctx[CHILDREN];
	_Alignas(8) uint64_t result[CHILDREN];
	_Alignas(8) struct proc_status status;
	_Alignas(8) struct page_info page;
} shared;

static struct {
	uint32_t slots[CHILDREN];
	uint32_t areas[CHILDREN];
	uint32_t quota[CHILDREN];
	unsigned step;
} run;

static unsigned long all_calls, all_done, all_worked[KC_COUNT];	/* of all seeds */

/* --- a child: the number of its thread says whose --- */

long
fuzz_kcall(unsigned long number, const unsigned long a[6])
{
	return coro_kcall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void
work(uintptr_t number)
{
	unsigned child = (unsigned)number / SLOTS, slot = (unsigned)number % SLOTS;
	struct fuzz_thread t = {.f = &shared.fuzz[child], .random = 1 + coro_random(1u << 30),
		.never_blocks = slot == 0};

	t.scratch = shared.scratch[child][slot];
	for (;;) {
		fuzz_step(&t);
		if (coro_random(3) == 0)
			KC(KC_THREAD_YIELD);
	}
}

static void
slot_context(struct context *ctx, unsigned child, unsigned slot)
{
	coro_user_context(ctx, work, shared.stack[child][slot] + STACK_BYTES, child * SLOTS + slot);
}

void
fuzz_context(struct fuzz_thread *t, void *to)
{
	unsigned child = (unsigned)(t->f - shared.fuzz);
	struct context ctx;

	memset(&ctx, 0, sizeof(ctx));
	if (run.slots[child] < SLOTS && fuzz_chance(t, 60))
		slot_context(&ctx, child, run.slots[child]++);
	memcpy(to, &ctx, sizeof(ctx));
}

static void
handler(uintptr_t event)
{
	KC(KC_FRAME_RETURN, fuzz_handle((const struct handler_event *)event));
	coro_fail("a handler returned and goes on");
}

/*
 * No two threads have a handler's stack in common, which would not end one of them but the test: a
 * thread's own lies in the first area, and each call for the threads of a process, whichever that
 * is, names another.
 */
unsigned long
fuzz_handler(struct fuzz_thread *t, unsigned long *own_stack, unsigned long *stacks,
	unsigned long *stack_bytes)
{
	unsigned child = (unsigned)(t->f - shared.fuzz);

	*own_stack = *stacks = *stack_bytes = 0;
	if (++run.areas[child] >= AREAS)
		return 0;
	*own_stack =
		(unsigned long)shared.handler_stack[child][0][(t->scratch -
		shared.scratch[child][0]) / FUZZ_SCRATCH] + STACK_BYTES;
	*stacks = (unsigned long)shared.handler_stack[child][run.areas[child]] +
		sizeof(shared.handler_stack[child][0]);
	*stack_bytes = STACK_BYTES;
	return (unsigned long)handler;
}

/* Pages in a row: writable, absent, readable, absent. */
static uint64_t
edge_make(unsigned child)
{
	uint64_t *at = &shared.result[child];

	if (KC(KC_MEM_ALLOC, SELF, 4 * PAGE, PAGE_READ | PAGE_WRITE, at) != 0)
		return 0;
	KC(KC_PAGE_UNMAP, SELF, *at + PAGE, 1);
	KC(KC_PAGE_PROTECT, SELF, *at + 2 * PAGE, 1, PAGE_READ);
	KC(KC_PAGE_UNMAP, SELF, *at + 3 * PAGE, 1);
	return *at;
}

static void
child(uintptr_t i)
{
	struct fuzz *f = &shared.fuzz[i];

	f->page = PAGE;
	f->strict_context = true;
	f->other = &shared.fuzz[(i + 1) % CHILDREN];
	f->edge = edge_make((unsigned)i);
	f->fixed[2] = ~0ul << 47;
	fuzz_learn_process(f, f->itself);
	run.slots[i] = THREADS;
	for (unsigned slot = 1; slot < THREADS; slot++) {
		slot_context(&shared.ctx[i], (unsigned)i, slot);
		KC(KC_THREAD_CREATE, &shared.ctx[i], ANY_CORE);
	}
	work(i * SLOTS);
}

/* --- their parent --- */

static long
begin(unsigned i)
{
	long proc = KC(KC_PROC_CREATE);

	coro_check(proc >= 0);
	run.quota[i] = coro_random(CALLS);
	coro_user_context(&shared.ctx[i], child, shared.stack[i][0] + STACK_BYTES, i);
	shared.fuzz[i].itself = (int32_t)KC(KC_HANDLE_DUPLICATE, proc, proc, RIGHTS_ALL);
	coro_check(shared.fuzz[i].itself >= 0);
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[i], ANY_CORE) >= 0);
	return proc;
}

/*
 * Until it has made its calls, is dead, or makes none any more: its threads may have stopped at
 * faults that they wanted to handle themselves.
 */
static void
await(unsigned i, long proc)
{
	uint32_t calls = 0;

	for (unsigned idle = 0; idle < IDLE_MAX && shared.fuzz[i].calls < run.quota[i] &&
		KC(KC_PAGE_QUERY, proc, 0, &shared.page) != -E_SRCH; idle++) {
		if (shared.fuzz[i].calls != calls)
			idle = 0;
		calls = shared.fuzz[i].calls;
		KC(KC_THREAD_YIELD);
	}
}

static void
program(uintptr_t arg)
{
	uint64_t before[BALANCED];
	long proc[CHILDREN];

	(void)arg;
	/* it looks again and again: not before children that have made themselves low */
	coro_check(KC(KC_PROC_PRIORITY, SELF, 0) == 0);
	/* a table of handles, which it needs from now on */
	proc[0] = KC(KC_PROC_CREATE);
	coro_check(proc[0] >= 0 && KC(KC_HANDLE_CLOSE, proc[0]) == 0);
	for (int i = 0; i < SETTLES; i++)
		program_stats(STATS_PROCS);
	for (int i = 0; i < BALANCED; i++)
		before[i] = program_stats(i);
	for (unsigned i = 0; i < CHILDREN; i++)
		proc[i] = begin(i);
	run.step = 1;
	for (unsigned i = 0; i < CHILDREN; i++) {
		await(i, proc[i]);
		coro_check(KC(KC_PROC_KILL, proc[i], 9) == 0);
	}
	run.step = 2;
	for (unsigned i = 0; i < CHILDREN; i++) {
		coro_check(KC(KC_PROC_WAIT, proc[i], &shared.status, FOREVER) == 0);
		coro_check(KC(KC_HANDLE_CLOSE, proc[i]) == 0);
		all_calls += shared.fuzz[i].calls;
		all_done += shared.fuzz[i].done;
		for (unsigned nr = 0; nr < KC_COUNT; nr++)
			all_worked[nr] += shared.fuzz[i].worked[nr];
	}
	run.step = 3;
	/* what children made and left behind ends by itself */
	while (program_stats(STATS_PROCS) > before[STATS_PROCS])
		KC(KC_THREAD_YIELD);
	/*
	 * memory that nobody names is given back in steps, of which home does one with each call; a
	 * leak stays
	 */
	for (unsigned n = 0; n < STEPS_MAX &&
		program_stats(STATS_FRAMES_FREE) < before[STATS_FRAMES_FREE]; n++)
		continue;
	for (int i = 0; i < BALANCED; i++)
		if (program_stats(i) != before[i])
			coro_fail("number %d of the statistics is %lu, not %lu", i,
				(unsigned long)program_stats(i), (unsigned long)before[i]);
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0] = (struct program){program, 0};
	return cluster == 0 && core == 1 ? 1 : 0;
}

/* Calls that work for nobody who makes calls at random, or that do not return. */
static const char *const unreachable[] = {
	"thread_exit", "context_set", "proc_exit", "proc_kill", "proc_wait", "portal_write",
	"portal_read",
	"archive_map", "machine_halt", "frame_return", "context_get", "crash_info", "cluster_watch",
};

/* How many other calls never worked: then the arguments are no longer almost right. */
static unsigned
unreached(bool quiet)
{
	unsigned n = 0;

	for (unsigned nr = 0; nr < KC_COUNT; nr++) {
		bool known = all_worked[nr] != 0;

		for (size_t i = 0; i < sizeof(unreachable) / sizeof(unreachable[0]); i++)
			known |= strcmp(unreachable[i], kcall_shapes[nr].name) == 0;
		n += !known;
		if (!known && !quiet)
			printf("FAIL random_calls_hurt_only_those_who_make_them: %s has never "
				"worked\n", kcall_shapes[nr].name);
	}
	return n;
}

/* Is something still to work that works in so many calls, but for bad luck? */
static bool
is_looked_for(void)
{
	return all_calls >= ENOUGH_CALLS && unreached(true) > 0;
}

static void
dump(void)
{
	printf("step %u\n", run.step);
	for (unsigned i = 0; i < CHILDREN; i++) {
		uint32_t last = shared.fuzz[i].last_call - KC_FIRST;

		printf("child %u: %u of %u calls, the last %s, %u threads\n", i,
			shared.fuzz[i].calls, run.quota[i],
			last < KC_COUNT ? kcall_shapes[last].name : "none that exists",
			run.slots[i]);
	}
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 400,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	struct coro_config config = {.core = program_core, .dump = dump};
	struct boot_record record;
	struct coro_result result;

	program_is_init = true;
	for (unsigned long seed = first;
		seed < first + count || (is_looked_for() && seed < first + SEEDS_TIMES * count);
		seed++) {
		coro_record(&record, 1 + (unsigned)seed % 3 / 2, 2 + (unsigned)seed % (CORES - 1));
		memset(&run, 0, sizeof(run));
		memset(shared.fuzz, 0, sizeof(shared.fuzz));
		record.roles[0] = seed % 4 == 0 ? ROLE_TC : ROLE_KC;
		config.record = &record;
		config.seed = seed;
		program_begin(&shared, sizeof(shared));
		if (!coro_run(&config, &result, false)) {
			printf("FAIL random_calls_hurt_only_those_who_make_them: seed %lu\n", seed);
			return 1;
		}
	}
	if (is_looked_for() && unreached(false) > 0)
		return 1;
	printf("ok random_calls_hurt_only_those_who_make_them (%lu seeds, %lu calls, "
		"%lu without an error)\n", count, all_calls, all_done);
	return 0;
}
