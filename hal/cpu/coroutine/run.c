/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: set a machine up, run it to its end, tell what happened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <abi/errors.h>
#include "internal.h"

static const char *const strategy_name[] = {"uniform", "sticky", "starve", "priority", "burst"};
static const char *const end_name[] = {"ok", "hang: every core waits", "no end", "panic", "failed"};

/* splitmix64: seeds that differ little give numbers that differ much. */
static uint64_t
scramble(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ULL;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebULL;
	return (seed ^ seed >> 31) | 1;
}

/* First code of every coroutine. */
static void
core_begin(void)
{
	coro_fibre_arrived(NULL);
	coro_now->entry(coro_now);
	abort();
}

/* A kernel stack with a page below it that catches overflows. */
static char *
new_stack(void)
{
	char *p = mmap(NULL, STACK_BYTES + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) != 0) {
		perror("coroutine stack");
		exit(1);
	}
	return p + 4096;
}

/* Everything of a core but what the next run can use again. */
static void
reset_core(struct coro_core *core, unsigned cluster, unsigned number)
{
	struct coro_core old = *core;
	void **sp;

	coro_forget_held(core);
	*core = (struct coro_core){.cluster = cluster, .core = number, .stack = old.stack,
		.windows = old.windows,
		.windows_clean = old.windows_clean};
	core->index = (unsigned)(core - coro_machine.core);
	core->tick = HAL_FOREVER;
	core->priority = 16 + coro_draw(1 << 20);
	if (core->stack == NULL)
		core->stack = new_stack();
	coro_stack_unpoison(core);
	core->kernel_top = core->stack + STACK_BYTES - 64;
	/* what coro_switch pops, and a return address; the stack is then aligned as after a call */
	sp = (void **)core->kernel_top - 8;
	memset(sp, 0, 8 * sizeof(*sp));
	sp[6] = (void *)core_begin;
	core->sp = sp;
}

static void
enter_boot(struct coro_core *core)
{
	struct coro_cluster *c = &coro_machine.cluster[core->cluster];
	void (*boot)(const struct boot_record *, void *, size_t) = coro_machine.config->boot;

	if (boot == NULL)
		boot = kernel_boot_main;
	boot(&coro_machine.record, c->memory, c->memory_bytes);
	coro_fail("core %u.%u returned from boot", core->cluster, core->core);
}

static void
set_up_cores(void)
{
	struct coro_machine *m = &coro_machine;
	unsigned next = 0;

	for (unsigned i = 0; i < m->record.clusters; i++) {
		m->cluster[i].core = &m->core[next];
		m->cluster[i].cores = m->record.cluster[i].cores;
		for (unsigned k = 0; k < m->cluster[i].cores; k++)
			reset_core(&m->core[next++], i, k);
	}
	m->cores = next;
}

/* --- restart of a cluster --- */

/*
 * What the cores have stored is seen, as when an interrupt stops them, or lost, as when they lose
 * their power. Some seeds say so later only.
 */
int
hal_cluster_stop(unsigned cluster)
{
	struct coro_cluster *c = coro_machine.cluster;
	bool was = true;

	coro_op(OP_POINT, __FILE__, __LINE__, cluster);
	if (coro_now->cluster != 0)
		return -E_ACCES;
	if (cluster == 0 || cluster >= coro_machine.record.clusters)
		return -E_INVAL;
	c += cluster;
	for (unsigned i = 0; i < c->cores; i++) {
		was &= c->core[i].state == CORE_DEAD;
		if (c->core[i].state != CORE_DEAD && coro_draw(2))
			coro_drain(&c->core[i]);
		coro_forget_held(&c->core[i]);
	}
	coro_kill_cluster(cluster);
	if (was || coro_draw(2))
		return 0;
	hal_interrupt_home(0);
	return -E_AGAIN;
}

