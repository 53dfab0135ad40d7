/* SPDX-License-Identifier: MIT
 *
 * Threads: clone as pthread_create uses it, futexes, and the ends of a thread and of a rank.
 *
 * A new thread needs a personality stack before its first trap, and the kernel gives it the lowest
 * number that is free: so as many mapped stacks as there are threads are enough. What clone wants
 * done in the child, the child does itself: it begins in child_main, whose first act is a call of
 * its own (SYS_child_begin), and from its personality stack it then knows its record.
 */
#include <stddef.h>
#include <context.h>
#include <abi/startup.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <user/personality/files.h>
#include <user/personality/line.h>
#include <user/personality/lock.h>
#include <user/personality/personality.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>
#include <user/personality/usage.h>
#include <user/rank.h>

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000
#define CLONE_THREAD 0x10000
#define CLONE_SETTLS 0x80000
#define CLONE_PARENT_SETTID 0x100000
#define CLONE_CHILD_CLEARTID 0x200000
#define CLONE_CHILD_SETTID 0x1000000

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_PRIVATE 128
#define FUTEX_FLAGS 384		/* private, realtime */

/* What a new thread finds on its stack. */
struct child_begin {
	struct context context;		/* the state in which clone returns in the child */
	uint64_t clear_tid;
	uint64_t set_tid;
	/* where the parent wants the number: it may come later than the child */
	uint64_t parent_tid;
	uint64_t mask;
	int32_t rank;
};

static struct thread_record *
record_at(uint64_t address_in_stack)
{
	uint64_t index = (personality_info.stack_top - 1 - address_in_stack) /
		PERSONALITY_STACK_BYTES;

	return (struct thread_record *)(personality_info.stack_top - (index + 1) *
		PERSONALITY_STACK_BYTES);
}

/* The rank on whose stack the program is; -1 if none. */
static int
rank_by_stack(uint64_t sp)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;

	for (uint32_t r = 0; j != NULL && r < j->ranks; r++)
		if (sp >= j->rank[r].stack_first && sp < j->rank[r].stack_limit)
			return (int)r;
	return -1;
}

struct thread_record *
thread_record(const struct handler_event *c)
{
	return record_at((uint64_t)c);
}

struct thread_record *
thread_enter(const struct handler_event *c)
{
	struct thread_record *r = record_at((uint64_t)c);
	int32_t tid = (int32_t)c->addr;

	/* the kernel says it, but for a first call, a fault and an upcall */
	if (c->cause != CRASH_NONE || tid == 0)
		tid = (int32_t)kthread_self();
	if (r->tid != tid)
		*r = (struct thread_record){.tid = tid, .rank = rank_by_stack(c->sp)};
	return r;
}

int
thread_child_rank(const struct thread_record *r)
{
	return -2 - (int)((personality_info.stack_top - (uint64_t)r) / PERSONALITY_STACK_BYTES);
}

long
thread_set_tid_address(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);

	r->clear_tid = arg(c, 0);
	return r->tid;
}

/*
 * The threads that clone made and that have said that they end. Who clones next joins them, so that
 * their numbers, and with them their personality stacks, are free for certain.
 */
struct ended {
	struct lock lock;
	uint32_t count;
	uint32_t alive;		/* made and not joined */
	int32_t *tid;		/* memory that is there from the first that is made on */
};

static struct ended ended;

static void
note_end(int32_t tid)
{
	lock_take(&ended.lock);
	ended.tid[ended.count++] = tid;
	lock_give(&ended.lock);
}

/* A thread that is gone is announced: its word becomes 0 and whoever joins it wakes. */
static void
announce_end(const struct thread_record *r)
{
	if (r->clear_tid == 0 || reach_write(r->clear_tid, sizeof(uint32_t)) != 0)
		return;
	__atomic_store_n((uint32_t *)r->clear_tid, 0, __ATOMIC_RELEASE);
	kfutex_wake(r->clear_tid, 1);
}

