/* SPDX-License-Identifier: MIT
 *
 * User threads on riscv64: frames, the traps that are no kernel calls, entering user mode, user
 * memory. See trap.S.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <hal/board.h>
#include <hal/device.h>
#include <hal/timer.h>
#include "cpu.h"

#define CALL_BYTES 4			/* of ecall */
#define CAUSE_INTERRUPT (1ULL << 63)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 5)
/* of the causes of interrupts only that has this bit */
#define CAUSE_EXTERNAL 8

_Static_assert(offsetof(struct hal_trap, cause) == TRAP_CAUSE &&
	offsetof(struct hal_trap, addr) == TRAP_ADDR, "layout.h");
_Static_assert(offsetof(struct hal_trap, write) == TRAP_CAUSE + 4, "layout.h");
_Static_assert(offsetof(struct hal_frame, x) == FRAME_X(0), "layout.h");
_Static_assert(offsetof(struct hal_frame, fcsr) == FRAME_FCSR, "layout.h");
_Static_assert(offsetof(struct hal_frame, fp_home) == FRAME_FP_HOME, "layout.h");
_Static_assert(offsetof(struct hal_frame, f) == FRAME_F(0), "layout.h");
_Static_assert(offsetof(struct hal_frame, fp_home) == FRAME_FP_HOME, "layout.h");
_Static_assert(FRAME_X(0) == FRAME_AREA, "layout.h");
_Static_assert(offsetof(struct context, x) == FRAME_X(0), "a frame starts with a context");

void
hal_frame_from_context(struct hal_frame *f, const struct context *c)
{
	f->pc = c->pc;
	for (int i = 1; i < 32; i++)
		f->x[i] = c->x[i];
}

/* The floating-point registers of a fresh frame are not looked at. */
void
hal_frame_new(struct hal_frame *f, const struct context *c)
{
	hal_frame_from_context(f, c);
	f->fp_home = FP_FRESH;
	f->started = 0;
}

