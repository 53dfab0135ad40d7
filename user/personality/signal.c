/* SPDX-License-Identifier: MIT
 *
 * Signals, as far as there are any. Masks and handlers are accepted, and one that is sent ends the
 * process or, from a rank, the job, as an unhandled signal would.
 *
 * One is handled: SIGCHLD, while its thread waits for signals (sigsuspend), by which a shell learns
 * of the end of what it has started. It is there as long as an end is that nobody has taken: so who
 * looks for ends in vain, and then waits, misses none.
 */
#include <context.h>
#include <base/str.h>
#include <user/personality/personality.h>
#include <user/personality/process.h>

#define SIGCHLD 17
#define SIG_IGN 1
#define SIGNALS 64

/* On the program's stack while a handler runs. */
struct signal_frame {
	struct context context;		/* in which the call that was interrupted returns */
	uint64_t info[16];		/* siginfo_t; its first word is the signal's number */
};

/* What an unhandled signal does, to the own process. */
static void
end_by_signal(const struct handler_event *c, unsigned long sig)
{
	process_exit_borrowed(c, (int)(128 + (sig & 127)));
	if (personality_info.is_child)
		process_kill_call(personality_info.pid, sig);
	for (;;)
		kproc_exit((int)(128 + (sig & 127)));
}

void
signal_default(const struct handler_event *c, unsigned long sig)
{
	if ((__atomic_load_n(&kept.not_default, __ATOMIC_RELAXED) >> sig & 1) == 0)
		end_by_signal(c, sig);
}

static void
set_bit(uint64_t *bits, unsigned long sig, bool is_set)
{
	if (is_set)
		__atomic_fetch_or(bits, (uint64_t)1 << sig, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(bits, ~((uint64_t)1 << sig), __ATOMIC_RELAXED);
}

/*
 * What is to be done: handler, flags, mask. What was, is said as far as it matters: handlers that
 * never run are the default.
 */
static long
set_action(unsigned long sig, const uint64_t *action, uint64_t *old)
{
	uint64_t was = kept.ignored >> sig & 1 ? SIG_IGN : sig == SIGCHLD ? kept.on_child : 0;
	uint64_t now = action != NULL ? action[0] : 0;

	if (sig == 0 || sig >= SIGNALS)
		return sig == SIGNALS ? 0 : -E_INVAL;
	if (old != NULL) {
		old[0] = was;
		old[1] = old[2] = 0;
	}
	if (action == NULL)
		return 0;
	set_bit(&kept.not_default, sig, now != 0);
	set_bit(&kept.ignored, sig, now == SIG_IGN);
	if (sig == SIGCHLD)
		kept.on_child = now == SIG_IGN ? 0 : now;
	return 0;
}

/* Where a handler returns to. */
void signal_return(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text.signal_return, \"ax\"\n"
	"	.hidden signal_return\n"
	"	.globl signal_return\n"
	"signal_return:\n"
	"	li a7, 139\n"
	"	ecall\n"
	"	.popsection");
_Static_assert(SYS_rt_sigreturn == 139, "signal_return");

/* The thread does the handler's work, then its call returns that it was interrupted. */
static _Noreturn void
handle(const struct handler_event *c, unsigned long sig, uint64_t handler)
{
	struct signal_frame *f = (struct signal_frame *)((c->sp - sizeof(*f)) & ~15ul);
	struct context now;

	memset(f->info, 0, sizeof(f->info));
	f->info[0] = sig;
	kcontext_get((unsigned long)&f->context);
	memcpy(&now, &f->context, sizeof(now));
	context_set_result(&f->context, (uintptr_t)-(long)E_INTR);
	now.pc = handler;
	now.x[1] = (uint64_t)signal_return;
	now.x[2] = (uint64_t)f;
	now.x[10] = sig;
	now.x[11] = (uint64_t)f->info;
	now.x[12] = 0;
	for (;;)
		kcontext_set(&now);
}

/* How: 0 more, 1 fewer, 2 these. */
static long
change_mask(uint64_t *mask, unsigned long how, const uint64_t *change, uint64_t *old)
{
	uint64_t was = *mask;

	if (change != NULL && how > 2)
		return -E_INVAL;
	if (change != NULL)
		*mask = how == 0 ? was | *change : how == 1 ? was & ~*change : *change;
	if (old != NULL)
		*old = was;
	return 0;
}

static long
suspend(const struct handler_event *c)
{
	uint64_t mask = *(const uint64_t *)arg(c, 0);

	if (kept.on_child != 0 && (mask >> (SIGCHLD - 1) & 1) == 0 && process_await_end() > 0)
		handle(c, SIGCHLD, kept.on_child);
	for (;;)
		time_sleep_until(FOREVER);
}

static long
sent(const struct handler_event *c, unsigned long nr)
{
	unsigned long sig = nr == SYS_tgkill ? arg(c, 2) : arg(c, 1);

	if (nr == SYS_kill && (int32_t)arg(c, 0) > 0 && (int32_t)arg(c, 0) != personality_info.pid)
		return process_kill_call((int32_t)arg(c, 0), sig);
	if (sig != 0)
		end_by_signal(c, sig);
	return 0;
}

long
signal_call(const struct handler_event *c, unsigned long nr)
{
	struct thread_record *r = thread_record(c);
	/* what a child without a program sets is not its parent's, and no program would find it */
	const uint64_t *change = r->borrowed == 0 ? (const uint64_t *)arg(c, 1) : NULL;

	switch (nr) {
	case SYS_rt_sigaction:
		return set_action(arg(c, 0), change, (uint64_t *)arg(c, 2));
	case SYS_rt_sigprocmask:
		return change_mask(&r->mask, arg(c, 0), change, (uint64_t *)arg(c, 2));
	case SYS_rt_sigsuspend: return suspend(c);
	case SYS_rt_sigreturn:
		for (;;)
			kcontext_set(&((const struct signal_frame *)c->sp)->context);
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill: return sent(c, nr);
	default: return 0;
	}
}
