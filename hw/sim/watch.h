// SPDX-License-Identifier: MIT
//
// What happens on the cores, cycle by cycle: retired instructions, exceptions, markers; and whether there is progress at all.
#ifndef HW_SIM_WATCH_H
#define HW_SIM_WATCH_H

#include <array>
#include <map>
#include <string>

#include "model.h"

// Sums over all windows of a core with the same label.
struct Window {
	uint64_t opened = 0;				// cycle
	uint64_t times = 0, cycles = 0, least = ~0ull, most = 0;
	std::vector<uint64_t> each;			// cycles of each window, up to a limit
	std::array<uint64_t, CORES * COUNTERS> start{}, sum{};
};

struct CoreState {
	uint64_t instructions = 0, last_retired = 0, polls = 0;
	uint32_t pc = 0;
	std::array<uint32_t, 16> trail{};		// of the last retired instructions
	unsigned trail_at = 0;
	uint32_t fetched = 0;				// lines filled since the last retired instruction
	uint64_t dozed = 0;				// cycles in doze since then
	std::array<uint64_t, 16> exceptions{};
	uint32_t label = 0;				// of its windows
	Window *open = nullptr;
};

// Per function and core, where the cycles went.
struct Spent {
	std::array<uint64_t, CORES> cycles{}, instructions{}, misses{}, mispredicts{};
};

class Watch {
public:
	Watch(Model &model, const Symbols &symbols) : model_(model), symbols_(symbols) {}
	// Look at the cycle that was just simulated. Returns false if an illegal instruction must end the run.
	bool look(uint64_t cycle);
	// Keep a profile of everything, or only of what happens while a window is open on some core.
	void profile(bool on, bool windowed);
	// Which illegal instructions end the run: 0 none, 1 the kernel's, 2 all.
	void illegal_ends(int which) { illegal_ends_ = which; }
	// Print every retired instruction and exception up to a cycle on stderr.
	void trace_until(uint64_t cycle) { trace_ = cycle; }
	// Text for people: every core with its place, state and counters.
	std::string dump() const;
	// True if every core dozes with its clock stopped: nothing can happen any more.
	bool all_stopped() const;

	std::array<CoreState, CORES> core;
	std::map<std::pair<int, uint32_t>, Window> windows;	// by core and label
	std::map<int, Spent> spent;			// by index of the function, -1 elsewhere, -2 in doze
	uint64_t last_event = 0;			// cycle of the last marker or exception
	uint64_t last_any = 0;				// cycle of the last retired instruction

private:
	void retire(int c, uint64_t cycle);
	void account(int c, uint32_t pc, uint64_t cycle);
	void mark(int c, uint32_t number, uint64_t cycle);
	void open(int c, uint64_t cycle);
	void close(int c, uint64_t cycle);
	bool illegal(int c, uint64_t cycle);
	int function(uint32_t pc);

	Model &model_;
	const Symbols &symbols_;
	bool profile_ = false, windowed_ = false;
	int open_ = 0;					// windows
	uint64_t trace_ = 0;
	int illegal_ends_ = 1, illegal_said_ = 0;
	std::vector<int32_t> cache_;			// function of a word address, filled on demand
};

#endif