/* Code may have been written that the other core does not know yet. */
void
hal_frame_move(struct hal_frame *f)
{
	f->started = 0;
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

/*
 * The entry of a table, which lies in the cluster's memory, for an address of which the table's
 * index stands above its lowest three bits.
 */
static inline uint64_t
table_entry(uint64_t paddr, uint64_t index)
{
	const uint64_t *table = (const uint64_t *)(paddr + hal_machine.seen);

	return __atomic_load_n(&table[index >> 3 & (PTE_ENTRIES - 1)], __ATOMIC_RELAXED);
}

static inline bool
is_table(uint64_t entry)
{
	return __builtin_expect((entry & (PTE_V | PTE_LEAF)) == PTE_V, 1);
}

/*
 * A page fault at a user address, for want of PTE_R, PTE_W or PTE_X: do the tables of the space in
 * use give that right, and the core remembered an older entry? Then it has forgotten all, and the
 * access goes well if it is tried again. The kernel core may be changing the tables; a table that
 * it gives back stays as it is until this core has flushed. Source: The RISC-V Instruction Set
 * Manual, volume II, supervisor memory-management fence: entries that are not valid may be cached,
 * too.
 */
static inline bool
fault_is_stale(uintptr_t addr, uint64_t right)
{
	uint64_t entry;

	if (addr >> USER_BITS != 0)
		return false;
	entry = table_entry(hal_core_area()->satp << 12, addr >> 27);
	if (is_table(entry))
		entry = table_entry(entry >> 10 << 12, addr >> 18);
	if (is_table(entry))
		entry = table_entry(entry >> 10 << 12, addr >> 9);
	if ((entry & (PTE_V | PTE_U)) != (PTE_V | PTE_U) || (entry & right) == 0)
		return false;
	hal_tlb_flush();
	return true;
}

/*
 * Of each exception: CRASH_*, the kind of access, and the right whose want it says, if it is a page
 * fault.
 */
static const struct exception {
	uint8_t cause, write, right, unused;
} exceptions[] = {
	[0] = {CRASH_ALIGN, 2, 0, 0}, [1] = {CRASH_ACCESS, 2, 0, 0}, [2] = {CRASH_ILLEGAL, 2, 0, 0},
	[3] = {CRASH_BREAK, 2, 0, 0},
	[4] = {CRASH_ALIGN, 0, 0, 0}, [5] = {CRASH_ACCESS, 0, 0, 0}, [6] = {CRASH_ALIGN, 1, 0, 0},
	[7] = {CRASH_ACCESS, 1, 0, 0},
	[CAUSE_FETCH_PAGE] = {CRASH_ACCESS, 2, PTE_X, 0},
	[CAUSE_LOAD_PAGE] = {CRASH_ACCESS, 0, PTE_R, 0},
	[CAUSE_STORE_PAGE] = {CRASH_ACCESS, 1, PTE_W, 0},
};

#define EXCEPTIONS (sizeof(exceptions) / sizeof(exceptions[0]))

static __attribute__((noinline)) void
doorbell_take(struct hal_frame *f, uint64_t cause)
{
	static const struct hal_trap doorbell = {.kind = TRAP_DOORBELL};

	if ((cause & CAUSE_EXTERNAL) != 0)
		hal_board_interrupt();
	csr_clear(sip, SIP_SSIP);
	hal_core_interrupted(hal_core_area());
	kernel_trap(f, &doorbell);
}

/*
 * The tick is disarmed. One that comes before its time belongs to a time that was replaced when it
 * came: QEMU's timer thread sets the pending bit then, although the newer time has just cleared it.
 * Writing the time again clears the bit.
 */
static void
tick_take(struct hal_frame *f)
{
	static const struct hal_trap tick = {.kind = TRAP_TIMER};
	struct hal_core_area *a = hal_core_area();

	if (csr_read(time) < a->tick) {
		__asm__ volatile("csrw %0, %1" : : "i"(STIMECMP), "r"(a->tick));
		return;
	}
	a->tick = UINT64_MAX;
	csr_clear(sie, SIE_STIE);
	kernel_trap(f, &tick);
}

/* An exception that is no page fault. */
static __attribute__((noinline)) void
exception_take(struct hal_frame *f, uint64_t cause, uint64_t value)
{
	struct hal_trap t = {CRASH_ILLEGAL, 0, value, TRAP_FAULT};

	if (cause < EXCEPTIONS && exceptions[cause].cause != 0) {
		t.cause = exceptions[cause].cause;
		t.write = exceptions[cause].write;
	}
	if (t.cause == CRASH_ILLEGAL || t.cause == CRASH_BREAK)
		t.addr = f->pc;
	kernel_trap(f, &t);
}

static __attribute__((noinline)) void
fault_take(struct hal_frame *f, uint64_t cause, uint64_t value)
{
	struct hal_trap t;

	if (cause >= EXCEPTIONS || exceptions[cause].right == 0) {
		exception_take(f, cause, value);
		return;
	}
	t.cause = CRASH_ACCESS;
	t.write = exceptions[cause].write;
	t.addr = value;
	if (!fault_is_stale(value, exceptions[cause].right))
		kernel_fault(f, &t);
}

void hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value);

/* A trap from user mode that is no kernel call. */
void
hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value)
{
	if ((cause & CAUSE_INTERRUPT) == 0)
		fault_take(f, cause, value);
	else if (cause == CAUSE_TIMER)
		tick_take(f);
	else
		doorbell_take(f, cause);
}

/* Kernels that answer some calls early define their own. */
__attribute__((weak)) long
kernel_call_fast(struct hal_frame *f, unsigned long nr)
{
	(void)f;
	(void)nr;
	return 0;
}

__attribute__((weak)) void
kernel_interrupt(unsigned number)
{
	(void)number;
}

__attribute__((weak)) void
kernel_call(struct hal_frame *f)
{
	static const struct hal_trap trap = {.kind = TRAP_CALL};

	kernel_trap(f, &trap);
}

__attribute__((weak)) void
kernel_fault(struct hal_frame *f, const struct hal_trap *t)
{
	struct hal_trap trap = *t;

	trap.kind = TRAP_FAULT;
	kernel_trap(f, &trap);
}

/*
 * Are the core's floating-point registers this thread's? Those of a thread that never changed one
 * are all zero.
 */
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

