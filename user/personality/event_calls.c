/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on descriptors of events: eventfd, timerfd, signalfd and epoll. The file server has
 * what they stand for; which signals are pending, and the time, are known here (ADR 0139).
 */
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define LINUX_O_NONBLOCK 04000
#define LINUX_O_CLOEXEC 02000000
#define EFD_SEMAPHORE 1
#define TFD_TIMER_ABSTIME 1
#define TFD_TIMER_FLAGS 3		/* that a clock is set cannot happen */
#define TFD_CLOCKS 0x383u		/* real, monotonic, of boot; of alarms */
#define EPOLL_CTL_LAST 3
#define POLLIN 1
#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ll
#define SIGINFO_BYTES 128
#define MASK_BYTES 8

static __attribute__((noinline)) long
event_make(const struct handler_event *c, enum file_event kind, unsigned long flags, uint64_t value)
{
	struct file_request q = {.op = FILE_EVENT, .arg = kind, .offset = value,
		.more = ((flags & LINUX_O_NONBLOCK) != 0 ? FILE_NONBLOCK : 0) |
			((flags & EFD_SEMAPHORE) != 0 ? FILE_SEMAPHORE : 0)};
	unsigned long known = LINUX_O_CLOEXEC | (kind != FILE_EVENT_LIST ? LINUX_O_NONBLOCK : 0) |
		(kind == FILE_EVENT_COUNT ? EFD_SEMAPHORE : 0);
	struct file_claimed end;
	struct file_reply r;
	long result = (flags & ~known) != 0 ? -E_INVAL : files_ask_for(&q, &r, &end, sizeof(end));

	return result < 0 ? result :
		files_attach_claimed(c, &end, (flags & LINUX_O_CLOEXEC) != 0);
}

/* What a descriptor of one kind stands for; NULL: -E_BADF or -E_INVAL. */
static const struct opened *
event_find(const struct handler_event *c, uint8_t kind, long *error)
{
	struct opened stream, *o = files_find(c, arg(c, 0), &stream);

	*error = o == NULL ? -E_BADF : -E_INVAL;
	return o != NULL && o->kind == kind ? o : NULL;
}

/* --- timers --- */

static bool
is_span(const uint64_t *t)
{
	return t[0] < INT64_MAX && t[1] < NS_PER_S;
}

static void
put_span(uint64_t *to, uint64_t ns)
{
	to[0] = ns / NS_PER_S;
	to[1] = ns % NS_PER_S;
}

static long
timer(const struct handler_event *c, const uint64_t *to, uint64_t *old)
{
	struct file_request q = {.op = FILE_EVENT_SET};
	struct file_timer next = {0}, was = {0};
	struct file_reply r;
	long result;
	const struct opened *o = event_find(c, OPENED_EVENT, &result);

	if (o == NULL)
		return result;
	if (to != NULL && (!is_span(to) || !is_span(to + 2) ||
		(arg(c, 1) & ~(unsigned long)TFD_TIMER_FLAGS) != 0))
		return -E_INVAL;
	if (to != NULL) {
		next.first = time_after(0, to + 2);
		next.period = time_after(0, to);
		q.arg = (uint32_t)arg(c, 1) & TFD_TIMER_ABSTIME;
	}
	q.handle = o->handle;
	result = files_call(&q, (struct service_part){&next, to != NULL ? sizeof(next) : 0}, &r,
		(struct service_part){&was, sizeof(was)});
	if (result >= 0 && old != NULL) {
		put_span(old, was.period);
		put_span(old + 2, was.first);
	}
	return result < 0 ? result : 0;
}

/* --- signals --- */

static long
signals(const struct handler_event *c)
{
	uint64_t mask = *(const uint64_t *)arg(c, 1) & ~SIGNALS_FIXED;
	struct file_request q = {.op = FILE_EVENT_SET, .arg = 1, .offset = mask};
	struct file_reply r;
	const struct opened *o;
	long result;

	if (arg(c, 2) != MASK_BYTES)
		return -E_INVAL;
	signals_want(c, mask);
	if ((int32_t)arg(c, 0) == -1)
		return event_make(c, FILE_EVENT_SIGNALS, arg(c, 3), mask);
	if ((arg(c, 3) & ~(unsigned long)(LINUX_O_CLOEXEC | LINUX_O_NONBLOCK)) != 0)
		return -E_INVAL;
	o = event_find(c, OPENED_SIGNALS, &result);
	if (o == NULL)
		return result;
	q.handle = o->handle;
	result = files_ask(&q, &r);
	return result < 0 ? result : (long)arg(c, 0);
}

/* Linux's struct signalfd_siginfo. */
static void
put_signal(uint64_t at, int sig, const struct signal_note *note)
{
	int32_t *to = (int32_t *)at;

	memset(to, 0, SIGINFO_BYTES);
	to[0] = sig;
	to[2] = note->code;
	to[3] = note->pid;
	to[10] = note->status;
	to[11] = (int32_t)note->value;
	memcpy(&to[12], &note->value, sizeof(note->value));
}

