/* SPDX-License-Identifier: MIT
 *
 * Who is gathered, and who is not any more: by hand, and at random for a naive machine, on which
 * those that compute and share a core are to have one each.
 *
 * needs: servers/proc/provision.c
 */
#include <base/str.h>
#include <base/test.h>
#include <servers/proc/provision.h>

#define LOOK_US 40000u
#define CORES 8
#define STEPS 3000
#define SETTLE 40

static struct provision p;

/* A machine: what processes want, and where they are. Core 0 is the kernel's and the servers'. */
static struct process {
	int32_t pid;
	bool computes;
	uint32_t share;			/* that it needs if it does not compute */
	uint32_t core;
	bool is_pinned;			/* gathered: the kernel does not move it */
	struct thread_counts counts;
} process[MEMBERS_MAX];
static uint32_t role[CORES], made, processes;
static uint32_t moves, moved_last[MEMBERS_MAX], look;

static uint32_t
on(uint32_t core, bool computes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		n += process[i].pid != 0 && process[i].core == core &&
			(!computes || process[i].computes);
	return n;
}

static void
machine_begin(void)
{
	memset(&p, 0, sizeof(p));
	memset(process, 0, sizeof(process));
	p.cores = CORES;
	role[0] = ROLE_TC;
	for (uint32_t c = 1; c < CORES; c++)
		role[c] = ROLE_AC;
	processes = moves = 0;
	memset(moved_last, 0, sizeof(moved_last));
}

static uint32_t
emptiest(void)
{
	uint32_t best = 1;

	for (uint32_t c = 2; c < CORES; c++)
		if (on(c, false) < on(best, false))
			best = c;
	return best;
}

/* As the kernel: on the core with the fewest. */
static struct process *
process_add(bool computes, uint32_t share)
{
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		if (process[i].pid == 0) {
			process[i] = (struct process){.core = emptiest(), .computes = computes,
				.share = share};
			process[i].pid = (int32_t)++made;
			moved_last[i] = 0;
			processes++;
			return &process[i];
		}
	return NULL;
}

/* Time passes: those that compute share what is left. */
static void
machine_runs(void)
{
	for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
		struct process *m = &process[i];
		uint32_t computing = on(m->core, true), others = on(m->core, false) - 1;

		if (m->pid == 0)
			continue;
		if (!m->computes) {
			m->counts.run_ns += m->share * LOOK_US * 10ull;
			m->counts.calls += m->share > 0 ? 20 : 0;
			continue;
		}
		m->counts.run_ns += LOOK_US * 1000ull / computing;
		m->counts.preempted += others > 0 ? 2 : 0;
		/* as the kernel: it goes to an empty core */
		if (others > 0 && !m->is_pinned && on(emptiest(), false) == 0)
			m->core = emptiest();
	}
}

static void
do_it(const struct decision *d)
{
	struct process *m = &process[d->habit];

	switch (d->kind) {
	case DECIDE_ROLE:
		expect(d->core > 0 && d->core < CORES && role[d->core] != d->role);
		expect(d->role == ROLE_TC || on(d->core, false) == 0);
		role[d->core] = d->role;
		return;
	case DECIDE_GATHER:
		expect(m->pid != 0 && !m->computes && !m->is_pinned && d->core > 0);
		expect(role[d->core] == ROLE_TC);
		/* nothing flaps */
		expect(moved_last[d->habit] == 0 || look - moved_last[d->habit] >= LOOKS_REST);
		moved_last[d->habit] = look;
		m->core = d->core;
		m->is_pinned = true;
		moves++;
		return;
	case DECIDE_RELEASE:
		expect(m->pid != 0 && m->is_pinned);
		m->is_pinned = false;
		return;
	default: return;
	}
}

static void
machine_looks(void)
{
	struct decision d;
	uint32_t n = 0;
	bool holds = false;

	machine_runs();
	look++;
	for (uint32_t c = 0; c < CORES; c++) {
		p.place[c].role = role[c];
		p.place[c].threads = on(c, false) + (c == 0 ? 3 : 0);
	}
	provision_begin(&p);
	for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
		process[i].counts.core = process[i].core;
		process[i].counts.threads = 1;
		if (process[i].pid != 0)
			provision_see(&p, i, process[i].pid, &process[i].counts, LOOK_US);
	}
	provision_end(&p);
	while ((d = provision_decide(&p)).kind != DECIDE_NOTHING) {
		expect(++n < 4 * MEMBERS_MAX);
		do_it(&d);
		provision_done(&p, &d);
	}
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		holds |= process[i].pid != 0 && process[i].is_pinned;
	for (uint32_t c = 1; c < CORES; c++)
		holds |= role[c] != ROLE_AC;
	expect_eq(provision_holds(&p), holds);
}

/* How many of those that compute share their core. */
static uint32_t
short_of_core(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		n += process[i].pid != 0 && process[i].computes &&
			on(process[i].core, false) > 1;
	return n;
}

