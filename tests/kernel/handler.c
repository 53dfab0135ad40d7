/* SPDX-License-Identifier: MIT
 *
 * Handlers: a thread's second frame serves calls that are not the kernel's, faults, and kernel
 * calls that meet an absent page, which start again. What a handler does wrong ends its process and
 * nothing else; at instructions for which there is a fixup it goes on there.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>

#define STACK (32 * 1024)
#define FOREIGN_CALL 42
#define RW (PAGE_READ | PAGE_WRITE)
#define THREADS 4

/* what a child does */
enum role { NONE, FAULTS_IN_HANDLER, BAD_ENTRY, BAD_STACK, STAYS_IN_HANDLER, NO_STACK,
	FAULTS_WITHOUT, BESIDE_FIXUP };

enum serve {
	SERVE_RESULT,		/* 5000 and what the event says must be so */
	SERVE_MAP,		/* a page at the address */
	SERVE_SKIP,		/* go on at `skip_to` */
	SERVE_NEST,		/* try everything that a handler may not */
	SERVE_CONTEXT,		/* go on with a changed context */
	SERVE_MEET,		/* stay until the other is here, too */
	SERVE_TOUCH,		/* write to an absent page, which has a fixup */
};

static struct {
	enum serve how;
	struct handler_event event;	/* the last one */
	uint32_t entered;
	uint32_t here;
	uintptr_t skip_to;
	long nested[4];
	uint32_t recovered;
} h;

static void
map_at(uintptr_t addr)
{
	long memory = kmemory_create(1);

	expect(memory > 0);
	expect_eq(kpage_map(SELF, addr & ~(uintptr_t)(kt_page_bytes() - 1), (int)memory, 0, 1, RW),
		0);
	khandle_close((int)memory);
}

/* Changes floating-point registers, too. */
static void
scribble(void)
{
	volatile float_register x = 3;

	for (int i = 0; i < 20; i++)
		x = x * 3 / 2 + (float_register)i / 7;
}

static void
nest(void)
{
	h.nested[0] = kcall1(FOREIGN_CALL, 1);
	h.nested[1] = kclock((void *)16);
	h.nested[2] = kcontext_get(16);
	h.nested[3] = kvoid_remote();
}

static void
change_context(void)
{
	struct context c;

	expect_eq(kcontext_get((unsigned long)&c), 0);
	context_set_result(&c, 77);
	kcontext_set(&c);
}

static void
meet(void)
{
	__atomic_add_fetch(&h.here, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&h.here, __ATOMIC_ACQUIRE) < 2)
		kthread_yield();
}

static volatile uintptr_t nowhere = 24;

/* A fault here goes on in `recovered`; TOUCH_BYTES hold the instruction, and end before others. */
#define TOUCH_BYTES 16

static __attribute__((noinline, aligned(64))) void
write_one(volatile uint32_t *at)
{
	*at = 1;
}

/* In its handler or not. */
static void
recovered(void)
{
	__atomic_add_fetch(&h.recovered, 1, __ATOMIC_RELAXED);
	kframe_return(5001);
	kthread_exit(43);
}

HANDLER_ENTRY(handler, serve)

long
serve(const struct handler_event *e)
{
	h.event = *e;
	h.entered++;
	scribble();
	switch (h.how) {
	case SERVE_MAP:
		map_at((uintptr_t)e->addr);
		return 0;
	case SERVE_SKIP:
		return (long)h.skip_to;
	case SERVE_NEST:
		nest();
		return 5000;
	case SERVE_CONTEXT:
		change_context();
		return 1;
	case SERVE_TOUCH:
		write_one((volatile uint32_t *)nowhere);
		return 5002;
	case SERVE_MEET:
		meet();
		return 5000 + (long)e->args[0];
	default:
		return 5000;
	}
}

static uintptr_t
new_stack(void)
{
	uint64_t stack;

	if (kmem_alloc(SELF, STACK, RW, &stack) != 0)
		return 0;
	return (uintptr_t)stack + STACK;
}

static void
handle_nothing(void)
{
	expect_eq(kthread_handler(HANDLE_CALLS | HANDLE_FAULTS, 0, 0), 0);
}

static void
handle(uint32_t kinds, enum serve how)
{
	static uintptr_t stack;

	if (stack == 0)
		stack = new_stack();
	handle_nothing();
	memset(&h, 0, sizeof(h));
	h.how = how;
	expect_eq(kthread_handler(kinds, (unsigned long)handler, stack), 0);
}

