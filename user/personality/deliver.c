/* SPDX-License-Identifier: MIT
 *
 * Handlers of signals begin and end. The frame on the program's stack is that of Linux for riscv64,
 * so a handler finds registers where it expects them, and may change them. Floating-point registers
 * are those of the program while the personality runs, which uses none: they are written to the
 * frame here, and read back by the few instructions of the program to which a handler returns.
 */
#include <stddef.h>
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/process.h>
#include <user/personality/signal.h>

#define SA_ONSTACK 0x08000000u
#define SA_RESTART 0x10000000u
#define SA_NODEFER 0x40000000u
#define SA_RESETHAND 0x80000000u
#define ECALL_BYTES 4
#define SEGV_MAPERR 1		/* nothing is there */
#define SEGV_ACCERR 2		/* or it has not that right; SIGBUS: the file has not that page */
#define FAULT_ADDRESS 4		/* word of siginfo_t */

/* On the program's stack while a handler runs: siginfo_t, then ucontext_t. */
struct signal_frame {
	int32_t info[SIGINFO_WORDS];
	uint64_t flags, link;
	uint64_t stack, stack_flags, stack_bytes;
	uint64_t mask, mask_rest[15];
	uint64_t pad;
	uint64_t pc, x[31];		/* x1 and up */
	uint64_t f[32];
	uint64_t fcsr;
	uint64_t rest[33];
};

_Static_assert(offsetof(struct signal_frame, pc) == 304, "as Linux has it");
_Static_assert(offsetof(struct signal_frame, f) == 560, "signal_return");
_Static_assert(sizeof(struct signal_frame) == 1088, "as Linux has it");
_Static_assert(SYS_rt_sigreturn == 139, "signal_return");

/* A thread that goes on elsewhere than where it was. */
struct going {
	const struct handler_event *c;
	struct thread_record *r;
	struct context now;
	bool may_restart;		/* its call, which has ended with -E_INTR */
	bool is_changed;
	int64_t fault;			/* signal of a fault, 0: of none */
};

/* Where a handler returns to. */
void signal_return(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text.signal_return, \"ax\"\n"
	"	.hidden signal_return\n"
	"	.globl signal_return\n"
	"signal_return:\n"
	"	.irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
	"28,29,30,31\n"
	"	fld f\\n, 560 + 8 * \\n(sp)\n"
	"	.endr\n"
	"	lw t0, 816(sp)\n"
	"	fscsr t0\n"
	"	li a7, 139\n"
	"	ecall\n"
	"	.popsection");

static void
floats_put(struct signal_frame *f)
{
	uint64_t fcsr;

	__asm__ volatile(
		".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
		"28,29,30,31\n"
		"	fsd f\\n, 8 * \\n(%1)\n"
		".endr\n"
		"	frcsr %0\n" : "=&r"(fcsr) : "r"(f->f) : "memory");
	f->fcsr = fcsr;
}

static struct signal_frame *
place_frame(const struct going *g, const struct signal_action *a)
{
	const struct thread_record *r = g->r;
	uint64_t sp = g->now.x[2];

	if ((a->flags & SA_ONSTACK) != 0 && sp - r->alternate >= r->alternate_bytes &&
		r->alternate_bytes != 0)
		sp = r->alternate + r->alternate_bytes;
	return (struct signal_frame *)((sp - sizeof(struct signal_frame)) & ~15ull);
}

/* The thread's call begins anew. */
static void
rewind(struct going *g)
{
	g->now.pc -= ECALL_BYTES;
	context_set_result(&g->now, g->c->args[0]);
}

static void
push(struct going *g, int sig, const struct signal_note *note)
{
	struct signal_action *a = &kept.action[sig - 1];
	struct signal_frame *f = place_frame(g, a);
	struct thread_record *r = g->r;

	if (g->may_restart && (a->flags & SA_RESTART) != 0)
		rewind(g);
	g->may_restart = false;
	g->is_changed = true;
	memset(f, 0, sizeof(*f));
	signal_info_fill(f->info, sig, note);
	if (g->fault == sig)
		memcpy(&f->info[FAULT_ADDRESS], &g->c->addr, sizeof(g->c->addr));
	f->stack = r->alternate;
	f->stack_bytes = r->alternate_bytes;
	f->mask = r->has_saved_mask ? r->saved_mask : r->mask;
	r->has_saved_mask = 0;
	f->pc = g->now.pc;
	memcpy(f->x, &g->now.x[1], sizeof(f->x));
	floats_put(f);
	r->mask |= a->mask | ((a->flags & SA_NODEFER) == 0 ? SIGNAL_OF(sig) : 0);
	g->now.pc = a->handler;
	g->now.x[1] = (uint64_t)signal_return;
	g->now.x[2] = (uint64_t)f;
	g->now.x[10] = (uint64_t)sig;
	g->now.x[11] = (uint64_t)f->info;
	g->now.x[12] = (uint64_t)&f->flags;
	if ((a->flags & SA_RESETHAND) != 0)
		a->handler = SIG_DFL;
}

