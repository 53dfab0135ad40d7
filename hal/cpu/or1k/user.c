/* SPDX-License-Identifier: MIT
 *
 * User threads on or1k: frames, the traps that are no kernel calls, entering user mode, user
 * memory. See trap.S.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/str.h>
#include "cpu.h"

_Static_assert(offsetof(struct hal_frame, r) == FRAME_R(0), "layout.h");
_Static_assert(offsetof(struct hal_frame, flags) == FRAME_FLAGS, "layout.h");
_Static_assert(offsetof(struct context, r) == FRAME_R(0), "a frame starts with a context");

const struct hal_trap hal_trap_call = {.kind = TRAP_CALL};

void
hal_frame_from_context(struct hal_frame *f, const struct context *c)
{
	f->pc = c->pc;
	f->flags = 0;
	for (int i = 1; i < 32; i++)
		f->r[i] = c->r[i];
}

void
hal_frame_new(struct hal_frame *f, const struct context *c)
{
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
	c->pc = f->pc;
	c->r[0] = 0;
	for (int i = 1; i < 32; i++)
		c->r[i] = f->r[i];
}

/* User mode is all that a frame can lead to; a bad address faults there. */
int
hal_context_ok(const struct context *c)
{
	return (c->pc & 3) == 0 && c->pc >= USER_FIRST && c->pc < USER_LIMIT;
}

uintptr_t
hal_frame_pc(const struct hal_frame *f)
{
	return f->pc;
}

void
hal_frame_set_pc(struct hal_frame *f, uintptr_t pc)
{
	f->pc = pc & ~(uintptr_t)3;
}

uintptr_t
hal_frame_sp(const struct hal_frame *f)
{
	return f->r[1];
}

/* Does this instruction store? */
static bool
is_store(uint32_t instruction)
{
	uint32_t op = instruction >> 26;

	return op == 0x33 || (op >= 0x35 && op <= 0x37);
}

/* Does it jump, so that the next one runs with it? l.j l.jal l.bnf l.bf l.jr l.jalr */
static bool
is_jump(uint32_t instruction)
{
	uint32_t op = instruction >> 26;

	return op <= 4 || op == 0x11 || op == 0x12;
}

/* The processor does not say whether a missed data access was a store: its instruction does. */
static uint32_t
access_kind(const struct hal_frame *f)
{
	uint32_t instruction;

	if (hal_user_load32(f->pc, &instruction) != 0)
		return 0;
	if (is_jump(instruction) && hal_user_load32(f->pc + 4, &instruction) != 0)
		return 0;
	return is_store(instruction);
}

static void
fault_describe(struct hal_trap *t, const struct hal_frame *f, uint32_t vector)
{
	static const uint8_t causes[] = {
		[VECTOR_BUS >> 8] = CRASH_ACCESS, [VECTOR_DATA >> 8] = CRASH_ACCESS,
		[VECTOR_FETCH >> 8] = CRASH_ACCESS,
		[VECTOR_ALIGN >> 8] = CRASH_ALIGN, [VECTOR_DTLB >> 8] = CRASH_ACCESS,
		[VECTOR_ITLB >> 8] = CRASH_ACCESS,
		[VECTOR_RANGE >> 8] = CRASH_ARITH, [VECTOR_FLOAT >> 8] = CRASH_ARITH,
		[VECTOR_TRAP >> 8] = CRASH_BREAK,
	};

	t->kind = TRAP_FAULT;
	t->cause = vector >> 8 < sizeof(causes) && causes[vector >> 8] != 0 ? causes[vector >> 8] :
		CRASH_ILLEGAL;
	if (vector == VECTOR_FETCH || vector == VECTOR_ITLB)
		t->write = 2;
	else if (t->cause == CRASH_ACCESS || t->cause == CRASH_ALIGN)
		t->write = access_kind(f);
	else
		t->write = 2;
}

void hal_user_trap(struct hal_frame *f, uint32_t vector, uint32_t address);

