/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: user threads. A user program is host code on its own stack; it enters the
 * kernel at coro_kcall, at coro_user_point if an interrupt is pending, and where
 * coro_user_load32/store32 fault.
 */
#include <string.h>
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <abi/layout.h>
#include "internal.h"

/* so many user points, on average, until a tick that is armed */
#define TICK_POINTS 8

int coro_user_access(uintptr_t addr, void *host, size_t len, bool write);	/* space.c */

void
hal_frame_from_context(struct hal_frame *f, const struct context *c)
{
	f->context = *c;
}

void
hal_frame_new(struct hal_frame *f, const struct context *c)
{
	*f = (struct hal_frame){.context = *c};
}

void
hal_frame_move(struct hal_frame *f)
{
	(void)f;
}

void
hal_frame_to_context(const struct hal_frame *f, struct context *c)
{
	*c = f->context;
}

int
hal_context_ok(const struct context *c)
{
	return c->pc != 0 && c->sp != 0;
}

unsigned long
hal_frame_number(const struct hal_frame *f)
{
	return f->number;
}

unsigned long
hal_frame_arg(const struct hal_frame *f, int i)
{
	return f->args[i];
}

void
hal_frame_set_result(struct hal_frame *f, long result)
{
	f->context.arg = (uint64_t)result;
}

uintptr_t
hal_frame_pc(const struct hal_frame *f)
{
	return f->context.pc;
}

void
hal_frame_set_pc(struct hal_frame *f, uintptr_t pc)
{
	f->context.pc = pc;
}

uintptr_t
hal_frame_sp(const struct hal_frame *f)
{
	return f->context.sp;
}

/* Does something interrupt this core's user thread now? What it is goes to *t. */
static bool
is_interrupted(struct hal_trap *t)
{
	if (coro_now->interrupt || coro_device_is_pending(coro_now))
		t->kind = TRAP_DOORBELL;
	else if (coro_now->tick <= coro_machine.clock_ns)
		t->kind = TRAP_TIMER;
	else
		return false;
	if (t->kind == TRAP_TIMER) {
		coro_now->tick = HAL_FOREVER;
		return true;
	}
	coro_now->interrupt = false;
	coro_ordered(coro_now);
	return true;
}

/*
 * Runs on the fresh kernel stack: go to the current user thread, or back into the kernel at once if
 * an interrupt is pending.
 */
static void
leave(void)
{
	struct hal_trap interrupt = {0};
	void *fake;

	while (is_interrupted(&interrupt)) {
		coro_op(OP_TRAP, __FILE__, __LINE__, interrupt.kind);
		coro_device_take();
		kernel_trap(coro_now->frame, &interrupt);
	}
	coro_now->in_user = true;
	coro_now->sp = (void *)coro_now->frame->context.sp;
	coro_fibre_to(coro_now, &fake);
	coro_user_resume(&coro_now->frame->context);
}

void
hal_user_enter(struct hal_frame *f, struct hal_space *space)
{
	coro_op(OP_USER_ENTER, __FILE__, __LINE__, 0);
	coro_now->frame = f;
	hal_space_use(space);
	coro_stack_unpoison(coro_now);
	coro_jump_stack(coro_now->kernel_top, leave);
}

long
hal_frame_resume(struct hal_frame *f)
{
	hal_user_enter(f, coro_now->space);
}

/* All of it is in the frame. */
bool
hal_frame_keep(struct hal_frame *f)
{
	(void)f;
	return true;
}

void
hal_handler_enter(struct hal_frame *f, struct hal_frame *h, const struct hal_trap *t,
	uintptr_t entry, uintptr_t stack)
{
	uintptr_t at = (stack - sizeof(struct handler_event)) & ~(uintptr_t)15;
	struct handler_event e;

	coro_user_context(&h->context, (void (*)(uintptr_t))entry, (void *)at, at);
	hal_event_fill(&e, f, t);
	while (hal_copy_out(at, &e, sizeof(e)) != 0)
		kernel_trap(h, &coro_now->unreached);
	hal_user_enter(h, coro_now->space);
}

/*
 * The short cut, tried at random. The frame is said to hold number, arguments and pc only:
 * everything else is garbage meanwhile.
 */
static bool
answered_fast(struct hal_frame *f)
{
	struct context saved = f->context;
	bool answered;

	if (coro_draw(2))
		return false;
	memset(&f->context, 0xa5, sizeof(f->context));
	f->context.pc = saved.pc;
	answered = kernel_call_fast(f, f->number - KC_FIRST);
	if (answered)
		saved.arg = f->context.arg;
	f->context = saved;
	return answered;
}

