/* SPDX-License-Identifier: MIT
 *
 * Signals that are pending, and how they come: see signal.h.
 */
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/inherit.h>
#include <user/personality/lock.h>
#include <user/personality/signal.h>
#include <user/personality/process.h>
#include <user/personality/usage.h>

#define NS_PER_US 1000ull
#define US_PER_S 1000000ull
#define ITIMER_REAL 0
#define SI_USER 0
#define SI_KERNEL 128
#define NOTES 31
#define QUEUE 32
#define EVERYBODY 0x7fffffff

static const int signal_of_timer[TIMERS] = {SIGALRM, SIGVTALRM, SIGPROF};

static struct {
	struct lock lock;		/* of the channel and the timers */
	struct channel channel;
	bool is_open;
	int32_t told_thread;		/* the channel and the alarm wake it; 0: it has ended */
	uint32_t is_used;		/* threads listen */
	uint64_t told;			/* what the server has been asked to tell */
	uint64_t pending;
	uint32_t children;		/* ends that were told of */
	uint32_t continued;		/* how often SIGCONT came */
	struct signal_note note[NOTES];	/* of the first signals; the others come from nobody */
	struct timer timer[TIMERS];
	/* signals of which each comes, in order; tid: for that thread, 0: for the process */
	struct lock queue_lock;
	uint32_t queued;
	struct queued_signal {
		int32_t sig, tid;
		struct signal_note note;
	} *queue;			/* memory that is there from the first one on */
	uint64_t limit;			/* when to look how long it has run; 0: never */
	uint64_t next;			/* when one that the program made is over; 0: none is set */
} signals;

/* --- one is pending --- */

void
signal_bit_take(void)
{
	kthread_sleep(1u << PERSONALITY_SIGNAL_BIT, 0);
}

static struct thread_record *
record_at(uint32_t stack)
{
	return (struct thread_record *)(personality_info.stack_top - (uint64_t)(stack + 1) *
		PERSONALITY_STACK_BYTES);
}

struct thread_record *
signal_thread(int tid)
{
	for (uint32_t i = 0; i < personality_info.stacks; i++)
		if (record_at(i)->tid == tid)
			return record_at(i);
	return NULL;
}

/* The thread itself blocks it: another one may not. */
static void
pending_pass_on(int32_t own, uint64_t bit)
{
	for (uint32_t i = 0; i < personality_info.stacks; i++) {
		const struct thread_record *r = record_at(i);

		if (r->tid != own && ((r->mask & bit) == 0 || (r->wanted & bit) != 0) &&
			r->listens &&
			kthread_wakeup(r->tid, 1u << PERSONALITY_SIGNAL_BIT) == 0)
			return;
	}
}

static void
note_put(int sig, const struct signal_note *note)
{
	if (sig <= NOTES)
		signals.note[sig - 1] = *note;
}

/* --- queued signals --- */

/* A place for one more: 0; one with a value is refused where there is none. */
static long
queue_put(int sig, int32_t tid, const struct signal_note *note)
{
	long result = 0;
	uint64_t addr;

	lock_take(&signals.queue_lock);
	if (signals.queue == NULL && kmem_alloc(SELF, QUEUE * sizeof(*signals.queue),
		PAGE_READ | PAGE_WRITE, &addr) >= 0)
		signals.queue = (struct queued_signal *)addr;
	if (signals.queue != NULL && signals.queued < QUEUE) {
		signals.queue[signals.queued].sig = sig;
		signals.queue[signals.queued].tid = tid;
		signals.queue[signals.queued++].note = *note;
	} else if (note->code == SI_QUEUE) {
		result = -E_AGAIN;
	}
	lock_give(&signals.queue_lock);
	return result;
}

/* With the lock: number i is gone. */
static void
queue_cut(uint32_t i)
{
	for (signals.queued--; i < signals.queued; i++)
		signals.queue[i] = signals.queue[i + 1];
}

/* The first one of a thread, or the process; is one more there? */
static bool
queue_take(int sig, int32_t tid, struct signal_note *note)
{
	uint32_t i = 0, found = 0;

	*note = (struct signal_note){0};
	lock_take(&signals.queue_lock);
	while (i < signals.queued)
		if (signals.queue[i].sig != sig || signals.queue[i].tid != tid || found++ > 0) {
			i++;
		} else {
			*note = signals.queue[i].note;
			queue_cut(i);
		}
	lock_give(&signals.queue_lock);
	return found > 1;
}