/* A trap from user mode that is no kernel call. A tick that nobody asked for is forgotten. */
void
hal_user_trap(struct hal_frame *f, uint32_t vector, uint32_t address)
{
	struct hal_trap t = {.kind = TRAP_DOORBELL};

	if (vector == VECTOR_TICK) {
		if (!hal_timer_taken(&t.kind))
			return;
	} else if (vector == VECTOR_INTERRUPT) {
		hal_bell_silence();
		hal_core_interrupted(hal_core_area());
	} else {
		fault_describe(&t, f, vector);
		t.addr = t.cause == CRASH_ACCESS || t.cause == CRASH_ALIGN ? address : f->pc;
	}
	kernel_trap(f, &t);
}

/* Kernels that answer some calls early define their own. */
__attribute__((weak)) long
kernel_call_fast(struct hal_frame *f, unsigned long nr)
{
	(void)f;
	(void)nr;
	return 0;
}

/* Another space than the one that this core's TLBs know. */
static void
space_enter(struct hal_core_area *a, struct hal_space *s)
{
	a->space = s;
	a->cached = s;
	spr_write(SHADOW_TABLE, (uint32_t)s->table - 4 * (USER_FIRST >> HAL_LARGE_SHIFT));
	hal_tlb_flush();
}

void
hal_user_enter(struct hal_frame *f, struct hal_space *space)
{
	struct hal_core_area *a = hal_core_area();
	uint32_t code = hal_load32(&hal_machine.code_epoch);

	a->frame = f;
	a->space = space;
	spr_write(SHADOW_FRAME, f);
	if (a->cached != space)
		space_enter(a, space);
	if (a->code != code) {
		a->code = code;
		hal_icache_flush();
	}
	hal_resume();
}

long
hal_frame_resume(struct hal_frame *f)
{
	hal_user_enter(f, hal_core_area()->space);
}

long
hal_call_again(struct hal_frame *f)
{
	f->pc -= sizeof(uint32_t);
	return hal_frame_resume(f);
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
	struct hal_trap unwritten;
	struct handler_event e;
	struct context c;

	context_init(&c, entry, at, at, f->r[10]);
	hal_frame_from_context(h, &c);
	hal_event_fill(&e, f, t);
	while (hal_copy_out(at, &e, sizeof(e)) != 0) {
		hal_user_fault(&unwritten);
		kernel_trap(h, &unwritten);
	}
	hal_user_enter(h, hal_core_area()->space);
}

/* Where the kernel could not reach the user's memory. */
static int
unreached(uintptr_t addr, bool write)
{
	struct hal_core_area *a = hal_core_area();

	a->unreached = addr;
	a->unreached_write = write;
	return -E_FAULT;
}

void
hal_user_fault(struct hal_trap *t)
{
	const struct hal_core_area *a = hal_core_area();

	*t = (struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ACCESS,
		.write = a->unreached_write, .addr = a->unreached};
}

/* Copy between the kernel and user memory, page by page. */
static int
user_copy(uintptr_t user, void *kernel, size_t len, bool out)
{
	const struct hal_space *s = hal_core_area()->space;
	char *at = kernel;

	while (len > 0) {
		size_t part;
		void *place = hal_space_reach(s, user, out, &part);

		if (place == NULL)
			return unreached(user, out);
		part = part < len ? part : len;
		if (!out)
			hal_refresh(place, part);
		memcpy(out ? place : at, out ? at : place, part);
		user += part;
		at += part;
		len -= part;
	}
	return 0;
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	return user_copy(from_user, to, len, false);
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	return user_copy(to_user, (void *)from, len, true);
}

/* A page of bytes lies in two pages at most. */
int
hal_user_probe(uintptr_t to_user, size_t len)
{
	const struct hal_space *s = hal_core_area()->space;
	size_t left, rest;

	if (hal_space_reach(s, to_user, true, &left) == NULL)
		return unreached(to_user, true);
	return left >= len || hal_space_reach(s, to_user + left, true, &rest) != NULL ? 0 :
		unreached(to_user + left, true);
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	size_t left;
	const uint32_t *place = (from_user & 3) == 0 ?
		hal_space_reach(hal_core_area()->space, from_user, false, &left) : NULL;

	if (place == NULL)
		return unreached(from_user, false);
	hal_refresh(place, sizeof(*place));
	*value = hal_load32(place);
	return 0;
}

/* Kernel calls are `l.sys`. */
uintptr_t
hal_user_gate(void)
{
	return 0;
}
