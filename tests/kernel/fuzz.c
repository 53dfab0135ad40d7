/* SPDX-License-Identifier: MIT
 *
 * Random kernel calls with hostile arguments from several threads of several processes, which are
 * killed in the middle of them: the kernel answers with errors, nobody but the offender dies, and
 * in the end everything is back. The calls are made by tests/fuzz/fuzz.h.
 *
 * Who makes random calls may end in a loop that makes none: its code is then what it wrote there,
 * and on or1k a zero is a jump to itself. On a core that is not shared by time only the end of the
 * process helps. So the parent, whose core is, ends a child that makes no calls.
 *
 * The archive's etc/args says how many calls and from which seed: `CALLS SEED` (SEED=n CALLS=n
 * tests/kernel/boot.py PORT fuzz).
 *
 * machine: 1 4 KC
 * machine: 1 2 TC
 * machine: 3 2 KC 64 1
 */
#include <base/str.h>
#include <hal/perf.h>
#include <tests/fuzz/fuzz.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>
#include <usercpu/start.h>

#define CHILDREN 2
#define THREADS 3			/* that a child starts with */
#define SLOTS 14			/* threads that it may have had */
#define STACK_BYTES 4096
#define CALLS 40000
/* of the first child at most: then it ends, and the others are killed */
#define CALLS_PER_LIFE 1500
#define STEPS_MAX 10000
#define PAGES_PER_KEPT 2		/* that a message kept for another cluster may need */
#define LOOK_NS 200000000ul		/* between two looks at a child */
#define REST_NS 100000ul		/* between two looks at what ends by itself */
#define LABEL_CALLS 16			/* the instruction counter's phase from the first call on */

static unsigned char stacks[SLOTS][STACK_BYTES] __attribute__((aligned(16)));
static unsigned char handler_stacks[SLOTS][STACK_BYTES] __attribute__((aligned(16)));
static unsigned char scratch[SLOTS][FUZZ_SCRATCH] __attribute__((aligned(16)));
static uint32_t slots_used;
static const unsigned char own_data[64] = "for reading";

/* --- a child --- */

long
fuzz_kcall(unsigned long number, const unsigned long a[6])
{
	return kcall6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static struct fuzz *shared;

/* As a child is whose code has become a jump to itself. */
static _Noreturn void
loop(void)
{
	for (;;)
		__asm__ volatile("");
}

static _Noreturn void
work(uintptr_t slot)
{
	struct fuzz_thread t = {.f = shared, .random = shared->seed + (uint32_t)slot * 0x9e3779b9u,
		.never_blocks = slot == 0};

	t.scratch = scratch[slot];
	t.random += t.random == 0;
	if (shared->loops)
		loop();
	for (;;) {
		fuzz_step(&t);
		if (fuzz_random(&t, 4) == 0)
			kthread_yield();
		if (slot == 0 && shared->quota != 0 && shared->calls >= shared->quota)
			kproc_exit(0);
	}
}

/*
 * Where a bad context begins: in no page, in one that is not code, in the kernel's half, at an odd
 * address.
 */
static unsigned long
bad_start(struct fuzz_thread *t)
{
	switch (fuzz_random(t, 4)) {
	case 0: return 64;
	case 1: return (unsigned long)stacks;
	case 2: return (unsigned long)t->f->fixed[2];
	default: return (unsigned long)t->f->edge + 1;
	}
}

void
fuzz_context(struct fuzz_thread *t, void *to)
{
	struct context ctx;
	uint32_t slot = SLOTS;

	memset(&ctx, 0xff, sizeof(ctx));
	if (fuzz_chance(t, 60))
		slot = __atomic_fetch_add(&slots_used, 1, __ATOMIC_RELAXED);
	if (slot < SLOTS)
		context_init(&ctx, (uintptr_t)work,
			(uintptr_t)stacks[slot + 1] - CONTEXT_CALL_BYTES, slot, 0);
	else if (fuzz_chance(t, 4))
		context_init(&ctx, bad_start(t), (uintptr_t)fuzz_number(t) & ~(uintptr_t)15, 0, 0);
	memcpy(to, &ctx, sizeof(ctx));
}

HANDLER_ENTRY(handler, fuzz_serve)

long
fuzz_serve(const struct handler_event *e)
{
	return fuzz_handle(e);
}

unsigned long
fuzz_handler(struct fuzz_thread *t, unsigned long *own_stack, unsigned long *stacks_top,
	unsigned long *stack_bytes)
{
	*own_stack = (unsigned long)handler_stacks[(t->scratch - scratch[0]) / FUZZ_SCRATCH] +
		STACK_BYTES;
	*stacks_top = (unsigned long)handler_stacks + sizeof(handler_stacks);
	*stack_bytes = STACK_BYTES;
	return (unsigned long)handler;
}

/* Pages in a row: writable, absent, readable, absent. */
static uint64_t
edge_make(void)
{
	unsigned long page = kt_page_bytes();
	uint64_t at;

	if (kmem_alloc(SELF, 4 * page, PAGE_READ | PAGE_WRITE, &at) != 0)
		return 0;
	kpage_unmap(SELF, (unsigned long)at + page, 1);
	kpage_protect(SELF, (unsigned long)at + 2 * page, 1, PAGE_READ);
	kpage_unmap(SELF, (unsigned long)at + 3 * page, 1);
	return at;
}

static void
child(struct fuzz *f)
{
	struct context ctx;

	shared = f;
	f->other = (const struct fuzz *)((uintptr_t)f + kt_page_bytes());
	f->page = (uint32_t)kt_page_bytes();
	f->edge = edge_make();
	f->fixed[0] = (uintptr_t)own_data;
	f->fixed[1] = (uintptr_t)stacks;
	f->fixed[2] = (uint64_t)(~0ul << (sizeof(long) == 8 ? 38 : 30));
	f->fixed[3] = (uintptr_t)&f->fixed;
	slots_used = THREADS;
	for (unsigned long i = 1; i < THREADS; i++) {
		context_init(&ctx, (uintptr_t)work, (uintptr_t)stacks[i + 1] - CONTEXT_CALL_BYTES,
			i, 0);
		kthread_create(&ctx, ANY_CORE);
	}
	work(0);
}

/* --- their parent --- */

static struct fuzz *view[CHILDREN];	/* the children's pages, which each sees */
static long memory[CHILDREN];
static uint32_t seed = 1, wanted = CALLS, quota = CALLS_PER_LIFE, calls_made, calls_done, lives,
	ended;

struct balance {
	uint64_t count[STATS_PORTALS + 1], kept;
};

static struct balance
balance(void)
{
	struct balance b;

	for (int i = 0; i <= STATS_PORTALS; i++)
		b.count[i] = kt_stats(i);
	b.kept = kt_stats(STATS_KEPT_MESSAGES);
	return b;
}

static void
pages_make(void)
{
	uint64_t at;

	for (unsigned i = 0; i < CHILDREN; i++) {
		memory[i] = kmemory_create(1);
		expect_eq(kmem_alloc(SELF, kt_page_bytes(), 0, &at), 0);
		expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory[i], 0, 1,
			PAGE_READ | PAGE_WRITE), 0);
		view[i] = (struct fuzz *)(uintptr_t)at;
	}
}

