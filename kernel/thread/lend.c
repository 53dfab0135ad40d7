/* SPDX-License-Identifier: MIT
 *
 * Cores that a thread lends to a program as bare hardware. The thread waits in its call on that
 * core, which is nobody else's, and has no other thread: so the loan is a wait like any other, and
 * ends with it. Source: seed 003 (exclusive cores).
 */
#include <kernel/call/kcall_core.h>
#include <kernel/mem/memory.h>
#include <kernel/mem/mem.h>
#include <kernel/thread/role.h>
#include <kernel/thread/run.h>

enum { ARG_MEMORY, ARG_CORE, ARG_PADDR, ARG_BYTES, ARGS };

/* The call holds the memory until the core is back; where its process dies, until that ends. */
static long
lend_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;
	struct core *core = t->core;
	struct memory *m;
	int e = memory_find(t, (int)args->a[ARG_MEMORY], PAGE_READ | PAGE_WRITE | PAGE_EXEC, &m);

	if (e != 0)
		return e;
	if (m->kind != MEMORY_FRAMES)
		return -E_INVAL;
	if (core->id != args->a[ARG_CORE] || core->role != ROLE_AC || core->load != 1)
		return -E_BUSY;
	object_get(&m->object);
	t->work.memory = m;
	args->a[ARG_PADDR] = memory_paddr(&core->cluster->frames, m, 0);
	args->a[ARG_BYTES] = (unsigned long)m->count * HAL_PAGE_BYTES;
	role_set(core, ROLE_XC);
	core->is_crowded = true;
	return 0;
}

/* Somebody may have given the core another role meanwhile: that stays. */
static long
back_serve(struct kcall_args *args)
{
	struct thread *t = args->caller;

	object_put(&t->work.memory->object);
	t->work.memory = NULL;
	if (t->core->role == ROLE_XC)
		role_set(t->core, ROLE_AC);
	return 0;
}

/*
 * kc_core_lend: lend the core that the thread runs on to a program as bare hardware. It runs from
 * offset `entry` of a memory on (made by memory_create, with a power of two of pages, and a handle
 * with the rights to read, write and execute), with that memory as all that there is: in
 * supervisor mode, untranslated, its own traps its own, interrupts off. Its registers hold arg, the
 * memory's address and its bytes; it leaves by an `ecall`. The core must be an application core
 * whose only thread the caller is; nothing of the kernel runs there until it is back. The kernel
 * takes it back for a kill, an upcall of the thread, or another role of the core (core_role).
 * Revoking or closing the handle changes nothing for a loan. Runs: calling core. Blocks. Returns
 * the low 31 bits of the program's a0; -E_BADF; -E_ACCES; -E_INVAL: another memory, or entry is odd
 * or not inside; -E_BUSY: another core; -E_INTR: taken back, or wanted before it began; -E_FAULT:
 * the program fetched from outside its memory, as by a trap without a handler; -E_NOSYS: the
 * machine cannot.
 */
long
kc_core_lend(struct thread *caller, int memory, unsigned long entry, unsigned long arg)
{
	struct core *core = core_self();
	struct kcall_args *args = kcall_args(core);
	uint32_t bytes = offsetof(struct kcall_args, a) + ARGS * sizeof(args->a[0]);
	uint32_t heard = hal_peek32(&core->count[CORE_MESSAGES]);
	long result;

	args->caller = caller;
	args->a[ARG_MEMORY] = (unsigned long)memory;
	args->a[ARG_CORE] = core->id;
	core_leave_space(core);
	result = am_call_kernel(core, lend_serve, args, bytes);
	if (result == 0) {
		/* what came while the call waited has taken its doorbell: a kill, another role */
		result = -E_INTR;
		if (hal_peek32(&core->count[CORE_MESSAGES]) == heard) {
			hal_store32(&core->acts, ROLE_XC);
			result = hal_core_lend(caller->now, args->a[ARG_PADDR], args->a[ARG_BYTES],
				entry, arg);
			hal_store32(&core->acts, ROLE_AC);
		}
		args->caller = caller;
		am_call_kernel(core, back_serve, args, bytes);
	}
	core_enter_space(core);
	return result;
}
