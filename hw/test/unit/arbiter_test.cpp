// SPDX-License-Identifier: MIT
//
// The arbiter against a naive one (walk round from the last owner), and against what it promises: one owner at a time, nobody
// loses the bus before its transaction ends, nobody waits for more than M - 1 transactions of others.
#include "Varbiter.h"
#include "unit.h"

static const int M = 7;		// no power of two: the wrap is the hard part

struct Naive {
	bool busy = false;
	int held = M - 1;

	bool active(uint32_t req) const { return busy ? req >> held & 1 : req != 0; }
	int owner(uint32_t req) const
	{
		if (busy)
			return held;
		for (int i = 1; i <= M; i++)
			if (req >> ((held + i) % M) & 1)
				return (held + i) % M;
		return held;
	}
	void clock(uint32_t req, bool last)
	{
		bool a = active(req);
		int o = owner(req);
		busy = a && !last;
		if (a)
			held = o;
	}
};

static void
test(Varbiter &device, Random &random)
{
	Naive naive;
	uint32_t req = 0;
	int waited[M] = {};

	reset(device);
	for (int i = 0; i < 3000; i++) {
		bool last = random.chance(40);
		for (int m = 0; m < M; m++)
			if (!(req >> m & 1))
				req |= uint32_t(random.chance(30)) << m;
			else if (random.chance(1))
				req &= ~(1u << m);
		device.req = req;
		device.last = last;
		device.clk = 0;
		device.eval();
		SAME("active", device.active, naive.active(req));
		if (naive.active(req))
			SAME("owner", device.owner, naive.owner(req));
		for (int m = 0; m < M; m++) {
			if (!(req >> m & 1) || (device.active && device.owner == m))
				waited[m] = 0;
			else if (device.active && last && ++waited[m] > M - 1)
				fail(random, "a master starves: transactions of others", waited[m], M - 1);
		}
		naive.clock(req, last);
		cycle(device);
		if (last && naive.active(req) && random.chance(70))
			req &= ~(1u << naive.held);
	}
}

int
main(int argc, char **argv)
{
	return run_seeds<Varbiter>(argc, argv, test);
}
