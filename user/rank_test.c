/* SPDX-License-Identifier: MIT
 *
 * How ranks end: who sleeps, who ends the process, with which status.
 *
 * needs: user/rank.c
 */
#include <setjmp.h>
#include <stdint.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <base/test.h>
#include <user/rank.h>

#define RANKS 4
#define ASLEEP (-1)

static jmp_buf out;
static const struct startup *startup;
static union {
	struct job_control control;
	unsigned char room[sizeof(struct job_control) + RANKS * sizeof(struct job_rank)];
} memory;

const struct startup *
atoll_startup(void)
{
	return startup;
}

/* setjmp cannot return 0 for status 0: shifted by 1000 */
long
kproc_exit(int status)
{
	longjmp(out, status + 1000);
}

long
kthread_sleep(uint32_t mask, uint64_t deadline)
{
	(void)mask;
	(void)deadline;
	longjmp(out, ASLEEP);
}

static int
exit_of(uint32_t local, int status)
{
	struct startup s = {.control = (uintptr_t)&memory, .local_rank = local};
	int how = setjmp(out);

	startup = &s;
	if (how == 0)
		rank_exit(status);
	return how == ASLEEP ? how : how - 1000;
}

static void
reset(void)
{
	memset(&memory, 0, sizeof(memory));
	memory.control.ranks = RANKS;
}

TEST(the_last_rank_ends_the_process_with_status_0)
{
	reset();
	for (uint32_t i = 0; i + 1 < RANKS; i++)
		expect_eq(exit_of(i, 0), ASLEEP);
	expect_eq(exit_of(RANKS - 1, 0), 0);
	expect_eq(memory.control.ended, RANKS);
}

TEST(the_first_nonzero_status_counts)
{
	reset();
	expect_eq(exit_of(2, 0), ASLEEP);
	expect_eq(exit_of(0, 5), ASLEEP);
	expect_eq(exit_of(1, 6), ASLEEP);
	expect_eq(exit_of(3, 0), 5);
	expect_eq(memory.control.rank[1].status, 6);
	expect_eq(memory.control.rank[0].status, 5);
}

TEST(the_end_of_a_rank_that_holds_the_job_breaks_it_once)
{
	struct startup s = {.control = (uintptr_t)&memory, .local_rank = 1};
	int how;

	reset();
	startup = &s;
	expect(!rank_breaks_job(&memory.control, 1));
	rank_hold(true);
	expect(!rank_breaks_job(&memory.control, 0));
	expect(rank_breaks_job(&memory.control, 1));
	how = setjmp(out);
	if (how == 0)
		rank_breaks_job(&memory.control, 1);
	expect_eq(how, ASLEEP);
}

TEST(a_rank_that_has_let_go_ends_alone)
{
	struct startup s = {.control = (uintptr_t)&memory, .local_rank = 1};

	reset();
	startup = &s;
	rank_hold(true);
	rank_hold(false);
	expect(!rank_breaks_job(&memory.control, 1));
	expect_eq(exit_of(1, 3), ASLEEP);
}

TEST(a_program_outside_a_job_ends_its_process)
{
	struct startup s = {.control = 0};
	int how = setjmp(out);

	startup = &s;
	if (how == 0)
		rank_exit(9);
	expect_eq(how - 1000, 9);
}

static int
status_of_abort(int status)
{
	int how = setjmp(out);

	if (how == 0)
		job_abort(status);
	return how - 1000;
}

TEST(an_abort_never_has_status_0)
{
	expect_eq(status_of_abort(0), 1);
	expect_eq(status_of_abort(7), 7);
	expect_eq(status_of_abort(256), 1);
	expect_eq(status_of_abort(511), 255);
}

int
main(void)
{
	RUN(the_last_rank_ends_the_process_with_status_0);
	RUN(the_first_nonzero_status_counts);
	RUN(the_end_of_a_rank_that_holds_the_job_breaks_it_once);
	RUN(a_rank_that_has_let_go_ends_alone);
	RUN(a_program_outside_a_job_ends_its_process);
	RUN(an_abort_never_has_status_0);
	return TEST_FAILED;
}
