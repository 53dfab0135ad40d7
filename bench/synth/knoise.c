/* SPDX-License-Identifier: MIT
 *
 * KNoise: how much kernel calls of other cores disturb threads that compute. x threads compute;
 * then they compute the same while the others call the kernel core in a tight loop. Each step of
 * the work has `--loads N` of 16 operations that read memory, the rest works in registers: what is
 * left of the disturbance is the memory that they share. Windows, one per computing thread: 0
 * quiet, 1 with noise. The work is the same in both. usage: knoise [--loads N] [--steps N]
 * [--computing X] [--to X] [--team N] [--noisy N] [--seed N]; --team: threads in all; --to: with
 * one computing thread more each time, up to so many. Source: seed 000 IV-A.
 */
#include "kit.h"

#define WORDS 1024			/* of memory that is read */
#define OPERATIONS 16
#define MEMBERS_MAX 16

static volatile uint32_t memory[WORDS] __attribute__((aligned(64)));
static struct gate quiet_gate, noise_gate;
static uint32_t is_over;
static uint32_t calls;
static long steps, loads, seed;

/* A thread that computes. */
struct worker {
	uint64_t alone, together;	/* ns */
	uint32_t first, second;		/* results */
	uint64_t interrupts;		/* of its core, while there was noise */
};

static struct worker workers[MEMBERS_MAX];

static void
disturb(void *arg)
{
	uint32_t n = 0;

	gate_pass(&noise_gate);
	stagger(seed, (uint32_t)(uintptr_t)arg);
	while (__atomic_load_n(&is_over, __ATOMIC_RELAXED) == 0) {
		kvoid_remote();
		n++;
	}
	__atomic_add_fetch(&calls, n, __ATOMIC_SEQ_CST);
}

/*
 * The loads are spread over the operations as evenly as can be. One copy of it: quiet and disturbed
 * it must lie in the same cache lines.
 */
static __attribute__((noinline)) uint32_t
compute(long count)
{
	uint32_t x = 1, at = 0;

	for (long s = 0; s < count; s++)
		for (long i = 0, due = 0; i < OPERATIONS; i++) {
			due += loads;
			if (due >= OPERATIONS) {
				due -= OPERATIONS;
				x += memory[at++ & (WORDS - 1)];
			} else {
				x ^= x << 3;
			}
		}
	return x;
}

/* One copy of what a window holds, too. */
static __attribute__((noinline)) uint32_t
compute_counted(void)
{
	uint32_t x;

	hal_mark(MARK_BEGIN);
	x = compute(steps);
	hal_mark(MARK_END);
	return x;
}

/* Timer interrupts and shoot-downs that the kernel has counted on this core. */
static uint64_t
interrupts_counted(void)
{
	uint64_t ticks = 0, shot_down = 0;

	kcore_count(COUNT_TICKS, &ticks);
	kcore_count(COUNT_SHOT_DOWN, &shot_down);
	return ticks + shot_down;
}

static void
quiet(struct worker *w)
{
	uint64_t begin = now_ns();

	window_label(0);
	w->first = compute_counted();
	window_is_over(0);
	w->alone = now_ns() - begin;
}

static void
disturbed(struct worker *w)
{
	uint64_t counted, begin;

	compute(1);
	counted = interrupts_counted();
	begin = now_ns();
	window_label(1);
	w->second = compute_counted();
	window_is_over(1);
	w->together = now_ns() - begin;
	w->interrupts = interrupts_counted() - counted;
}

static void
work(void *arg)
{
	struct worker *w = arg;

	compute(1);
	gate_pass(&quiet_gate);
	quiet(w);
	gate_pass(&noise_gate);
	disturbed(w);
}

static void
report(long computing, const char *params)
{
	uint64_t alone = 0, together = 0, interrupts = 0, most = 0;

	for (long i = 0; i < computing; i++) {
		const struct worker *w = &workers[i];

		if (w->first != w->second)
			give_up("the work differs", (long)(w->first ^ w->second));
		alone += w->alone;
		together += w->together;
		interrupts += w->interrupts;
		most = w->together > most ? w->together : most;
	}
	row("knoise_quiet", alone, (uint64_t)(steps * computing), params);
	row("knoise", together, (uint64_t)(steps * computing), params);
	row_number("knoise_slowdown", together > alone ? (together - alone) * 10000 / alone : 0,
		"/10000", params);
	row_number("knoise_slowest", most, "ns", params);
	row_number("knoise_calls", calls, "calls", params);
	row_number("knoise_interrupts", interrupts, "interrupts", params);
}

/* The caller is the first of those who compute. */
static void
measure(long computing, long noisy, const char *params)
{
	int team[2 * MEMBERS_MAX];
	long n = 0;

	quiet_gate = noise_gate = (struct gate){0};
	is_over = calls = 0;
	for (long i = 1; i < computing; i++)
		team[n++] = start(work, &workers[i]);
	compute(1);
	gate_open(&quiet_gate, (uint32_t)computing - 1);
	quiet(&workers[0]);
	gate_wait(&noise_gate, (uint32_t)computing - 1);
	for (long i = 0; i < noisy; i++)
		team[n++] = start(disturb, (void *)(uintptr_t)i);
	gate_open(&noise_gate, (uint32_t)(computing - 1 + noisy));
	disturbed(&workers[0]);
	for (long i = 0; i < computing - 1; i++)
		join(team[i]);
	__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
	for (long i = computing - 1; i < n; i++)
		join(team[i]);
	report(computing, params);
}

int
main(int argc, char **argv)
{
	long computing = number(argc, argv, "--computing", 1);
	long last = number(argc, argv, "--to", computing);
	long cores = user_cores() < MEMBERS_MAX ? (long)user_cores() : MEMBERS_MAX;
	long team = number(argc, argv, "--team", cores);
	long noisy = number(argc, argv, "--noisy", -1);
	static char params[] = "computing=00";

	loads = number(argc, argv, "--loads", 8);
	steps = number(argc, argv, "--steps", 1000);
	seed = number(argc, argv, "--seed", 0);
	if (loads < 0 || loads > OPERATIONS || noisy > MEMBERS_MAX || computing < 1 ||
			last > MEMBERS_MAX || team > MEMBERS_MAX || team < last)
		give_up("--loads, --noisy, --to and --team must be at most 16", loads);
	for (; computing <= last; computing++) {
		params[sizeof(params) - 3] = (char)('0' + computing / 10);
		params[sizeof(params) - 2] = (char)('0' + computing % 10);
		measure(computing, noisy >= 0 ? noisy : team - computing, params);
	}
	return 0;
}
