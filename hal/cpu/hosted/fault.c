/* SPDX-License-Identifier: MIT
 *
 * Linux signals as traps. A fault of a user thread enters the kernel as TRAP_FAULT, one inside a
 * copy ends the copy, any other one inside the kernel is a panic. hal_interrupt's signal enters the
 * kernel as TRAP_DOORBELL if it finds a user thread running, the timer's as TRAP_TIMER; its frame
 * stays on that thread's own stack, so that the thread can go on at any time and on any core.
 *
 * Handlers run on foreign stacks and leave them without returning: nothing here may be followed by
 * a sanitizer.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <abi/layout.h>
#include <base/fmt.h>
#include "hosted.h"
#include "regs.h"

int host_signal_c(int sig, siginfo_t *info, ucontext_t *uc, int was_kernel, uintptr_t fs);
void host_signal_foreign(int sig, siginfo_t *info, ucontext_t *uc);

/* What the Linux kernel takes; libc's struct is another one. */
struct kernel_sigaction {
	void (*handler)(int sig, void *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

#define KERNEL_SA_RESTORER 0x04000000ul
#define SIGSET_BYTES 8
#define BIT(sig) (1ul << ((sig) - 1))

/*
 * A signal frame as Linux pushes it: its ucontext, which is shorter than libc's, and the siginfo;
 * somewhere above them the vector registers.
 */
#define FRAME_BYTES (304 + 128)
#define VECTOR_ALIGN 64
#define VECTOR_SAID 464
#define VECTOR_MAGIC 0x46505853u
#define VECTOR_LEAST 512

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};

static void
install(int sig, unsigned long flags, unsigned long mask)
{
	struct kernel_sigaction action = {.handler = host_signal, .restorer = host_signal_return,
		.mask = mask,
		.flags = flags | SA_SIGINFO | KERNEL_SA_RESTORER};

	host_call4(SYS_rt_sigaction, sig, &action, NULL, SIGSET_BYTES);
}

void
host_signals_install(void)
{
	for (size_t i = 0; i < sizeof(fault_signals) / sizeof(fault_signals[0]); i++)
		install(fault_signals[i], SA_ONSTACK | SA_NODEFER, 0);
	/* deferred in each other's handlers: a storm of them must not nest */
	install(HOST_INTERRUPT, SA_RESTART, BIT(HOST_TICK));
	install(HOST_TICK, SA_RESTART, BIT(HOST_INTERRUPT));
	/* returns to user code by itself, so an interrupt must wait until it has */
	install(HOST_DUMP, SA_RESTART | SA_ONSTACK, BIT(HOST_INTERRUPT) | BIT(HOST_TICK));
}

/* Linux changes the stack for faults only for who does not run on it. */
HOST_RAW static void
use_signal_stack(struct host_core *c, unsigned which)
{
	stack_t stack = {.ss_sp = c->signal_stack[which], .ss_size = HOST_SIGNAL_STACK};

	c->signal_set = c->signal_now = which;
	host_call2(SYS_sigaltstack, &stack, NULL);
}

/* On the kernel's stack: from here on a fault in a copy leaves the thread's signal frame alone. */
HOST_RAW void
host_signals_unblock(void)
{
	struct host_core *c = host_core_self();
	unsigned long none = 0;

	host_call4(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, SIGSET_BYTES);
	if (c->signal_set != c->signal_now)
		use_signal_stack(c, c->signal_now);
}

bool
host_signal_stacks_make(struct host_core *c)
{
	long both = host_call6(SYS_mmap, 0, 2 * HOST_SIGNAL_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);

	if (both < 0)
		return false;
	c->signal_stack[0] = (void *)both;
	c->signal_stack[1] = (void *)(both + HOST_SIGNAL_STACK);
	return true;
}

void
host_signal_stack_use(struct host_core *c)
{
	use_signal_stack(c, 0);
}

static uint32_t
cause_of(int sig, const siginfo_t *info)
{
	switch (sig) {
	case SIGBUS:
		return info->si_code == BUS_ADRALN ? CRASH_ALIGN : CRASH_ACCESS;
	case SIGILL:
		return CRASH_ILLEGAL;
	case SIGTRAP:
		return CRASH_BREAK;
	case SIGFPE:
		return CRASH_ARITH;
	case SIGABRT:
		return CRASH_ABORT;
	default:
		return CRASH_ACCESS;
	}
}

static inline bool
within(uintptr_t pc, const char *begin, const char *end)
{
	return pc >= (uintptr_t)begin && pc < (uintptr_t)end;
}

/* Stop the running user thread where the signal found it. */
HOST_RAW static void
stop_thread(struct host_core *c, const ucontext_t *uc, uintptr_t fs)
{
	struct hal_frame *f = c->frame;

	regs_to_context(uc, &f->ctx);
	f->ctx.tls = fs;
	f->stopped = (uintptr_t)uc;
	c->fs = HOST_SWITCH_FS ? (uintptr_t)HOST_UNKNOWN : fs;
	c->fpctl = (uint64_t)HOST_UNKNOWN;
}

/*
 * Bytes of the floating-point and vector registers in a signal frame: Linux says so in the part
 * that it leaves to software.
 */
HOST_RAW static size_t
vector_bytes(const void *registers)
{
	const struct { uint32_t magic, bytes; } *said =
		(const void *)((const char *)registers + VECTOR_SAID);

	return said->magic == VECTOR_MAGIC && said->bytes <= HOST_SIGNAL_STACK ? said->bytes :
		VECTOR_LEAST;
}

/* Those of the running core: elsewhere a signal frame belongs to its thread, which may spoil it. */
HOST_RAW static bool
is_on_signal_stack(uintptr_t at)
{
	const struct host_core *c = host_core_self();

	return at - (uintptr_t)c->signal_stack[0] < 2 * HOST_SIGNAL_STACK;
}

HOST_RAW bool
host_signal_frame_move(uintptr_t *stopped, uintptr_t *top)
{
	ucontext_t *uc = (ucontext_t *)*stopped;
	void *registers;
	size_t bytes;
	uintptr_t to, moved;

	if (!is_on_signal_stack(*stopped))
		return true;
	registers = uc->uc_mcontext.fpregs;
	bytes = vector_bytes(registers);
	to = (*top - bytes) & ~(uintptr_t)(VECTOR_ALIGN - 1);
	moved = to - FRAME_BYTES;
	uc->uc_mcontext.fpregs = (void *)to;
	if (hal_copy_out(to, registers, bytes) != 0 || hal_copy_out(moved, uc, FRAME_BYTES) != 0) {
		uc->uc_mcontext.fpregs = registers;
		return false;
	}
	*stopped = *top = moved;
	return true;
}

HOST_RAW void
host_signal_frame_set_pc(uintptr_t stopped, uintptr_t pc)
{
	hal_copy_out((uintptr_t)&REG((ucontext_t *)stopped, RIP), &pc, sizeof(pc));
}

/* Inside host_leave: go back to its start. */
HOST_RAW static int
restart_leave(struct host_core *c, ucontext_t *uc)
{
	regs_set_pc(uc, (const void *)host_leave);
	c->fs = (uintptr_t)HOST_UNKNOWN;
	c->fpctl = (uint64_t)HOST_UNKNOWN;
	return 1;
}

/*
 * Did the signal find a user thread? If not, it is noted in `later`; *mark: what in_kernel becomes.
 */
HOST_RAW static bool
found_user(struct host_core *c, ucontext_t *uc, uint32_t *later, int *mark)
{
	uintptr_t pc = regs_pc(uc);

	*later = 1;
	if (within(pc, host_leave_begin, host_leave_end)) {
		*mark = restart_leave(c, uc);
		return false;
	}
	if (*mark || within(pc, host_gate_begin, host_gate_end))
		return false;
	*later = 0;
	return true;
}

HOST_RAW static int
interrupted(struct host_core *c, ucontext_t *uc, int was_kernel, uintptr_t fs)
{
	if (!found_user(c, uc, &c->pending, &was_kernel))
		return was_kernel;
	stop_thread(c, uc, fs);
	host_enter_from_signal(&host_trap_doorbell);
}

HOST_RAW static int
ticked(struct host_core *c, ucontext_t *uc, int was_kernel, uintptr_t fs)
{
	c->timer_ns = HAL_FOREVER;
	if (!found_user(c, uc, &c->tick, &was_kernel) || !host_tick_take(c))
		return was_kernel;
	stop_thread(c, uc, fs);
	host_enter_from_signal(&host_trap_timer);
}

/*
 * Linux could not push the frame of an interrupt or a tick on the thread's stack: it says so by a
 * signal without an address. That is a write there, and what was lost comes later.
 */
HOST_RAW static bool
stack_is_absent(struct host_core *c, int sig, const siginfo_t *info, const ucontext_t *uc)
{
	uintptr_t top = regs_sp(uc) - HOST_RED_ZONE;
	size_t bytes = FRAME_BYTES + VECTOR_ALIGN + vector_bytes(uc->uc_mcontext.fpregs);

	if (sig != SIGSEGV || info->si_code != SI_KERNEL ||
		host_touch((void *)(top - bytes), (void *)(top - 1)) == 0)
		return false;
	c->pending = c->tick = 1;
	c->timer_ns = HAL_FOREVER;
	return true;
}

HOST_RAW static void
describe(struct host_core *c, int sig, const siginfo_t *info, const ucontext_t *uc)
{
	c->fault = (struct hal_trap){.kind = TRAP_FAULT, .cause = cause_of(sig, info),
		.write = regs_access(uc),
		.addr = sig == SIGABRT ? 0 : (uintptr_t)info->si_addr};
	if (stack_is_absent(c, sig, info, uc)) {
		c->fault.write = 1;
		c->fault.addr = c->copy_fault;
	}
}

/* The signal frame says on which stack the next fault comes. */
HOST_RAW static int
faulted(int sig, const siginfo_t *info, ucontext_t *uc, int was_kernel, uintptr_t fs)
{
	struct host_core *c = host_core_self();
	uintptr_t pc = regs_pc(uc);

	if (within(pc, host_copy_begin, host_copy_end) && (sig == SIGSEGV || sig == SIGBUS)) {
		c->copy_fault = (uintptr_t)info->si_addr;
		regs_set_pc(uc, host_copy_fault);
		return was_kernel;
	}
	if (was_kernel && !within(pc, host_leave_begin, host_leave_end))
		host_kernel_fault(sig, info->si_addr, regs_pc(uc), regs_frame(uc));
	stop_thread(c, uc, fs);
	describe(c, sig, info, uc);
	c->signal_now = !c->signal_now;
	uc->uc_stack.ss_sp = c->signal_stack[c->signal_now];
	host_enter_from_signal(&c->fault);
}

/*
 * Called by gate.S with the core marked as in the kernel. Returns what the mark becomes, or enters
 * the kernel.
 */
HOST_RAW int
host_signal_c(int sig, siginfo_t *info, ucontext_t *uc, int was_kernel, uintptr_t fs)
{
	if (sig == HOST_INTERRUPT)
		return interrupted(host_core_self(), uc, was_kernel, fs);
	if (sig == HOST_TICK)
		return ticked(host_core_self(), uc, was_kernel, fs);
	if (sig == HOST_DUMP) {
		if (info->si_code != SI_TKILL)
			host_dump_ask_others();
		host_dump(was_kernel, regs_pc(uc), regs_frame(uc));
		return was_kernel;
	}
	return faulted(sig, info, uc, was_kernel, fs);
}

/*
 * A signal for a host thread that a program made itself: the kernel knows nothing of it, so its
 * fault ends the cluster.
 */
HOST_RAW void
host_signal_foreign(int sig, siginfo_t *info, ucontext_t *uc)
{
	char text[160];
	size_t len;

	if (sig == HOST_DUMP)
		host_dump_ask_others();
	if (sig == HOST_INTERRUPT || sig == HOST_TICK || sig == HOST_DUMP)
		return;
	len = (size_t)fmt_print(text, sizeof(text), "atoll: cluster %u: signal %d in a thread that "
		"the program made, at %lx, address %lx\n",
		host.cluster, sig, (unsigned long)regs_pc(uc),
		(unsigned long)(uintptr_t)info->si_addr);
	host_write(2, text, len);
	host_exit(HOST_PANICKED, 128 + sig);
}
