/* SPDX-License-Identifier: MIT
 *
 * Start user programs on the real kernel: see program.h. The first half runs on an application core
 * before it enters its loop; the second on the home core, inside an active message whose caller is
 * a thread that exists for this purpose only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>
#include <tests/coroutine/program.h>

#define PROGRAMS_MAX 32
#define STACK_BYTES (64 * 1024)
#define CORES 4

static _Alignas(4096) unsigned char stack[PROGRAMS_MAX][STACK_BYTES];
static _Alignas(64) uint64_t value[8];	/* the first: for program_stats */
bool program_is_init, program_has_authority;
int program_first_core;
static unsigned stacks;			/* in use in this run */
static void *shared;
static size_t shared_len;
static bool named;			/* the scheduler knows both */
static struct process starter;		/* whom the starting messages come from */
static struct thread starting[CLUSTERS_MAX];

static void (*only)(uintptr_t arg);	/* the test's one program, or NULL */

__attribute__((weak)) unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0] = (struct program){only, 0};
	return cluster == 0 && core == 1 && only != NULL;
}

void
program_begin(void *base, size_t len)
{
	stacks = 0;
	starter.state = PROC_LIVE;
	shared = base;
	shared_len = len;
	named = false;
}

static void
name_memory(void)
{
	if (named)
		return;
	named = true;
	coro_user_memory(stack, sizeof(stack));
	coro_user_memory(value, sizeof(value));
	if (shared_len > 0)
		coro_user_memory(shared, shared_len);
}

void
program_exit(void)
{
	for (;;)
		KC(KC_PROC_EXIT, 0);
}

static long
start_home(struct kcall_args *args)
{
	struct cluster *c = args->caller->cluster;
	struct process *p;
	struct context ctx;

	check(stacks < PROGRAMS_MAX);
	check(proc_new(c, NULL, &p) == 0);
	if (program_is_init)
		c->init = p;
	if (program_has_authority) {
		object_init(&c->authority, OBJECT_AUTHORITY);
		object_get(&c->authority);
		check(handle_new(&p->handles, &c->authority, RIGHTS_ALL) ==
			PROGRAM_AUTHORITY);
	}
	coro_user_context(&ctx, (void (*)(uintptr_t))args->a[0], stack[stacks++] + STACK_BYTES,
		args->a[1]);
	return thread_new(p, &ctx, (int)args->a[2]);
}

static void
start(struct core *core, const struct program *p)
{
	struct kcall_args *args = kcall_args(core);
	struct thread *from = &starting[core->cluster->id];

	from->cluster = core->cluster;
	from->proc = &starter;
	args->caller = from;
	args->a[0] = (unsigned long)p->fn;
	args->a[1] = p->arg;
	args->a[2] = core->id;
	check(am_call_kernel(core, start_home, args,
		offsetof(struct kcall_args, a) + 3 * sizeof(args->a[0])) > 0);
}

void
program_core(void *arg)
{
	struct core *core = arg;
	struct program programs[8];
	unsigned n;

	name_memory();
	n = program_on(hal_cluster_id(), hal_core_id(), programs, 8);
	if (n == 0)
		kernel_core_main(arg);
	/* what the kernel's own entry does, for the sake of start() */
	hal_acquire(core, sizeof(*core));
	hal_acquire(core->cluster, sizeof(*core->cluster));
	hal_core_set_local(core);
	for (unsigned i = 0; i < n; i++)
		start(core, &programs[i]);
	kernel_core_main(arg);
}

uint64_t
program_stats(int what)
{
	coro_check(KC(KC_STATS, what, value) == 0);
	return value[0];
}

void
program_rounds(void (*one_round)(unsigned round), unsigned rounds)
{
	uint64_t frames = program_stats(STATS_FRAMES_FREE);
	uint64_t pieces = program_stats(STATS_PIECE_PAGES);

	for (unsigned i = 0; i < rounds; i++)
		one_round(i);
	coro_check(program_stats(STATS_PROCS) == 1);
	coro_check(program_stats(STATS_FRAMES_FREE) == frames);
	coro_check(program_stats(STATS_PIECE_PAGES) == pieces);
	coro_finish(0);
}

/* What each run begins with. */
static void
prepare(const struct program_test *test, struct coro_config *config, struct boot_record *record,
	unsigned long seed)
{
	*config = (struct coro_config){.record = record, .seed = seed, .core = program_core,
		.dump = test->dump};
	if (test->clusters > 0) {
		coro_record(record, test->clusters, test->cores);
	} else {
		coro_record(record, 1, 2 + (unsigned)seed % (CORES - 1));
		record->roles[0] = seed % 4 == 0 ? ROLE_TC : ROLE_KC;
	}
	memset(test->state, 0, test->state_bytes);
	if (test->begin != NULL)
		test->begin(config, record, seed);
	program_first_core = record->roles[0] == ROLE_KC;
	program_begin(test->shared, test->shared_bytes);
}

unsigned long
program_seeds(const struct program_test *test, int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : test->seeds,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	struct coro_config config;
	struct boot_record record;
	struct coro_result result;

	only = test->main;
	for (unsigned long seed = first; seed < first + count; seed++) {
		prepare(test, &config, &record, seed);
		if (!coro_run(&config, &result, false)) {
			printf("FAIL %s: seed %lu\n", test->name, seed);
			return 0;
		}
	}
	return count;
}

int
program_main(const struct program_test *test, int argc, char **argv)
{
	unsigned long count = program_seeds(test, argc, argv);

	if (count == 0)
		return 1;
	printf("ok %s (%lu seeds)\n", test->name, count);
	return 0;
}
