/* SPDX-License-Identifier: MIT
 *
 * Cores get roles at random while threads compute, sleep, wake one another and move. A naive table
 * says which changes are allowed and what role each core has then; threads lose nothing, and in the
 * end all of them have got on.
 *
 * The archive's etc/args says how many changes and from which seed: `CALLS SEED` (SEED=n CALLS=n
 * ICOUNT=1 python3 tests/kernel/boot.py riscv64 rolerandom runs the same again). No thread computes
 * for long without a wait, for an emulator that lets cores run in turn gives the next one its turn
 * then.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 */
#include <tests/kernel/ktest.h>

#define CALLS 3000
#define WORKERS 5
#define CORES 16
#define BIT 5
#define US 1000ull

static int authority, cores;
static uint32_t role[CORES];		/* the naive table */
static uint32_t seed = 1, calls = CALLS;
static uint32_t go_on, wrong, laps[WORKERS];
static uint32_t tid[WORKERS];

static uint32_t
draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

static uint32_t
look(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void
set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* One thing that a thread does; true if it was what it should be. */
static bool
does_something(unsigned long me, uint32_t *state)
{
	long e;

	switch (draw(state, 4)) {
	case 0:
		return kt_compute((uint32_t)me + 1, 20) == kt_compute((uint32_t)me + 1, 20);
	case 1:
		return kvoid_remote() == 0;
	case 2:
		kthread_sleep(1u << BIT, kt_now() + draw(state, 100) * US);
		return true;
	default:
		e = kthread_wakeup((int)look(&tid[draw(state, WORKERS)]), 1u << BIT);
		/* at the end it may have ended before it is joined */
		return e == 0 || e == -E_BADF || (e == -E_SRCH && look(&go_on) == 0);
	}
}

static unsigned long
works(unsigned long me)
{
	uint32_t state = seed + (uint32_t)me;

	while (look(&go_on) != 0) {
		if (!does_something(me, &state))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		set(&laps[me], look(&laps[me]) + 1);
		kthread_sleep(1u << BIT, kt_now() + 5 * US);
	}
	return me;
}

/* All get on: each has done something since. */
static void
all_get_on(void)
{
	uint32_t before[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		before[i] = look(&laps[i]);
	for (int i = 0; i < WORKERS; i++)
		while (look(&laps[i]) == before[i])
			kthread_sleep(WAKE_ANY, kt_now() + 50 * US);
}

/* What a change of a role is answered. */
static long
answer_to(int core, uint32_t wish)
{
	uint32_t shared = 0;

	if (core == 0 && (wish == ROLE_AC || wish == ROLE_IDLE))
		return -E_INVAL;
	for (int i = 0; i < cores; i++)
		shared += role[i] == ROLE_TC;
	return role[core] == ROLE_TC && wish != ROLE_TC && shared == 1 ? -E_BUSY : 0;
}

static void
changes(int core, uint32_t wish)
{
	long e = kcore_role(authority, core, (int)wish);

	expect_eq(e, answer_to(core, wish));
	if (e == 0)
		role[core] = wish;
	for (int i = 0; i < cores; i++)
		expect_eq(kt_core_info(i).role, role[i]);
}

static void
workers_begin(void)
{
	set(&go_on, 1);
	for (unsigned long i = 0; i < WORKERS; i++) {
		long e = kt_thread(works, i, ANY_CORE);

		expect(e > 0);
		set(&tid[i], (uint32_t)e);
	}
}

static void
workers_end(void)
{
	set(&go_on, 0);
	for (unsigned long i = 0; i < WORKERS; i++)
		expect_eq(kt_join(tid[i]), i);
}

TEST(roles_follow_a_naive_table)
{
	uint32_t state = seed;

	for (int i = 0; i < cores; i++)
		role[i] = kt_core_info(i).role;
	workers_begin();
	for (uint32_t i = 0; i < calls; i++) {
		changes((int)draw(&state, (uint32_t)cores), draw(&state, 4));
		if (draw(&state, 3) == 0)
			kthread_cores((int)tid[draw(&state, WORKERS)],
				(int)draw(&state, (uint32_t)cores), 1);
		if (draw(&state, 16) == 0)
			all_get_on();
	}
	all_get_on();
	workers_end();
	expect_eq(wrong, 0);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	authority = atoll_startup()->authority;
	kcluster_info(&info);
	cores = (int)info.cores;
	kt_arguments(&calls, &seed);
	RUN(roles_follow_a_naive_table);
	kt_end();
}
