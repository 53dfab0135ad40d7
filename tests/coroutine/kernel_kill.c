/* SPDX-License-Identifier: MIT
 *
 * The end of processes under the coroutine scheduler: children with threads on all cores, in every
 * kind of call, are killed at a random moment, crash or end by themselves. The status comes once,
 * nobody else notices, and in the end everything is back.
 *
 * usage: kernel_kill [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define ROUNDS 5
#define THREADS 6
#define PAGE 4096ul
#define STACK_BYTES (24 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define OPENED 4

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS + 1][STACK_BYTES];
	struct context ctx[ROUNDS];	/* of the child: used by its first thread only */
	struct context mine;
	uint64_t value[ROUNDS][THREADS + 1];
	unsigned char message[ROUNDS][THREADS + 1][MAILBOX_MSG_SIZE];
	struct mail_sender sender;
	uint32_t never;
	struct proc_status status;
	_Alignas(64) unsigned char partner_stack[STACK_BYTES];
	struct context partner;
	uint32_t ball;
} shared;

static struct {
	unsigned round;
	int step;
	long proc;
	bool stop;			/* the bystanders may end */
	/* handle of the newest, perhaps another thread's or process's */
	long memory;
	long opened[OPENED];		/* handles of mailboxes and portals, some of them closed */
	/* the first thread ends the process after so many steps; 0: never */
	unsigned crash_after[ROUNDS];
} run;

/* Mostly for ever; sometimes the wait's end and that of the process meet. */
static uint64_t
deadline(void)
{
	return coro_random(3) ? FOREVER : 1000 * coro_random(1000);
}

/*
 * Some step with a mailbox or a portal of this cluster, right or wrong; any of them may wait for
 * ever.
 */
static void
talk(void *message)
{
	long port = (long)coro_random(2);
	long id;

	switch (coro_random(4)) {
	case 0:
		if ((id = KC(KC_MAILBOX_CREATE, port)) >= 0 &&
			KC(KC_MAILBOX_READ, id, ANY_SOURCE_CLUSTER, message, &shared.sender) ==
			-E_AGAIN)
			KC(KC_MAILBOX_WAIT, id, ANY_SOURCE_CLUSTER, deadline());
		break;
	case 1:
		if ((id = KC(KC_MAILBOX_OPEN, 0, port)) >= 0 &&
			KC(KC_MAILBOX_WRITE, id, message) == -E_AGAIN)
			KC(KC_MAILBOX_WAIT, id, ANY_SOURCE_CLUSTER, deadline());
		break;
	case 2:
		if ((id = KC(KC_PORTAL_CREATE, port)) >= 0 && KC(KC_PORTAL_ALLOW, id, 0, port) == 0)
			KC(KC_PORTAL_READ, id, message, MAILBOX_MSG_SIZE, deadline());
		break;
	default:
		if ((id = KC(KC_PORTAL_OPEN, 0, port, port)) >= 0)
			KC(KC_PORTAL_WRITE, id, message, MAILBOX_MSG_SIZE, deadline());
	}
	if (id >= 0)
		run.opened[coro_random(OPENED)] = id;
	if (coro_random(2))		/* perhaps what another thread waits for */
		KC(KC_HANDLE_CLOSE, run.opened[coro_random(OPENED)]);
}

/* Something that waits, computes or talks, for ever. */
static void
thread(uintptr_t arg)
{
	unsigned round = (unsigned)arg / (THREADS + 1), me = (unsigned)arg % (THREADS + 1);
	uint64_t *value = &shared.value[round][me];

	for (;;)
		switch (coro_random(9)) {
		case 0:
			if (coro_random(8) == 0)
				KC(KC_THREAD_SLEEP, WAKE_ANY, deadline());
			break;
		case 1:
			KC(KC_VOID_REMOTE);
			break;
		case 2:
			for (unsigned i = coro_random(10); i > 0; i--)
				coro_user_point();
			break;
		case 3:
			KC(KC_FUTEX_WAKE, &shared.never, 1);
			if (coro_random(8) == 0)
				KC(KC_FUTEX_WAIT, &shared.never, 0, deadline());
			break;
		case 4:
			if (KC(KC_MEM_ALLOC, SELF, 2 * PAGE, RW, value) == 0) {
				unsigned long at = (unsigned long)*value;

				coro_user_store32(at + PAGE, 1);
				KC(KC_PAGE_UNMAP, SELF, at, 1 + coro_random(2));
			}
			break;
		case 5:
			if ((run.memory = KC(KC_MEMORY_CREATE, 1 + coro_random(40))) > 0 &&
				coro_random(2))
				KC(KC_HANDLE_CLOSE, run.memory);
			break;
		case 6:
			if (coro_random(8) == 0) {
				long tid = KC(KC_THREAD_SELF) + ((long)coro_random(3) - 1) * 16;

				KC(KC_THREAD_JOIN, tid, value, deadline());
			}
			break;
		case 7:
			if (coro_random(4) == 0)
				talk(shared.message[round][me]);
			break;
		default:
			KC(KC_THREAD_YIELD);
		}
}

