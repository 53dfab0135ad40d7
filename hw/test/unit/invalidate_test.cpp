// SPDX-License-Identifier: MIT
//
// Selective invalidation against the set of lines that the range touches: each is dropped once, in order, in the chosen cores only, never
// together with an acknowledgement of the bus, never in two cycles in a row; busy from start to end and no longer; starts while busy do nothing.
#include "Vinvalidate.h"
#include "unit.h"

static const int N = 3;

static void
command(Vinvalidate &device, int which, uint32_t data)
{
	device.set_base = which == 0;
	device.set_mask = which == 1;
	device.set_bytes = which == 2;
	device.wdata = data;
	cycle(device);
	device.set_base = device.set_mask = device.set_bytes = 0;
}

static void
one_range(Vinvalidate &device, Random &random)
{
	uint32_t base = random.below(1 << 16), bytes = random.chance(5) ? 0 : 1 + random.below(400), mask = random.below(1 << N);
	uint32_t line = base & ~31u, last = (base + bytes - 1) & ~31u;
	bool tired = true;

	device.hold = 0;
	command(device, 0, base);
	command(device, 1, mask);
	command(device, 2, bytes);
	if (bytes == 0 || mask == 0) {
		SAME("nothing to do", device.busy, 0);
		return;
	}
	tired = false;
	for (int patience = 0; device.busy; patience++) {
		SAME("who is named", device.busy, mask);
		device.hold = random.chance(30);
		device.set_bytes = random.chance(10);	// a start while it runs
		device.wdata = random.bits();
		device.clk = 0;
		device.eval();
		if (device.hold || tired)
			SAME("gives way", device.snoop, 0);
		else {
			SAME("the chosen cores", device.snoop, mask);
			SAME("the next line", device.snoop_adr, line);
			line += 32;
		}
		tired = device.snoop;
		cycle(device);
		device.set_bytes = 0;
		if (patience > 1000)
			fail(random, "it never ends: lines left", last - line, 0);
	}
	SAME("all lines were dropped", line, last + 32);
}

static void
test(Vinvalidate &device, Random &random)
{
	device.hold = device.set_base = device.set_mask = device.set_bytes = 0;
	reset(device);
	for (int i = 0; i < 100; i++)
		one_range(device, random);
}

int
main(int argc, char **argv)
{
	return run_seeds<Vinvalidate>(argc, argv, test);
}