static void
queue_drop(uint64_t which)
{
	uint32_t i = 0;

	lock_take(&signals.queue_lock);
	while (i < signals.queued)
		if ((which & SIGNAL_OF(signals.queue[i].sig)) != 0 && signals.queue[i].tid == 0)
			queue_cut(i);
		else
			i++;
	lock_give(&signals.queue_lock);
}

bool
signals_drop_children(void)
{
	const struct signal_action *a = &kept.action[SIGCHLD - 1];

	return a->handler == SIG_IGN || (a->flags & SA_NOCLDWAIT) != 0;
}

static void
child_changed(void)
{
	__atomic_fetch_add(&signals.children, 1, __ATOMIC_RELEASE);
	kfutex_wake((unsigned long)&signals.children, EVERYBODY);
}

long
signal_pend(const struct handler_event *c, int sig, const struct signal_note *note)
{
	const struct thread_record *r = thread_record(c);
	uint64_t bit = SIGNAL_OF(sig);

	if (sig == SIGCHLD)
		child_changed();
	if (sig == SIGCONT) {
		signals_drop(SIGNALS_STOP);
		__atomic_fetch_add(&signals.continued, 1, __ATOMIC_RELEASE);
		kfutex_wake((unsigned long)&signals.continued, EVERYBODY);
	}
	if ((bit & SIGNALS_STOP) != 0)
		signals_drop(SIGNAL_OF(SIGCONT));
	if (signal_is_ignored(sig) && (r->mask & bit) == 0)
		return 0;
	if (sig >= SIGNALS_QUEUED && queue_put(sig, 0, note) != 0)
		return -E_AGAIN;
	if ((__atomic_load_n(&signals.pending, __ATOMIC_RELAXED) & bit) == 0)
		note_put(sig, note);
	__atomic_fetch_or(&signals.pending, bit, __ATOMIC_RELEASE);
	if ((r->mask & bit) != 0)
		pending_pass_on(r->tid, bit);
	return 0;
}

long
signal_pend_thread(int tid, int sig, const struct signal_note *note)
{
	struct thread_record *r = signal_thread(tid);

	if (r == NULL)
		return -E_SRCH;
	if (sig == 0 || (signal_is_ignored(sig) && (r->mask & SIGNAL_OF(sig)) == 0))
		return 0;
	if (sig >= SIGNALS_QUEUED && queue_put(sig, tid, note) != 0)
		return -E_AGAIN;
	note_put(sig, note);
	__atomic_fetch_or(&r->pending, SIGNAL_OF(sig), __ATOMIC_RELEASE);
	if (tid == kthread_self())
		return 0;
	return kthread_wakeup(tid, 1u << PERSONALITY_SIGNAL_BIT) < 0 ? -E_SRCH : 0;
}

void
signal_pend_self(int sig)
{
	const struct signal_note note = {0};

	signal_pend_thread((int)kthread_self(), sig, &note);
}

uint64_t
signals_pending(const struct thread_record *r)
{
	return __atomic_load_n(&signals.pending, __ATOMIC_ACQUIRE) |
		__atomic_load_n(&r->pending, __ATOMIC_ACQUIRE);
}

void
signals_drop(uint64_t which)
{
	__atomic_fetch_and(&signals.pending, ~which, __ATOMIC_RELAXED);
	if (signals.queued > 0)
		queue_drop(which);
}

/* Its number, or 0: another thread has it. The bit stays if one more is there. */
static int
take_queued(struct thread_record *r, int sig, struct signal_note *note)
{
	uint64_t bit = SIGNAL_OF(sig);
	bool is_thread = (__atomic_fetch_and(&r->pending, ~bit, __ATOMIC_ACQ_REL) & bit) != 0;
	uint64_t *pending = is_thread ? &r->pending : &signals.pending;

	if (!is_thread &&
		(__atomic_fetch_and(&signals.pending, ~bit, __ATOMIC_ACQ_REL) & bit) == 0)
		return 0;
	if (queue_take(sig, is_thread ? r->tid : 0, note))
		__atomic_fetch_or(pending, bit, __ATOMIC_RELEASE);
	return sig;
}

int
signal_take(struct thread_record *r, uint64_t mask, struct signal_note *note)
{
	uint64_t found;

	while ((found = signals_pending(r) & mask) != 0) {
		uint64_t bit = found & -found;
		int sig = __builtin_ctzll(found) + 1;

		if (sig >= SIGNALS_QUEUED && take_queued(r, sig, note) != 0)
			return sig;
		if (sig >= SIGNALS_QUEUED)
			continue;
		*note = sig <= NOTES ? signals.note[sig - 1] : (struct signal_note){0};
		if ((__atomic_fetch_and(&r->pending, ~bit, __ATOMIC_ACQ_REL) & bit) != 0 ||
			(__atomic_fetch_and(&signals.pending, ~bit, __ATOMIC_ACQ_REL) & bit) != 0)
			return sig;
	}
	return 0;
}