/* First code on the kernel stack after a trap; what kind it was stands in the core. */
static void
arrive(void)
{
	struct hal_trap trap = coro_now->trap;

	coro_fibre_arrived(NULL);
	coro_now->in_user = false;
	coro_op(OP_TRAP, __FILE__, __LINE__, trap.kind);
	if (trap.kind == TRAP_DOORBELL)
		coro_device_take();
	if (trap.kind != TRAP_CALL || !answered_fast(coro_now->frame))
		kernel_trap(coro_now->frame, &trap);
	leave();
}

/* The same without coming from a user's stack. */
static void
again(void)
{
	kernel_trap(coro_now->frame, &coro_now->trap);
	leave();
}

long
hal_call_again(struct hal_frame *f)
{
	coro_now->frame = f;
	coro_now->trap = (struct hal_trap){.kind = TRAP_CALL};
	coro_stack_unpoison(coro_now);
	coro_jump_stack(coro_now->kernel_top, again);
}

static long
trap(const struct hal_trap *t)
{
	void *fake;
	long result;

	coro_now->trap = *t;
	coro_stack_unpoison(coro_now);
	coro_now->in_user = false;
	coro_fibre_to(coro_now, &fake);
	result = coro_gate(arrive);
	coro_fibre_arrived(fake);
	return result;
}

long
coro_kcall(unsigned long number, unsigned long a0, unsigned long a1, unsigned long a2,
	unsigned long a3, unsigned long a4,
	unsigned long a5)
{
	struct hal_frame *f = coro_now->frame;

	f->number = number;
	f->args[0] = a0;
	f->args[1] = a1;
	f->args[2] = a2;
	f->args[3] = a3;
	f->args[4] = a4;
	f->args[5] = a5;
	return trap(&(struct hal_trap){.kind = TRAP_CALL});
}

uintptr_t
hal_user_gate(void)
{
	return (uintptr_t)coro_kcall;
}

void
coro_user_point(void)
{
	struct hal_trap interrupt = {0};

	coro_op(OP_USER, "user", 0, 0);
	if (coro_now->tick != HAL_FOREVER && coro_now->tick > coro_machine.clock_ns &&
		coro_draw(TICK_POINTS) == 0)
		coro_machine.clock_ns = coro_now->tick;
	if (is_interrupted(&interrupt))
		trap(&interrupt);
}

uint64_t
coro_tick(void)
{
	return coro_now->tick;
}

/* One access of a user program, again and again until the kernel has made it possible. */
static void
access_word(uintptr_t addr, uint32_t *value, bool write)
{
	while (coro_user_access(addr, value, sizeof(*value), write) != 0)
		trap(&(struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ACCESS, .write = write,
			.addr = addr});
}

uint32_t
coro_user_load32(uintptr_t addr)
{
	uint32_t value;

	coro_user_point();
	access_word(addr, &value, false);
	return value;
}

void
coro_user_store32(uintptr_t addr, uint32_t value)
{
	coro_user_point();
	access_word(addr, &value, true);
}

/* Called by coro_user_first on the user's stack. */
_Noreturn void coro_user_start(uintptr_t arg, void (*fn)(uintptr_t arg));

void
coro_user_start(uintptr_t arg, void (*fn)(uintptr_t arg))
{
	coro_fibre_arrived(NULL);
	fn(arg);
	coro_fail("a user program returned");
}

void
coro_user_context(struct context *c, void (*fn)(uintptr_t arg), void *stack_top, uintptr_t arg)
{
	context_init(c, (uintptr_t)coro_user_first, (uintptr_t)stack_top & ~(uintptr_t)15, arg, 0);
	c->bx = (uintptr_t)fn;
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	coro_op(OP_COPY, __FILE__, __LINE__, (uint32_t)len);
	if (coro_machine.config->copy_in_points > 0 && len >= 64)
		for (uint32_t i = coro_draw(coro_machine.config->copy_in_points); i > 0; i--)
			coro_op(OP_COPY, __FILE__, __LINE__, (uint32_t)len);
	return coro_user_access(from_user, to, len, false);
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	coro_op(OP_COPY, __FILE__, __LINE__, (uint32_t)len);
	return coro_user_access(to_user, (void *)(uintptr_t)from, len, true);
}

int
hal_user_probe(uintptr_t to_user, size_t len)
{
	coro_op(OP_COPY, __FILE__, __LINE__, (uint32_t)len);
	return coro_user_access(to_user, NULL, len, true);
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	if (from_user % sizeof(*value) != 0) {
		coro_now->unreached = (struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ALIGN,
			.addr = from_user};
		return -E_FAULT;
	}
	coro_op(OP_COPY, __FILE__, __LINE__, sizeof(*value));
	return coro_user_access(from_user, value, sizeof(*value), false);
}

void
hal_user_fault(struct hal_trap *t)
{
	*t = coro_now->unreached;
}
