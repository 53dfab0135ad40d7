/* SPDX-License-Identifier: MIT
 *
 * User threads on riscv64: frames, the traps that are no kernel calls, entering user mode, user memory. See trap.S.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <hal/timer.h>
#include "cpu.h"

#define CAUSE_INTERRUPT (1ULL << 63)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 5)

_Static_assert(offsetof(struct hal_frame, x) == FRAME_X(0), "layout.h");
_Static_assert(offsetof(struct hal_frame, fcsr) == FRAME_FCSR, "layout.h");
_Static_assert(offsetof(struct hal_frame, f) == FRAME_F(0), "layout.h");
_Static_assert(offsetof(struct hal_frame, fp_home) == FRAME_FP_HOME, "layout.h");
_Static_assert(FRAME_X(0) == FRAME_AREA, "layout.h");
_Static_assert(offsetof(struct context, x) == FRAME_X(0), "a frame starts with a context");

const struct hal_trap hal_trap_call = {.kind = TRAP_CALL};

/*
 * The frame of the thread that runs here keeps its floating-point registers (context_set); any other becomes a new
 * thread's, whose registers are zero.
 */
void
hal_frame_from_context(struct hal_frame *f, const struct context *c)
{
	f->pc = c->pc;
	for (int i = 1; i < 32; i++)
		f->x[i] = c->x[i];
	if (hal_core_area()->frame != f) {
		f->fp_home = FP_FRESH;
		f->started = 0;
	}
}

void
hal_frame_to_context(const struct hal_frame *f, struct context *c)
{
	c->pc = f->pc;
	c->x[0] = 0;
	for (int i = 1; i < 32; i++)
		c->x[i] = f->x[i];
}

/* User mode is all that a frame can lead to; a bad address faults there. */
int
hal_context_ok(const struct context *c)
{
	return (c->pc & 1) == 0 && c->pc >= USER_FIRST && c->pc < USER_LIMIT;
}

uintptr_t
hal_frame_pc(const struct hal_frame *f)
{
	return f->pc;
}

uintptr_t
hal_frame_sp(const struct hal_frame *f)
{
	return f->x[2];
}

/* CRASH_* and the kind of access for each exception. */
static void
fault_describe(struct hal_trap *t, uint64_t cause)
{
	static const struct { uint8_t cause, write; } faults[] = {
		[0] = {CRASH_ALIGN, 2}, [1] = {CRASH_ACCESS, 2}, [2] = {CRASH_ILLEGAL, 2}, [3] = {CRASH_BREAK, 2},
		[4] = {CRASH_ALIGN, 0}, [5] = {CRASH_ACCESS, 0}, [6] = {CRASH_ALIGN, 1}, [7] = {CRASH_ACCESS, 1},
		[12] = {CRASH_ACCESS, 2}, [13] = {CRASH_ACCESS, 0}, [15] = {CRASH_ACCESS, 1},
	};

	t->cause = CRASH_ILLEGAL;
	if (cause < sizeof(faults) / sizeof(faults[0]) && faults[cause].cause != 0) {
		t->cause = faults[cause].cause;
		t->write = faults[cause].write;
	}
}

static bool
is_stale_fault(uint64_t cause, uint64_t value)
{
	switch (cause) {
	case CAUSE_FETCH_PAGE:
		return hal_fault_is_stale(value, PTE_X);
	case CAUSE_LOAD_PAGE:
		return hal_fault_is_stale(value, PTE_R);
	case CAUSE_STORE_PAGE:
		return hal_fault_is_stale(value, PTE_W);
	default:
		return false;
	}
}

static __attribute__((noinline)) void
doorbell_take(struct hal_frame *f)
{
	static const struct hal_trap doorbell = {.kind = TRAP_DOORBELL};

	csr_clear(sip, SIP_SSIP);
	hal_core_interrupted(hal_core_area());
	kernel_trap(f, &doorbell);
}

/* The tick is disarmed. */
static void
tick_take(struct hal_frame *f)
{
	static const struct hal_trap tick = {.kind = TRAP_TIMER};

	hal_core_area()->tick = UINT64_MAX;
	csr_clear(sie, SIE_STIE);
	kernel_trap(f, &tick);
}

static __attribute__((noinline)) void
fault_take(struct hal_frame *f, uint64_t cause, uint64_t value)
{
	struct hal_trap t = {.kind = TRAP_FAULT};

	if (is_stale_fault(cause, value))
		return;
	fault_describe(&t, cause);
	t.addr = t.cause == CRASH_ILLEGAL || t.cause == CRASH_BREAK ? f->pc : value;
	kernel_trap(f, &t);
}

void hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value);

