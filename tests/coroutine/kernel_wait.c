/* SPDX-License-Identifier: MIT
 *
 * Waits with deadlines under the coroutine scheduler, against an oracle of plain counters: threads
 * sleep, wait at a futex, join, and wait for messages and transfers, each with a deadline that is
 * over, near or never, while others make what they wait for happen. No call returns -E_TIMEDOUT
 * before its time, and none without a deadline; what happens is seen once, whatever deadlines
 * passed meanwhile.
 *
 * usage: kernel_wait [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <context.h>
#include <tests/coroutine/program.h>

#define THREADS 10
#define STACK_BYTES (32 * 1024)
#define ROUNDS 4
#define BYTES 3000			/* of a transfer: several blocks */
#define PORT 1

enum role { SLEEPER, WAKER, FUTEX, FUTEX_WAKER, READER, WRITER, TAKER, GIVER, MAIN, ROLES = MAIN };

static struct {
	_Alignas(64) unsigned char stack[THREADS][STACK_BYTES];
	struct context ctx;
	uint64_t clock[MAIN + 1];
	uint64_t value;
	uint32_t word;
	unsigned char message[ROLES][MAILBOX_MSG_SIZE];
	struct mail_sender sender;
	unsigned char from[BYTES];
	unsigned char to[BYTES];
} shared;

static struct {
	int step;
	long sleeper;
	unsigned done[ROLES];		/* what a role did or saw */
	long in, out, portal, portal_out;
} run;

static uint64_t
clock_of(enum role me)
{
	coro_check(KC(KC_CLOCK, &shared.clock[me]) == 0);
	return shared.clock[me];
}

static uint64_t
any_deadline(enum role me)
{
	switch (coro_random(4)) {
	case 0:
		return coro_random(2) ? FOREVER : FOREVER - 1 - coro_random(1000);
	case 1:
		return coro_random(2) ? 0 : clock_of(me);
	default:
		return clock_of(me) + coro_random(30000);
	}
}

/* Is this the end of a wait by its deadline? Then it was time. */
static bool
is_late(enum role me, long result, uint64_t deadline)
{
	if (result != -E_TIMEDOUT)
		return false;
	coro_check(deadline < FOREVER / 2 && clock_of(me) >= deadline);
	return true;
}

static void
sleeper(void)
{
	while (run.done[SLEEPER] < ROUNDS) {
		uint64_t deadline = any_deadline(SLEEPER);
		long e = KC(KC_THREAD_SLEEP, WAKE_ANY, deadline);

		if (is_late(SLEEPER, e, deadline))
			continue;
		coro_check(e == 1);
		run.done[SLEEPER]++;
		coro_check(run.done[SLEEPER] <= run.done[WAKER]);
	}
}

static void
waker(void)
{
	while (run.done[WAKER] < ROUNDS)
		if (run.sleeper != 0 && run.done[SLEEPER] == run.done[WAKER]) {
			run.done[WAKER]++;
			coro_check(KC(KC_THREAD_WAKEUP, run.sleeper, 1) == 0);
		} else {
			KC(KC_THREAD_YIELD);
		}
}

static void
futex_waiter(void)
{
	uint32_t now;

	while ((now = __atomic_load_n(&shared.word, __ATOMIC_ACQUIRE)) < ROUNDS) {
		uint64_t deadline = any_deadline(FUTEX);
		long e = KC(KC_FUTEX_WAIT, &shared.word, now, deadline);

		if (is_late(FUTEX, e, deadline))
			continue;
		coro_check(e == 0 || e == -E_AGAIN);
		run.done[FUTEX] += e == 0;
	}
}

static void
futex_waker(void)
{
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		for (unsigned n = coro_random(6); n > 0; n--)
			KC(KC_THREAD_YIELD);
		coro_user_point();
		__atomic_store_n(&shared.word, i, __ATOMIC_RELEASE);
		coro_check(KC(KC_FUTEX_WAKE, &shared.word, 1) <= 1);
	}
}

static void
reader(void)
{
	while (run.done[READER] < ROUNDS) {
		long e = KC(KC_MAILBOX_READ, run.in, ANY_SOURCE_CLUSTER, shared.message[READER],
			&shared.sender);

		if (e == 0) {
			coro_check(shared.message[READER][0] == run.done[READER]);
			run.done[READER]++;
		} else {
			uint64_t deadline = any_deadline(READER);

			coro_check(e == -E_AGAIN);
			e = KC(KC_MAILBOX_WAIT, run.in, ANY_SOURCE_CLUSTER, deadline);
			coro_check(is_late(READER, e, deadline) || e == 0);
		}
	}
}