/* A child can wait for a device and look at its registers, but not spoil the console's. */
static void
lend_device(struct fuzz *f, long proc)
{
	static struct device_info info;
	static long device;
	unsigned pool = kcall_shapes[KC_DEVICE_OPEN - KC_FIRST].gives;

	if (device == 0)
		device = kdevice_open(atoll_startup()->authority, 0, &info);
	if (device > 0)
		f->pool[pool][0] = (int32_t)khandle_duplicate((int)device, (int)proc,
			RIGHT_READ | RIGHT_WAIT | RIGHT_GRANT | RIGHT_REVOKE | HANDLE_VIEW);
}

/* Start child i; its id. */
static long
begin(unsigned i, uint32_t random, bool loops)
{
	long proc = kproc_create();
	uint64_t at;

	if (proc < 0 || kmem_alloc((int)proc, CHILDREN * kt_page_bytes(), 0, &at) < 0)
		return -E_NOMEM;
	for (unsigned k = 0; k < CHILDREN; k++)
		if (kpage_map((int)proc, (unsigned long)at + k * kt_page_bytes(),
			(int)memory[(i + k) % CHILDREN], 0, 1,
				PAGE_READ | PAGE_WRITE) < 0)
			return -E_NOMEM;
	memset(view[i], 0, sizeof(*view[i]));
	view[i]->seed = random * 2654435761u + i * 97 + 1;
	view[i]->quota = i == 0 ? 1 + view[i]->seed % quota : 0;
	view[i]->loops = loops;
	lend_device(view[i], proc);
	return kt_spawn_in(proc, 1, (unsigned long)at, ANY_CORE);
}

static uint32_t
calls_of(unsigned i)
{
	return __atomic_load_n(&view[i]->calls, __ATOMIC_RELAXED);
}

/* Lets others go on, also where an emulator runs one core after the other. */
static void
rest(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(0, now + REST_NS);
}

/* What children made and left behind is named by nobody any more: it ends by itself. */
static void
wait_for_orphans(uint64_t procs)
{
	while (kt_stats(STATS_PROCS) > procs)
		rest();
}

/*
 * Pages of channels that nobody names any more are given back when the other cluster has answered.
 */
static void
wait_for_others(void)
{
	while (kt_stats(STATS_CHANNEL_PAGES) > 0)
		rest();
}

