/* SPDX-License-Identifier: MIT
 *
 * Robust mutexes: each thread has a list of those that it holds (set_robust_list). When it ends, or
 * its process, they are marked, and one that waits is woken, as Linux does it. A process that has
 * such a list is told of what would end it, SIGKILL, too, so that it can do that (ADR 0103).
 */
#include <stddef.h>
#include <abi/startup.h>
#include <user/personality/personality.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define HELD_MAX 2048			/* that are looked at */
#define WAITERS 0x80000000u
#define OWNER_DIED 0x40000000u
#define OWNER 0x3fffffffu
/* besides those of faults: all but the ones that do nothing or stop, SIGCHLD to SIGURG, SIGWINCH */
#define SIGNALS_DEADLY (~(SIGNALS_OF_FAULTS | (uint64_t)127 << 16 | SIGNAL_OF(SIGWINCH)))

/* Linux's struct robust_list_head. */
struct robust_head {
	uint64_t next;			/* of a list that ends here; bit 0 is no address's */
	int64_t offset;			/* from an entry to its word */
	uint64_t pending;		/* one that is being taken or given back */
};

long
robust_set(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);

	if (arg(c, 1) != sizeof(struct robust_head))
		return -E_INVAL;
	r->robust = arg(c, 0);
	if (r->robust == 0 || only_rank() == NULL)
		return 0;
	kept.takes_faults = 1;
	signals_want(c, SIGNALS_DEADLY);
	return 0;
}

long
robust_get(const struct handler_event *c)
{
	const struct thread_record *r = thread_record(c);

	if (arg(c, 0) != 0 && (int32_t)arg(c, 0) != r->tid)
		return -E_SRCH;
	*(uint64_t *)arg(c, 1) = r->robust;
	*(uint64_t *)arg(c, 2) = sizeof(struct robust_head);
	return 0;
}

static void
let_go(uint64_t entry, int64_t offset, uint32_t owner, bool is_pending)
{
	uint32_t *word = (uint32_t *)((entry & ~(uint64_t)1) + (uint64_t)offset);
	uint32_t old;

	if ((uintptr_t)word % sizeof(*word) != 0 || reach_write((uint64_t)word, sizeof(*word)) != 0)
		return;
	old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	while ((old & OWNER) == owner)
		if (__atomic_compare_exchange_n(word, &old, (old & WAITERS) | OWNER_DIED, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			break;
	if (((old & OWNER) == owner && (old & WAITERS) != 0) || (is_pending && old == 0))
		kfutex_wake(memory_futex((unsigned long)word), 1);
}

void
robust_end(struct thread_record *r)
{
	const struct robust_head *head = (const struct robust_head *)r->robust;
	uint64_t entry, next, pending;

	r->robust = 0;
	if (head == NULL || reach_read((uint64_t)head, sizeof(*head)) != 0)
		return;
	pending = head->pending;
	entry = head->next;
	for (int i = 0; i < HELD_MAX && (entry & ~(uint64_t)1) != (uint64_t)head &&
		reach_read(entry & ~(uint64_t)1, sizeof(next)) == 0; i++, entry = next) {
		next = *(const uint64_t *)(entry & ~(uint64_t)1);
		if (entry != pending)
			let_go(entry, head->offset, (uint32_t)r->tid, false);
	}
	if (pending != 0)
		let_go(pending, head->offset, (uint32_t)r->tid, true);
}

void
robust_end_all(int rank)
{
	for (uint32_t i = 0; i < personality_info.stacks; i++) {
		struct thread_record *r = (struct thread_record *)(personality_info.stack_top -
			(uint64_t)(i + 1) * PERSONALITY_STACK_BYTES);

		if (r->rank == rank)
			robust_end(r);
	}
}
