/* SPDX-License-Identifier: MIT
 *
 * Semaphores and tubes of user level between native processes that share memory, on all ports:
 * named in a segment that each has mapped at an address of its own. Processes hand work on, wait
 * for several semaphores at once, and are killed at random moments: the others go on, and nothing
 * is left of them.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <atoll/sem.h>
#include <atoll/tube.h>
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define BYTES 32768
#define ROUNDS 60
#define CHILDREN 3
#define VICTIMS 25
#define MS 1000000ull
#define RW (PAGE_READ | PAGE_WRITE)

enum role { NONE, ANSWERS, WORKS, TALKS, WAITS };

struct letter {
	uint32_t from, number;
	uint32_t text[14];
};

static struct segment here;
static uint32_t state = 1;

static uint32_t
draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 16) % below;
}

static uint64_t
soon(uint64_t ns)
{
	uint64_t now = 0;

	kclock(&now);
	return now + ns;
}

static struct sem
sem_of(const char *name)
{
	struct sem s;

	expect_eq(newsem(&here, &s, name, 0), 0);
	return s;
}

static struct tube
tube_of(const char *name, uint32_t n)
{
	struct tube t;

	expect_eq(newtube(&here, &t, name, sizeof(struct letter), n), 0);
	return t;
}

/* --- children --- */

static int
answers(void)
{
	struct sem ping = sem_of("ping"), pong = sem_of("pong"), never = sem_of("never");
	const struct sem *set[] = {&never, &ping};

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 2 ? downsem(&ping, FOREVER) != 0 : altsems(set, 2, FOREVER) != 1)
			return 1;
		if (upsem(&pong) != 0)
			return 2;
	}
	return 0;
}

static void
fill(struct letter *l, uint32_t number)
{
	l->number = number;
	for (uint32_t i = 0; i < 14; i++)
		l->text[i] = number * 1000003 + i;
}

static int
works(void)
{
	struct tube jobs = tube_of("jobs", 3), results = tube_of("results", 3);
	struct letter l;

	for (;;) {
		if (treceive(&jobs, &l, FOREVER) != 0)
			return 1;
		if (l.number == ROUNDS)
			return 0;
		fill(&l, l.number);
		if (tsend(&results, &l, FOREVER) != 0)
			return 2;
	}
}

/* Until it is killed. */
static _Noreturn void
talks(void)
{
	struct tube there = tube_of("there", 40), back = tube_of("back", 40);
	struct sem s = sem_of("extra");
	struct letter l = {0};
	uint64_t now = 0;

	kclock(&now);
	state = (uint32_t)now;
	for (;;) {
		const struct sem *set[] = {&s, &there.holes};
		struct talt a[] = {{&there, &l, TALT_SEND, NULL}, {&back, &l, TALT_RECEIVE, NULL}};

		switch (draw(4)) {
		case 0:
			talt(a, 2, FOREVER);
			break;
		case 1:
			nbtsend(&there, &l);
			break;
		case 2:
			if (altsems(set, 2, soon(MS / 10)) == 1)
				upsem(&there.holes);
			break;
		default:
			upsem(&s);
			downsem(&s, soon(MS / 10));
		}
	}
}

static int
waits(void)
{
	struct sem never = sem_of("never"), ready = sem_of("ready");
	struct tube t = tube_of("ended", 2);
	struct letter l;

	upsem(&ready);
	return altsems((const struct sem *[]){&never, &t.messages}, 2, FOREVER) == -E_PIPE &&
		treceive(&t, &l, FOREVER) == -E_PIPE ? 0 : 1;
}

static int
child(uint32_t role, unsigned long at)
{
	if (segment_begin(&here, (void *)at, BYTES, SEGMENT_SHARED) != 0)
		return 98;
	switch (role) {
	case ANSWERS:
		return answers();
	case WORKS:
		return works();
	case TALKS:
		talks();
	case WAITS:
		return waits();
	default:
		return 99;
	}
}

static long
child_with(enum role role)
{
	long proc = kproc_create();
	int pages = (int)(BYTES / kt_page_bytes());
	uint64_t at = 0;

	expect_eq(kmem_alloc((int)proc, BYTES, 0, &at), 0);
	expect_eq(kpage_unmap((int)proc, (unsigned long)at, pages), 0);
	expect_eq(kpage_link((int)proc, (unsigned long)here.base, pages, (unsigned long)at), 0);
	expect(kt_spawn_in(proc, role, (unsigned long)at, ANY_CORE) > 0);
	return proc;
}

/* --- the parent --- */

TEST(processes_wake_each_other_by_semaphores)
{
	struct sem ping = sem_of("ping"), pong = sem_of("pong");
	long proc = child_with(ANSWERS);

	for (unsigned i = 0; i < ROUNDS; i++) {
		expect_eq(upsem(&ping), 0);
		expect_eq(downsem(&pong, FOREVER), 0);
	}
	expect_eq(kt_wait(proc, NULL), 0);
	expect_eq(downsem(&pong, 0), -E_AGAIN);
	expect_eq(downsem(&pong, soon(MS)), -E_TIMEDOUT);
}

