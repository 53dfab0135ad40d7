/* SPDX-License-Identifier: MIT
 *
 * Home's round: cores that never stop calling keep neither events nor sweeps nor threads waiting.
 * Each sender of this test has its next message there as soon as it is answered.
 *
 * needs: kernel/thread/run.c kernel/am/am.c base/str.c
 */
#include <base/test.h>
#include <kernel/cluster.h>
#include <kernel/ikc/channel.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/counts.h>
#include <kernel/thread/move.h>
#include <kernel/thread/role.h>
#include <kernel/thread/run.h>

#define CORES 5
#define SLOTS 8
#define FLOOD 1000		/* messages of each sender: more than a round may take */

static struct cluster c;
static struct core core[CORES];
static struct boot_record record;
static struct process proc;
static struct thread caller;
static uint32_t order[SLOTS], activity;
static unsigned served, rounds, rung, event_at, sweeps;
static unsigned served_at_event;
static bool flood;

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
	abort();
}

static long
count(struct kcall_args *args)
{
	(void)args;
	if (++served == event_at)
		activity++;
	return 0;
}

static void
send(uint32_t from)
{
	struct am_call *call = &core[from].call;

	call->fn = count;
	call->bytes = offsetof(struct kcall_args, a);
	call->args.caller = &caller;
	call->busy = 1;
	order[c.am.ticket++ % SLOTS] = from + 1;
}

void
(hal_notify)(unsigned cluster, unsigned to)
{
	(void)cluster;
	if (to == KERNEL_CORE)
		rung++;
	else if (flood && served < FLOOD * (CORES - 1))
		send(to);
}

void
(hal_interrupt)(unsigned to)
{
	expect_eq(to, KERNEL_CORE);
	rung++;
}

bool
proc_end_orphan(struct cluster *who)
{
	(void)who;
	return true;
}

bool
peers_poll(struct cluster *who)
{
	(void)who;
	return false;
}

bool
ikc_look(struct cluster *who)
{
	(void)who;
	return false;
}

bool
ikc_poll(struct cluster *who)
{
	bool found = who->ikc.looked != activity;

	who->ikc.looked = activity;
	rounds++;
	if (found)
		served_at_event = served;
	return found;
}

bool
deadlines_poll(struct cluster *who)
{
	(void)who;
	return false;
}

uint64_t
deadlines_first(const struct cluster *who)
{
	(void)who;
	return HAL_FOREVER;
}

bool
console_poll(struct cluster *who)
{
	(void)who;
	return false;
}

bool
sweeps_poll(struct cluster *who)
{
	(void)who;
	sweeps++;
	return false;
}

uint64_t
peers_deadline(struct cluster *who)
{
	(void)who;
	return HAL_FOREVER;
}

uint64_t
console_deadline(struct cluster *who)
{
	(void)who;
	return HAL_FOREVER;
}

bool
proc_reap(struct cluster *who)
{
	(void)who;
	return false;
}

bool
memory_drop_some(struct cluster *who)
{
	(void)who;
	return false;
}

bool
roles_poll(struct cluster *who)
{
	(void)who;
	return false;
}

void
thread_spreads(struct core *who)
{
	(void)who;
}

bool
channels_poll(struct cluster *who)
{
	(void)who;
	return false;
}

bool
clear_poll(struct cluster *who)
{
	(void)who;
	return false;
}

bool
revokes_poll(struct cluster *who)
{
	(void)who;
	return false;
}

void sweep_acknowledge(struct cluster *who, struct sweep *s) { (void)who, (void)s; abort(); }
void deadline_set(struct cluster *who, struct deadline *at, uint64_t until) { (void)who, (void)at,
	(void)until; abort(); }
void handler_upcall(struct core *who) { (void)who; abort(); }
void counts_begin(struct thread *t) { (void)t; abort(); }
void counts_end(struct thread *t, enum run_count more) { (void)t; (void)more; abort(); }
unsigned hal_cluster_id(void) { return 0; }
void hal_space_use(struct hal_space *s) { (void)s; abort(); }
void hal_user_enter(struct hal_frame *f, struct hal_space *s) { (void)f, (void)s; abort(); }
void hal_frame_set_result(struct hal_frame *f, long result) { (void)f, (void)result; abort(); }
void (hal_timer_arm)(uint64_t until_ns) { (void)until_ns; abort(); }
uint64_t hal_clock_ns(void) { abort(); }
void (hal_wait_begin)(void) { abort(); }
void (hal_wait_cancel)(void) { abort(); }
void (hal_wait)(uint64_t until_ns) { (void)until_ns; abort(); }