/*
 * As many frames are free as before? A message to a port that nobody has created on another cluster
 * waits for that, however long, and what of it is kept here needs memory: itself and the slot of
 * its port, which may have a page each. Kept messages are asked for first: they can only become
 * fewer.
 */
static bool
frames_are_back(const struct balance *b)
{
	uint64_t kept = kt_stats(STATS_KEPT_MESSAGES), before = b->count[STATS_FRAMES_FREE],
		now = kt_stats(STATS_FRAMES_FREE);

	return now + PAGES_PER_KEPT * kept >= before &&
		now <= before + PAGES_PER_KEPT * b->kept;
}

/*
 * Memory that nobody names is given back in steps, of which home does one with each call; a leak
 * stays.
 */
static void
wait_for_frames(const struct balance *b)
{
	for (unsigned n = 0; n < STEPS_MAX && !frames_are_back(b); n++)
		continue;
}

/* Everything is as before. */
static void
expect_balance(uint32_t random, const struct balance *b)
{
	static const int same[] = {STATS_PROCS, STATS_THREADS, STATS_MAILBOXES, STATS_PORTALS};

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (kt_stats(same[i]) != b->count[same[i]]) {
			console_print("seed %u: number %d of the statistics is not as before:\n",
				(unsigned)random, same[i]);
			expect_eq(kt_stats(same[i]), b->count[same[i]]);
		}
	if (!frames_are_back(b)) {
		console_print("seed %u: %u messages kept\n", (unsigned)random,
			(unsigned)kt_stats(STATS_KEPT_MESSAGES));
		expect_eq(kt_stats(STATS_FRAMES_FREE), b->count[STATS_FRAMES_FREE]);
	}
}

/*
 * Wait for a child's end, its status. It is ended if it makes no more calls, or if its first
 * thread, which counts them, does not do it.
 */
static int
end_of(unsigned i, long proc, uint32_t most)
{
	struct proc_status status;
	uint32_t before;
	uint64_t now;

	do {
		before = calls_of(i);
		kclock(&now);
		if (kproc_wait((int)proc, &status, now + LOOK_NS) == 0) {
			khandle_close((int)proc);
			return status.status;
		}
	} while (calls_of(i) != before && before < most);
	ended++;
	kproc_kill((int)proc, 9);
	return kt_wait(proc, NULL);
}

static void
life(uint32_t random, struct balance *b)
{
	long proc[CHILDREN];

	for (unsigned i = 0; i < CHILDREN; i++) {
		proc[i] = begin(i, random, false);
		expect(proc[i] > 0);
	}
	for (unsigned i = 0; i < CHILDREN; i++) {
		if (i > 0)
			kproc_kill((int)proc[i], 9);
		expect(end_of(i, proc[i], quota) != -1000);
	}
	for (unsigned i = 0; i < CHILDREN; i++) {
		calls_made += calls_of(i);
		calls_done += view[i]->done;
	}
	lives += CHILDREN;
	wait_for_orphans(b->count[STATS_PROCS]);
	wait_for_others();
	wait_for_frames(b);
	expect_balance(random, b);
}

/* The numbers after a first child: page tables that this process needs from then on are there. */
static struct balance
warm_up(void)
{
	uint64_t procs = kt_stats(STATS_PROCS);
	long proc = begin(0, 0, false);

	expect(proc > 0);
	kproc_kill((int)proc, 9);
	kt_wait(proc, NULL);
	wait_for_orphans(procs);
	return balance();
}

/* Its threads are more than the cores. */
TEST(a_child_in_a_loop_that_makes_no_calls_is_ended)
{
	uint64_t procs = kt_stats(STATS_PROCS);
	long proc;

	pages_make();
	proc = begin(0, 0, true);
	expect(proc > 0);
	expect_eq(end_of(0, proc, quota), 9);
	expect_eq(ended, 1);
	ended = 0;
	wait_for_orphans(procs);
}

/* How many calls failed depends on the machine; that none hurts anybody else does not. */
TEST(random_calls_hurt_only_those_who_make_them)
{
	struct balance b;
	uint32_t first = seed;

	kt_arguments(&wanted, &seed);
	first = seed;
	if (wanted < CALLS_PER_LIFE)
		quota = wanted;
	b = warm_up();
	hal_mark(LABEL_CALLS);
	while (calls_made < wanted && kt_failures() == 0)
		life(seed++, &b);
	console_print("%u calls, %u without an error, %u processes, %u in a loop, seeds %u to %u\n",
		(unsigned)calls_made,
		(unsigned)calls_done, (unsigned)lives, (unsigned)ended, (unsigned)first,
		(unsigned)seed - 1);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		child((struct fuzz *)(uintptr_t)atoll_startup()->shared);
	RUN(a_child_in_a_loop_that_makes_no_calls_is_ended);
	RUN(random_calls_hurt_only_those_who_make_them);
	kt_end();
}