/* An address where nothing is mapped. */
static uintptr_t
hole(void)
{
	uint64_t at;

	expect_eq(kmem_alloc(SELF, 2 * kt_page_bytes(), RW, &at), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 2), 0);
	return (uintptr_t)at;
}

/* test: thread_handler, frame_return */
TEST(a_call_that_is_not_the_kernels_reaches_the_handler)
{
	expect_eq(kcall1(FOREIGN_CALL, 1), -E_NOSYS);
	handle(HANDLE_CALLS, SERVE_RESULT);
	for (int i = 0; i < 20; i++)
		expect_eq(kcall6(FOREIGN_CALL, 1, 2, 3, 4, 5, 6), 5000);
	expect_eq(h.entered, 20);
	expect_eq(h.event.cause, CRASH_NONE);
	expect_eq(h.event.number, FOREIGN_CALL);
	expect_eq(h.event.addr, kthread_self());
	for (unsigned i = 0; i < 6; i++)
		expect_eq(h.event.args[i], i + 1);
	expect_eq(kcall1(KC_FIRST + KC_COUNT, 1), -E_NOSYS);
	expect_eq(kcall1(~0ul, 1), -E_NOSYS);
	expect_eq(h.entered, 20);
	handle(HANDLE_FAULTS, SERVE_RESULT);
	expect_eq(kcall1(FOREIGN_CALL, 1), -E_NOSYS);
	handle_nothing();
	expect_eq(kcall1(FOREIGN_CALL, 1), -E_NOSYS);
}