void
thread_exit(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);

	process_exit_borrowed(c, (int)arg(c, 0));
	robust_end(r);
	if (r->is_cloned)
		note_end(r->tid);
	signals_leave(r->tid);
	/* nobody takes it for a thread any more that could be woken */
	r->tid = 0;
	r->listens = 0;
	announce_end(r);
	for (;;)
		kthread_exit(arg(c, 0));
}

static __attribute__((noinline)) void
say_broken(uint32_t rank, int status)
{
	struct line l;

	l.len = 0;
	line_text(&l, "rank ");
	line_number(&l, rank, 10);
	line_text(&l, " ended with status ");
	line_number(&l, (uint64_t)status, 10);
	line_text(&l, " before MPI_Finalize\n");
	line_say(&l);
}

void
thread_exit_group(const struct handler_event *c, int status)
{
	struct job_control *j = (struct job_control *)personality_info.control;
	struct thread_record *r = thread_record(c);
	int end = status & 255;

	process_exit_borrowed(c, status);
	robust_end_all(r->rank);
	files_close_rank(r->rank);
	if (r->rank >= 0 && rank_breaks_job(j, (uint32_t)r->rank)) {
		say_broken(((const struct startup *)j->rank[r->rank].startup)->rank, status & 255);
		job_abort(status);
	}
	if (personality_info.is_child && only_rank() != NULL)
		end |= (int)(usage_at_end() << 8);
	if (r->rank >= 0)
		rank_end(j, (uint32_t)r->rank, end);
	for (;;)
		kproc_exit(end);
}

long
thread_child_begin(const struct handler_event *c)
{
	struct child_begin *b = (struct child_begin *)arg(c, 0);
	struct thread_record *r = thread_record(c);

	*r = (struct thread_record){.tid = r->tid};
	r->is_cloned = 1;
	r->rank = b->rank;
	r->clear_tid = b->clear_tid;
	r->mask = b->mask;
	if (b->set_tid != 0 && reach_write(b->set_tid, sizeof(r->tid)) == 0)
		*(int32_t *)b->set_tid = r->tid;
	if (b->parent_tid != 0)
		__atomic_store_n((int32_t *)b->parent_tid, r->tid, __ATOMIC_RELAXED);
	for (;;)
		kcontext_set(&b->context);
}

/* First code of a new thread, on the program's stack. */
static _Noreturn void
child_main(struct child_begin *b)
{
	register unsigned long a0 __asm__("a0") = (unsigned long)b;
	register unsigned long a7 __asm__("a7") = SYS_child_begin;

	for (;;)
		__asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
}

static void
join_ended(void)
{
	uint64_t value;

	while (ended.count > 0) {
		if (kthread_join(ended.tid[ended.count - 1], &value, FOREVER) == -E_INTR) {
			signal_bit_take();
			continue;
		}
		ended.count--;
		ended.alive--;
	}
}

/*
 * Stacks for one more thread: the ranks' threads have the first ones. Threads that a library made
 * of the kernel's (one per rank: what writes bulk data) never come here, but take numbers.
 */
static long
make_stacks(void)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	uint32_t need = 2 * (j != NULL ? j->ranks : 1) + ended.alive + 1;
	int pages = (int)(PERSONALITY_STACK_BYTES / personality_info.page_bytes);

	if (need > PERSONALITY_THREADS_MAX)
		return -E_AGAIN;
	while (personality_info.stacks < need) {
		uint64_t at = personality_info.stack_top - (uint64_t)(personality_info.stacks + 1) *
			PERSONALITY_STACK_BYTES;
		long memory = kmemory_create(pages), result;

		if (memory < 0)
			return memory;
		result = kpage_map(SELF, at, (int)memory, 0, pages, PAGE_READ | PAGE_WRITE);
		khandle_close((int)memory);
		if (result < 0)
			return result;
		personality_info.stacks++;
	}
	return 0;
}

