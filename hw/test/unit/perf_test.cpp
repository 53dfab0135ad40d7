// SPDX-License-Identifier: MIT
//
// The performance block against plain counters: every event counts where it belongs, both halves of a counter can be read, the fixed
// words are right, what does not exist reads as 0.
#include "Vperf.h"
#include "unit.h"

static const int N = 3, COUNTERS = 16;

struct Naive {
	uint64_t count[N][COUNTERS] = {}, cycle = 0;
};

static uint32_t
naive_read(const Vperf &device, const Naive &naive)
{
	uint32_t a = device.adr & 0xfffc;

	if (a >> 12 == 1) {
		uint32_t c = a >> 8 & 15, n = a >> 3 & 31;
		if (c >= N || n >= COUNTERS)
			return 0;
		return uint32_t(a & 4 ? naive.count[c][n] >> 32 : naive.count[c][n]);
	}
	switch (a) {
	case 0x00: return 0x41544f4c;
	case 0x04: return 1;
	case 0x08: return N;
	case 0x0c: return device.ram_bytes;
	case 0x10: return uint32_t(naive.cycle);
	case 0x14: return uint32_t(naive.cycle >> 32);
	case 0x18: return device.latency;
	case 0x1c: return 50000000;
	case 0x20: return device.seed;
	case 0x24: return device.core;
	case 0x28: return device.waking;
	case 0x34: return device.dropping;
	}
	return 0;
}

static void
test(Vperf &device, Random &random)
{
	Naive naive;

	device.go = 0;
	reset(device);
	device.ram_bytes = random.bits();
	device.latency = random.bits();
	device.seed = random.bits();
	for (int i = 0; i < 3000; i++) {
		uint64_t events = 0, toggles = 0, want = 0;
		for (int b = 0; b < N * (COUNTERS - 1); b++)
			events |= uint64_t(random.chance(40)) << b;
		for (int c = 0; c < N; c++)
			toggles |= uint64_t(random.below(193)) << 9 * c;
		device.event_i = events;
		device.toggles = toggles;
		device.core = random.below(N);
		device.waking = random.bits();
		device.dropping = random.below(1 << N);
		device.go = random.chance(70);
		device.adr = 0x99000000 + (random.chance(60) ? 0x1000 + random.below(N + 1) * 0x100 + random.below(64) * 4 : random.below(32) * 4);
		if (device.go)
			want = naive_read(device, naive);
		cycle(device);
		SAME("word read", device.rdata, want);
		naive.cycle++;
		for (int c = 0; c < N; c++) {
			for (int e = 0; e < COUNTERS - 1; e++)
				naive.count[c][e] += events >> (c * (COUNTERS - 1) + e) & 1;
			naive.count[c][COUNTERS - 1] += toggles >> 9 * c & 0x1ff;
		}
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Vperf>(argc, argv, test);
}