/* --- how they come --- */

static void
take_told(const struct handler_event *c, const struct process_reply *r)
{
	int sig = (int)(r->signal & ~PROCESS_TOLD);
	struct signal_note note = {.code = SI_USER, .pid = r->pid};

	if (sig != SIGCHLD && r->status.cause == PROCESS_QUEUED) {
		note.code = SI_QUEUE;
		note.value = (uint32_t)r->status.status | (uint64_t)r->status.threads << 32;
	}
	if (sig < 1 || sig > PROCESS_SIGNALS)
		return;
	if (sig == SIGCHLD && r->pid != 0) {
		note.code = process_end_code(&r->status);
		note.status = process_end_number(&r->status);
		if (note.code < CLD_STOPPED && signals_drop_children())
			process_drop_child(r->pid);
		if (note.code >= CLD_STOPPED &&
			(kept.action[SIGCHLD - 1].flags & SA_NOCLDSTOP) != 0) {
			child_changed();
			return;
		}
	}
	signal_pend(c, sig, &note);
}

/* What has come in the channel, which is listened to from now on. */
static void
look_at_channel(const struct handler_event *c)
{
	struct process_reply r;
	uint32_t bytes;

	do {
		while (channel_try_receive(&signals.channel, &r, sizeof(r)) >= 0)
			if ((r.signal & PROCESS_TOLD) != 0)
				take_told(c, &r);
		channel_listen(&signals.channel, false);
	} while (channel_look(&signals.channel, &bytes) != NULL);
}

/*
 * Has something come, or does nobody listen any more? The server may take a wish to be woken that
 * was meant for the next message for the one that has just been received.
 */
static bool
channel_needs_look(void)
{
	uint32_t bytes;

	return signals.is_open && (channel_look(&signals.channel, &bytes) != NULL ||
		__atomic_load_n(signals.channel.in.sleeps, __ATOMIC_RELAXED) == 0);
}

/* This thread is told from now on. */
static void
told_here(void)
{
	if (signals.told_thread == kthread_self())
		return;
	signals.told_thread = kthread_self();
	if (signals.is_open)
		channel_check(&signals.channel);
}

/* A thread of the kernel's has one alarm. */
static void
set_alarm(void)
{
	const struct timer *real = &signals.timer[ITIMER_REAL];
	struct alarm_times times = {.first = FOREVER};

	if (real->first != 0)
		times = (struct alarm_times){real->first, real->period > 0 &&
			real->period < ALARM_PERIOD_MIN ? ALARM_PERIOD_MIN : real->period};
	if (signals.limit != 0 && signals.limit < times.first)
		times = (struct alarm_times){.first = signals.limit};
	signals.next = timers_next();
	if (signals.next != 0 && signals.next < times.first)
		times = (struct alarm_times){.first = signals.next};
	kalarm_set(PERSONALITY_SIGNAL_BIT, &times);
	told_here();
}

/* If a timer is over: its next time, and its signal. */
static void
timer_look(const struct handler_event *c, unsigned which, uint64_t now)
{
	const struct signal_note note = {.code = SI_KERNEL};
	struct timer *t = &signals.timer[which];

	if (t->first == 0 || now < t->first)
		return;
	t->first = t->period == 0 ? 0 : now + t->period - (now - t->first) % t->period;
	signal_pend(c, signal_of_timer[which], &note);
}

/* The timers of processor time: how long until the next may be over, or FOREVER. */
static uint64_t
timers_left(const struct handler_event *c, const struct usage *u)
{
	uint64_t left = FOREVER;

	for (unsigned i = ITIMER_REAL + 1; i < TIMERS; i++) {
		const struct timer *t = &signals.timer[i];
		uint64_t of_this;

		timer_look(c, i, u->ns);
		of_this = t->first != 0 ? usage_left(u, t->first) : FOREVER;
		left = of_this < left ? of_this : left;
	}
	return left;
}

