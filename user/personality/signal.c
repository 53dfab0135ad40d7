/* SPDX-License-Identifier: MIT
 *
 * Linux's calls on signals: actions, masks, sending, and waits for signals.
 *
 * The process server is told of a signal when the program says what is to be done about it. One
 * that is blocked and has the default action is told, too, unless the program blocks all at once:
 * a library does that for a few instructions, and to tell the server would cost far more.
 */
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/process.h>
#include <user/personality/signal.h>
#include <user/personality/usage.h>

#define SI_TKILL (-6)
#define SS_DISABLE 2
#define ALL_AT_ONCE 50		/* so many signals in one mask are all of them */

/* --- actions --- */

static struct signal_action *
action_of(int sig)
{
	return &kept.action[sig - 1];
}

bool
signal_is_ignored(int sig)
{
	uint64_t handler = action_of(sig)->handler;

	return handler == SIG_IGN || (handler == SIG_DFL && (sig == SIGCHLD || sig == SIGCONT ||
		sig == SIGURG || sig == SIGWINCH));
}

uint64_t
signals_ignored(void)
{
	uint64_t mask = 0;

	for (int sig = 1; sig <= PROCESS_SIGNALS && kept.acted != 0; sig++)
		if (action_of(sig)->handler == SIG_IGN)
			mask |= SIGNAL_OF(sig);
	return mask;
}

void
signal_end(const struct handler_event *c, int sig)
{
	process_exit_borrowed(c, 128 + sig);
	robust_end_all(thread_record(c)->rank);
	if (personality_info.is_child)
		process_kill_call(personality_info.pid, sig | (int)(usage_at_end() << 8),
			PROCESS_DEFAULT);
	for (;;)
		kproc_exit(128 + sig);
}

static void
tell_action(uint64_t *to, const struct signal_action *a)
{
	to[0] = a->handler;
	to[1] = a->flags;
	to[2] = a->mask;
}

static long
set_action(const struct handler_event *c, int sig, const uint64_t *to, uint64_t *old)
{
	struct signal_action *a;

	if (sig < 1 || sig > PROCESS_SIGNALS)
		return -E_INVAL;
	a = action_of(sig);
	if (to != NULL && (SIGNAL_OF(sig) & SIGNALS_FIXED) != 0)
		return -E_INVAL;
	if (thread_record(c)->borrowed != 0)
		return process_borrowed_action(c, sig, to, old);
	if (old != NULL)
		tell_action(old, a);
	if (to == NULL)
		return 0;
	kept.acted |= SIGNAL_OF(sig);
	*a = (struct signal_action){.handler = to[0], .mask = to[2] & ~SIGNALS_FIXED,
		.flags = (uint32_t)to[1]};
	if (signal_is_ignored(sig))
		signals_drop(SIGNAL_OF(sig));
	if (to[0] == SIG_DFL && (sig != SIGCHLD || !signals_drop_children()))
		return 0;
	if ((SIGNAL_OF(sig) & SIGNALS_OF_FAULTS) == 0)
		signals_want(c, SIGNAL_OF(sig));
	else if (to[0] != SIG_IGN)
		kept.takes_faults = 1;
	signals_listen(c);
	return 0;
}

/* --- masks --- */

/*
 * The default action of what is blocked is to come later. Libraries block all signals for a few
 * instructions, some of them in two steps.
 */
static void
hold(const struct handler_event *c, uint64_t mask)
{
	if (mask != 0 && __builtin_popcountll(mask) < ALL_AT_ONCE)
		signals_want(c, mask);
}

/* How: 0 more, 1 fewer, 2 these. */
static long
change_mask(const struct handler_event *c, unsigned long how, const uint64_t *change, uint64_t *old)
{
	struct thread_record *r = thread_record(c);
	uint64_t was = r->mask;

	if (change != NULL && how > 2)
		return -E_INVAL;
	if (change != NULL) {
		r->mask = (how == 0 ? was | *change : how == 1 ? was & ~*change : *change) &
			~SIGNALS_FIXED;
		if (r->borrowed == 0)
			hold(c, r->mask);
	}
	if (old != NULL)
		*old = was;
	return 0;
}

void
signals_begin_with(const struct handler_event *c, uint64_t mask, uint64_t ignored)
{
	thread_record(c)->mask = mask & ~SIGNALS_FIXED;
	kept.acted |= ignored;
	for (int sig = 1; sig <= PROCESS_SIGNALS && ignored != 0; sig++)
		if ((ignored & SIGNAL_OF(sig)) != 0)
			action_of(sig)->handler = SIG_IGN;
	if (personality_info.stops)
		mask |= SIGNALS_OF_JOBS;
	if ((mask | ignored) != 0)
		signals_want(c, mask | ignored);
}

void
signal_mask_for_now(const struct handler_event *c, uint64_t mask)
{
	struct thread_record *r = thread_record(c);

	r->saved_mask = r->mask;
	r->has_saved_mask = 1;
	r->mask = mask & ~SIGNALS_FIXED;
}

/* What is blocked until then is to come, and not to do its default. */
static long
suspend(const struct handler_event *c)
{
	static uint32_t never;

	signals_want(c, 0);
	signal_mask_for_now(c, *(const uint64_t *)arg(c, 0));
	while (signal_futex_wait(c, (unsigned long)&never, 0, FOREVER) != -E_INTR)
		continue;
	return -CALL_INTERRUPTED;
}

