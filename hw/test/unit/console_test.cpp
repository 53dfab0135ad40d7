// SPDX-License-Identifier: MIT
//
// Console and exit register: exactly the bytes written to register 0 come out; the line status has room; only the two known words end
// the run, and the first of them stays.
#include "Vconsole.h"
#include "unit.h"

static void
test(Vconsole &device, Random &random)
{
	bool ended = false;
	uint32_t status = 0;

	device.go_uart = device.go_exit = 0;
	reset(device);
	for (int i = 0; i < 2000; i++) {
		uint32_t where = random.below(3);
		device.go_uart = where == 1;
		device.go_exit = where == 2;
		device.we = random.chance(70);
		device.adr = (where == 2 ? 0x96000000 : 0x90000000) + (random.chance(60) ? 0 : random.below(3) * 4);
		device.sel = where == 1 && random.chance(50) ? 8 : random.below(16);
		device.wdata = random.bits();
		if (where == 2 && random.chance(3))
			device.wdata = random.chance(50) ? 0x5555 : (device.wdata & 0xffff0000) | 0x3333;
		bool spoken = where == 1 && device.we && !(device.adr & 0xff) && device.sel & 8;
		uint32_t code = device.wdata >> 24, low = device.wdata & 0xffff, adr = device.adr & 0xff;
		if (where == 2 && device.we && adr == 0 && (low == 0x5555 || low == 0x3333) && !ended) {
			ended = true;
			status = low == 0x5555 ? 0 : device.wdata >> 16;
		}
		cycle(device);
		SAME("a character", device.char_valid, spoken);
		if (spoken)
			SAME("which character", device.char_code, code);
		SAME("line status", device.rdata, where == 1 && adr == 4 ? 0x00600000 : 0);
		SAME("the end", device.exit_valid, ended);
		if (ended)
			SAME("its status", device.exit_status, status);
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Vconsole>(argc, argv, test);
}
