/* SPDX-License-Identifier: MIT
 *
 * Mailboxes and portals that processes give to each other, and programs that use what nobody gave
 * them: numbers of others' handles, stale ones, rights that they lack; views that are revoked, and
 * processes that are killed, in the middle of a wait or a transfer.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <tests/kernel/ktest.h>

#define IN 1			/* ports */
#define BULK 2
#define GUESSES 400
#define ROUNDS 24
#define LENGTH (96 * 1024)

enum role { GUESS = 1, ANSWER, PATIENT, WRITER, READER };

static unsigned char data[LENGTH];
static unsigned char message[MAILBOX_MSG_SIZE];
static struct mail_sender from;

/* No call of a mailbox or portal finds anything behind this number. */
static bool
names_nothing(int number)
{
	return kmailbox_read(number, ANY_SOURCE_CLUSTER, message, &from) == -E_BADF &&
		kmailbox_write(number, message) == -E_BADF &&
	    kmailbox_wait(number, ANY_SOURCE_CLUSTER, 0) == -E_BADF &&
	    kportal_allow(number, 0, BULK) == -E_BADF &&
	    kportal_read(number, (unsigned long)data, 1, 0) == -E_BADF &&
	    kportal_write(number, (unsigned long)data, 1, 0) == -E_BADF &&
	    kevent_bind(EVENT_MAILBOX, number, 0) == -E_BADF &&
	    kevent_bind(EVENT_PORTAL, number, 0) == -E_BADF;
}

/* Numbers of the parent's handles, and those around them. */
static int
guess(int number)
{
	for (int i = -GUESSES; i <= GUESSES; i++)
		if (!names_nothing(number + i * 16) || !names_nothing(number + i))
			return 1;
	return 0;
}

/* The handle can wait and read, and no more; a copy of it, too. */
static int
answer(int given)
{
	int copy = (int)khandle_duplicate(given, SELF, RIGHTS_ALL);

	if (kmailbox_write(given, message) != -E_BADF ||
		kportal_read(given, (unsigned long)data, 1, 0) != -E_BADF)
		return 1;
	if (copy <= 0 || khandle_duplicate(copy, SELF, RIGHTS_ALL | HANDLE_VIEW) <= 0 ||
		khandle_revoke(copy) != -E_ACCES)
		return 2;
	if (mailbox_receive(copy, 0, message) != 0 || khandle_close(copy) != 0 ||
		!names_nothing(copy))
		return 3;
	return message[0] == 42 ? 0 : 4;
}

/* Wait until the handle is revoked: once, and then it is dead. */
static int
patient(int given)
{
	if (kmailbox_wait(given, ANY_SOURCE_CLUSTER, FOREVER) != -E_BADF)
		return 1;
	return names_nothing(given) ? 0 : 2;
}

static long
move(bool writes, int portal)
{
	return writes ? kportal_write(portal, (unsigned long)data, LENGTH, FOREVER) :
		kportal_read(portal, (unsigned long)data, LENGTH, FOREVER);
}

static int
moves(uint32_t role, int given)
{
	long got;

	do
		got = move(role == WRITER, given);
	while (got == LENGTH || got == -E_PIPE || got == -E_ACCES);
	return got == -E_BADF ? 0 : 1;
}

static void
wait_for(int what, uint64_t n)
{
	while (kt_stats(what) != n)
		kthread_yield();
}

/* --- init --- */

/* A process that runs in a role with a copy of a handle. */
static long
with_handle(uint32_t role, int handle, unsigned rights)
{
	long proc = kproc_create(), given = khandle_duplicate(handle, (int)proc, rights);

	expect(proc > 0 && given > 0);
	return kt_spawn_in(proc, role, (unsigned long)given, ANY_CORE);
}

TEST(a_number_that_nobody_gave_names_nothing)
{
	int in = (int)kmailbox_create(IN), portal = (int)kportal_create(BULK);

	expect_eq(kt_wait(kt_spawn(GUESS, (unsigned long)in, ANY_CORE), NULL), 0);
	expect_eq(kt_wait(kt_spawn(GUESS, (unsigned long)portal, ANY_CORE), NULL), 0);
	expect(names_nothing((int)kthread_self()));
	expect(names_nothing(atoll_startup()->authority));
	expect_eq(khandle_close(in), 0);
	expect_eq(khandle_close(portal), 0);
	expect(names_nothing(in) && names_nothing(portal));
	expect_eq(kt_stats(STATS_MAILBOXES) + kt_stats(STATS_PORTALS), 0);
}