static void
writer(void)
{
	while (run.done[WRITER] < ROUNDS) {
		uint64_t deadline = any_deadline(WRITER);
		long e;

		shared.message[WRITER][0] = (unsigned char)run.done[WRITER];
		e = KC(KC_MAILBOX_WRITE, run.out, shared.message[WRITER]);
		if (e == 0) {
			run.done[WRITER]++;
			continue;
		}
		coro_check(e == -E_AGAIN);
		e = KC(KC_MAILBOX_WAIT, run.out, ANY_SOURCE_CLUSTER, deadline);
		coro_check(is_late(WRITER, e, deadline) || e == 0);
	}
}

/* A transfer comes whole, or both sides say that it does not. */
static void
taker(void)
{
	while (run.done[TAKER] < ROUNDS) {
		uint64_t deadline = any_deadline(TAKER);
		long e = KC(KC_PORTAL_ALLOW, run.portal, 0, PORT);

		coro_check(e == 0 || e == -E_BUSY);
		e = KC(KC_PORTAL_READ, run.portal, shared.to, BYTES, deadline);
		if (e == BYTES) {
			coro_check(memcmp(shared.to, shared.from, BYTES) == 0);
			memset(shared.to, 0, BYTES);
			run.done[TAKER]++;
		} else if (e == -E_BUSY) {
			KC(KC_THREAD_YIELD);	/* the sender has yet to say that it stopped */
		} else {
			coro_check(is_late(TAKER, e, deadline) || e == -E_PIPE || e == -E_ACCES);
		}
	}
}

static void
giver(void)
{
	while (run.done[TAKER] < ROUNDS) {
		uint64_t deadline = clock_of(GIVER) + coro_random(100000);
		long e = KC(KC_PORTAL_WRITE, run.portal_out, shared.from, BYTES, deadline);

		coro_check(is_late(GIVER, e, deadline) || e == BYTES || e == -E_PIPE);
		run.done[GIVER]++;
	}
}

static void
thread(uintptr_t role)
{
	static void (*const act[ROLES])(void) = {
		sleeper, waker, futex_waiter, futex_waker, reader, writer, taker, giver,
	};

	if (role == SLEEPER)
		run.sleeper = KC(KC_THREAD_SELF);
	act[role]();
	KC(KC_THREAD_EXIT, role + 7);
}

/* Every value comes once, however often the wait for it was given up. */
static void
join(long tid, unsigned want)
{
	uint64_t deadline;
	long e;

	do {
		deadline = any_deadline(MAIN);
		e = KC(KC_THREAD_JOIN, tid, &shared.value, deadline);
	} while (is_late(MAIN, e, deadline));
	coro_check(e == 0 && shared.value == want);
	coro_check(KC(KC_THREAD_JOIN, tid, &shared.value, FOREVER) == -E_BADF);
}

static void
program(uintptr_t arg)
{
	long tid[ROLES];

	(void)arg;
	run.in = KC(KC_MAILBOX_CREATE, PORT);
	run.out = KC(KC_MAILBOX_OPEN, 0, PORT);
	run.portal = KC(KC_PORTAL_CREATE, PORT);
	run.portal_out = KC(KC_PORTAL_OPEN, 0, PORT, PORT);
	for (unsigned i = 0; i < ROLES; i++) {
		coro_user_context(&shared.ctx, thread, shared.stack[i] + STACK_BYTES, i);
		tid[i] = KC(KC_THREAD_CREATE, &shared.ctx, i == 0 ? program_first_core : ANY_CORE);
		coro_check(tid[i] > 0);
	}
	for (unsigned i = 0; i < ROLES; i++) {
		run.step = (int)i;
		join(tid[i], i + 7);
	}
	run.step = 100;
	coro_check(KC(KC_CLUSTER_WATCH, 1, clock_of(MAIN) + 1000) == -E_TIMEDOUT);
	coro_check(KC(KC_HANDLE_CLOSE, run.in) == 0 && KC(KC_HANDLE_CLOSE, run.out) == 0);
	coro_check(KC(KC_HANDLE_CLOSE, run.portal_out) == 0);
	coro_finish(0);
}

static void
dump(void)
{
	printf("step %d:", run.step);
	for (int i = 0; i < ROLES; i++)
		printf(" %u", run.done[i]);
	printf(", word %u\n", shared.word);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	int role = record->roles[0];

	(void)config;
	coro_record(record, 2, 2 + (unsigned)seed % 3);
	record->roles[0] = role;
	shared.word = 0;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "each_wait_ends_once_and_in_time",
		.seeds = 2000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .main = program, .begin = begin, .dump = dump};

	for (unsigned i = 0; i < BYTES; i++)
		shared.from[i] = (unsigned char)(i * 7 + 1);
	return program_main(&test, argc, argv);
}
