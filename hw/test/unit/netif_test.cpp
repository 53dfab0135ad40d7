// SPDX-License-Identifier: MIT
//
// A network interface between a bus and a network, both played here. Outwards: stores become packets in order and end at once, loads and
// compare-and-stores wait, blocked, for a reply that comes when it likes; a refused one takes the reservation away before it ends.
// Inwards: packets become transactions on a memory that answers when it likes, a comparison and its store without anything in between.
#include <deque>

#include "Vnetif.h"
#include "unit.h"

static const uint64_t LAST = 1ull << 32;
static const int N = 2, NUMBER = 2, MASTERS = 2 * N;
static const uint32_t STORE = 0, LOAD = 1, COMPARE = 2;

class Bench {
public:
	Bench(Vnetif &device, Random &random) : device_(device), random_(random) {}
	void run();

private:
	void ask();
	void serve_bus();
	void links();
	void step();
	void expect_packet(uint32_t kind);
	void incoming();

	Vnetif &device_;
	Random &random_;
	std::deque<uint64_t> to_come_, replies_, inward_, answers_;	// flits that must leave, replies to come, requests to come, replies that must leave
	int who_ = -1, left_ = 300, done_ = 0, in_left_ = 300, cancels_ = 0;
	uint32_t kind_ = 0, value_ = 0, seen_[N] = {};
	bool asked_ = false, refuse_ = false, in_flight_ = false;
	uint32_t reply_data_ = 0;
	uint32_t memory_[4] = {}, will_[4] = {};
	int busy_ = 0;
};

// The packet that the transaction on the bus must become; a reply for it is prepared.
void
Bench::expect_packet(uint32_t kind)
{
	to_come_.push_back(uint32_t(device_.dest) << 26 | NUMBER << 20 | kind << 18 | uint32_t(device_.sel) << 14);
	to_come_.push_back(device_.adr | (kind == LOAD ? LAST : 0));
	if (kind == STORE)
		to_come_.push_back(device_.wdata | LAST);
	if (kind == COMPARE) {
		to_come_.push_back(seen_[who_ / 2]);
		to_come_.push_back(device_.wdata | LAST);
	}
	if (kind == STORE)
		return;
	in_flight_ = true;
	reply_data_ = random_.bits();
	refuse_ = random_.chance(40);
	uint64_t head = uint64_t(NUMBER) << 26 | uint64_t(device_.dest) << 20;
	if (kind == COMPARE)
		replies_.push_back(head | (refuse_ ? 0 : 1u << 19) | LAST);
	else {
		replies_.push_back(head);
		replies_.push_back(reply_data_ | LAST);
	}
}

// One master at a time is on the bus; one that is blocked comes again.
void
Bench::ask()
{
	if (who_ < 0 && left_ > 0 && random_.chance(70)) {
		left_--;
		who_ = int(random_.below(MASTERS));
		kind_ = who_ & 1 ? random_.below(3) : LOAD;
		device_.we = kind_ != LOAD;
		device_.atomic = kind_ == COMPARE;
		device_.sel = kind_ == STORE ? 1 + random_.below(15) : 15;
		device_.adr = random_.bits() & ~3u;
		device_.wdata = random_.bits();
		device_.dest = random_.below(2);
		device_.who = uint32_t(who_);
		asked_ = false;
		cancels_ = 0;
	}
	device_.go = who_ >= 0 && !(device_.blocked >> who_ & 1) && !device_.ack;
	if (device_.go && !asked_) {
		// taken at once: nobody else is there, unless an earlier packet is still being sent
		bool free = to_come_.empty();
		if (free) {
			asked_ = true;
			expect_packet(kind_);
		}
	}
}

void
Bench::serve_bus()
{
	Random &random = random_;

	device_.bus_ack = 0;
	if (!device_.bus_stb) {
		SAME("no lock without a transaction", busy_, 0);
		return;
	}
	if (random_.chance(60))
		return;
	uint32_t &word = memory_[device_.bus_adr >> 2 & 3];
	device_.bus_ack = 1;
	device_.bus_rdata = word;
	device_.clk = 0;
	device_.eval();
	if (device_.bus_we)
		for (int b = 0; b < 4; b++)
			if (device_.bus_sel >> b & 1)
				word = (word & ~(255u << 8 * b)) | (device_.bus_wdata & 255u << 8 * b);
	busy_ = device_.bus_lock;
}

