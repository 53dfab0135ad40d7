/* SPDX-License-Identifier: MIT
 *
 * A reader must notice the death of the only cluster that writes to it, whenever that dies: also
 * between its last look and its wait. It asks whether the peer lives (by a write to it), reads, and
 * waits; another core stops the peer at a random moment.
 *
 * usage: ikc_death [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/noc.h>
#include <tests/coroutine/program.h>

#define PEER 1
#define PORT 1
#define MESSAGES 3

static struct {
	unsigned char in[MAILBOX_MSG_SIZE], out[MAILBOX_MSG_SIZE], sent[MAILBOX_MSG_SIZE];
	struct mail_sender sender;
} shared;

static struct {
	unsigned written, read;
	bool asleep;			/* the reader is about to wait */
} run;

/* A message or the peer's death, in one of two ways. */
static bool
wait_for_news(long in)
{
	long e;

	if (coro_random(2)) {
		e = KC(KC_MAILBOX_WAIT, in, PEER, FOREVER);
		return e == 0 || e == -E_HOSTDOWN;
	}
	e = KC(KC_THREAD_SLEEP, coro_random(2) ? WAKE_ANY : 33, FOREVER);
	return e == 1 || e == 32 || e == 33;
}

static void
reader(uintptr_t arg)
{
	long in = KC(KC_MAILBOX_CREATE, PORT), out = KC(KC_MAILBOX_OPEN, PEER, PORT);

	(void)arg;
	coro_check(in >= 0 && out >= 0);
	coro_check(KC(KC_EVENT_BIND, EVENT_MAILBOX, in, 0) == 0 &&
		KC(KC_EVENT_BIND, EVENT_CLUSTER, PEER, 5) == 0);
	while (KC(KC_MAILBOX_WRITE, out, shared.out) != -E_HOSTDOWN) {
		long source = KC(KC_MAILBOX_READ, in, ANY_SOURCE_CLUSTER, shared.in,
			&shared.sender);

		if (source >= 0) {
			coro_check(source == PEER && shared.in[0] == run.read);
			run.read++;
			continue;
		}
		coro_check(source == -E_AGAIN);
		run.asleep = true;
		coro_check(wait_for_news(in));
		run.asleep = false;
	}
	coro_check(run.read <= run.written);
	coro_finish(0);
}

static void
killer(uintptr_t arg)
{
	(void)arg;
	for (unsigned i = coro_random(60); i > 0 || !hal_noc_alive(PEER); i -= i > 0)
		KC(KC_THREAD_YIELD);
	while (coro_random(2) && !run.asleep)
		KC(KC_THREAD_YIELD);
	coro_kill_cluster(PEER);
	hal_noc_mark_dead(PEER);
	program_exit();
}

static void
writer(uintptr_t arg)
{
	long out = KC(KC_MAILBOX_OPEN, 0, PORT);

	(void)arg;
	coro_check(out >= 0);
	for (unsigned n = 0; n < MESSAGES; n++) {
		shared.sent[0] = (unsigned char)n;
		run.written++;
		while (KC(KC_MAILBOX_WRITE, out, shared.sent) == -E_AGAIN)
			coro_check(KC(KC_MAILBOX_WAIT, out, ANY_SOURCE_CLUSTER, FOREVER) == 0);
	}
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0].fn = cluster == PEER ? writer : core == 1 ? reader : killer;
	programs[0].arg = 0;
	return cluster == PEER && core > 1 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_reader_notices_every_death",
		.seeds = 10000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = 2, .cores = 3};

	return program_main(&test, argc, argv);
}
