/* SPDX-License-Identifier: MIT
 *
 * Timers that a program makes (timer_create). They are over by the one alarm that the kernel has
 * for the process; a child of fork and another program have none of them. The thread that is to be
 * told may be one that has just been made, so a number that is no thread's is told to nobody.
 */
#include <base/str.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define MADE_MAX 32
#define CLOCKS 0x383u			/* real, monotonic, of boot; of alarms */
#define SI_TIMER (-2)
#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1
#define SIGEV_THREAD_ID 4
#define TIMER_ABSTIME 1
#define NS_PER_S 1000000000ull

/* Linux's struct sigevent, as far as it says something. */
struct linux_event {
	uint64_t value;
	int32_t sig, notify, tid;
};

struct made_timer {
	struct linux_event event;
	uint32_t clock;
	bool is_made;
	uint32_t overrun;		/* how often it was over besides when it was told */
	struct timer timer;		/* by the kernel's clock */
};

static struct made_timer *made;		/* MADE_MAX, from the first one on */

/* With the lock of the signals: when the next is over; 0: none is set. */
uint64_t
timers_next(void)
{
	uint64_t next = FOREVER;

	for (int i = 0; made != NULL && i < MADE_MAX; i++)
		if (made[i].timer.first != 0 && made[i].event.notify != SIGEV_NONE &&
			made[i].timer.first < next)
			next = made[i].timer.first;
	return next == FOREVER ? 0 : next;
}

static void
timer_over(const struct handler_event *c, struct made_timer *t, uint64_t now)
{
	const struct signal_note note = {.code = SI_TIMER, .pid = (int32_t)(t - made),
		.value = t->event.value};
	uint64_t period = t->timer.period,
		times = period == 0 ? 0 : (now - t->timer.first) / period;

	t->overrun = times < INT32_MAX ? (uint32_t)times : INT32_MAX;
	if (period != 0 && times < (FOREVER - t->timer.first) / period)
		t->timer.first += (times + 1) * period;
	else
		t->timer.first = 0;	/* it is not over again */
	if (t->event.notify == SIGEV_THREAD_ID)
		signal_pend_thread(t->event.tid, t->event.sig, &note);
	else
		signal_pend(c, t->event.sig, &note);
}

void
timers_look(const struct handler_event *c, uint64_t now)
{
	for (int i = 0; made != NULL && i < MADE_MAX; i++)
		if (made[i].timer.first != 0 && made[i].timer.first <= now &&
			made[i].event.notify != SIGEV_NONE)
			timer_over(c, &made[i], now);
}

static long
timer_make(const struct handler_event *c)
{
	struct linux_event e = {.sig = SIGALRM};
	uint64_t addr;
	int32_t i = 0;

	if (arg(c, 1) != 0)
		memcpy(&e, (const void *)arg(c, 1), sizeof(e));
	if (arg(c, 0) > 31 || (CLOCKS >> arg(c, 0) & 1) == 0 || (e.notify != SIGEV_NONE &&
		((e.notify != SIGEV_SIGNAL && e.notify != SIGEV_THREAD_ID) || e.sig < 1 ||
		e.sig > 64)))
		return -E_INVAL;
	if (made == NULL && kmem_alloc(SELF, MADE_MAX * sizeof(*made), PAGE_READ | PAGE_WRITE,
		&addr) >= 0)
		made = (struct made_timer *)addr;
	while (made != NULL && i < MADE_MAX && made[i].is_made)
		i++;
	if (made == NULL || i == MADE_MAX)
		return -E_AGAIN;
	if (arg(c, 1) == 0)
		e.value = (uint64_t)i;
	made[i] = (struct made_timer){.event = e, .clock = (uint32_t)arg(c, 0), .is_made = true};
	*(int32_t *)arg(c, 2) = i;
	return 0;
}

static void
timer_say(const struct made_timer *t, uint64_t *to)
{
	uint64_t now = 0, first = t->timer.first, period = t->timer.period, left = 0;

	kclock(&now);
	if (first > now)
		left = first - now;
	else if (first != 0)
		left = period == 0 ? 0 : period - (now - first) % period;
	to[0] = period / NS_PER_S;
	to[1] = period % NS_PER_S;
	to[2] = left / NS_PER_S;
	to[3] = left % NS_PER_S;
}

static long
timer_set(const struct handler_event *c, struct made_timer *t, uint64_t began)
{
	const uint64_t *to = (const uint64_t *)arg(c, 2);
	uint64_t now = 0, first;

	if (to[0] > INT64_MAX || to[2] > INT64_MAX || to[1] >= NS_PER_S || to[3] >= NS_PER_S)
		return -E_INVAL;
	first = time_after(0, to + 2);
	kclock(&now);
	if (first != 0 && (arg(c, 1) & TIMER_ABSTIME) != 0)
		first = first > began ? first - began : 1;
	else if (first != 0)
		first = time_after(now, to + 2);
	if (arg(c, 3) != 0)
		timer_say(t, (uint64_t *)arg(c, 3));
	t->timer = (struct timer){first, first != 0 ? time_after(0, to) : 0};
	t->overrun = 0;
	return 0;
}

long
timers_call(const struct handler_event *c, unsigned long nr)
{
	uint64_t began = time_began(0);
	struct made_timer *t;
	long result = 0;

	signals_hold(c);
	t = made != NULL && arg(c, 0) < MADE_MAX && made[arg(c, 0)].is_made ?
		&made[arg(c, 0)] : NULL;
	if (nr == SYS_timer_create)
		result = timer_make(c);
	else if (t == NULL)
		result = -E_INVAL;
	else if (nr == SYS_timer_settime)
		result = timer_set(c, t, (CLOCKS_OF_WORLD >> t->clock & 1) != 0 ? began : 0);
	else if (nr == SYS_timer_gettime)
		timer_say(t, (uint64_t *)arg(c, 1));
	else if (nr == SYS_timer_getoverrun)
		result = t->overrun;
	else
		*t = (struct made_timer){0};
	signals_go_on();
	return result;
}