// A request of another cluster, and what it must do. The memory is ours: what it will hold is known now.
void
Bench::incoming()
{
	uint32_t kind = random_.below(3), word = random_.below(4), value = random_.bits(), next = random_.bits(), from = random_.below(2);
	uint32_t sel = kind == STORE ? 1 + random_.below(15) : 15;
	uint64_t head = uint64_t(from) << 26 | NUMBER << 20;

	in_left_--;
	if (kind == COMPARE && random_.chance(60))
		value = will_[word];
	inward_.push_back(uint64_t(NUMBER) << 26 | from << 20 | kind << 18 | sel << 14);
	inward_.push_back(word << 2 | (kind == LOAD ? LAST : 0));
	if (kind != LOAD)
		inward_.push_back(value | (kind == STORE ? LAST : 0));
	if (kind == COMPARE) {
		inward_.push_back(next | LAST);
		answers_.push_back(head | (will_[word] == value ? 1u << 19 : 0) | LAST);
		if (will_[word] == value)
			will_[word] = next;
	} else if (kind == LOAD) {
		answers_.push_back(head);
		answers_.push_back(will_[word] | LAST);
	} else
		for (int b = 0; b < 4; b++)
			if (sel >> b & 1)
				will_[word] = (will_[word] & ~(255u << 8 * b)) | (value & 255u << 8 * b);
}

static uint64_t
flit_of(const Vnetif &device, int n)
{
	return n == 0 ? device.out_flit[0] | uint64_t(device.out_flit[1] & 1) << 32
		: device.out_flit[1] >> 1 | uint64_t(device.out_flit[2] & 3) << 31;
}

void
Bench::links()
{
	Random &random = random_;
	bool request = !inward_.empty() && random_.chance(60);
	bool reply = !replies_.empty() && to_come_.empty() && random_.chance(20);
	uint64_t a = request ? inward_.front() : random_.bits(), b = reply ? replies_.front() : random_.bits();

	if (inward_.empty() && in_left_ > 0 && random_.chance(30))
		incoming();
	device_.in_valid = request | reply << 1;
	device_.in_flit[0] = uint32_t(a);
	device_.in_flit[1] = uint32_t(a >> 32 & 1) | uint32_t(b << 1);
	device_.in_flit[2] = uint32_t(b >> 31);
	device_.out_ready = random_.below(4);
	device_.clk = 0;
	device_.eval();
	for (int n = 0; n < 2; n++) {
		std::deque<uint64_t> &want = n ? answers_ : to_come_;
		if (!(device_.out_valid & device_.out_ready & 1 << n))
			continue;
		SAME("nothing more than was asked for", want.empty(), 0);
		SAME(n ? "a reply" : "a request", flit_of(device_, n), want.front());
		want.pop_front();
	}
	if (request && device_.in_ready & 1)
		inward_.pop_front();
	SAME("replies are always taken", device_.in_ready >> 1 & 1, 1);
	if (reply)
		replies_.pop_front();
}

void
Bench::step()
{
	Random &random = random_;
	bool was_asked, refused;

	ask();
	was_asked = asked_;
	refused = kind_ == COMPARE && refuse_;
	serve_bus();
	links();
	cycle(device_);
	if (device_.cancel) {
		SAME("only a refused store is cancelled", refused && who_ >= 0, 1);
		SAME("the core that stores", device_.cancel, 1u << who_ / 2);
		cancels_++;
	}
	if (!device_.ack)
		return;
	SAME("who asked", was_asked, 1);
	SAME("its reply was there", replies_.empty(), 1);
	SAME("taken away if refused", cancels_, refused);
	if (kind_ == LOAD) {
		SAME("what was loaded", device_.rdata, reply_data_);
		if (who_ & 1)
			seen_[who_ / 2] = reply_data_;
	}
	who_ = -1;
	in_flight_ = false;
	done_++;
}

void
Bench::run()
{
	for (int patience = 0; done_ < 300 || in_left_ > 0 || !answers_.empty() || !inward_.empty(); patience++) {
		step();
		if (in_flight_ && who_ >= 0 && !replies_.empty() && device_.blocked == 0)
			fail(random_, "who waits is blocked", 0, 1);
		if (patience > 100000)
			fail(random_, "it never ends: transactions", done_, 300);
	}
}

static void
test(Vnetif &device, Random &random)
{
	device.go = device.bus_ack = device.in_valid = device.out_ready = 0;
	reset(device);
	Bench(device, random).run();
}

int
main(int argc, char **argv)
{
	return run_seeds<Vnetif>(argc, argv, test);
}
