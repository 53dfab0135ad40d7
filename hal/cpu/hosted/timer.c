/* SPDX-License-Identifier: MIT
 *
 * The tick of a core: a timer of Linux whose signal goes to the core's host thread. It is made when
 * the core first arms a time, so a core that never does has none.
 *
 * Setting Linux's timer is a system call, and the kernel arms another time at every switch. So the
 * timer is set only when it would fire too late: armed later, or no more, it is left alone, and its
 * signal finds by the clock that the time has not come. Then the timer is set to the time that is
 * armed by then. Hence no signal is believed: a late one, or one of a time armed before, does no
 * harm.
 */
#include <hal/timer.h>
#include "hosted.h"

void
host_tick_init(struct host_core *c)
{
	c->tick_ns = HAL_FOREVER;
	c->timer_ns = HAL_FOREVER;
}

static void
make_timer(struct host_core *c)
{
	struct sigevent to_core = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = HOST_TICK};

	to_core._sigev_un._tid = (pid_t)c->tid;
	if (host_call3(SYS_timer_create, CLOCK_MONOTONIC, &to_core, &c->timer) != 0)
		host_refuse("no timer for a core");
	c->has_timer = true;
}

/* Its signal may come at once, and then finds timer_ns as it will be. */
HOST_RAW static void
set_timer(struct host_core *c, uint64_t at_ns)
{
	struct itimerspec once = {.it_value = host_time(at_ns)};

	c->timer_ns = at_ns;
	host_call4(SYS_timer_settime, c->timer, TIMER_ABSTIME, &once, NULL);
}

void
hal_timer_arm(uint64_t until_ns)
{
	struct host_core *c = host_core_self();

	c->tick_ns = until_ns;
	if (until_ns >= c->timer_ns)
		return;
	if (!c->has_timer)
		make_timer(c);
	set_timer(c, until_ns);
}

/* Like hal_clock_ns, without what a sanitizer puts between: a signal's handler asks. */
HOST_RAW static uint64_t
now_ns(void)
{
	struct timespec now;

	host_call2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return host_ns(&now);
}

HOST_RAW bool
host_tick_take(struct host_core *c)
{
	uint64_t at = c->tick_ns;

	if (at == HAL_FOREVER)
		return false;
	if (now_ns() < at) {
		if (at < c->timer_ns)
			set_timer(c, at);
		return false;
	}
	c->tick_ns = HAL_FOREVER;
	return true;
}

HOST_RAW const struct hal_trap *
host_late_trap(void)
{
	struct host_core *c = host_core_self();

	if (c->pending != 0) {
		c->pending = 0;
		return &host_trap_doorbell;
	}
	c->tick = 0;
	return host_tick_take(c) ? &host_trap_timer : NULL;
}
