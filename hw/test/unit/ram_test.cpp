// SPDX-License-Identifier: MIT
//
// The memory against an array of bytes: single reads and writes of some bytes, bursts of a line from any word of it, any latency; the
// first acknowledgement comes 1 + latency cycles after the request, the others without a gap; a write whose `we` is taken back writes nothing.
#include "Vram.h"
#include "unit.h"

static const uint32_t WORDS = 256;
static uint8_t bytes[WORDS * 4];

static uint32_t
word(uint32_t adr)
{
	adr &= ~3u;
	return uint32_t(bytes[adr]) << 24 | bytes[adr + 1] << 16 | bytes[adr + 2] << 8 | bytes[adr + 3];
}

// Wait for the acknowledgement; it must come after exactly `wait` cycles.
static void
acknowledged(Vram &device, Random &random, unsigned wait)
{
	for (unsigned i = 0; i < wait; i++) {
		SAME("no acknowledgement yet", device.ack, 0);
		cycle(device);
	}
	SAME("acknowledgement", device.ack, 1);
}

static void
single(Vram &device, Random &random, uint32_t adr, bool we, bool taken_back)
{
	device.stb = 1;
	device.adr = adr;
	device.we = we;
	device.sel = we ? random.below(16) : 15;
	device.cti = 7;
	device.wdata = random.bits();
	acknowledged(device, random, 1 + device.latency);
	if (we && taken_back)
		device.we = 0;
	else if (we)
		for (int b = 0; b < 4; b++)
			if (device.sel >> (3 - b) & 1)
				bytes[adr + b] = device.wdata >> (24 - 8 * b);
	if (!we)
		SAME("word read", device.rdata, word(adr));
	cycle(device);
	device.stb = 0;
}

static void
burst(Vram &device, Random &random, uint32_t adr)
{
	device.stb = 1;
	device.we = 0;
	device.sel = 15;
	for (int beat = 0; beat < 8; beat++) {
		device.adr = adr;
		device.cti = beat == 7 ? 7 : 2;
		if (beat == 0)
			acknowledged(device, random, 1 + device.latency);
		SAME("acknowledgement of a beat", device.ack, 1);
		SAME("word of a burst", device.rdata, word(adr));
		device.clk = 0;		// the bus looks at cti in this cycle
		device.eval();
		cycle(device);
		adr = (adr & ~31u) | ((adr + 4) & 31);
	}
	device.stb = 0;
}

static void
test(Vram &device, Random &random)
{
	device.stb = 0;
	reset(device);
	for (uint32_t a = 0; a < sizeof bytes; a++)
		bytes[a] = 0;
	device.latency = 0;
	for (uint32_t a = 0; a < sizeof bytes; a += 4) {
		device.sel = 15;
		single(device, random, a, true, false);
	}
	for (int i = 0; i < 600; i++) {
		uint32_t adr = random.below(WORDS) * 4;
		device.latency = random.chance(50) ? 0 : random.below(6);
		if (random.chance(30))
			burst(device, random, adr);
		else
			single(device, random, adr, random.chance(50), random.chance(20));
		for (uint32_t idle = random.below(3); idle > 0; idle--) {
			cycle(device);
			SAME("an idle memory is silent", device.ack, 0);
		}
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Vram>(argc, argv, test);
}
