// SPDX-License-Identifier: MIT
//
// What the testbenches of the RTL units share: a seeded generator, one clock cycle, and failing with what it takes to see it again.
// Each testbench defines `void test(Device &, Random &)`, which runs one seed; main runs many, or the one given on the command line.
#ifndef HW_TEST_UNIT_H
#define HW_TEST_UNIT_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "verilated.h"

class Random {
public:
	explicit Random(uint32_t seed) : seed(seed), state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
	uint32_t bits()
	{
		state_ ^= state_ << 13;
		state_ ^= state_ >> 7;
		state_ ^= state_ << 17;
		return uint32_t(state_ >> 16);
	}
	uint32_t below(uint32_t n) { return bits() % n; }
	bool chance(uint32_t percent) { return below(100) < percent; }

	const uint32_t seed;

private:
	uint64_t state_;
};

static uint64_t now;		// cycle of the running seed

[[noreturn]] static inline void
fail(const Random &random, const char *what, uint64_t got, uint64_t want)
{
	printf("seed %u, cycle %llu: %s: 0x%llx, expected 0x%llx\n", random.seed, (unsigned long long)now, what, (unsigned long long)got,
		(unsigned long long)want);
	exit(1);
}

#define SAME(what, got, want) \
	do { \
		if (uint64_t(got) != uint64_t(want)) \
			fail(random, what, got, want); \
	} while (0)

// One clock cycle: inputs set before are seen by its rising edge; afterwards the outputs are those of the next cycle.
template <typename T>
static inline void
cycle(T &device)
{
	device.clk = 0;
	device.eval();
	device.clk = 1;
	device.eval();
	now++;
}

template <typename T>
static inline void
reset(T &device)
{
	now = 0;
	device.rst = 1;
	cycle(device);
	cycle(device);
	device.rst = 0;
}

template <typename T>
static inline int
run_seeds(int argc, char **argv, void (*test)(T &, Random &))
{
	uint32_t first = argc > 1 ? uint32_t(strtoul(argv[1], nullptr, 0)) : 1, last = argc > 1 ? first : 30;

	for (uint32_t seed = first; seed <= last; seed++) {
		VerilatedContext context;
		Random random(seed);
		T device(&context);
		test(device, random);
	}
	printf("seeds %u to %u hold\n", first, last);
	return 0;
}

#endif
