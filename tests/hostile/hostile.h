/* SPDX-License-Identifier: MIT
 *
 * For tests: memory that somebody else changes while it is read. Between hostile_begin and
 * hostile_end each access to a range runs as one step of the processor, and before each of them
 * `change` may write there: what is read twice can be different the second time. The pages around
 * the range only become slow. x86-64 on Linux, one thread.
 */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#define HOSTILE_PAGE 4096
#define HOSTILE_TRAP_FLAG 0x100

static struct {
	char *first, *end;			/* whole pages */
	char *range;			/* the bytes that change */
	size_t bytes;
	void (*change)(char *at);		/* an access to this byte comes next */
	unsigned accesses;
} hostile;

static inline void
hostile_protect(int prot)
{
	mprotect(hostile.first, (size_t)(hostile.end - hostile.first), prot);
}

/* Somebody reads or writes: let him do this one step. Faults elsewhere are real. */
static inline void
hostile_on_access(int number, siginfo_t *info, void *context)
{
	char *at = info->si_addr;

	if (hostile.first == NULL || at < hostile.first || at >= hostile.end) {
		signal(number, SIG_DFL);
		return;
	}
	hostile_protect(PROT_READ | PROT_WRITE);
	if ((size_t)(at - hostile.range) < hostile.bytes) {
		hostile.accesses++;
		hostile.change(at);
	}
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= HOSTILE_TRAP_FLAG;
}

static inline void
hostile_on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~HOSTILE_TRAP_FLAG;
	if (hostile.first != NULL)
		hostile_protect(PROT_NONE);
}

static inline void
hostile_begin(char *first, size_t bytes, void (*change)(char *at))
{
	struct sigaction on_access = {.sa_sigaction = hostile_on_access, .sa_flags = SA_SIGINFO};
	struct sigaction on_step = {.sa_sigaction = hostile_on_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &on_access, NULL);
	sigaction(SIGTRAP, &on_step, NULL);
	hostile.first = (char *)((uintptr_t)first / HOSTILE_PAGE * HOSTILE_PAGE);
	hostile.end =
		(char *)(((uintptr_t)first + bytes + HOSTILE_PAGE - 1) / HOSTILE_PAGE *
		HOSTILE_PAGE);
	hostile.range = first;
	hostile.bytes = bytes;
	hostile.change = change;
	hostile.accesses = 0;
	hostile_protect(PROT_NONE);
}

/* Accesses to the range since hostile_begin. */
static inline unsigned
hostile_end(void)
{
	hostile_protect(PROT_READ | PROT_WRITE);
	hostile.first = NULL;
	return hostile.accesses;
}

#endif