static void
push_due(struct going *g)
{
	struct signal_note note;
	int sig;

	while (signal_is_due(g->c) && (sig = signal_take(g->r, ~g->r->mask, &note)) != 0) {
		if (signal_is_ignored(sig))
			continue;
		if (kept.action[sig - 1].handler == SIG_DFL) {
			if ((SIGNAL_OF(sig) & SIGNALS_STOP) == 0)
				signal_end(g->c, sig);
			signal_stop(g->c, sig);
			continue;
		}
		push(g, sig, &note);
	}
}

static _Noreturn void
go_on_there(const struct going *g)
{
	for (;;)
		kcontext_set(&g->now);
}

static __attribute__((noinline)) long
deliver(const struct handler_event *c, long result)
{
	bool is_restart = result == -CALL_RESTART || result == -CALL_INTERRUPTED;
	struct going g = {.c = c, .r = thread_record(c), .may_restart = result == -CALL_RESTART};

	kcontext_get((unsigned long)&g.now);
	context_set_result(&g.now, (uintptr_t)(is_restart ? -E_INTR : result));
	push_due(&g);
	if (!g.is_changed && is_restart)
		rewind(&g);
	if (g.r->has_saved_mask)
		g.r->mask = g.r->saved_mask;
	g.r->has_saved_mask = 0;
	if (g.is_changed || is_restart)
		go_on_there(&g);
	return result;
}

long
signal_deliver(const struct handler_event *c, long result)
{
	signals_listen(c);
	return result == -CALL_RESTART || result == -CALL_INTERRUPTED ||
		thread_record(c)->has_saved_mask || signal_is_due(c) ? deliver(c, result) : result;
}

long
signal_upcall(const struct handler_event *c)
{
	struct going g = {.c = c, .r = thread_record(c)};

	if (!signal_is_due(c))
		return 0;
	kcontext_get((unsigned long)&g.now);
	push_due(&g);
	if (g.is_changed)
		go_on_there(&g);
	return 0;
}

static int
signal_of_cause(uint32_t cause)
{
	switch (cause) {
	case CRASH_ILLEGAL: return SIGILL;
	case CRASH_ALIGN: return SIGBUS;
	case CRASH_BREAK: return SIGTRAP;
	case CRASH_ARITH: return SIGFPE;
	default: return SIGSEGV;
	}
}

/*
 * Without a handler that is not blocked the fault comes once more, and ends the process; but what
 * lies behind the end of a file is none to the kernel.
 */
long
signal_fault(const struct handler_event *c)
{
	struct going g = {.c = c, .r = thread_record(c), .fault = signal_of_cause(c->cause)};
	struct space_area a = g.fault == SIGSEGV ? memory_area(c->addr) : (struct space_area){0};
	const struct signal_note note = {.code = a.end != 0 ? SEGV_ACCERR : SEGV_MAPERR};
	uint64_t handler;

	if (a.behind != 0 && mapped_reach(c->addr, 1u << c->write))
		return 0;
	if (a.behind != 0 && (kept.file_end[a.behind - 1].prot & 1u << c->write) != 0)
		g.fault = SIGBUS;
	handler = kept.action[g.fault - 1].handler;
	if (handler == SIG_DFL || handler == SIG_IGN || (g.r->mask & SIGNAL_OF(g.fault)) != 0) {
		if (a.behind != 0)
			signal_end(c, (int)g.fault);
		if (g.r->borrowed == 0)
			robust_end_all(g.r->rank);
		kthread_handler(HANDLE_FAULTS, 0, 0);
		return 0;
	}
	kcontext_get((unsigned long)&g.now);
	push(&g, (int)g.fault, &note);
	push_due(&g);
	go_on_there(&g);
}

void
signal_return_call(const struct handler_event *c)
{
	const struct signal_frame *f = (const struct signal_frame *)c->sp;
	struct going g = {.c = c, .r = thread_record(c)};

	g.now.pc = f->pc;
	memcpy(&g.now.x[1], f->x, sizeof(f->x));
	g.r->mask = f->mask & ~SIGNALS_FIXED;
	push_due(&g);
	go_on_there(&g);
}