/* A trap from user mode that is no kernel call. */
void
hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value)
{
	if (cause == CAUSE_TIMER)
		tick_take(f);
	else if ((cause & CAUSE_INTERRUPT) != 0)
		doorbell_take(f);
	else
		fault_take(f, cause, value);
}

/* Kernels that answer some calls early define their own. */
__attribute__((weak)) bool
kernel_call_fast(struct hal_frame *f)
{
	(void)f;
	return false;
}

/* Are the core's floating-point registers this thread's? Those of a thread that never changed one are all zero. */
static inline bool
fp_is_here(const struct hal_core_area *a, const struct hal_frame *f)
{
	if (f->fp_home == FP_FRESH)
		return (csr_read(sstatus) & SSTATUS_FS) == SSTATUS_FS_INITIAL;
	return a->fp_owner == f && f->fp_home == a->core + 1;
}

static void
fp_switch(struct hal_core_area *a, struct hal_frame *f)
{
	if (f->fp_home == FP_FRESH) {
		hal_fp_clear();
		a->fp_owner = NULL;
		return;
	}
	hal_fp_load(f);
	a->fp_owner = f;
	f->fp_home = a->core + 1;
}

/* The core had another thread before. One that starts may run code that another core wrote. */
static __attribute__((noinline)) void
frame_switch(struct hal_frame *f, struct hal_space *space)
{
	struct hal_core_area *a = hal_core_area();

	hal_space_use(space);
	if (!fp_is_here(a, f))
		fp_switch(a, f);
	if (f->started == 0)
		__asm__ volatile("fence.i" : : : "memory");
	f->started = 1;
}

void
hal_user_enter(struct hal_frame *f, struct hal_space *space)
{
	struct hal_core_area *a = hal_core_area();

	a->frame = f;
	f->x[0] = (uint64_t)a;
	if (__builtin_expect(a->satp != space->satp || f->started == 0 || !fp_is_here(a, f), 0))
		frame_switch(f, space);
	csr_clear(sstatus, SSTATUS_SPP);
	hal_resume();
}

/* Is [addr, addr + len) in the half of the address space where no kernel memory is? */
static bool
user_range(uintptr_t addr, size_t len)
{
	return addr < USER_LIMIT && len <= USER_LIMIT - addr;
}

/*
 * An access to user memory [addr, addr + len) went on at its fixup: is it worth another try? A fault elsewhere is an error of the
 * kernel's own.
 */
static bool
try_again(uintptr_t addr, size_t len, uint64_t right)
{
	uint64_t fault = hal_core_area()->fault;

	if (fault - addr >= len)
		hal_panic(__FILE__, __LINE__, "a page fault in a copy, outside the user's range");
	return hal_fault_is_stale(fault, right);
}

int hal_copy_faulted(uintptr_t to, uintptr_t from, size_t len);
int hal_touch_faulted(uintptr_t first, uintptr_t last);
int hal_load_faulted(uintptr_t from, uint32_t *value);

/* What usercopy.S does after a fault. Just one of the addresses is the user's, or the kernel's own is wrong. */
int
hal_copy_faulted(uintptr_t to, uintptr_t from, size_t len)
{
	bool out = to < USER_LIMIT;

	if (out == (from < USER_LIMIT))
		hal_panic(__FILE__, __LINE__, "a page fault in a copy, both addresses are a user's");
	if (!try_again(out ? to : from, len, out ? PTE_W : PTE_R))
		return -E_FAULT;
	return hal_copy_user((void *)to, (const void *)from, len);
}

int
hal_touch_faulted(uintptr_t first, uintptr_t last)
{
	return try_again(first, last + sizeof(uint32_t) - first, PTE_W) ? hal_touch_user(first, last) : -E_FAULT;
}

int
hal_load_faulted(uintptr_t from, uint32_t *value)
{
	return try_again(from, sizeof(*value), PTE_R) ? hal_load_user((const void *)from, value) : -E_FAULT;
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	return user_range(from_user, len) ? hal_copy_user(to, (const void *)from_user, len) : -E_FAULT;
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	return user_range(to_user, len) ? hal_copy_user((void *)to_user, from, len) : -E_FAULT;
}

/* A page of bytes lies in two pages at most: the words at its ends say whether all of it can be written. */
int
hal_user_probe(uintptr_t to_user, size_t len)
{
	if (!user_range(to_user, len))
		return -E_FAULT;
	return hal_touch_user(to_user & -sizeof(uint32_t), (to_user + len - 1) & -sizeof(uint32_t));
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	if ((from_user & 3) != 0 || !user_range(from_user, sizeof(*value)))
		return -E_FAULT;
	return hal_load_user((const void *)from_user, value);
}

/* Kernel calls are `ecall`. */
uintptr_t
hal_user_gate(void)
{
	return 0;
}
