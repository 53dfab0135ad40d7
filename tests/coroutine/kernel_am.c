/* SPDX-License-Identifier: MIT
 *
 * Active messages of the real kernel under the coroutine scheduler. Every core sends calls of every
 * size to home, with data that home checks and changes; home posts to other cores meanwhile. Each
 * call is served once, in the sender's order, and no core is overtaken twice; what does not fit is
 * an error.
 *
 * usage: kernel_am [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <tests/coroutine/program.h>

#define CORES 5
#define CALLS 12

static struct {
	unsigned served[CORES];		/* calls of each core */
	unsigned since[CORES][CORES];	/* how often [a] was served since [b] had its ticket */
	bool waiting[CORES];		/* has a ticket */
	unsigned posted[CORES];		/* to each core */
	unsigned received[CORES];
	unsigned ended;
	struct process proc;
	struct thread thread[CORES];
} run;

static unsigned char
pattern(unsigned core, unsigned number, unsigned i)
{
	return (unsigned char)(core * 71 + number * 13 + i * 7);
}

struct post {
	uint32_t core;
	uint32_t number;
	unsigned char data[AM_DATA - 8];
};

static void
receive(struct core *core, const void *data)
{
	const struct post *p = data;

	coro_check(p->core == core->id && p->number == run.received[core->id]);
	for (unsigned i = 0; i < sizeof(p->data); i++)
		coro_check(p->data[i] == pattern(p->core, p->number, i));
	run.received[core->id]++;
}

static void
post_to(struct core *to)
{
	struct post p = {to->id, run.posted[to->id], {0}};
	int e;

	for (unsigned i = 0; i < sizeof(p.data); i++)
		p.data[i] = pattern(p.core, p.number, i);
	coro_check(am_post(to, receive, &p, AM_DATA + 1) == -E_2BIG);
	e = am_post(to, receive, &p, sizeof(p));
	coro_check(e == 0 || e == -E_AGAIN);
	if (e == 0) {
		run.posted[to->id]++;
		hal_notify(to->cluster->id, to->id);
	}
}

/* a[0] core, a[1] number, a[2] bytes of data */
static long
serve(struct kcall_args *args)
{
	unsigned core = (unsigned)args->a[0], number = (unsigned)args->a[1];
	struct cluster *c = args->caller->cluster;

	coro_check(core_is_home(core_self()) && number == run.served[core]);
	for (unsigned i = 0; i < args->a[2]; i++) {
		coro_check(args->data[i] == pattern(core, number, i));
		args->data[i] ^= 0x5a;
	}
	run.served[core]++;
	for (unsigned b = 1; b < CORES; b++)
		if (b != core && run.waiting[b])
			coro_check(++run.since[core][b] <= 2);
	if (coro_random(2))
		post_to(&c->core[1 + coro_random(CORES - 1)]);
	return (long)(core * 1000 + number);
}

static void
call_once(struct core *core, unsigned number)
{
	struct kcall_args *args = kcall_args(core);
	unsigned bytes = coro_random(KCALL_DATA + 1);
	long result;

	args->caller = &run.thread[core->id];
	args->a[0] = core->id;
	args->a[1] = number;
	args->a[2] = bytes;
	for (unsigned i = 0; i < bytes; i++)
		args->data[i] = pattern(core->id, number, i);
	coro_check(am_call_kernel(core, serve, args, sizeof(*args) + 1) == -E_2BIG);
	result = am_call_kernel(core, serve, args,
		(uint32_t)(offsetof(struct kcall_args, data) + bytes));
	coro_check(result == (long)(core->id * 1000 + number));
	for (unsigned i = 0; i < bytes; i++)
		coro_check(args->data[i] == (pattern(core->id, number, i) ^ 0x5a));
}

static void
caller_core(void *arg)
{
	struct core *core = arg;

	hal_acquire(core, sizeof(*core));
	hal_acquire(core->cluster, sizeof(*core->cluster));
	hal_core_set_local(core);
	run.thread[core->id].cluster = core->cluster;
	run.thread[core->id].proc = &run.proc;
	for (unsigned i = 0; i < CALLS; i++)
		call_once(core, i);
	coro_check(run.served[core->id] == CALLS);
	if (++run.ended == CORES - 1)
		coro_finish(0);
	kernel_core_main(arg);
}

static void
dump(void)
{
	for (unsigned i = 1; i < CORES; i++)
		printf("core %u: %u served, %u posted, %u received\n", i, run.served[i],
			run.posted[i], run.received[i]);
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	struct coro_config config = {.core = caller_core, .dump = dump};
	struct boot_record record;
	struct coro_result result;

	for (unsigned long seed = first; seed < first + count; seed++) {
		coro_record(&record, 1, CORES);
		memset(&run, 0, sizeof(run));
		run.proc.state = PROC_LIVE;
		config.record = &record;
		config.seed = seed;
		if (!coro_run(&config, &result, false)) {
			printf("FAIL active_messages_are_served_once_in_order: seed %lu\n", seed);
			return 1;
		}
	}
	printf("ok active_messages_are_served_once_in_order (%lu seeds)\n", count);
	return 0;
}