/* How long the process has run: its limit, and timers. */
static void
look_at_used(const struct handler_event *c, uint64_t now)
{
	const struct signal_note note = {.code = SI_KERNEL};
	const struct usage u = usage_look();
	int sig;
	uint64_t left = limits_time_left(c, &u, &sig), of_timers = timers_left(c, &u);

	if (of_timers < left)
		left = of_timers;
	signals.limit = left == FOREVER ? 0 : now + left;
	set_alarm();
	if (sig == SIGKILL) {
		lock_give(&signals.lock);
		signal_end(c, sig);
	}
	if (sig != 0)
		signal_pend(c, sig, &note);
}

static void
look_at_timers(const struct handler_event *c)
{
	const struct timer *real = &signals.timer[ITIMER_REAL];
	uint64_t now = 0;

	kclock(&now);
	if (signals.limit != 0 && now >= signals.limit)
		look_at_used(c, now);
	if (signals.next != 0 && now >= signals.next) {
		timers_look(c, now);
		set_alarm();
	}
	if (real->first == 0 || now < real->first)
		return;
	timer_look(c, ITIMER_REAL, now);
	if (signals.limit != 0 || signals.next != 0)
		set_alarm();
}

static void
look(const struct handler_event *c)
{
	bool has_timer = signals.timer[ITIMER_REAL].first != 0 || signals.limit != 0 ||
		signals.next != 0;

	if (!has_timer && !channel_needs_look())
		return;
	lock_take(&signals.lock);
	if (signals.told_thread == 0)
		set_alarm();
	if (signals.is_open)
		look_at_channel(c);
	if (has_timer)
		look_at_timers(c);
	lock_give(&signals.lock);
}

bool
signal_is_due(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	if (signals.is_used)
		look(c);
	return (signals_pending(r) & (~r->mask | r->wanted)) != 0 && r->borrowed == 0;
}

/* Ask for it, and be told meanwhile what had come before. */
static void
catch_more(const struct handler_event *c, uint64_t told)
{
	struct process_reply r = {0};
	const struct service_part answer[2] = {{&r, sizeof(r)}, {NULL, 0}};
	int result = process_catch(&signals.channel, told);

	while (result >= 0 && (result = service_receive(&signals.channel, answer)) >= 0 &&
		(r.signal & PROCESS_TOLD) != 0)
		take_told(c, &r);
	if (result >= 0)
		signals.told |= told;
	/* who has slept for the answer was told meanwhile */
	signals.told_thread = 0;
	set_alarm();
	look_at_channel(c);
}

void
signals_leave(int tid)
{
	if (!signals.is_open)
		return;
	lock_take(&signals.lock);
	if (signals.told_thread == tid)
		signals.told_thread = 0;
	if (signals.told_thread == 0) {
		__atomic_store_n(signals.channel.in.sleeps, 0, __ATOMIC_RELAXED);
		pending_pass_on(tid, 0);
	}
	lock_give(&signals.lock);
}

void
signals_listen(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);
	uint64_t stack = (uint64_t)r + PERSONALITY_STACK_BYTES;

	if (!r->listens && signals.is_used) {
		r->listens = 1;
		kthread_upcalls(1u << PERSONALITY_SIGNAL_BIT);
	}
	if (!r->takes_faults && kept.takes_faults) {
		r->takes_faults = 1;
		kthread_handler(HANDLE_FAULTS, (unsigned long)_start, (unsigned long)stack);
	}
}

/* Several ranks are one process, which nobody can send one. */
void
signals_want(const struct handler_event *c, uint64_t told)
{
	struct cluster_info here;

	signals.is_used = 1;
	signals_listen(c);
	told |= SIGNAL_OF(SIGCHLD);
	if ((told & ~signals.told) == 0 || only_rank() == NULL)
		return;
	lock_take(&signals.lock);
	kcluster_info(&here);
	if (!signals.is_open)
		signals.is_open = process_open(&signals.channel, (int)here.cluster,
			PERSONALITY_SIGNAL_BIT) == 0;
	if (signals.is_open)
		catch_more(c, signals.told | told);
	lock_give(&signals.lock);
}

uint32_t *
signals_children(void)
{
	return signals.is_open ? &signals.children : NULL;
}

/* --- waits --- */

long
signal_futex_wait(const struct handler_event *c, unsigned long addr, uint32_t value, uint64_t until)
{
	long result;

	do {
		if (signal_is_due(c))
			return -E_INTR;
		result = kfutex_wait(addr, value, until);
		if (result == -E_INTR)
			signal_bit_take();
	} while (result == -E_INTR);
	return result;
}