void
signal_info_fill(int32_t info[SIGINFO_WORDS], int sig, const struct signal_note *note)
{
	memset(info, 0, SIGINFO_WORDS * sizeof(info[0]));
	info[0] = sig;
	info[2] = note->code;
	info[4] = note->pid;
	info[6] = note->status;
	if (note->value != 0)
		memcpy(&info[6], &note->value, sizeof(note->value));
}

static long
timed_wait(const struct handler_event *c)
{
	const uint64_t *set = (const uint64_t *)arg(c, 0), *span = (const uint64_t *)arg(c, 2);
	struct thread_record *r = thread_record(c);
	struct signal_note note = {0};
	uint64_t now = 0, until = FOREVER;
	static uint32_t never;
	long result = 0;
	int sig;

	kclock(&now);
	if (span != NULL)
		until = time_after(now, span);
	signals_want(c, *set);
	signal_mask_for_now(c, r->mask & ~*set);
	while ((sig = signal_take(r, *set, &note)) == 0 && result == 0) {
		result = signal_futex_wait(c, (unsigned long)&never, 0, until);
		if (result == -E_INTR && (signals_pending(r) & *set) != 0)
			result = 0;
	}
	if (sig != 0 || result != -E_INTR) {
		r->mask = r->saved_mask;
		r->has_saved_mask = 0;
	}
	if (sig != 0 && arg(c, 1) != 0)
		signal_info_fill((int32_t *)arg(c, 1), sig, &note);
	return sig != 0 ? sig : result == -E_TIMEDOUT ? -E_AGAIN : -CALL_INTERRUPTED;
}

/* --- sending --- */

static long
sent(const struct handler_event *c, unsigned long nr)
{
	struct signal_note note = {.code = nr == SYS_kill ? 0 : SI_TKILL,
		.pid = personality_info.pid};
	int sig = (int)(nr == SYS_tgkill ? arg(c, 2) : arg(c, 1));
	int32_t to = (int32_t)(nr == SYS_tgkill ? arg(c, 1) : arg(c, 0));

	if (sig < 0 || sig > PROCESS_SIGNALS)
		return -E_INVAL;
	if (nr == SYS_kill && to != personality_info.pid) {
		long result = process_kill_call(to, sig, 0);

		if (result <= 0)
			return result;
	}
	if (sig == SIGKILL)
		signal_end(c, sig);
	if (nr != SYS_kill)
		return signal_pend_thread(to, sig, &note);
	if (sig != 0)
		signal_pend(c, sig, &note);
	return 0;
}

/* With a siginfo_t of the sender's, of which the value is taken, and here all. */
static long
queued(const struct handler_event *c, bool is_thread)
{
	int32_t pid = (int32_t)arg(c, 0), tid = is_thread ? (int32_t)arg(c, 1) : 0;
	int sig = (int32_t)arg(c, is_thread ? 2 : 1);
	const int32_t *info = (const int32_t *)arg(c, is_thread ? 3 : 2);
	struct signal_note note = {.code = info[2], .pid = info[4]};

	if (is_thread && (pid <= 0 || tid <= 0))
		return -E_INVAL;
	memcpy(&note.value, &info[6], sizeof(note.value));
	if (pid != personality_info.pid && (note.code >= 0 || note.code == SI_TKILL))
		return -E_PERM;
	if (pid <= 0 || (is_thread && pid != personality_info.pid))
		return -E_SRCH;
	if (sig < 0 || sig > PROCESS_SIGNALS)
		return -E_INVAL;
	if (pid != personality_info.pid)
		return process_queue_call(pid, sig, note.value);
	if (sig == SIGKILL)
		signal_end(c, sig);
	if (is_thread)
		return signal_pend_thread(tid, sig, &note);
	return sig != 0 ? signal_pend(c, sig, &note) : 0;
}

static long
alternate_stack(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);
	const uint64_t *to = (const uint64_t *)arg(c, 0);
	uint64_t *old = (uint64_t *)arg(c, 1);
	bool is_on = c->sp - r->alternate < r->alternate_bytes;

	if (to != NULL && is_on)
		return -E_PERM;
	if (old != NULL) {
		old[0] = r->alternate;
		old[1] = r->alternate_bytes == 0 ? SS_DISABLE : is_on;
		old[2] = r->alternate_bytes;
	}
	if (to != NULL) {
		bool is_off = (to[1] & SS_DISABLE) != 0;

		r->alternate = is_off ? 0 : to[0];
		r->alternate_bytes = is_off ? 0 : to[2];
	}
	return 0;
}

static long
tell_pending(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	signal_is_due(c);
	*(uint64_t *)arg(c, 0) = signals_pending(r) & r->mask;
	return 0;
}

long
signal_call(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_rt_sigaction: return set_action(c, (int)arg(c, 0), (const uint64_t *)arg(c, 1),
		(uint64_t *)arg(c, 2));
	case SYS_rt_sigprocmask: return change_mask(c, arg(c, 0), (const uint64_t *)arg(c, 1),
		(uint64_t *)arg(c, 2));
	case SYS_rt_sigpending: return tell_pending(c);
	case SYS_rt_sigtimedwait: return timed_wait(c);
	case SYS_rt_sigsuspend: return suspend(c);
	case SYS_rt_sigreturn: signal_return_call(c);
	case SYS_sigaltstack: return alternate_stack(c);
	case SYS_rt_sigqueueinfo: return queued(c, false);
	case SYS_rt_tgsigqueueinfo: return queued(c, true);
	case SYS_setitimer: return signal_timer_set(c);
	case SYS_getitimer: return signal_timer_get(c);
	default: return sent(c, nr);
	}
}
