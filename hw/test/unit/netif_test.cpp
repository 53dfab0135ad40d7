// SPDX-License-Identifier: MIT
//
// A network interface between a bus and a network, both played here, with all masters of the bus
// at work at once. Outwards: each far load and store becomes one packet, whole and in order; the
// other clusters carry packets out in order, each when it likes, and answer. What a master gets
// must be what its own request found there. Memory order: stores, and what follows an l.msync,
// come after the core's stores beyond the network are done; nothing else is held. Inwards:
// packets become transactions on a memory, a comparison and its store with nothing in between.
#include <deque>

#include "Vnetif.h"
#include "unit.h"

static const uint64_t LAST = 1ull << 32;
static const int N = 2, CLUSTERS = 4, NUMBER = 2, MASTERS = 2 * N, NOBODY = -1, WORDS = 4;
static const uint32_t STORE = 0, LOAD = 1, COMPARE = 2, FENCE = 3, HELD = 1u << 19, WRONG = 1u << 18;
static const uint32_t NO_MEMORY = 0x40;		// incoming requests: an address bit where there is none
static const int TRANSACTIONS = 150, REQUESTS = 300;

struct Master {
	bool busy = false, far = false, link = false, sent = false, replied = false, held = false, wrong = false, ending = false;
	uint32_t kind = LOAD, sel = 15, adr = 0, wdata = 0, dest = 0, data = 0;
	int left = TRANSACTIONS, cancels = 0;
};

struct Core {
	int under_way[CLUSTERS] = {};		// stores that the other clusters have not carried out
	bool posted = false, fenced = false;	// what the interface can know of it
	uint32_t posted_to = 0, linked = 0;
};

struct Packet {
	uint32_t dest, kind, sel, adr, value, next;
	int master;
};

class Bench {
public:
	Bench(Vnetif &device, Random &random) : device_(device), random_(random) {}
	void run();

private:
	void begin(int m);
	void grant();
	void drive();
	void answer_here();
	void serve_bus();
	void links();
	void incoming();
	void flit_out(int n);
	void elsewhere();
	void reply_in();
	void taken();
	void ended();
	void step();
	bool asks(int m) const;
	bool done() const;

	Vnetif &device_;
	Random &random_;
	Master master_[MASTERS];
	Core core_[N];
	int owner_ = NOBODY, waiting_ = NOBODY, in_left_ = REQUESTS;
	uint32_t wanted_ = LOAD;
	bool busy_ = false, locked_ = false;	// somebody has the bus; the interface must keep it
	std::deque<Packet> packets_, queue_[CLUSTERS];
	std::deque<uint64_t> to_come_, replies_, inward_, answers_;	// flits
	uint32_t there_[CLUSTERS][WORDS] = {}, memory_[WORDS] = {}, will_[WORDS] = {};
};

static uint32_t
merged(uint32_t word, uint32_t value, uint32_t sel)
{
	for (int b = 0; b < 4; b++)
		if (sel >> b & 1)
			word = (word & ~(255u << 8 * b)) | (value & 255u << 8 * b);
	return word;
}

// A new transaction of a master: instructions are only loaded.
void
Bench::begin(int m)
{
	Random &random = random_;
	Master &now = master_[m], fresh;

	fresh.busy = true;
	fresh.left = now.left - 1;
	fresh.far = random.chance(60);
	fresh.kind = m & 1 ? random.below(fresh.far ? 3 : 2) : LOAD;
	fresh.link = (m & 1) && fresh.kind == LOAD && random.chance(40);
	fresh.sel = fresh.kind == STORE ? 1 + random.below(15) : 15;
	fresh.adr = (random.bits() & ~0xfu & ~NO_MEMORY) | random.below(WORDS) << 2;
	fresh.wdata = random.chance(50) ? random.below(3) : random.bits();
	fresh.dest = random.chance(70) ? 3 : random.below(2);
	now = fresh;
}

bool
Bench::asks(int m) const
{
	return m == MASTERS ? device_.bus_stb : master_[m].busy && !(device_.blocked >> m & 1);
}

