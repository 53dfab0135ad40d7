/* SPDX-License-Identifier: MIT
 *
 * futex_wake goes through a long queue in steps: each is short, what comes and goes between two of
 * them disturbs nothing, and who dies in the middle leaves nothing behind.
 *
 * needs: kernel/thread/futex.c kernel/thread/wait.c base/str.c
 */
/* cpu: coroutine */
#include <stdlib.h>
#include <base/test.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/alarm.h>
#include <kernel/thread/thread.h>

#define OTHERS 300		/* that sleep on another address of the same bucket */
#define SLEEPERS 30
#define THREADS (OTHERS + SLEEPERS + 2)
#define SLOTS 512
#define WORD 0x1000ul
#define OTHER_WORD 0x1100ul
#define LOOKS_MAX 128		/* of one step */

static struct cluster c;
static struct core core[2];
static struct process proc[2];
static struct thread thread[THREADS];
static uintptr_t place[THREADS];
static uint16_t ring[SLOTS];
static unsigned steps, dies_after;
static struct thread *latecomer;	/* sleeps on WORD after the first step */

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
	abort();
}

long kc_futex_wake(struct thread *caller, unsigned long addr, int count);
void coro_publish(const volatile void *p, size_t n, const char *file, int line) { (void)p, (void)n,
	(void)file, (void)line; }
void coro_store32(volatile uint32_t *p, uint32_t v, const char *file, int line) { (void)file,
	(void)line; *p = v; }
void coro_notify(unsigned to, unsigned at, const char *file, int line) { (void)to, (void)at,
	(void)file, (void)line; }
void coro_interrupt(unsigned to, const char *file, int line) { (void)to, (void)file, (void)line;
	abort(); }
uint32_t coro_load32(const volatile uint32_t *p, const char *file, int line) { (void)file,
	(void)line; return *p; }
void hal_core_take_back(unsigned at) { (void)at, abort(); }
unsigned hal_cluster_id(void) { return 0; }
void *hal_core_local(void) { return &core[1]; }
int hal_user_load32(uintptr_t addr, uint32_t *value) { (void)addr, (void)value; abort(); }
void deadline_clear(struct cluster *who, struct deadline *at) { (void)who, (void)at; abort(); }
void upcall_cut(struct thread *t) { (void)t; abort(); }
int mem_shared_place(struct process *p, uintptr_t addr, uintptr_t *place) { (void)p, (void)addr,
	(void)place; abort(); }

static void
sleep_on(struct thread *t, unsigned long addr)
{
	t->wait.on = addr;
	thread_park(t, &c.futex[(addr / 4 ^ addr / 4096) % 64]);
}

long
am_call_kernel(struct core *from, kcall_serve_fn *fn, struct kcall_args *args, uint32_t bytes)
{
	expect(from == &core[1] && bytes <= sizeof(*args));
	if (steps++ == dies_after)
		return -E_CANCELED;
	if (steps == 2 && latecomer != NULL)
		sleep_on(latecomer, WORD);
	return fn(args);
}

static void
begin(void)
{
	memset(&c, 0, sizeof(c));
	memset(core, 0, sizeof(core));
	memset(thread, 0, sizeof(thread));
	c.core = core;
	c.thread = place;
	core[1].cluster = &c;
	core[1].id = 1;
	core[1].role = core[1].acts = ROLE_AC;
	core[1].ready.slot = ring;
	core[1].ready.mask = SLOTS - 1;
	proc[0].state = proc[1].state = PROC_LIVE;
	for (unsigned i = 0; i < 64; i++)
		list_init(&c.futex[i]);
	for (int i = 0; i < THREADS; i++) {
		place[i] = (uintptr_t)&thread[i];
		thread[i].cluster = &c;
		thread[i].proc = &proc[0];
		thread[i].core = &core[1];
		thread[i].tid = i;
		list_init(&thread[i].wait.link);
	}
	for (int i = 1; i <= OTHERS; i++)
		sleep_on(&thread[i], OTHER_WORD);
	for (int i = OTHERS + 1; i <= OTHERS + SLEEPERS; i++)
		sleep_on(&thread[i], WORD);
	steps = 0;
	dies_after = ~0u;
	latecomer = NULL;
}

static unsigned
asleep(void)
{
	unsigned n = 0;

	for (int i = 0; i < THREADS; i++)
		n += thread[i].state == THREAD_WAITING;
	return n;
}

TEST(all_that_sleep_on_the_address_are_woken_in_short_steps_oldest_first)
{
	begin();
	latecomer = &thread[THREADS - 1];
	expect_eq(kc_futex_wake(&thread[0], WORD, THREADS), SLEEPERS + 1);
	expect_eq(asleep(), OTHERS);
	expect(steps >= OTHERS / LOOKS_MAX && steps < THREADS);
	for (int i = 0; i < SLEEPERS; i++)
		expect_eq(ring[i] >> 1, OTHERS + 1 + i);
	expect_eq(ring[SLEEPERS] >> 1, THREADS - 1);
	expect(list_is_empty(&thread[0].wait.link));
}

TEST(no_more_are_woken_than_were_asked_for)
{
	begin();
	expect_eq(kc_futex_wake(&thread[0], WORD, 11), 11);
	expect_eq(asleep(), OTHERS + SLEEPERS - 11);
	expect_eq(kc_futex_wake(&thread[0], OTHER_WORD, THREADS), OTHERS);
	expect_eq(kc_futex_wake(&thread[0], WORD + 2, 1), -E_INVAL);
	expect_eq(kc_futex_wake(&thread[0], WORD, -1), -E_INVAL);
	expect_eq(kc_futex_wake(&thread[0], WORD, 0), 0);
}

/* Its place in the queue is nobody's wait, and goes with it. */
TEST(who_dies_in_the_middle_leaves_nothing_in_the_queue)
{
	for (unsigned after = 1; after < 5; after++) {
		begin();
		thread[0].wait.on = WORD;		/* what it slept on last */
		dies_after = after;
		expect_eq(kc_futex_wake(&thread[0], WORD, THREADS), -E_CANCELED);
		steps = 0;
		dies_after = ~0u;
		proc[1].state = PROC_LIVE;
		expect(kc_futex_wake(&thread[THREADS - 1], WORD, THREADS) >= 0);
		expect_eq(thread[0].state, THREAD_FREE);
		thread_wait_end(&thread[0]);		/* drop_work */
		expect_eq(asleep(), OTHERS);
		expect_eq(kc_futex_wake(&thread[THREADS - 1], OTHER_WORD, THREADS), OTHERS);
		expect(list_is_empty(&c.futex[(WORD / 4 ^ WORD / 4096) % 64]));
	}
}

int
main(void)
{
	RUN(all_that_sleep_on_the_address_are_woken_in_short_steps_oldest_first);
	RUN(no_more_are_woken_than_were_asked_for);
	RUN(who_dies_in_the_middle_leaves_nothing_in_the_queue);
	return TEST_FAILED;
}