/* Many values at once, so that each register counts, and floating-point numbers. */
static uint32_t
compute(uint32_t seed, bool calls)
{
	uint32_t a = seed, b = ~seed, c = seed * 5, d = seed ^ 0x55555555, e = 1, f = seed << 7;
	float_register x = (float_register)seed, y = 5;

	for (int i = 0; i < 200; i++) {
		a += b ^ (c >> 3);
		b = (b << 5 | b >> 27) + d;
		c ^= a + e;
		x = x / 2 + y;
		if (calls && i % 8 == 0)
			kcall2(FOREIGN_CALL, a, b);
		d += (f >> 1) + a;
		e = e * 3 + (d ^ b);
		f ^= (c << 2) + e;
		y = 100 - x / 8;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ (uint32_t)(int32_t)(x + y);
}

TEST(the_registers_of_the_thread_are_as_they_were)
{
	handle(HANDLE_CALLS, SERVE_RESULT);
	for (uint32_t seed = 1; seed < 20; seed++)
		expect_eq(compute(seed, true), compute(seed, false));
	handle_nothing();
}

/* A load or a store of its own that finds no page, with numbers in registers around it. */
static __attribute__((noinline)) float_register
touch(volatile uint32_t *at, float_register x, float_register y)
{
	float_register sum = x * y;

	at[0] = 7;
	sum += x / y;
	return sum + (float_register)at[0];
}

TEST(a_fault_is_handled_and_the_thread_goes_on)
{
	volatile uint32_t *at = (volatile uint32_t *)hole();

	handle(HANDLE_FAULTS, SERVE_MAP);
	expect(touch(at, 6, 2) == 12 + 3 + 7);
	expect_eq(h.entered, 1);
	expect_eq(h.event.cause, CRASH_ACCESS);
	expect_eq(h.event.write, 1);
	expect_eq(h.event.addr, (uintptr_t)at);
	expect(at[kt_page_bytes() / sizeof(*at)] == 0);
	expect_eq(h.entered, 2);
	expect_eq(h.event.write, 0);
	expect(touch(at, 6, 2) == 12 + 3 + 7);
	expect_eq(h.entered, 2);
	handle_nothing();
}

/* Goes to where the fault's handler says. */
static __attribute__((noinline)) void
landed(void)
{
	for (;;)
		kthread_exit(31);
}

static unsigned long
leaper(unsigned long arg)
{
	kthread_handler(HANDLE_FAULTS, (unsigned long)handler, new_stack());
	*(volatile uint32_t *)hole() = 1;
	return arg;
}

TEST(a_fault_can_go_on_elsewhere)
{
	memset(&h, 0, sizeof(h));
	h.how = SERVE_SKIP;
	h.skip_to = (uintptr_t)landed;
	expect_eq(kt_join(kt_thread(leaper, 0, ANY_CORE)), 31);
	expect_eq(h.entered, 1);
}

/* test: clock, futex_wait, thread_create */
TEST(a_call_that_met_an_absent_page_starts_again)
{
	uintptr_t at = hole();
	uint64_t *out = (uint64_t *)(at + kt_page_bytes() - sizeof(uint32_t));
	volatile uint32_t *word;

	expect_eq(kclock(out), -E_FAULT);
	handle(HANDLE_CALLS, SERVE_MAP);
	expect_eq(kclock(out), -E_FAULT);
	handle(HANDLE_FAULTS, SERVE_MAP);
	expect_eq(kclock(out), 0);
	expect_eq(h.entered, 2);
	expect_eq(h.event.cause, CRASH_ACCESS);
	expect_eq(h.event.write, 1);
	expect_eq(h.event.addr, at + kt_page_bytes());
	expect_eq(h.event.number, KC_CLOCK);
	at = hole();
	expect_eq(kstats(STATS_THREADS, (void *)at), 0);
	expect(*(uint64_t *)at > 0);
	expect_eq(h.entered, 3);
	at = hole();
	expect_eq(kthread_create((const void *)at, ANY_CORE), -E_INVAL);
	expect_eq(h.entered, 4);
	expect_eq(h.event.write, 0);
	word = (volatile uint32_t *)hole();
	expect_eq(kfutex_wait((unsigned long)word, 1, FOREVER), -E_AGAIN);
	expect_eq(h.entered, 5);
	handle_nothing();
	expect_eq(kclock((void *)hole()), -E_FAULT);
}

/* test: context_get */
TEST(a_handler_has_no_handler)
{
	unsigned long bad = 8;
	struct context c;

	handle(HANDLE_CALLS | HANDLE_FAULTS, SERVE_NEST);
	expect_eq(kcall1(FOREIGN_CALL, 1), 5000);
	expect_eq(h.entered, 1);
	expect_eq(h.nested[0], -E_NOSYS);
	expect_eq(h.nested[1], -E_FAULT);
	expect_eq(h.nested[2], -E_FAULT);
	expect_eq(h.nested[3], 0);
	handle(HANDLE_CALLS, SERVE_CONTEXT);
	expect_eq(kcall1(FOREIGN_CALL, 1), 77);
	expect_eq(kcall1(FOREIGN_CALL, 1), 77);
	handle_nothing();
	expect_eq(kframe_return(1), -E_INVAL);
	expect_eq(kcontext_get((unsigned long)&c), -E_INVAL);
	expect_eq(kthread_handler(bad, (unsigned long)handler, 4096), -E_INVAL);
	expect_eq(kthread_handler(HANDLE_CALLS, ~0ul, 4096), -E_INVAL);
}

static unsigned long
caller(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		if (kcall1(FOREIGN_CALL, i) != 5000)
			return 0;
	return n;
}

/* test: proc_handler */
TEST(a_process_gives_its_threads_a_handler)
{
	uint64_t stacks;
	long tid[THREADS];

	expect_eq(kmem_alloc(SELF, 32 * STACK, RW, &stacks), 0);
	expect_eq(kproc_handler(SELF, 16, (unsigned long)handler,
		(unsigned long)stacks + 32 * STACK, STACK), -E_INVAL);
	expect_eq(kproc_handler(SELF, HANDLE_CALLS, ~0ul, (unsigned long)stacks + 32 * STACK,
		STACK), -E_INVAL);
	expect_eq(kproc_handler(77, HANDLE_CALLS, (unsigned long)handler,
		(unsigned long)stacks + 32 * STACK, STACK), -E_BADF);
	expect_eq(kproc_handler(SELF, HANDLE_CALLS, (unsigned long)handler,
		(unsigned long)stacks + 32 * STACK, STACK), 0);
	memset(&h, 0, sizeof(h));
	for (int i = 0; i < THREADS; i++)
		tid[i] = kt_thread(caller, 100, ANY_CORE);
	for (int i = 0; i < THREADS; i++)
		expect_eq(kt_join(tid[i]), 100);
	expect_eq(kcall1(FOREIGN_CALL, 1), -E_NOSYS);
	handle(HANDLE_CALLS, SERVE_RESULT);
	handle_nothing();
	expect_eq(kcall1(FOREIGN_CALL, 1), 5000);
	expect_eq(kproc_handler(SELF, HANDLE_CALLS, 0, 0, 0), 0);
	expect_eq(kcall1(FOREIGN_CALL, 1), 5000);
	handle_nothing();
	expect_eq(kcall1(FOREIGN_CALL, 1), -E_NOSYS);
	expect_eq(kt_join(kt_thread(caller, 1, ANY_CORE)), 0);
}

static unsigned long
meeter(unsigned long me)
{
	if (kthread_handler(HANDLE_CALLS, (unsigned long)handler, new_stack()) != 0)
		return 0;
	return (unsigned long)kcall1(FOREIGN_CALL, me);
}

TEST(two_threads_are_in_their_handlers_at_once)
{
	long tid[2];

	memset(&h, 0, sizeof(h));
	h.how = SERVE_MEET;
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(meeter, i, ANY_CORE);
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), 5000 + i);
}

