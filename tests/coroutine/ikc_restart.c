/* SPDX-License-Identifier: MIT
 *
 * A cluster that restarts while it is read from. Cluster 0 runs the real kernel and a program that
 * reads one port. Cluster 1 stands for a kernel with many short lives: each puts a few messages
 * into its slot, the first at once, whether or not the last message of the life before was read,
 * and ends at a random moment. What is read must be whole, of one life, in order, and nothing
 * twice.
 *
 * usage: ikc_restart [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/noc.h>
#include <kernel/ikc/wire.h>
#include <tests/coroutine/program.h>

#define PORT 1
#define LIVES 60
/* of a life that gets to its end; all are read of the last one */
#define MESSAGES 2
#define PATIENCE 200			/* looks for an answer before a life ends without it */
#define NUMBER(life, n) ((uint32_t)(life) * MESSAGES + (n))
_Static_assert(NUMBER(LIVES, MESSAGES - 1) <= WIRE_SEQUENCE, "an answer tells messages apart");

static struct {
	unsigned char message[MAILBOX_MSG_SIZE];
	struct mail_sender sender;
} shared;
static uint32_t last;			/* number of the last message that was read */

/* --- cluster 1 --- */

/* A full ring is tried again. */
static void
say(uint32_t event)
{
	int e;

	while ((e = hal_noc_notify(0, event)) == -E_AGAIN)
		coro_point();
	coro_check(e == 0);
}

static void
put_message(unsigned life, unsigned n)
{
	struct wire_mail m =
		{.head = {.magic = WIRE_MAIL, .incarnation = life, .sequence = NUMBER(life, n),
		.length = MAILBOX_MSG_SIZE,
		.source = 1, .port = PORT}};

	memset(m.payload, (int)NUMBER(life, n), sizeof(m.payload));
	coro_check(hal_noc_put(0, hal_noc_mailbox_slot(PORT, 1), hal_noc_incarnation(0), &m,
		sizeof(m)) == 0);
	say(wire_event(WIRE_ARRIVED, PORT, PORT));
}

/*
 * Is it the answer to this message? One to a message of the life before may come late, and then
 * with the stamp of this life.
 */
static bool
is_answer(uint32_t event, unsigned life, unsigned n)
{
	return wire_event_kind(event) == WIRE_FREED && (event & WIRE_SEQUENCE) == NUMBER(life, n);
}

/* Wait until the message was read; unless the life is the last, it may end first. */
static bool
is_read(unsigned life, unsigned n)
{
	unsigned cluster;
	uint32_t event, from;

	while (life == LIVES || coro_random(PATIENCE) != 0) {
		hal_wait_begin();
		if (hal_noc_poll(&cluster, &from, &event)) {
			hal_wait_cancel();
			if (is_answer(event, life, n))
				return true;
		} else if (life == LIVES) {
			hal_wait(HAL_FOREVER);
		} else {
			hal_wait_cancel();
		}
	}
	return false;
}

/* As a kernel boots (greet in kernel/ikc/ikc.c). */
static void
live(const struct boot_record *record, unsigned life)
{
	struct boot_record mine = *record;

	mine.cluster[1].incarnation = life;
	hal_noc_init(&mine);
	hal_fence();
	while (!hal_noc_alive(0))
		coro_point();
	say(wire_event(WIRE_UP, 0, 0));
	for (unsigned n = 0; n < MESSAGES; n++) {
		put_message(life, n);
		if (!is_read(life, n))
			return;
	}
}

static void
boot(const struct boot_record *record, void *memory, size_t bytes)
{
	if (hal_cluster_id() == 0)
		kernel_boot_main(record, memory, bytes);
	for (unsigned life = 1; life <= LIVES; life++)
		live(record, life);
	for (;;)
		hal_wait(HAL_FOREVER);
}

/* --- the reader in cluster 0 --- */

static void
check_message(void)
{
	for (size_t i = 1; i < sizeof(shared.message); i++)
		coro_check(shared.message[i] == shared.message[0]);
	coro_check(shared.message[0] > last && shared.message[0] <= NUMBER(LIVES, MESSAGES - 1));
	last = shared.message[0];
}

static void
reader(uintptr_t arg)
{
	long id = KC(KC_MAILBOX_CREATE, PORT), source;

	(void)arg;
	coro_check(id >= 0);
	while (last != NUMBER(LIVES, MESSAGES - 1)) {
		source = KC(KC_MAILBOX_READ, id, ANY_SOURCE_CLUSTER, shared.message,
			&shared.sender);
		coro_check(source == 1 || source == -E_AGAIN);
		if (source == 1)
			check_message();
		else
			coro_check(KC(KC_MAILBOX_WAIT, id, ANY_SOURCE_CLUSTER, FOREVER) == 0);
	}
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)cluster;
	(void)core;
	(void)max;
	programs[0] = (struct program){reader, 0};
	return 1;
}

static void
dump(void)
{
	printf("last message read: %u\n", last);
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	struct coro_config config = {.boot = boot, .core = program_core, .dump = dump};
	struct boot_record record;

	coro_record(&record, 2, 2);
	config.record = &record;
	for (unsigned long seed = first; seed < first + count; seed++) {
		program_begin(&shared, sizeof(shared));
		last = 0;
		if (!coro_run_seeds(&config, seed, 1)) {
			printf("FAIL a_reader_sees_each_life_of_a_cluster_apart: seed %lu\n", seed);
			return 1;
		}
	}
	printf("ok a_reader_sees_each_life_of_a_cluster_apart (%lu seeds)\n", count);
	return 0;
}