TEST(a_child_reads_what_it_was_given)
{
	int in = (int)kmailbox_create(IN), out = (int)kmailbox_open(0, IN);
	long proc = with_handle(ANSWER, in, RIGHT_READ | RIGHT_WAIT);

	/* the child has the port as long as it lives */
	expect_eq(khandle_close(in), 0);
	message[0] = 42;
	expect_eq(kmailbox_write(out, message), 0);
	expect_eq(kt_wait(proc, NULL), 0);
	expect_eq(khandle_close(out), 0);
	wait_for(STATS_MAILBOXES, 0);
}

/* test: handle_revoke */
TEST(a_wait_through_a_revoked_handle_ends_once)
{
	int in = (int)kmailbox_create(IN),
		view = (int)khandle_duplicate(in, SELF, RIGHTS_ALL | HANDLE_VIEW);

	for (int i = 0; i < ROUNDS; i++) {
		long proc = with_handle(PATIENT, view, RIGHT_READ | RIGHT_WAIT);

		kt_pause((uint64_t)i * 20);
		if (i % 4 == 3)
			expect_eq(kproc_kill((int)proc, 0), 0);
		expect_eq(khandle_revoke(view), 0);
		expect_eq(kt_wait(proc, NULL), 0);
	}
	expect_eq(kmailbox_wait(in, ANY_SOURCE_CLUSTER, 0), -E_TIMEDOUT);
	expect_eq(khandle_close(in), 0);
	expect_eq(kt_stats(STATS_MAILBOXES), 1);
	expect_eq(khandle_close(view), 0);
	expect_eq(kt_stats(STATS_MAILBOXES), 0);
}

/*
 * Two processes transfer; one of them loses its handle or its life, and somebody else goes on in
 * its place.
 */
static void
lose_one(uint32_t role, int round)
{
	int in = (int)kportal_create(BULK), out = (int)kportal_open(0, BULK, BULK),
		mine = role == WRITER ? out : in;
	int view = (int)khandle_duplicate(mine, SELF, RIGHTS_ALL | HANDLE_VIEW);
	long proc = with_handle(role, view, RIGHTS_ALL);

	expect(in > 0 && out > 0);
	for (int i = 0; i <= round % 3; i++) {
		expect_eq(kportal_allow(in, 0, BULK), 0);
		expect_eq(move(role == READER, role == READER ? out : in), LENGTH);
	}
	kportal_allow(in, 0, BULK);
	kt_pause((uint64_t)round * 10);
	if (round % 2)
		expect_eq(khandle_revoke(view), 0);
	else
		expect_eq(kproc_kill((int)proc, 0), 0);
	expect_eq(kt_wait(proc, NULL), 0);
	expect_eq(khandle_close(view), 0);
	/* nobody takes part any more */
	expect_eq(kportal_write(out, (unsigned long)data, 1, 0), -E_TIMEDOUT);
	expect_eq(khandle_close(in), 0);
	expect_eq(khandle_close(out), 0);
	while ((in = (int)kportal_create(BULK)) == -E_BUSY)
		kthread_yield();
	expect_eq(khandle_close(in), 0);
	expect_eq(kt_stats(STATS_PORTALS), 0);
}

TEST(a_transfer_ends_with_the_handle_or_the_life_of_a_side)
{
	for (int round = 0; round < ROUNDS; round++)
		lose_one(round / 2 % 2 ? WRITER : READER, round);
}

static int
child(uint32_t role, int arg)
{
	switch (role) {
	case GUESS:
		return guess(arg);
	case ANSWER:
		return answer(arg);
	case PATIENT:
		return patient(arg);
	default:
		return moves(role, arg);
	}
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job, (int)(long)atoll_startup()->shared);
	/*
	 * as its children: what waits for them by yielding would otherwise keep its core from them
	 */
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	RUN(a_number_that_nobody_gave_names_nothing);
	RUN(a_child_reads_what_it_was_given);
	RUN(a_wait_through_a_revoked_handle_ends_once);
	RUN(a_transfer_ends_with_the_handle_or_the_life_of_a_side);
	kt_end();
}
