/* SPDX-License-Identifier: MIT
 *
 * Registers of a thread that a signal interrupted, by host CPU.
 */
#ifndef HOSTED_REGS_H
#define HOSTED_REGS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include <hal/trap.h>

#ifdef __x86_64__

#define REG(uc, name) ((uc)->uc_mcontext.gregs[REG_##name])

#define FAULT_WRITE 2		/* bits of the page fault's error code */
#define FAULT_FETCH 16

static inline uintptr_t
regs_pc(const ucontext_t *uc)
{
	return (uintptr_t)REG(uc, RIP);
}

static inline void
regs_set_pc(ucontext_t *uc, const void *pc)
{
	REG(uc, RIP) = (greg_t)(uintptr_t)pc;
}

static inline uintptr_t
regs_sp(const ucontext_t *uc)
{
	return (uintptr_t)REG(uc, RSP);
}

static inline uintptr_t
regs_frame(const ucontext_t *uc)
{
	return (uintptr_t)REG(uc, RBP);
}

/* 0 read, 1 write, 2 fetch */
static inline uint32_t
regs_access(const ucontext_t *uc)
{
	return REG(uc, ERR) & FAULT_FETCH ? 2 : REG(uc, ERR) & FAULT_WRITE ? 1 : 0;
}

/* What the kernel may want to know of the thread; it goes on by the signal frame alone. */
static inline void
regs_to_context(const ucontext_t *uc, struct context *c)
{
	c->pc = (uint64_t)REG(uc, RIP);
	c->sp = (uint64_t)REG(uc, RSP);
	c->bp = (uint64_t)REG(uc, RBP);
	c->bx = (uint64_t)REG(uc, RBX);
	c->r12 = (uint64_t)REG(uc, R12);
	c->r13 = (uint64_t)REG(uc, R13);
	c->r14 = (uint64_t)REG(uc, R14);
	c->r15 = (uint64_t)REG(uc, R15);
	c->arg = (uint64_t)REG(uc, RAX);
}

#endif
#endif