int
hal_cluster_start(unsigned cluster)
{
	struct coro_cluster *c = coro_machine.cluster;
	int e = hal_cluster_stop(cluster);

	if (e != 0)
		return e;
	c += cluster;
	for (unsigned i = 0; i < c->cores; i++)
		reset_core(&c->core[i], cluster, i);
	coro_cluster_memory(cluster);
	coro_machine.record.cluster[cluster].incarnation++;
	c->core->entry = enter_boot;
	coro_ordered(c->core);
	coro_core_image(c->core);
	coro_make_ready(c->core);
	return 0;
}

/* What kind of run the seed stands for. */
static void
choose(const struct coro_config *config)
{
	struct coro_machine *m = &coro_machine;

	bool strict = config->strict || coro_sites_from_outside();

	m->random = scramble(config->seed);
	m->scenario_random = scramble(~config->seed);
	m->strategy = coro_draw(CORO_STRATEGIES);
	m->stores_max = coro_draw(2) ? 1 + coro_draw(STORES_MAX) : 0;
	m->early_writeback = coro_draw(4) == 0;
	m->spurious = !strict && coro_draw(8) == 0;
	m->store_laziness = 1u << coro_draw(6);
	m->cold = coro_draw(8) == 0;
	m->garbage = coro_draw(2) ? 0xa5 : 0x5a;
	m->lazy_publishes = coro_draw(2);
	m->early_loads = coro_draw(2);
	if (m->lazy_publishes)
		m->store_laziness <<= coro_draw(6);
	m->burst = 0;
	for (unsigned i = 0; i < 3; i++)
		m->change_at[i] = coro_draw(4096);
}

static void
set_up(const struct coro_config *config, struct coro_result *result)
{
	struct coro_machine *m = &coro_machine;

	*result = (struct coro_result){.trace = 0xcbf29ce484222325ULL};
	m->config = config;
	m->result = result;
	m->record = *config->record;
	m->ops = m->switches = m->clock_ns = m->writes = 0;
	m->ops_max = config->ops_max ? config->ops_max : 2000000;
	m->ready_count = 0;
	m->user_ranges = 0;
	memset(m->device, 0, sizeof(m->device));
	choose(config);
	set_up_cores();
	m->victim = &m->core[coro_draw(m->cores)];
	coro_memory_start();
	for (unsigned i = 0; i < m->record.clusters; i++) {
		m->cluster[i].core->entry = enter_boot;
		coro_make_ready(m->cluster[i].core);
	}
}

static void
explain(const struct coro_config *config, const struct coro_result *result)
{
	printf("seed %llu (%s, store buffer %u%s%s%s%s%s): %s%s%s\n",
		(unsigned long long)config->seed,
		strategy_name[coro_machine.strategy], coro_machine.stores_max,
		coro_machine.cold ? ", cold" : "",
		coro_machine.lazy_publishes ? ", lazy publishes" : "",
		coro_machine.early_loads ? ", early loads" : "",
		coro_machine.early_writeback ? ", early write-back" : "",
		coro_machine.spurious ? ", spurious wake-ups" : "", end_name[result->end],
		result->why[0] ? ": " : "", result->why);
	printf("ended with status %d after %llu operations, trace %016llx\n", result->status,
		(unsigned long long)result->ops,
		(unsigned long long)result->trace);
	coro_dump();
	if (config->dump != NULL)
		config->dump();
}

bool
coro_run(const struct coro_config *config, struct coro_result *result, bool quiet)
{
	bool good;

	coro_catch_signals();
	set_up(config, result);
	coro_sched_start();
	good = result->end == CORO_OK && result->status == 0;
	if (!good && !quiet && !coro_sites_from_outside())
		explain(config, result);
	return good;
}

bool
coro_run_seeds(struct coro_config *config, uint64_t first, uint64_t count)
{
	struct coro_result result;

	for (uint64_t i = 0; i < count; i++) {
		config->seed = first + i;
		if (!coro_run(config, &result, false))
			return false;
	}
	return true;
}