void
signal_stop(const struct handler_event *c, int sig)
{
	uint32_t seen = __atomic_load_n(&signals.continued, __ATOMIC_ACQUIRE);

	signals_want(c, SIGNALS_OF_JOBS);
	if (!signals.is_open)
		return;
	process_stopped_call(sig);
	for (look(c); __atomic_load_n(&signals.continued, __ATOMIC_ACQUIRE) == seen; look(c))
		if (kfutex_wait((unsigned long)&signals.continued, seen, FOREVER) == -E_INTR)
			signal_bit_take();
	process_stopped_call(0);
}

/* --- the timer --- */

/* By its clock. */
static uint64_t
timer_now(unsigned which)
{
	uint64_t now = 0;

	if (which != ITIMER_REAL)
		return usage_process();
	kclock(&now);
	return now;
}

static void
timer_tell(const struct timer *t, uint64_t now, uint64_t *to)
{
	uint64_t left = 0;

	if (t->first != 0)
		left = (t->first > now ? t->first - now : 0) / NS_PER_US + 1;
	to[0] = t->period / NS_PER_US / US_PER_S;
	to[1] = t->period / NS_PER_US % US_PER_S;
	to[2] = left / US_PER_S;
	to[3] = left % US_PER_S;
}

long
signal_timer_get(const struct handler_event *c)
{
	if (arg(c, 0) >= TIMERS)
		return -E_INVAL;
	timer_tell(&signals.timer[arg(c, 0)], timer_now((unsigned)arg(c, 0)),
		(uint64_t *)arg(c, 1));
	return 0;
}

static bool
is_time(const uint64_t *t)
{
	return t[0] < FOREVER / US_PER_S / NS_PER_US / 2 && t[1] < US_PER_S;
}

/* How long the process has run may have to be looked at at another time now. */
static void
follow_used(const struct handler_event *c)
{
	uint64_t now = 0;

	kclock(&now);
	look_at_used(c, now);
}

/* The thread that sets it is the one that is told. */
long
signal_timer_set(const struct handler_event *c)
{
	static const uint64_t none[4];
	const uint64_t *span = arg(c, 1) != 0 ? (const uint64_t *)arg(c, 1) : none;
	unsigned long which = arg(c, 0);
	uint64_t now, first, period;

	if (which >= TIMERS || !is_time(span) || !is_time(span + 2))
		return -E_INVAL;
	first = (span[2] * US_PER_S + span[3]) * NS_PER_US;
	period = (span[0] * US_PER_S + span[1]) * NS_PER_US;
	signals_want(c, 0);
	now = timer_now((unsigned)which);
	lock_take(&signals.lock);
	if (arg(c, 2) != 0)
		timer_tell(&signals.timer[which], now, (uint64_t *)arg(c, 2));
	signals.timer[which] = (struct timer){first == 0 ? 0 : now + first,
		first == 0 ? 0 : period};
	if (which == ITIMER_REAL)
		set_alarm();
	else
		follow_used(c);
	lock_give(&signals.lock);
	return 0;
}

void
signals_hold(const struct handler_event *c)
{
	signals_want(c, 0);
	lock_take(&signals.lock);
}

void
signals_go_on(void)
{
	set_alarm();
	lock_give(&signals.lock);
}

void
signal_threads_share(const struct handler_event *c)
{
	if (__atomic_load_n(&signals.limit, __ATOMIC_RELAXED) == 0)
		return;
	lock_take(&signals.lock);
	follow_used(c);
	lock_give(&signals.lock);
}

/* The thread that says so is the one that is told. */
void
signal_time_limit(const struct handler_event *c)
{
	signals_want(c, 0);
	lock_take(&signals.lock);
	follow_used(c);
	lock_give(&signals.lock);
}

/* --- another program --- */

void
signals_put(const struct handler_event *c, struct inherit *b)
{
	char *to = (char *)b + inherit_bytes(b);
	uint64_t is_set = 0;

	b->pending = signals_pending(thread_record(c));
	for (int i = 0; i < TIMERS; i++)
		is_set |= signals.timer[i].first;
	if (is_set == 0)
		return;
	memcpy(to, signals.timer, sizeof(signals.timer));
	b->timer_bytes = sizeof(signals.timer);
}

/* What was pending comes from nobody. */
void
signals_take(const struct handler_event *c, const struct inherit *b)
{
	const char *from = (const char *)b + inherit_bytes(b) - b->timer_bytes;

	__atomic_fetch_or(&signals.pending, b->pending, __ATOMIC_RELAXED);
	if (b->timer_bytes == 0)
		return;
	memcpy(signals.timer, from, sizeof(signals.timer));
	signal_time_limit(c);
}