static void
child(uintptr_t round)
{
	for (unsigned i = 1; i <= THREADS; i++) {
		coro_user_context(&shared.ctx[round], thread, shared.stack[round][i] + STACK_BYTES,
			round * (THREADS + 1) + i);
		KC(KC_THREAD_CREATE, &shared.ctx[round], i == 1 ? program_first_core : ANY_CORE);
	}
	for (unsigned n = run.crash_after[round]; n > 0; n--) {
		coro_user_point();
		if (coro_random(4) == 0)
			KC(KC_THREAD_YIELD);
	}
	if (run.crash_after[round] % 2)
		coro_user_store32(64, 1);
	else if (run.crash_after[round] > 0)
		KC(KC_PROC_EXIT, 7);
	thread(round * (THREADS + 1));
}

/* Two threads of another process that pass a ball: nothing that happens to others may stop them. */
static void
play(uint32_t me)
{
	uint32_t now;

	while ((now = __atomic_load_n(&shared.ball, __ATOMIC_ACQUIRE)) != 1000) {
		if (now % 2 != me) {
			KC(KC_FUTEX_WAIT, &shared.ball, now, FOREVER);
			continue;
		}
		__atomic_store_n(&shared.ball, run.stop ? 1000 : 1 - me, __ATOMIC_RELEASE);
		KC(KC_FUTEX_WAKE, &shared.ball, 1);
		if (coro_random(4) == 0)
			KC(KC_THREAD_YIELD);
	}
}

static void
partner(uintptr_t arg)
{
	(void)arg;
	play(1);
	KC(KC_THREAD_EXIT, 0);
}

static void
bystander(uintptr_t arg)
{
	(void)arg;
	coro_user_context(&shared.partner, partner, shared.partner_stack + STACK_BYTES, 0);
	coro_check(KC(KC_THREAD_CREATE, &shared.partner, program_first_core) > 0);
	play(0);
	program_exit();
}

static void
one_round(unsigned round)
{
	long e;

	run.round = round;
	run.step = 0;
	run.crash_after[round] = coro_random(2) ? 1 + coro_random(60) : 0;
	run.proc = KC(KC_PROC_CREATE);
	coro_check(run.proc > 0);
	coro_user_context(&shared.mine, child, shared.stack[round][0] + STACK_BYTES, round);
	coro_check(KC(KC_PROC_START, run.proc, &shared.mine, ANY_CORE) == 0);
	run.step = 1;
	for (unsigned i = coro_random(60); i > 0; i--)
		KC(KC_THREAD_YIELD);
	if (run.crash_after[round] == 0 || coro_random(2)) {
		e = KC(KC_PROC_KILL, run.proc, 9);
		coro_check(e == 0);
	}
	run.step = 2;
	coro_check(KC(KC_PROC_WAIT, run.proc, &shared.status, FOREVER) == 0);
	coro_check(shared.status.cause == CRASH_KILLED ? shared.status.status == 9 :
		run.crash_after[round] > 0);
	coro_check(KC(KC_PROC_WAIT, run.proc, &shared.status, FOREVER) == -E_SRCH);
	coro_check(KC(KC_HANDLE_CLOSE, run.proc) == 0);
	coro_check(KC(KC_PROC_KILL, run.proc, 9) == -E_BADF);
	coro_check(KC(KC_VOID_REMOTE) == 0);
}

static void
program(uintptr_t arg)
{
	uint64_t frames, threads;

	(void)arg;
	while (program_stats(STATS_THREADS) < 3)	/* the bystanders are there */
		KC(KC_THREAD_YIELD);
	frames = program_stats(STATS_FRAMES_FREE);
	threads = program_stats(STATS_THREADS);
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(i);
	coro_check(program_stats(STATS_PROCS) == 2);
	coro_check(program_stats(STATS_MAILBOXES) == 0 && program_stats(STATS_PORTALS) == 0);
	coro_check(program_stats(STATS_THREADS) == threads);
	coro_check(program_stats(STATS_FRAMES_FREE) == frames);
	run.stop = true;
	while (program_stats(STATS_PROCS) > 1)
		KC(KC_THREAD_YIELD);
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0] = (struct program){program, 0};
	programs[1] = (struct program){bystander, 0};
	return cluster == 0 && core == 1 ? 2 : 0;
}

static void
dump(void)
{
	printf("round %u step %d process %lx, ends after %u, ball %u\n", run.round, run.step,
		run.proc, run.crash_after[run.round],
		shared.ball);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	(void)record;
	(void)seed;
	shared.ball = 0;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "a_process_ends_alone_and_leaves_nothing", .seeds = 2000,
		.shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .begin = begin, .dump = dump};

	return program_main(&test, argc, argv);
}
