// SPDX-License-Identifier: MIT
//
// The clock gate: the gated clock rises with the clock exactly when the enable was on before, stays up for the whole high phase, and never
// rises in between, whenever the enable changes.
#include "Vclockgate.h"
#include "unit.h"

static void
test(Vclockgate &device, Random &random)
{
	device.clk = 0;
	device.enable = 1;
	device.eval();
	device.clk = 1;
	device.eval();
	for (now = 0; now < 3000; now++) {
		device.enable = random.chance(50);	// in the high phase: the pulse goes on as it is
		bool high = device.gclk;
		device.eval();
		SAME("the pulse in its high phase", device.gclk, high);
		bool wanted = device.enable;
		device.clk = 0;
		device.eval();
		SAME("low with the clock", device.gclk, 0);
		SAME("what was decided", device.on, wanted);
		device.clk = 1;
		device.eval();
		SAME("the edge", device.gclk, wanted);
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Vclockgate>(argc, argv, test);
}