// The bus is a naive one: whoever has it keeps it until it ends or takes the request back, then
// somebody.
void
Bench::grant()
{
	Random &random = random_;
	int some[MASTERS + 1], n = 0;

	if (locked_)
		SAME("a comparison goes on with its store", device_.bus_stb, 1);
	if (owner_ != NOBODY && (locked_ || (busy_ && asks(owner_))))
		return;
	for (int m = 0; m <= MASTERS; m++)
		if (asks(m))
			some[n++] = m;
	owner_ = n ? some[random.below(n)] : NOBODY;
	busy_ = n > 0;
}

void
Bench::drive()
{
	bool mine = owner_ != NOBODY && owner_ != MASTERS;
	const Master idle, &m = mine ? master_[owner_] : idle;

	device_.go = mine && !m.ending;
	device_.beyond = m.far;
	device_.we = m.kind != LOAD;
	device_.atomic = m.kind == COMPARE || m.link || (mine && !(owner_ & 1) && random_.chance(50));
	device_.sel = m.sel;
	device_.adr = m.adr;
	device_.wdata = m.wdata;
	device_.dest = m.dest;
	device_.who = mine ? owner_ : 0;
	device_.msync = 0;
	for (int c = 0; c < N; c++)
		device_.msync |= uint32_t(!master_[2 * c + 1].busy && random_.chance(20)) << c;
	device_.clk = 0;
	device_.eval();
}

// What is held must be, and what is not held and not far is answered here when it likes.
void
Bench::answer_here()
{
	Random &random = random_;

	if (!device_.go)
		return;
	Master &m = master_[owner_];
	const Core &c = core_[owner_ / 2];
	bool order = owner_ & 1 && (m.far ? m.dest != c.posted_to : m.kind != LOAD || c.fenced);
	SAME("held if it must not overtake a store, and only then", device_.hold, order && c.posted);
	if (m.far || device_.hold || random.chance(50))
		return;
	for (int d = 0; order && d < CLUSTERS; d++)
		SAME("the stores beyond the network are done", c.under_way[d], 0);
	m.busy = busy_ = false;
}

// The interface's own transactions.
void
Bench::serve_bus()
{
	Random &random = random_;

	device_.bus_ack = device_.bus_err = 0;
	if (owner_ != MASTERS || random.chance(60))
		return;
	uint32_t &word = memory_[device_.bus_adr >> 2 & 3];
	bool wrong = device_.bus_adr & NO_MEMORY;
	device_.bus_ack = !wrong;
	device_.bus_err = wrong;
	device_.bus_rdata = word;
	device_.eval();
	if (device_.bus_we && !wrong)
		word = merged(word, device_.bus_wdata, device_.bus_sel);
	locked_ = device_.bus_lock;
	SAME("nothing follows an error", locked_ && wrong, 0);
	busy_ = false;
}

// A request of another cluster, and what it must do. The memory is ours: what it will hold is
// known now.
void
Bench::incoming()
{
	uint32_t kind = random_.below(4), word = random_.below(WORDS), value = random_.bits(), next = random_.bits(), from = random_.below(2);
	uint32_t sel = kind == STORE ? 1 + random_.below(15) : 15, wrong = kind != FENCE && random_.chance(10) ? WRONG : 0;
	uint64_t head = uint64_t(from) << 26 | NUMBER << 20;

	in_left_--;
	if (kind == COMPARE && random_.chance(60))
		value = will_[word];
	bool hit = !wrong && will_[word] == value;
	inward_.push_back(uint64_t(NUMBER) << 26 | from << 20 | kind << 18 | sel << 14 | (kind == FENCE ? LAST : 0));
	if (kind != FENCE)
		inward_.push_back(word << 2 | (wrong ? NO_MEMORY : 0) | (kind == LOAD ? LAST : 0));
	if (kind == STORE || kind == COMPARE)
		inward_.push_back(value | (kind == STORE ? LAST : 0));
	if (kind == COMPARE)
		inward_.push_back(next | LAST);
	if (kind == STORE && !wrong)
		will_[word] = merged(will_[word], value, sel);
	if (kind == COMPARE || kind == FENCE || (kind == LOAD && wrong))
		answers_.push_back(head | (kind == COMPARE && hit ? HELD : 0) | wrong | LAST);
	else if (kind == LOAD) {
		answers_.push_back(head);
		answers_.push_back(will_[word] | LAST);
	}
	if (kind == COMPARE && hit)
		will_[word] = next;
}