static void
check_result(const struct letter *l, bool *seen)
{
	struct letter right;

	expect(l->number < ROUNDS && !seen[l->number % ROUNDS]);
	seen[l->number % ROUNDS] = true;
	fill(&right, l->number);
	right.from = l->from;
	expect(memcmp(&right, l, sizeof(right)) == 0);
}

TEST(processes_hand_work_on_by_tubes)
{
	struct tube jobs = tube_of("jobs", 3), results = tube_of("results", 3);
	struct letter out = {0}, in;
	bool seen[ROUNDS] = {false};
	unsigned received = 0;
	long proc[CHILDREN];

	for (unsigned i = 0; i < CHILDREN; i++)
		proc[i] = child_with(WORKS);
	while (received < ROUNDS) {
		struct talt a[] = {{&jobs, &out, out.number < ROUNDS ? TALT_SEND : TALT_NONE, NULL},
			{&results, &in, TALT_RECEIVE, NULL}};
		int k = talt(a, 2, FOREVER);

		expect(k == 0 || k == 1);
		if (k == 1)
			check_result(&in, seen);
		received += k == 1;
		out.number += k == 0;
	}
	for (unsigned i = 0; i < CHILDREN; i++)
		expect_eq(tsend(&jobs, &out, FOREVER), 0);
	for (unsigned i = 0; i < CHILDREN; i++)
		expect_eq(kt_wait(proc[i], NULL), 0);
	expect_eq(freetube(&jobs), 0);
	expect_eq(freetube(&results), 0);
}

TEST(who_waits_is_told_of_the_end)
{
	struct tube t = tube_of("ended", 2);
	struct sem ready = sem_of("ready");
	long proc[2] = {child_with(WAITS), child_with(WAITS)};

	for (unsigned i = 0; i < 2; i++)
		expect_eq(downsem(&ready, FOREVER), 0);
	expect_eq(endtube(&t), 0);
	expect_eq(kt_wait(proc[0], NULL), 0);
	expect_eq(kt_wait(proc[1], NULL), 0);
	expect_eq(freetube(&t), 0);
}

/* For a while, at most as long as a process takes to begin. */
static void
compute(void)
{
	for (volatile uint32_t n = draw(2000) * draw(500); n > 0; n--)
		continue;
}

/* A victim has a place and a message in its hands at most, or a semaphore that it makes. */
TEST(who_is_killed_holds_up_nobody)
{
	struct tube there = tube_of("there", 40), back = tube_of("back", 40);
	struct letter l = {0};
	uint64_t frames = 0;

	for (unsigned i = 0; i < VICTIMS; i++) {
		struct talt a[] = {{&there, &l, TALT_RECEIVE, NULL}, {&back, &l, TALT_SEND, NULL}};
		long proc = child_with(TALKS);
		struct sem extra;

		if (i % 2 == 0)
			compute();
		for (uint32_t n = i % 2 * (draw(40) + 1); n > 0; n--) {
			int k = talt(a, 2, soon(200 * MS));

			expect(k >= 0 || k == -E_TIMEDOUT);
		}
		expect_eq(kproc_kill((int)proc, 1), 0);
		kt_wait(proc, NULL);
		extra = sem_of("extra");
		expect_eq(freesem(&extra), 0);
		/* the first one's page tables stay */
		if (i == 1)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	while (nbtreceive(&there, &l) == 1)
		continue;
	for (unsigned i = 0; i < 100; i++) {
		expect_eq(tsend(&there, &l, soon(1000 * MS)), 0);
		expect_eq(treceive(&there, &l, soon(1000 * MS)), 0);
	}
}

TEST(what_is_wrong_is_an_error)
{
	struct segment g;
	struct sem s = {NULL, NULL, 0};
	struct tube t;
	uint64_t at = 0;

	expect_eq(upsem(&s), -E_INVAL);
	expect_eq(downsem(&s, FOREVER), -E_INVAL);
	expect_eq(newtube(&here, &t, NULL, BYTES, 1), -E_NOMEM);
	expect_eq(kfutex_wait(8 | FUTEX_SHARED, 0, FOREVER), -E_FAULT);
	/* said to be shared, and each process's own: it works in one */
	expect_eq(kmem_alloc(SELF, BYTES, RW | PAGE_LAZY, &at), 0);
	expect_eq(segment_begin(&g, (void *)(uintptr_t)at, BYTES, SEGMENT_SHARED), 0);
	expect_eq(newsem(&g, &s, NULL, 1), 0);
	expect_eq(downsem(&s, FOREVER), 0);
	expect_eq(downsem(&s, soon(MS)), -E_TIMEDOUT);
	expect_eq(upsem(&s), 0);
	expect_eq(freesem(&s), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)(BYTES / kt_page_bytes())), 0);
}

int
server_main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	uint64_t at = 0;

	(void)argc;
	(void)argv;
	if (s->job != NONE)
		return child(s->job, (unsigned long)s->shared);
	expect_eq(kmem_alloc(SELF, BYTES, RW, &at), 0);
	expect_eq(segment_begin(&here, (void *)(uintptr_t)at, BYTES, SEGMENT_SHARED), 0);
	RUN(processes_wake_each_other_by_semaphores);
	RUN(processes_hand_work_on_by_tubes);
	RUN(who_waits_is_told_of_the_end);
	RUN(who_is_killed_holds_up_nobody);
	RUN(what_is_wrong_is_an_error);
	kt_end();
}