/* Room to note the ends of all: most processes have one thread. */
static long
make_notes(void)
{
	uint64_t addr = (uint64_t)ended.tid;
	long result = addr != 0 ? 0 : kmem_alloc(SELF, PERSONALITY_THREADS_MAX *
		sizeof(*ended.tid), PAGE_READ | PAGE_WRITE, &addr);

	ended.tid = (int32_t *)addr;
	return result;
}

static long
create(const struct context *start)
{
	long result;

	lock_take(&ended.lock);
	join_ended();
	result = make_notes();
	if (result == 0)
		result = make_stacks();
	if (result == 0)
		result = kthread_create(start, ANY_CORE);
	if (result >= 0)
		ended.alive++;
	lock_give(&ended.lock);
	return result;
}

long
thread_clone(const struct handler_event *c)
{
	unsigned long flags = arg(c, 0), need = CLONE_VM | CLONE_THREAD;
	struct child_begin *b =
		(struct child_begin *)((arg(c, 1) & ~15ul) - ((sizeof(*b) + 15) & ~15ul));
	struct context start;
	long tid;

	if ((flags & CLONE_THREAD) == 0)
		return (flags & (CLONE_VM | CLONE_VFORK)) != 0 ? process_vfork(c) : fork_call(c);
	if ((flags & need) != need || arg(c, 1) == 0)
		return -E_NOSYS;
	tid = kcontext_get((unsigned long)&b->context);
	if (tid < 0)
		return tid;
	b->context.x[2] = arg(c, 1);
	b->context.x[10] = 0;
	if ((flags & CLONE_SETTLS) != 0)
		b->context.x[4] = arg(c, 3);
	b->clear_tid = (flags & CLONE_CHILD_CLEARTID) != 0 ? arg(c, 4) : 0;
	b->set_tid = (flags & CLONE_CHILD_SETTID) != 0 ? arg(c, 4) : 0;
	if (reach_write(arg(c, 2), sizeof(uint32_t)) != 0)
		flags &= ~(unsigned long)CLONE_PARENT_SETTID;
	b->parent_tid = (flags & CLONE_PARENT_SETTID) != 0 ? arg(c, 2) : 0;
	b->rank = thread_record(c)->rank;
	b->mask = thread_record(c)->mask;
	context_init(&start, (uintptr_t)child_main, (uintptr_t)b, (uintptr_t)b,
		(uintptr_t)b->context.x[4]);
	tid = create(&start);
	if (tid >= 0 && (flags & CLONE_PARENT_SETTID) != 0)
		__atomic_store_n((int32_t *)arg(c, 2), (int32_t)tid, __ATOMIC_RELAXED);
	if (tid < 0)
		return -E_AGAIN;
	signal_threads_share(c);
	return tid;
}

static uint64_t
deadline_of(const uint64_t *timeout)
{
	uint64_t now = 0;

	if (timeout == NULL)
		return FOREVER;
	kclock(&now);
	return time_after(now, timeout);
}

long
thread_futex(const struct handler_event *c)
{
	unsigned long addr = arg(c, 0);
	long result;

	if (addr % sizeof(uint32_t) != 0)
		return -E_INVAL;
	if ((arg(c, 1) & FUTEX_PRIVATE) == 0) {
		if (reach_read(addr, sizeof(uint32_t)) != 0)
			return -E_FAULT;
		addr = memory_futex(addr);
	}
	switch ((uint32_t)arg(c, 1) & ~(uint32_t)FUTEX_FLAGS) {
	case FUTEX_WAIT:
		if (arg(c, 3) != 0 && reach_read(arg(c, 3), 2 * sizeof(uint64_t)) != 0)
			return -E_FAULT;
		result = signal_futex_wait(c, addr, (uint32_t)arg(c, 2),
			deadline_of((const uint64_t *)arg(c, 3)));
		return result == -E_INTR ? -CALL_RESTART : result;
	case FUTEX_WAKE:
		return kfutex_wake(addr, (int)arg(c, 2));
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		/* waking those that would be moved is allowed: a waiter must look again anyway */
		return kfutex_wake(addr, INT32_MAX);
	default:
		return -E_NOSYS;
	}
}
