/* SPDX-License-Identifier: MIT
 *
 * KNoise: how much kernel calls of other cores disturb a thread that computes. One computes; then
 * it computes the same while others call the kernel core in a tight loop. Each step of the work has
 * `--loads N` of 16 operations that read memory, the rest works in registers: what is left of the
 * disturbance is the memory that they share. Windows 0 quiet, 1 with noise. The work is the same in
 * both. usage: knoise [--loads N] [--steps N] [--noisy N]. Source: seed 000 IV-A.
 */
#include "kit.h"

#define WORDS 1024			/* of memory that is read */
#define OPERATIONS 16
#define NOISY_MAX 16

static volatile uint32_t memory[WORDS] __attribute__((aligned(64)));
static struct gate gate;
static uint32_t is_over;
static uint32_t calls;

static void
disturb(void *arg)
{
	uint32_t n = 0;

	(void)arg;
	gate_pass(&gate);
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
compute(long steps, long loads)
{
	uint32_t x = 1, at = 0;

	for (long s = 0; s < steps; s++)
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

static uint64_t
quiet(long steps, long loads, uint32_t *result)
{
	uint64_t begin = now_ns();

	window_open(0);
	*result = compute(steps, loads);
	window_close(0);
	return now_ns() - begin;
}

static uint64_t
disturbed(long steps, long loads, uint32_t *result)
{
	uint64_t begin = now_ns();

	window_open(1);
	*result = compute(steps, loads);
	window_close(1);
	return now_ns() - begin;
}

int
main(int argc, char **argv)
{
	long loads = number(argc, argv, "--loads", 8), steps = number(argc, argv, "--steps", 1000);
	long noisy = number(argc, argv, "--noisy", (long)user_cores() - 1);
	int team[NOISY_MAX];
	uint32_t warm, first, second;
	uint64_t alone, together;

	if (loads < 0 || loads > OPERATIONS || noisy < 0 || noisy > NOISY_MAX)
		give_up("--loads must be from 0 to 16, --noisy at most 16", loads);
	gate = (struct gate){0};
	is_over = 0;
	calls = 0;
	compute(1, loads);
	alone = quiet(steps, loads, &first);
	for (long i = 0; i < noisy; i++)
		team[i] = start(disturb, NULL);
	gate_open(&gate, (uint32_t)noisy);
	warm = compute(1, loads);
	together = disturbed(steps, loads, &second);
	__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
	for (long i = 0; i < noisy; i++)
		join(team[i]);
	if (first != second)
		give_up("the work differs", (long)(first ^ second ^ warm));
	row("knoise_quiet", alone, (uint64_t)steps, "");
	row("knoise", together, (uint64_t)steps, "");
	row_number("knoise_slowdown", together > alone ? (together - alone) * 10000 / alone : 0,
		"/10000", "");
	row_number("knoise_calls", calls, "calls", "");
	return 0;
}