TEST(those_that_call_make_room_for_those_that_compute)
{
	machine_begin();
	for (uint32_t i = 0; i < 6; i++) {
		process_add(true, 0);
		process_add(false, 10);
	}
	for (uint32_t i = 0; i < SETTLE; i++)
		machine_looks();
	expect_eq(short_of_core(), 0);
	expect_eq(moves, 6);
	expect(p.place[0].gathered == 0);
}

TEST(nobody_is_moved_where_each_has_a_core)
{
	machine_begin();
	for (uint32_t i = 0; i < 7; i++)
		process_add(i < 3, 30);
	for (uint32_t i = 0; i < SETTLE; i++)
		machine_looks();
	expect_eq(moves, 0);
	for (uint32_t c = 1; c < CORES; c++)
		expect_eq(role[c], ROLE_AC);
}

TEST(it_is_still_where_no_process_runs)
{
	machine_begin();
	for (uint32_t i = 0; i < 4; i++)
		process_add(false, 0);
	machine_looks();
	expect(!p.is_still);
	machine_looks();
	expect(p.is_still);
	process_add(false, 10);
	machine_looks();
	expect(!p.is_still);
	machine_looks();
	expect(!p.is_still);
}

TEST(those_that_only_compute_are_left_alone)
{
	machine_begin();
	for (uint32_t i = 0; i < 12; i++)
		process_add(true, 0);
	for (uint32_t i = 0; i < SETTLE; i++)
		machine_looks();
	expect_eq(moves, 0);
}

TEST(who_computes_after_all_is_released)
{
	struct process *m = NULL;

	machine_begin();
	for (uint32_t i = 0; i < 6; i++)
		process_add(true, 0);
	for (uint32_t i = 0; i < 4; i++)
		m = process_add(false, 20);
	for (uint32_t i = 0; i < SETTLE / 4; i++)
		machine_looks();
	expect(m->is_pinned && moves == 4);
	m->computes = true;
	process[0].pid = 0;
	machine_looks();
	machine_looks();
	machine_looks();
	expect(!m->is_pinned);
	machine_looks();
	expect_eq(short_of_core(), 0);
}

TEST(they_are_released_when_there_is_room_and_the_core_gets_its_role_back)
{
	machine_begin();
	for (uint32_t i = 0; i < 12; i++)
		process_add(i % 2 == 0, 10);
	for (uint32_t i = 0; i < SETTLE; i++)
		machine_looks();
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		if (process[i].computes)
			process[i].pid = 0;
	for (uint32_t i = 0; i < LOOKS_CALM; i++)
		machine_looks();
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		expect(!process[i].is_pinned);
	memset(process, 0, sizeof(process));
	machine_looks();
	for (uint32_t c = 1; c < CORES; c++)
		expect_eq(role[c], ROLE_AC);
	expect(!provision_holds(&p));
}

TEST(what_cannot_be_done_is_not_tried_at_once_again)
{
	struct decision d;

	machine_begin();
	for (uint32_t i = 0; i < 12; i++)
		process_add(i % 2 == 0, 10);
	for (uint32_t i = 0; i < LOOKS_CALLS; i++)
		machine_looks();
	for (uint32_t n = 0; (d = provision_decide(&p)).kind != DECIDE_NOTHING; n++) {
		expect(n < MEMBERS_MAX);
		provision_failed(&p, &d);
	}
}

static uint32_t
any(uint32_t below)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 16) % below;
}

static void
any_change(void)
{
	uint32_t i = any(MEMBERS_MAX);

	if (process[i].pid == 0) {
		if (processes < 12)
			process_add(any(2), 1 + any(6));
	} else if (any(3) == 0) {
		processes--;
		process[i] = (struct process){0};
	} else {
		process[i].computes = any(2);
	}
}

/*
 * Processes come, go and change at random. When nothing changes any more nobody is moved, and those
 * that compute have a core each, if there are enough beside one for all others.
 */
TEST(each_that_computes_gets_a_core_after_any_history)
{
	uint32_t judged = 0;

	machine_begin();
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t computing = 0, before;

		any_change();
		if (any(4) == 0)
			machine_looks();
		if (step % 100 != 99)
			continue;
		for (uint32_t n = 0; n < SETTLE; n++)
			machine_looks();
		before = moves;
		machine_looks();
		expect_eq(moves, before);
		for (uint32_t i = 0; i < MEMBERS_MAX; i++)
			computing += process[i].pid != 0 && process[i].computes;
		judged += computing > 0 && computing < CORES - 1;
		if (computing < CORES - 1)
			expect_eq(short_of_core(), 0);
	}
	expect(judged > STEPS / 300 && moves > 0);
}

int
main(void)
{
	RUN(those_that_call_make_room_for_those_that_compute);
	RUN(nobody_is_moved_where_each_has_a_core);
	RUN(it_is_still_where_no_process_runs);
	RUN(those_that_only_compute_are_left_alone);
	RUN(who_computes_after_all_is_released);
	RUN(they_are_released_when_there_is_room_and_the_core_gets_its_role_back);
	RUN(what_cannot_be_done_is_not_tried_at_once_again);
	RUN(each_that_computes_gets_a_core_after_any_history);
	return TEST_FAILED;
}
