// SPDX-License-Identifier: MIT
//
// Dropping for a store against the lines that it names: each once, in order, in all cores but the one that stores (or only in that), never in two cycles in a row;
// acknowledged once, when all are dropped.
#include "Vdropper.h"
#include "unit.h"

static const int N = 3;

static void
one_store(Vdropper &device, Random &random)
{
	uint32_t line = random.below(1 << 27), more = random.chance(50) ? random.below(3) : random.below(32), dropped = 0;
	bool tired = true;

	device.who = random.below(N);
	device.own = random.chance(30);
	device.wdata = line << 5 | more;
	device.go = 1;
	for (int patience = 0; !device.ack; patience++) {
		device.clk = 0;
		device.eval();
		if (device.snoop) {
			SAME("never twice in a row", tired && dropped > 0, 0);
			SAME("whose caches", device.snoop, device.own ? 1 << device.who : 7 & ~(1 << device.who));
			SAME("the next line", device.snoop_adr, uint32_t(line + dropped) << 5);
			dropped++;
		}
		tired = device.snoop;
		cycle(device);
		if (patience > 100)
			fail(random, "it never ends: lines dropped", dropped, more + 1);
	}
	SAME("all lines were dropped", dropped, more + 1);
	device.go = 0;
	cycle(device);
	for (uint32_t i = random.below(5); i > 0; i--) {
		SAME("quiet", device.ack | device.snoop, 0);
		cycle(device);
	}
}

static void
test(Vdropper &device, Random &random)
{
	device.go = 0;
	reset(device);
	for (int i = 0; i < 100; i++)
		one_store(device, random);
}

int
main(int argc, char **argv)
{
	return run_seeds<Vdropper>(argc, argv, test);
}