long
hal_frame_resume_slowly(struct hal_frame *f)
{
	fp_switch(hal_core_area(), f);
	hal_resume();
}

long
hal_call_again(struct hal_frame *f)
{
	f->pc -= CALL_BYTES;
	return hal_frame_resume(f);
}

/* All of it is in the frame. */
bool
hal_frame_keep(struct hal_frame *f)
{
	(void)f;
	return true;
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
	hal_resume();
}

/* An access to the user's memory that is not to be. */
static int
no_access(uintptr_t addr, bool write)
{
	hal_core_area()->fault = addr;
	hal_core_area()->fault_write = write;
	return -E_FAULT;
}

void
hal_user_fault(struct hal_trap *t)
{
	const struct hal_core_area *a = hal_core_area();

	*t = (struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ACCESS, .write = a->fault_write,
		.addr = a->fault};
}

/* Is [addr, addr + len) in the half of the address space where no kernel memory is? */
static bool
user_range(uintptr_t addr, size_t len)
{
	return addr < USER_LIMIT && len <= USER_LIMIT - addr;
}

/*
 * An access to user memory [addr, addr + len) went on at its fixup: is it worth another try? A
 * fault elsewhere is an error of the kernel's own. Rare: one copy of it for all.
 */
static __attribute__((noinline)) bool
try_again(uintptr_t addr, size_t len, uint64_t right)
{
	uint64_t fault = hal_core_area()->fault;

	if (fault - addr >= len)
		hal_panic(__FILE__, __LINE__, "a page fault in a copy, outside the user's range");
	return fault_is_stale(fault, right);
}

/* The first address of a range from `first` on in the page of the fault. */
static uintptr_t
first_beyond(uintptr_t first)
{
	uintptr_t page = hal_core_area()->fault & ~(uintptr_t)(HAL_PAGE_BYTES - 1);

	return first > page ? first : page;
}

int hal_copy_faulted(uintptr_t to, uintptr_t from, size_t len);
int hal_touch_faulted(uintptr_t first, uintptr_t last);
int hal_load_faulted(uintptr_t from, uint32_t *value);

/*
 * What usercopy.S does after a fault. Just one of the addresses is the user's, or the kernel's own
 * is wrong.
 */
int
hal_copy_faulted(uintptr_t to, uintptr_t from, size_t len)
{
	bool out = to < USER_LIMIT;

	if (out == (from < USER_LIMIT))
		hal_panic(__FILE__, __LINE__,
			"a page fault in a copy, both addresses are a user's");
	if (!try_again(out ? to : from, len, out ? PTE_W : PTE_R))
		return no_access(first_beyond(out ? to : from), out);
	return hal_copy_user((void *)to, (const void *)from, len);
}

int
hal_touch_faulted(uintptr_t first, uintptr_t last)
{
	return try_again(first, last + sizeof(uint32_t) - first, PTE_W) ?
		hal_touch_user(first, last) :
		no_access(first_beyond(first), true);
}

int
hal_load_faulted(uintptr_t from, uint32_t *value)
{
	return try_again(from, sizeof(*value), PTE_R) ? hal_load_user((const void *)from, value) :
		no_access(from, false);
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	return user_range(from_user, len) ? hal_copy_user(to, (const void *)from_user, len) :
		no_access(from_user, false);
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	return user_range(to_user, len) ? hal_copy_user((void *)to_user, from, len) :
		no_access(to_user, true);
}

/*
 * A page of bytes lies in two pages at most: the words at its ends say whether all of it can be
 * written.
 */
int
hal_user_probe(uintptr_t to_user, size_t len)
{
	if (!user_range(to_user, len))
		return no_access(to_user, true);
	return hal_touch_user(to_user & -sizeof(uint32_t), (to_user + len - 1) & -sizeof(uint32_t));
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	if ((from_user & 3) != 0 || !user_range(from_user, sizeof(*value)))
		return no_access(from_user, false);
	return hal_load_user((const void *)from_user, value);
}

/* Kernel calls are `ecall`. */
uintptr_t
hal_user_gate(void)
{
	return 0;
}