/*
 * On a time-sharing core a thread in its handler loses the core to others, and all its registers
 * come back.
 */
static uint32_t stop;

HANDLER_ENTRY(long_handler, serve_long)

long
serve_long(const struct handler_event *e)
{
	uint32_t now = __atomic_load_n(&h.here, __ATOMIC_ACQUIRE);
	long wrong = 0;

	for (int i = 0; i < 3; i++) {
		uint32_t want = compute((uint32_t)e->args[0], false);

		while (__atomic_load_n(&h.here, __ATOMIC_ACQUIRE) == now)
			wrong += compute((uint32_t)e->args[0], false) != want;
		now = __atomic_load_n(&h.here, __ATOMIC_ACQUIRE);
	}
	return wrong == 0 ? 5000 : 1;
}

static unsigned long
computer(unsigned long seed)
{
	uint32_t want = compute((uint32_t)seed, false);
	unsigned long wrong = 0;

	while (__atomic_load_n(&stop, __ATOMIC_ACQUIRE) == 0) {
		wrong += compute((uint32_t)seed, false) != want;
		__atomic_add_fetch(&h.here, 1, __ATOMIC_ACQ_REL);
	}
	return wrong;
}

TEST(a_handler_is_preempted)
{
	long tid;

	memset(&h, 0, sizeof(h));
	stop = 0;
	expect_eq(kthread_handler(HANDLE_CALLS, (unsigned long)long_handler, new_stack()), 0);
	/* it computes and never waits: only a tick lets both go on */
	tid = kt_thread(computer, 5, kt_own_core());
	for (uint32_t seed = 1; seed < 4; seed++)
		expect_eq(kcall1(FOREIGN_CALL, seed), 5000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	expect_eq(kt_join(tid), 0);
	handle_nothing();
}

static uint32_t exits;

HANDLER_ENTRY(exiting_handler, serve_exit)

long
serve_exit(const struct handler_event *e)
{
	exits += e->cause == CRASH_ACCESS;
	kthread_exit(41);
	return 0;
}

/* Whatever it does first, its stack cannot be written. */
static void
thread_without_stack(void)
{
	volatile uint32_t on_stack[64];

	for (unsigned i = 0; i < 64; i++)
		on_stack[i] = i;
	kthread_exit(on_stack[5]);
}

/* The first fault of a thread, which does not know yet that its process has a handler. */
TEST(a_fault_of_a_thread_without_a_stack_reaches_the_handler_of_its_process)
{
	static const uintptr_t offsets[] = {0, 4096, 65536};
	uint64_t stacks;

	expect_eq(kmem_alloc(SELF, 32 * STACK, RW, &stacks), 0);
	expect_eq(kproc_handler(SELF, HANDLE_FAULTS, (unsigned long)exiting_handler,
		(unsigned long)stacks + 32 * STACK, STACK), 0);
	exits = 0;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		struct context ctx;

		context_init(&ctx, (uintptr_t)thread_without_stack, 8 + offsets[i], 0, 0);
		expect_eq(kt_join(kthread_create(&ctx, ANY_CORE)), 41);
	}
	expect_eq(exits, sizeof(offsets) / sizeof(offsets[0]));
	expect_eq(kproc_handler(SELF, HANDLE_FAULTS, 0, 0, 0), 0);
}

static long
fix(unsigned long bytes)
{
	return kproc_handler(SELF, HANDLE_FIXUP, (unsigned long)recovered, (unsigned long)write_one,
		bytes);
}

static unsigned long
toucher(unsigned long at)
{
	write_one((volatile uint32_t *)at);
	return 0;
}

