/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: cores, waiting, doorbells, time, and the ends of a run that come from inside.
 *
 * Doorbells are as forgetful as the contract allows: a ring that finds nobody between wait_begin
 * and the end of the wait is lost.
 */
#include <stdarg.h>
#include <stdio.h>
#include "internal.h"
#include <hal/console.h>

unsigned
hal_core_id(void)
{
	return coro_now->core;
}

unsigned
hal_cluster_id(void)
{
	return coro_now->cluster;
}

void *
hal_core_local(void)
{
	return coro_now->local;
}

void
hal_core_set_local(void *core)
{
	coro_now->local = core;
}

static void
enter_core_main(struct coro_core *core)
{
	void (*main)(void *) = coro_machine.config->core;

	if (main == NULL)
		main = kernel_core_main;
	main(core->arg);
	coro_fail("core %u.%u returned from its main function", core->cluster, core->core);
}

void
hal_core_start(unsigned core, void *arg)
{
	struct coro_core *target = &coro_machine.cluster[coro_now->cluster].core[core];

	coro_op(OP_POINT, __FILE__, __LINE__, core);
	coro_full_order(coro_now);
	if (target->state != CORE_OFF)
		hal_panic(__FILE__, __LINE__, "core started twice");
	target->arg = arg;
	target->entry = enter_core_main;
	coro_ordered(target);
	coro_core_image(target);
	coro_make_ready(target);
}

void
coro_wait_begin(const char *file, int line)
{
	coro_op(OP_WAIT_BEGIN, file, line, 0);
	coro_full_order(coro_now);
	if (coro_dropped(OP_WAIT_BEGIN, file, line))
		return;
	coro_now->waiting = true;
	coro_now->rung = coro_now->interrupt;
}

void
coro_wait_cancel(const char *file, int line)
{
	coro_op(OP_WAIT_CANCEL, file, line, 0);
	coro_now->waiting = coro_now->rung = false;
	coro_device_take();
}

void
coro_wait(uint64_t until_ns, const char *file, int line)
{
	coro_op(OP_WAIT, file, line, 0);
	coro_full_order(coro_now);
	coro_now->waiting = true;
	coro_now->until = until_ns;
	if (!coro_now->rung && until_ns > coro_machine.clock_ns &&
		!coro_device_is_pending(coro_now))
		coro_block();
	coro_now->waiting = coro_now->rung = coro_now->interrupt = false;
	coro_ordered(coro_now);
	coro_hash(coro_machine.clock_ns);
	coro_device_take();
}

static void
ring(struct coro_core *target)
{
	if (!target->waiting)
		return;
	target->rung = true;
	if (target->state == CORE_WAITING)
		coro_make_ready(target);
}

void
coro_notify(unsigned cluster, unsigned core, const char *file, int line)
{
	struct coro_cluster *c = &coro_machine.cluster[cluster];

	coro_op(OP_NOTIFY, file, line, cluster << 16 | core);
	coro_full_order(coro_now);
	if (cluster >= coro_machine.record.clusters || core >= c->cores)
		coro_fail("%s:%d: doorbell of core %u.%u, which does not exist", file, line,
			cluster, core);
	if (!coro_dropped(OP_NOTIFY, file, line))
		ring(&c->core[core]);
}

static void
interrupt(unsigned cluster, unsigned core, const char *file, int line)
{
	struct coro_cluster *c = &coro_machine.cluster[cluster];

	coro_op(OP_INTERRUPT, file, line, cluster << 16 | core);
	coro_full_order(coro_now);
	if (cluster >= coro_machine.record.clusters || core >= c->cores)
		coro_fail("%s:%d: interrupt of core %u.%u, which does not exist", file, line,
			cluster, core);
	if (coro_dropped(OP_INTERRUPT, file, line))
		return;
	c->core[core].interrupt = true;
	ring(&c->core[core]);
}

void
coro_interrupt(unsigned core, const char *file, int line)
{
	interrupt(coro_now->cluster, core, file, line);
}

void
coro_interrupt_home(unsigned cluster, const char *file, int line)
{
	interrupt(cluster, 0, file, line);
}

void
coro_timer_arm(uint64_t until_ns, const char *file, int line)
{
	coro_op(OP_ARM, file, line, until_ns != HAL_FOREVER);
	if (!coro_dropped(OP_ARM, file, line))
		coro_now->tick = until_ns;
}

uint64_t
hal_clock_ns(void)
{
	coro_op(OP_CLOCK, __FILE__, __LINE__, 0);
	return ++coro_machine.clock_ns;
}

size_t
hal_console_put(const char *text, size_t len)
{
	hal_console_write(text, len);
	return len;
}

void
hal_console_write(const char *text, size_t len)
{
	if (coro_machine.config->verbose)
		fwrite(text, 1, len, stdout);
	for (size_t i = 0; i < len; i++)
		coro_hash((unsigned char)text[i]);
}

void
coro_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(coro_machine.result->why, sizeof(coro_machine.result->why), format, args);
	va_end(args);
	coro_end(CORO_FAILED, 1);
}

void
coro_finish(int status)
{
	coro_end(CORO_OK, status);
}

void
hal_machine_halt(int status)
{
	coro_finish(status);
}

void
hal_panic(const char *file, int line, const char *what)
{
	if (coro_machine.config->panic_kills) {
		hal_noc_mark_dead(coro_now->cluster);
		coro_kill_cluster(coro_now->cluster);
	}
	snprintf(coro_machine.result->why, sizeof(coro_machine.result->why),
		"core %u.%u: %s:%d: %s", coro_now->cluster, coro_now->core,
		file, line, what);
	coro_end(CORO_PANIC, 1);
}

void
coro_point(void)
{
	coro_op(OP_POINT, "test", 0, 0);
}

uint64_t
coro_ops(void)
{
	return coro_machine.ops;
}

uint32_t
coro_random(uint32_t n)
{
	uint64_t x = coro_machine.scenario_random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	coro_machine.scenario_random = x;
	return (uint32_t)(((x * 0x2545f4914f6cdd1dULL >> 32) * n) >> 32);
}
