// SPDX-License-Identifier: MIT
//
// A router against one queue per way: packets of random length from three inputs to random clusters, outputs that stall. Every packet
// comes out where it should, whole, not mixed with others, in the order of its way; nobody waits for ever.
#include <deque>
#include <vector>

#include "Vrouter.h"
#include "unit.h"

typedef std::vector<uint64_t> Packet;

static const int PORTS = 3, PACKETS = 200;
static const uint64_t LAST = 1ull << 32;

class Bench {
public:
	Bench(Vrouter &device, Random &random) : device_(device), random_(random) {}
	void run();

private:
	Packet make(int from);
	void offer();
	void accept(int to);
	uint64_t flit(int port);

	Vrouter &device_;
	Random &random_;
	Packet sending_[PORTS];
	size_t sent_[PORTS] = {}, made_[PORTS] = {};
	std::deque<Packet> expected_[PORTS][PORTS];	// input, output
	Packet coming_[PORTS];
	int arrived_ = 0;
};

// The second byte says where it came from; the rest of the first flit, and all others, are random.
Packet
Bench::make(int from)
{
	uint32_t dest = random_.below(4);
	Packet p{dest << 26 | uint32_t(from) << 16 | random_.below(1 << 16)};

	for (uint32_t i = random_.below(4); i > 0; i--)
		p.push_back(random_.bits());
	p.back() |= LAST;
	expected_[from][dest == 1 ? 0 : dest < 1 ? 1 : 2].push_back(p);
	return p;
}

uint64_t
Bench::flit(int port)
{
	uint64_t value = 0;

	for (int b = 0; b < 33; b++)
		value |= uint64_t(device_.out_flit[(33 * port + b) / 32] >> (33 * port + b) % 32 & 1) << b;
	return value;
}

void
Bench::offer()
{
	device_.in_valid = 0;
	for (int w = 0; w < 4; w++)
		device_.in_flit[w] = 0;
	for (int i = 0; i < PORTS; i++) {
		if (sent_[i] == sending_[i].size() && made_[i] < PACKETS) {
			sending_[i] = make(i);
			sent_[i] = 0;
			made_[i]++;
		}
		if (sent_[i] == sending_[i].size() || random_.chance(20))
			continue;
		device_.in_valid |= 1 << i;
		for (int b = 0; b < 33; b++)
			device_.in_flit[(33 * i + b) / 32] |= uint32_t(sending_[i][sent_[i]] >> b & 1) << (33 * i + b) % 32;
	}
}

void
Bench::accept(int to)
{
	Random &random = random_;

	coming_[to].push_back(flit(to));
	if (!(coming_[to].back() & LAST))
		return;
	int from = coming_[to][0] >> 16 & 255;
	SAME("a known input", from < PORTS && !expected_[from][to].empty(), 1);
	SAME("its length", coming_[to].size(), expected_[from][to].front().size());
	for (size_t i = 0; i < coming_[to].size(); i++)
		SAME("its flits", coming_[to][i], expected_[from][to].front()[i]);
	expected_[from][to].pop_front();
	coming_[to].clear();
	arrived_++;
}

void
Bench::run()
{
	for (int patience = 0; arrived_ < PORTS * PACKETS; patience++) {
		offer();
		device_.out_ready = random_.chance(70) ? random_.below(8) : 7;
		device_.clk = 0;
		device_.eval();
		for (int i = 0; i < PORTS; i++) {
			if (device_.in_valid >> i & device_.in_ready >> i & 1)
				sent_[i]++;
			if (device_.out_valid >> i & device_.out_ready >> i & 1)
				accept(i);
		}
		cycle(device_);
		if (patience > 20000)
			fail(random_, "packets that arrived", arrived_, PORTS * PACKETS);
	}
}

static void
test(Vrouter &device, Random &random)
{
	device.in_valid = device.out_ready = 0;
	reset(device);
	Bench(device, random).run();
}

int
main(int argc, char **argv)
{
	return run_seeds<Vrouter>(argc, argv, test);
}
