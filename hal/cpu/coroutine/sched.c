/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: the scheduler. Between two HAL operations of a core any other ready core may
 * run; which one is drawn from the seed by one of several strategies, each good at another kind of
 * bug.
 */
#include "internal.h"

struct coro_machine coro_machine;
struct coro_core *coro_now;

static void *outside;			/* the stack of coro_run */
static void *outside_fake;

/* One in `n`. */
static bool
one_in(uint32_t n)
{
	return coro_draw(n) == 0;
}

static struct coro_core *
any_ready(void)
{
	return coro_machine.ready[coro_draw(coro_machine.ready_count)];
}

static bool
is_ready(const struct coro_core *core)
{
	return core->state == CORE_READY;
}

static struct coro_core *
pick_starving(void)
{
	struct coro_core *core = any_ready();

	if (one_in(256))
		coro_machine.victim = &coro_machine.core[coro_draw(coro_machine.cores)];
	for (int i = 0; i < 8 && core == coro_machine.victim && !one_in(64); i++)
		core = any_ready();
	return core;
}

static struct coro_core *
pick_by_priority(void)
{
	struct coro_core *best = coro_machine.ready[0];

	for (unsigned i = 0; i < 3; i++)
		if (coro_machine.ops == coro_machine.change_at[i])
			coro_now->priority = i;
	/* nobody waits for ever: whoever runs may be polling for one that does not */
	if (one_in(128))
		any_ready()->priority = coro_draw(1 << 20);
	for (unsigned i = 1; i < coro_machine.ready_count; i++)
		if (coro_machine.ready[i]->priority > best->priority)
			best = coro_machine.ready[i];
	return best;
}

static struct coro_core *
pick_in_bursts(void)
{
	if (coro_machine.burst > 0 && is_ready(coro_now)) {
		coro_machine.burst--;
		return coro_now;
	}
	coro_machine.burst = 1 + coro_draw(1u << coro_draw(8));
	return any_ready();
}

/* Who runs next; there is somebody. */
static struct coro_core *
pick(void)
{
	switch (coro_machine.strategy) {
	case CORO_STICKY:
		return is_ready(coro_now) && !one_in(16) ? coro_now : any_ready();
	case CORO_STARVE:
		return pick_starving();
	case CORO_PRIORITY:
		return pick_by_priority();
	case CORO_BURST:
		return pick_in_bursts();
	default:
		return any_ready();
	}
}

static void
switch_to(struct coro_core *next)
{
	struct coro_core *from = coro_now;
	void *fake;

	if (next == from)
		return;
	coro_machine.switches++;
	coro_hash(next->index);
	coro_load_images(next);
	coro_now = next;
	coro_fibre_to(next, &fake);
	coro_switch(&from->sp, next->sp);
	coro_fibre_arrived(fake);
}

void
coro_make_ready(struct coro_core *core)
{
	core->state = CORE_READY;
	coro_machine.ready[coro_machine.ready_count++] = core;
}

static void
not_ready(struct coro_core *core, enum coro_state state)
{
	unsigned i = 0;

	core->state = state;
	while (coro_machine.ready[i] != core)
		i++;
	coro_machine.ready[i] = coro_machine.ready[--coro_machine.ready_count];
}

/*
 * Wake the cores whose time has come; with `jump`, go to the next such time. False if nobody waits
 * for a time.
 */
static bool
wake_by_time(bool jump)
{
	struct coro_machine *m = &coro_machine;
	uint64_t earliest = HAL_FOREVER;

	for (unsigned i = 0; i < m->cores; i++)
		if (m->core[i].state == CORE_WAITING && m->core[i].until < earliest)
			earliest = m->core[i].until;
	if (earliest == HAL_FOREVER || (!jump && earliest > m->clock_ns))
		return false;
	if (earliest > m->clock_ns)
		m->clock_ns = earliest;
	for (unsigned i = 0; i < m->cores; i++)
		if (m->core[i].state == CORE_WAITING && m->core[i].until <= m->clock_ns)
			coro_make_ready(&m->core[i]);
	return true;
}

static void
wake_spuriously(void)
{
	struct coro_core *core = &coro_machine.core[coro_draw(coro_machine.cores)];

	if (core->state == CORE_WAITING)
		coro_make_ready(core);
}

void
coro_op(enum op_kind kind, const char *file, int line, uint32_t value)
{
	struct coro_machine *m = &coro_machine;
	struct op *op;

	if (coro_now == NULL)
		return;
	op = &coro_now->ops[coro_now->op_count++ % OPS_KEPT];
	*op = (struct op){kind, file, line, value};
	coro_hash((uint64_t)kind << 32 | value);
	if (++m->ops > m->ops_max)
		coro_end(CORO_ENDLESS, 0);
	m->clock_ns += m->config->op_ns != 0 ? m->config->op_ns : 10;
	if (m->ops % 64 == 0)
		wake_by_time(false);
	if (m->spurious && one_in(256))
		wake_spuriously();
	coro_disturb();
	switch_to(pick());
}

void
coro_block(void)
{
	not_ready(coro_now, CORE_WAITING);
	while (coro_machine.ready_count == 0)
		if (!wake_by_time(true))
			coro_end(CORO_HANG, 0);
	switch_to(pick());
}

void
coro_kill_cluster(unsigned cluster)
{
	struct coro_cluster *c = &coro_machine.cluster[cluster];

	for (unsigned i = 0; i < c->cores; i++) {
		if (is_ready(&c->core[i]))
			not_ready(&c->core[i], CORE_DEAD);
		c->core[i].state = CORE_DEAD;
	}
	if (coro_now->state != CORE_DEAD)
		return;
	while (coro_machine.ready_count == 0)
		if (!wake_by_time(true))
			coro_end(CORO_HANG, 0);
	switch_to(pick());
}

void
coro_sched_start(void)
{
	coro_now = coro_machine.ready[0];
	coro_load_images(coro_now);
	coro_fibre_to(coro_now, &outside_fake);
	coro_switch(&outside, coro_now->sp);
	coro_fibre_arrived(outside_fake);
	coro_now = NULL;
}

void
coro_end(enum coro_end end, int status)
{
	void *nobody;

	coro_machine.result->end = end;
	coro_machine.result->status = status;
	coro_machine.result->ops = coro_machine.ops;
	coro_fibre_to(NULL, NULL);
	coro_switch(&nobody, outside);
	__builtin_unreachable();
}