static uint64_t
flit_of(const Vnetif &device, int n)
{
	return n == 0 ? device.out_flit[0] | uint64_t(device.out_flit[1] & 1) << 32
		: device.out_flit[1] >> 1 | uint64_t(device.out_flit[2] & 3) << 31;
}

void
Bench::flit_out(int n)
{
	Random &random = random_;
	std::deque<uint64_t> &want = n ? answers_ : to_come_;

	SAME("nothing more than was asked for", want.empty(), 0);
	SAME(n ? "a reply" : "a request", flit_of(device_, n), want.front());
	if (n == 0 && want.front() & LAST) {
		queue_[packets_.front().dest].push_back(packets_.front());
		packets_.pop_front();
	}
	want.pop_front();
}

// Flits of both directions in this cycle.
void
Bench::links()
{
	Random &random = random_;

	if (inward_.empty() && in_left_ > 0 && random_.chance(30))
		incoming();
	bool request = !inward_.empty() && random.chance(60), reply = !replies_.empty() && random.chance(30);
	uint64_t a = request ? inward_.front() : random.bits(), b = reply ? replies_.front() : random.bits();
	device_.in_valid = request | reply << 1;
	device_.in_flit[0] = uint32_t(a);
	device_.in_flit[1] = uint32_t(a >> 32 & 1) | uint32_t(b << 1);
	device_.in_flit[2] = uint32_t(b >> 31);
	device_.out_ready = random.below(4);
	device_.eval();
	for (int n = 0; n < 2; n++)
		if (device_.out_valid & device_.out_ready & 1 << n)
			flit_out(n);
	if (request && device_.in_ready & 1)
		inward_.pop_front();
	SAME("replies are always taken", device_.in_ready >> 1 & 1, 1);
	if (!reply)
		return;
	replies_.pop_front();
	if (b & LAST)
		reply_in();
}

// The reply is there with this flit: the waiting master knows.
void
Bench::reply_in()
{
	Master &m = master_[waiting_];
	Core &c = core_[waiting_ / 2];

	if (waiting_ & 1)
		c.posted = c.fenced = false;
	if (wanted_ == FENCE)
		m.sent = false;
	else {
		m.replied = true;
		if (m.link && !m.wrong)
			c.linked = m.data;
	}
	waiting_ = NOBODY;
}

// Another cluster carries out the oldest packet that it has, when it likes.
void
Bench::elsewhere()
{
	uint32_t d = random_.below(CLUSTERS);

	if (queue_[d].empty() || random_.chance(70))
		return;
	Packet p = queue_[d].front();
	Master &m = master_[p.master];
	uint32_t &word = there_[d][p.adr >> 2 & 3];
	uint64_t head = uint64_t(NUMBER) << 26 | d << 20;
	queue_[d].pop_front();
	if (p.kind == STORE) {
		word = merged(word, p.value, p.sel);
		core_[p.master / 2].under_way[d]--;
		return;
	}
	if (p.kind == FENCE) {
		replies_.push_back(head | LAST);
		return;
	}
	m.wrong = random_.chance(10);
	m.held = p.kind == COMPARE && !m.wrong && word == p.value;
	m.data = word;
	if (p.kind == COMPARE || m.wrong)
		replies_.push_back(head | (m.held ? HELD : 0) | (m.wrong ? WRONG : 0) | LAST);
	else {
		replies_.push_back(head);
		replies_.push_back(word | LAST);
	}
	if (m.held)
		word = p.next;
}