/* test: proc_handler */
TEST(a_fault_at_an_instruction_with_a_fixup_goes_on_there)
{
	uint64_t page;

	handle(HANDLE_CALLS, SERVE_TOUCH);
	expect_eq(fix(TOUCH_BYTES), 0);
	for (int i = 0; i < 20; i++)
		expect_eq(kcall1(FOREIGN_CALL, 1), 5001);
	expect_eq(kt_join(kt_thread(toucher, nowhere, ANY_CORE)), 43);
	expect_eq(h.recovered, 21);
	expect_eq(kmem_alloc(SELF, (unsigned long)kt_page_bytes(), RW | PAGE_LAZY, &page), 0);
	nowhere = (uintptr_t)page;
	expect_eq(kcall1(FOREIGN_CALL, 1), 5002);
	expect_eq(h.recovered, 21);
	nowhere = 24;
	/* what takes the thread's faults comes first */
	handle(HANDLE_FAULTS, SERVE_SKIP);
	h.skip_to = (uintptr_t)recovered;
	expect_eq(kt_join(kt_thread(toucher, nowhere, ANY_CORE)), 43);
	expect_eq(h.recovered, 1);
	expect_eq(kthread_handler(HANDLE_FIXUP, (unsigned long)recovered, 0), -E_INVAL);
	expect_eq(kproc_handler(SELF, 16, (unsigned long)recovered, 0, 0), -E_INVAL);
	expect_eq(kproc_handler(SELF, HANDLE_FIXUP, 0, 0, 0), 0);
	handle_nothing();
}

/* --- processes that end by their handler --- */

HANDLER_ENTRY(bad_handler, serve_badly)

long
serve_badly(const struct handler_event *e)
{
	(void)e;
	*(volatile uint32_t *)nowhere = 1;
	return 0;
}

HANDLER_ENTRY(waiting_handler, serve_and_stay)

long
serve_and_stay(const struct handler_event *e)
{
	(void)e;
	kthread_sleep(WAKE_ANY, FOREVER);
	return 0;
}

/* A thread of it faults, whose stack cannot be written; its process handles calls only. */
static void
fault_without_stack(uintptr_t stack)
{
	struct context ctx;

	kproc_handler(SELF, HANDLE_CALLS, (unsigned long)handler, stack, STACK);
	context_init(&ctx, (uintptr_t)thread_without_stack, 8, 0, 0);
	kthread_create(&ctx, ANY_CORE);
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
}

static void
be_child(enum role role)
{
	uintptr_t stack = new_stack();

	switch (role) {
	case FAULTS_IN_HANDLER:
		kthread_handler(HANDLE_CALLS | HANDLE_FAULTS, (unsigned long)bad_handler, stack);
		break;
	case BAD_ENTRY:
		kthread_handler(HANDLE_CALLS, (unsigned long)stack - STACK, stack);
		break;
	case BAD_STACK:
		kthread_handler(HANDLE_CALLS, (unsigned long)handler, 4096);
		break;
	case STAYS_IN_HANDLER:
		kthread_handler(HANDLE_CALLS, (unsigned long)waiting_handler, stack);
		break;
	case NO_STACK:
		fault_without_stack(stack);
		break;
	case BESIDE_FIXUP:
		fix(TOUCH_BYTES);
		kthread_handler(HANDLE_CALLS, (unsigned long)bad_handler, stack);
		break;
	default:
		*(volatile uint32_t *)nowhere = 1;
	}
	kcall1(FOREIGN_CALL, 1);
	kproc_exit(1);
}

TEST(what_a_handler_does_wrong_ends_its_process)
{
	uint64_t pieces = kt_stats(STATS_PIECE_PAGES);

	for (enum role role = FAULTS_IN_HANDLER; role <= BESIDE_FIXUP; role++) {
		uint32_t cause = 0;
		long proc = kt_spawn(role, 0, ANY_CORE);

		if (role == STAYS_IN_HANDLER) {
			kt_pause(2000);
			expect_eq(kproc_kill((int)proc, 9), 0);
		}
		kt_wait(proc, &cause);
		expect_eq(cause, role == STAYS_IN_HANDLER ? CRASH_KILLED : CRASH_ACCESS);
	}
	expect_eq(kt_stats(STATS_PIECE_PAGES), pieces);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != NONE)
		be_child((enum role)atoll_startup()->job);
	RUN(a_call_that_is_not_the_kernels_reaches_the_handler);
	RUN(the_registers_of_the_thread_are_as_they_were);
	RUN(a_fault_is_handled_and_the_thread_goes_on);
	RUN(a_fault_can_go_on_elsewhere);
	RUN(a_call_that_met_an_absent_page_starts_again);
	RUN(a_handler_has_no_handler);
	RUN(a_process_gives_its_threads_a_handler);
	RUN(a_fault_of_a_thread_without_a_stack_reaches_the_handler_of_its_process);
	RUN(a_fault_at_an_instruction_with_a_fixup_goes_on_there);
	RUN(two_threads_are_in_their_handlers_at_once);
	RUN(a_handler_is_preempted);
	RUN(what_a_handler_does_wrong_ends_its_process);
	kt_end();
}
