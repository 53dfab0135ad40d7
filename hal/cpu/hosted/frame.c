/* SPDX-License-Identifier: MIT
 *
 * Frames of stopped threads, and the way to a user thread.
 */
#include <string.h>
#include "hosted.h"

#define MXCSR_DEFAULT 0x1f80u		/* all exceptions masked, round to nearest */
#define X87_DEFAULT 0x37full
#define FPCTL_DEFAULT (X87_DEFAULT << 32 | MXCSR_DEFAULT)

const struct hal_trap host_trap_call = {.kind = TRAP_CALL};
const struct hal_trap host_trap_doorbell = {.kind = TRAP_DOORBELL};
const struct hal_trap host_trap_timer = {.kind = TRAP_TIMER};

void
hal_frame_from_context(struct hal_frame *f, const struct context *c)
{
	f->ctx = *c;
	f->stopped = STOPPED_CONTEXT;
	if (f->fpctl == 0)
		f->fpctl = FPCTL_DEFAULT;
}

void
hal_frame_new(struct hal_frame *f, const struct context *c)
{
	memset(f, 0, sizeof(*f));
	hal_frame_from_context(f, c);
}

void
hal_frame_move(struct hal_frame *f)
{
	(void)f;
}

void
hal_frame_to_context(const struct hal_frame *f, struct context *c)
{
	*c = f->ctx;
}

int
hal_context_ok(const struct context *c)
{
	return c->pc != 0 && c->pc < USER_LIMIT && c->sp != 0 && c->sp < USER_LIMIT &&
		c->tls < USER_LIMIT;
}

unsigned long
hal_frame_number(const struct hal_frame *f)
{
	return f->number;
}

unsigned long
hal_frame_arg(const struct hal_frame *f, int i)
{
	return f->arg[i];
}

void
hal_frame_set_result(struct hal_frame *f, long result)
{
	f->ctx.arg = (uint64_t)result;
}

uintptr_t
hal_frame_pc(const struct hal_frame *f)
{
	return f->ctx.pc;
}

void
hal_frame_set_pc(struct hal_frame *f, uintptr_t pc)
{
	f->ctx.pc = pc;
	if (f->stopped > STOPPED_GATE)
		host_signal_frame_set_pc(f->stopped, pc);
	else
		f->stopped = STOPPED_CONTEXT;
}

uintptr_t
hal_frame_sp(const struct hal_frame *f)
{
	return f->ctx.sp;
}

uintptr_t
hal_user_gate(void)
{
	return (uintptr_t)host_gate;
}

/*
 * A thread that a signal stopped goes on by a signal frame, which would also bring back the signal
 * stack of the core it ran on.
 */
static void
adopt_signal_frame(struct host_core *c, const struct hal_frame *f)
{
	stack_t stack = {.ss_sp = c->signal_stack[c->signal_now], .ss_size = HOST_SIGNAL_STACK};

	host_copy(&((ucontext_t *)(uintptr_t)f->stopped)->uc_stack, &stack, sizeof(stack));
}

_Noreturn void
hal_user_enter(struct hal_frame *f, struct hal_space *space)
{
	struct host_core *c = host_core_self();

	c->space = space;
	c->frame = f;
	if (f->stopped > STOPPED_GATE)
		adopt_signal_frame(c, f);
#if HOST_TRAP_LOOP
	longjmp(c->loop, LOOP_USER);
#else
	host_leave();
#endif
}

/*
 * What Linux pushed at a fault lies on the core's stack for that: it moves to the handler's, so
 * that others of the core may fault. False: the handler's stack cannot be written.
 */
static bool
handler_write(struct hal_frame *f, struct hal_frame *h, const struct hal_trap *t, uintptr_t entry,
	uintptr_t *stack)
{
	bool moved = f->stopped <= STOPPED_GATE || host_signal_frame_move(&f->stopped, stack);
	uintptr_t at = (*stack - sizeof(struct handler_event)) & ~(uintptr_t)15;
	struct handler_event e;
	struct context c;

	hal_event_fill(&e, f, t);
	/* as if it had been called: a return address lies below the aligned top */
	context_init(&c, entry, at - sizeof(uintptr_t), at, f->ctx.tls);
	hal_frame_from_context(h, &c);
	return moved && hal_copy_out(at, &e, sizeof(e)) == 0;
}

void
hal_handler_enter(struct hal_frame *f, struct hal_frame *h, const struct hal_trap *t,
	uintptr_t entry, uintptr_t stack)
{
	struct hal_trap unwritten;

	while (!handler_write(f, h, t, entry, &stack)) {
		hal_user_fault(&unwritten);
		kernel_trap(h, &unwritten);
	}
	hal_frame_resume(h);
}

/* Linux's part lies on the core's stack for faults; below the stack pointer lies the red zone. */
bool
hal_frame_keep(struct hal_frame *f)
{
	uintptr_t top = f->ctx.sp - HOST_RED_ZONE;

	return f->stopped <= STOPPED_GATE || host_signal_frame_move(&f->stopped, &top);
}

long
hal_call_again(struct hal_frame *f)
{
	struct host_core *c = host_core_self();

	c->frame = f;
#if HOST_TRAP_LOOP
	longjmp(c->loop, LOOP_CALL);
#else
	host_enter(&host_trap_call);
#endif
}

long
hal_frame_resume(struct hal_frame *f)
{
	hal_user_enter(f, host_core_self()->space);
}

_Static_assert(offsetof(struct hal_frame, ctx.pc) == FRAME_PC, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.sp) == FRAME_SP, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.bp) == FRAME_BP, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.bx) == FRAME_BX, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.r12) == FRAME_R12, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.r15) == FRAME_R15, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.arg) == FRAME_RESULT, "gate.h");
_Static_assert(offsetof(struct hal_frame, ctx.tls) == FRAME_TLS, "gate.h");
_Static_assert(offsetof(struct hal_frame, fpctl) == FRAME_FPCTL, "gate.h");
_Static_assert(offsetof(struct hal_frame, number) == FRAME_NUMBER, "gate.h");
_Static_assert(offsetof(struct hal_frame, arg) == FRAME_ARG, "gate.h");
_Static_assert(offsetof(struct hal_frame, stopped) == FRAME_STOPPED, "gate.h");