static void
begin(bool calls_without_end)
{
	memset(&c, 0, sizeof(c));
	memset(core, 0, sizeof(core));
	memset(order, 0, sizeof(order));
	served = rounds = rung = event_at = sweeps = activity = 0;
	c.record = &record;
	c.core = core;
	c.cores = CORES;
	c.ikc.activity = &activity;
	caller.proc = &proc;
	proc.state = PROC_LIVE;
	list_init(&c.sweeps.running);
	for (uint32_t i = 0; i < CORES; i++) {
		core[i].cluster = &c;
		core[i].id = i;
		core[i].role = core[i].acts = i == KERNEL_CORE ? ROLE_TC : ROLE_AC;
		run_queue_init(&core[i]);
	}
	am_init(&c, order, SLOTS);
	flood = calls_without_end;
	for (uint32_t i = 1; i < CORES; i++)
		send(i);
}

TEST(a_round_ends_however_many_messages_come)
{
	begin(true);
	core_work(&core[0]);
	expect(served >= CORES - 1 && served <= CORES);
}

TEST(messages_that_are_left_are_announced_anew)
{
	for (unsigned tc = 0; tc < 2; tc++) {
		begin(true);
		c.home_runs_users = tc;
		core_work(&core[0]);
		expect(rung > 0);
	}
	begin(false);
	core_work(&core[0]);
	expect_eq(served, CORES - 1);
	expect_eq(rung, 0);
}

TEST(an_event_is_taken_between_two_messages)
{
	begin(true);
	event_at = 2;
	core_work(&core[0]);
	expect_eq(served_at_event, 2);
}

TEST(a_sweep_goes_on_between_messages)
{
	struct sweep s = {0};

	begin(true);
	list_push_back(&c.sweeps.running, &s.link);
	c.chores++;
	core_work(&core[0]);
	expect_eq(sweeps, served);
}

TEST(where_all_chores_are_sweeps_home_looks_for_nothing_else_until_an_event_comes)
{
	struct sweep s = {0};

	begin(true);
	list_push_back(&c.sweeps.running, &s.link);
	c.chores = c.sweeps.sent = 1;
	core_work(&core[0]);
	expect_eq(sweeps, served);
	expect_eq(rounds, 0);

	begin(true);
	list_push_back(&c.sweeps.running, &s.link);
	c.chores = c.sweeps.sent = 1;
	event_at = 2;
	core_work(&core[0]);
	expect_eq(served_at_event, 2);

	begin(true);
	list_push_back(&c.sweeps.running, &s.link);
	c.chores = 2;
	c.sweeps.sent = 1;
	core_work(&core[0]);
	expect(rounds > 0);
}

TEST(a_call_of_home_itself_comes_after_those_before_it_and_is_answered)
{
	struct kcall_args args = {.caller = &caller};

	begin(true);
	expect_eq(am_call_kernel(&core[0], count, &args, offsetof(struct kcall_args, a)), 0);
	expect(served >= CORES && served <= CORES + 1);
}

static long
begin_chore(struct kcall_args *args)
{
	(void)args;
	c.chores++;
	return 0;
}

TEST(home_that_gives_itself_work_interrupts_its_caller)
{
	struct kcall_args args = {.caller = &caller};

	begin(false);
	am_call_kernel(&core[0], count, &args, offsetof(struct kcall_args, a));
	expect_eq(rung, 0);
	am_call_kernel(&core[0], begin_chore, &args, offsetof(struct kcall_args, a));
	expect_eq(rung, 1);
}

int
main(void)
{
	RUN(a_round_ends_however_many_messages_come);
	RUN(messages_that_are_left_are_announced_anew);
	RUN(an_event_is_taken_between_two_messages);
	RUN(a_sweep_goes_on_between_messages);
	RUN(where_all_chores_are_sweeps_home_looks_for_nothing_else_until_an_event_comes);
	RUN(a_call_of_home_itself_comes_after_those_before_it_and_is_answered);
	RUN(home_that_gives_itself_work_interrupts_its_caller);
	return TEST_FAILED;
}