long
event_take_signals(const struct handler_event *c, const struct opened *o, struct iovec piece)
{
	struct file_request q = {.op = FILE_READ, .handle = o->handle, .offset = FILE_AT_OFFSET,
		.arg = sizeof(uint64_t)};
	struct signal_note note;
	struct file_reply r;
	uint64_t mask = 0, done = 0;
	long result = piece.len < SIGINFO_BYTES ? -E_INVAL :
		reach_write(piece.base, piece.len - piece.len % SIGINFO_BYTES);
	int sig;

	if (result == 0)
		result = files_ask_for(&q, &r, &mask, sizeof(mask));
	if (result < 0)
		return result;
	signals_want(c, mask);
	signal_is_due(c);
	for (; piece.len - done >= SIGINFO_BYTES; done += SIGINFO_BYTES) {
		sig = signal_take(thread_record(c), mask, &note);
		if (sig == 0)
			break;
		put_signal(piece.base + done, sig, &note);
	}
	return done > 0 ? (long)done : (r.value & FILE_NONBLOCK) != 0 ? -E_AGAIN : -FILE_LATER;
}

/* --- lists --- */

static long
list_change(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_LIST_CHANGE, .arg = (uint32_t)arg(c, 1),
		.more = (uint32_t)arg(c, 2)};
	struct opened stream, other, *of = files_find(c, arg(c, 2), &stream);
	struct file_listed what = {0};
	struct file_reply r;
	long result;
	const struct opened *o = event_find(c, OPENED_LIST, &result);

	if (q.arg != FILE_LIST_REMOVE) {
		if (reach_read(arg(c, 3), sizeof(what.wanted)) != 0)
			return -E_FAULT;
		memcpy(&what.wanted, (const void *)arg(c, 3), sizeof(what.wanted));
	}
	if (of == NULL || result == -E_BADF)
		return -E_BADF;
	if (of == &stream && of->handle == 0 && files_input(c) != NULL) {
		other = *files_input(c);
		of = &other;
	}
	if (of->kind < OPENED_PIPE)
		return -E_PERM;
	if (o == NULL || of->handle == o->handle)
		return -E_INVAL;
	q.handle = o->handle;
	what.handle = of->handle;
	result = files_call(&q, (struct service_part){&what, sizeof(what)}, &r,
		(struct service_part){NULL, 0});
	return result < 0 ? result : 0;
}

/* What is there now: how many. */
static long
list_take(const struct handler_event *c)
{
	struct file_request q = {.op = FILE_LIST_TAKE, .arg = (uint32_t)arg(c, 2),
		.offset = signals_pending(thread_record(c))};
	struct file_reply r;
	long result;
	const struct opened *o = event_find(c, OPENED_LIST, &result);
	uint32_t most = FILE_DATA_MAX / sizeof(struct file_ready);

	if (o == NULL)
		return result;
	if (q.arg > most)
		q.arg = most;
	if ((int32_t)arg(c, 2) <= 0)
		return -E_INVAL;
	if (reach_write(arg(c, 1), q.arg * sizeof(struct file_ready)) != 0)
		return -E_FAULT;
	q.handle = o->handle;
	result = files_ask_for(&q, &r, (void *)arg(c, 1), q.arg * sizeof(struct file_ready));
	return result < 0 ? result : (long)r.count;
}

static long
list_wait(const struct handler_event *c, uint64_t until)
{
	const uint64_t *mask = (const uint64_t *)arg(c, 4);
	long result;

	if (mask != NULL)
		signal_mask_for_now(c, *mask);
	for (;;) {
		files_lock();
		result = list_take(c);
		files_unlock();
		if (result != 0 || until == 0)
			return result;
		result = pipe_await(c, arg(c, 0), POLLIN, until);
		if (result <= 0)
			return result == -E_INTR ? -CALL_INTERRUPTED : result;
	}
}

/* In milliseconds, -1: for ever; or a span. */
static uint64_t
list_until(const struct handler_event *c, unsigned long nr)
{
	const uint64_t *span = (const uint64_t *)arg(c, 3);
	int64_t ms = (int32_t)arg(c, 3);
	uint64_t now = 0;

	kclock(&now);
	if (nr == SYS_epoll_pwait)
		return ms < 0 ? FOREVER : ms == 0 ? 0 : now + (uint64_t)(ms * NS_PER_MS);
	return span == NULL ? FOREVER : span[0] == 0 && span[1] == 0 ? 0 : time_after(now, span);
}

static long
event_on(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_eventfd2: return event_make(c, FILE_EVENT_COUNT, arg(c, 1), (uint32_t)arg(c, 0));
	case SYS_timerfd_create:
		return arg(c, 0) > 31 || (TFD_CLOCKS >> arg(c, 0) & 1) == 0 ? -E_INVAL :
			event_make(c, FILE_EVENT_TIMER, arg(c, 1), time_began(arg(c, 0)));
	case SYS_timerfd_settime:
		return timer(c, (const uint64_t *)arg(c, 2), (uint64_t *)arg(c, 3));
	case SYS_timerfd_gettime: return timer(c, NULL, (uint64_t *)arg(c, 1));
	case SYS_signalfd4: return signals(c);
	case SYS_epoll_create1: return event_make(c, FILE_EVENT_LIST, arg(c, 0), 0);
	default: return list_change(c);
	}
}

long
event_call(const struct handler_event *c, unsigned long nr)
{
	long result;

	if (nr == SYS_epoll_pwait || nr == SYS_epoll_pwait2)
		return list_wait(c, list_until(c, nr));
	if (nr == SYS_timerfd_create)
		time_began(0);		/* which asks for it once, with the lock */
	files_lock();
	result = event_on(c, nr);
	files_unlock();
	return result;
}
