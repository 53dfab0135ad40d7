// SPDX-License-Identifier: MIT
//
// The inter-core interrupt controller against a naive one: what is pending, from whom and with which data; accesses to pairs that do
// not exist and destinations that do not exist do nothing; pairs of other clusters' cores only send.
#include "Vompic.h"
#include "unit.h"

static const uint32_t N = 4, FIRST = 8, CORES = 16;	// the third controller of four
static const uint32_t SEND = 1u << 30, ACK = 1u << 31;

struct Pair {
	uint32_t control = 0, status = 0;
};

static uint32_t
naive_access(Pair *pairs, uint32_t adr, bool we, uint32_t data)
{
	uint32_t from = adr >> 3, p = from - FIRST, to = (data >> 16 & 0x3fff) - FIRST, answer = 0;
	bool known = from >= FIRST && p < N;

	if (known)
		answer = adr & 4 ? pairs[p].status : pairs[p].control;
	if (we && !(adr & 4)) {
		if (known)
			pairs[p].control = data;
		if ((data & SEND) && from < CORES && to < N)
			pairs[to].status = SEND | from << 16 | (data & 0xffff);
		if (known && (data & ACK))
			pairs[p].status &= ~SEND;
	}
	return answer;
}

static void
test(Vompic &device, Random &random)
{
	Pair pairs[N];

	device.go = 0;
	reset(device);
	for (int i = 0; i < 3000; i++) {
		uint32_t data = random.bits(), want = 0, lines = 0;
		device.go = random.chance(80);
		device.we = random.chance(60);
		device.adr = (random.chance(70) ? FIRST + random.below(N) : random.chance(80) ? random.below(CORES) : random.below(512)) << 3 | (random.chance(50) ? 4 : 0);
		if (random.chance(80))
			data = (data & 0xc000ffff) | (FIRST + random.below(N)) << 16;
		device.wdata = data;
		if (device.go)
			want = naive_access(pairs, device.adr, device.we, data);
		cycle(device);
		if (!device.we || !device.go)
			SAME("word read", device.rdata, want);
		for (uint32_t c = 0; c < N; c++)
			lines |= (pairs[c].status >> 30 & 1) << c;
		SAME("interrupt lines", device.irq, lines);
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Vompic>(argc, argv, test);
}