// A transaction has become a packet in this cycle: which, and may it leave now?
void
Bench::taken()
{
	Random &random = random_;

	SAME("it is on the bus", device_.go, 1);
	Master &m = master_[owner_];
	Core &c = core_[owner_ / 2];
	bool fence = owner_ & 1 && c.posted && (m.far ? m.dest != c.posted_to : true);
	Packet p = {fence ? c.posted_to : m.dest, fence ? FENCE : m.kind, m.sel, m.adr, m.kind == COMPARE ? c.linked : m.wdata, m.wdata, owner_};
	SAME("one packet for each", m.sent, 0);
	SAME("it is far, or follows a store", m.far || fence, 1);
	m.sent = true;
	packets_.push_back(p);
	to_come_.push_back(uint64_t(p.dest) << 26 | NUMBER << 20 | p.kind << 18 | p.sel << 14 | (p.kind == FENCE ? LAST : 0));
	if (p.kind != FENCE)
		to_come_.push_back(p.adr | (p.kind == LOAD ? LAST : 0));
	if (p.kind == STORE || p.kind == COMPARE)
		to_come_.push_back(p.value | (p.kind == STORE ? LAST : 0));
	if (p.kind == COMPARE)
		to_come_.push_back(p.next | LAST);
	for (int d = 0; owner_ & 1 && p.kind != FENCE && d < CLUSTERS; d++)
		if (d != int(p.dest))
			SAME("stores to another cluster are done", c.under_way[d], 0);
	if (p.kind == STORE) {
		SAME("a store is posted", device_.ack, 1);
		c.under_way[p.dest]++;
		c.posted = true;
		c.posted_to = p.dest;
		return;
	}
	SAME("one waits at a time", waiting_, NOBODY);
	waiting_ = owner_;
	wanted_ = p.kind;
}

// The interface ends the transaction on the bus, or takes a reservation away.
void
Bench::ended()
{
	Random &random = random_;

	if (!device_.ack && !device_.err && !device_.cancel)
		return;
	SAME("somebody asked", device_.go, 1);
	Master &m = master_[owner_];
	bool refused = m.kind == COMPARE && !m.held && !m.wrong;
	SAME("its packet is on the way", m.sent, 1);
	SAME("its reply was there", m.kind == STORE || m.replied, 1);
	if (device_.cancel) {
		SAME("only a refused store is cancelled", refused, 1);
		SAME("the core that stores", device_.cancel, 1u << owner_ / 2);
		SAME("before it ends", device_.ack | device_.err, 0);
		m.cancels++;
		return;
	}
	SAME("an error ends with an error", device_.err, m.wrong);
	SAME("once", device_.ack, !m.wrong);
	SAME("taken away if refused", m.cancels, refused);
	if (m.kind == LOAD && !m.wrong)
		SAME("what was loaded", device_.rdata, m.data);
	m.ending = true;
}

void
Bench::step()
{
	Random &random = random_;
	bool idle = !(device_.out_valid & 1);
	int waited = waiting_;

	for (int m = 0; m < MASTERS; m++)
		if (!master_[m].busy && master_[m].left > 0 && random_.chance(20))
			begin(m);
	grant();
	drive();
	bool ending = owner_ != NOBODY && owner_ != MASTERS && master_[owner_].ending;
	answer_here();
	serve_bus();
	links();
	elsewhere();
	for (int c = 0; c < N; c++)
		core_[c].fenced = core_[c].posted && (core_[c].fenced || device_.msync >> c & 1);
	cycle(device_);
	if (waited != NOBODY && waiting_ == waited)
		SAME("who waits is blocked", device_.blocked >> waited & 1, 1);
	if (idle && device_.out_valid & 1)
		taken();
	if (!ending)
		ended();
	else {
		SAME("it ends once", device_.ack | device_.err | device_.cancel, 0);
		master_[owner_].busy = master_[owner_].ending = busy_ = false;
	}
}

bool
Bench::done() const
{
	bool all = in_left_ == 0 && inward_.empty() && answers_.empty() && to_come_.empty();

	for (const Master &m : master_)
		all = all && !m.busy && m.left == 0;
	for (const Core &c : core_)
		for (int n : c.under_way)
			all = all && n == 0;
	return all;
}

void
Bench::run()
{
	for (int patience = 0; !done(); patience++) {
		step();
		if (patience > 200000)
			fail(random_, "it never ends: requests of others left", uint64_t(in_left_), 0);
	}
}

static void
test(Vnetif &device, Random &random)
{
	device.go = device.beyond = device.bus_ack = device.bus_err = device.in_valid = device.out_ready = device.msync = 0;
	reset(device);
	Bench(device, random).run();
}

int
main(int argc, char **argv)
{
	return run_seeds<Vnetif>(argc, argv, test);
}
